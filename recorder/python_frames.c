/* SPDX-License-Identifier: MIT */
/* See python_frames.h. */
#include "python_frames.h"

#include <string.h>

#include "unaligned.h"

enum {
	INTERPRETERS_MAX = 64,
	THREADS_MAX = 32768,
	THREAD_BYTES = 256,
	FRAME_BYTES = 128,
	CODE_BYTES = 256,
	FRAMES_MAX = 4096, /* with those without Python code */
	NAME_MAX_ = 256,   /* characters */
	FILE_MAX_ = 1024,
	OWNED_BY_CSTACK = 3,
	/* Of every object and string, in all versions of the table. */
	OB_TYPE = 8,
	OB_SIZE = 16,
	BYTES_DATA = 32,
	STRING_LENGTH = 16,
	STRING_STATE = 32,
};

/* Structures are read up to their last field: what follows may not be mapped. 0: too far. */
static size_t reach(size_t most, size_t n, const uint32_t *offsets)
{
	size_t end = 0;

	for (size_t i = 0; i < n; i++)
		end = offsets[i] + 8 > end ? offsets[i] + 8 : end;
	return end <= most ? end : 0;
}

static bool take_u64(const struct ty_python *p, uint64_t addr, uint64_t *out)
{
	return addr >= 4096 && p->read(p->ctx, addr, out, sizeof(*out));
}

/* the thread --------------------------------------------------------------------------------------
 */

struct thread {
	uint64_t previous, next, frame;
	bool found;
};

static bool read_thread(const struct ty_python *p, uint64_t at, uint64_t self, uint32_t native,
			struct thread *out)
{
	const struct ty_python_layout *l = &p->layout;
	const uint32_t offsets[] = {l->previous_thread, l->next_thread, l->frame, l->thread_id,
				    l->native_id};
	uint8_t b[THREAD_BYTES];
	const size_t n = reach(sizeof(b), 5, offsets);

	if (at < 4096 || at % 8 || !n || !p->read(p->ctx, at, b, n))
		return false;
	out->previous = ty_u64_at(b + l->previous_thread);
	out->next = ty_u64_at(b + l->next_thread);
	out->frame = ty_u64_at(b + l->frame);
	out->found = self ? ty_u64_at(b + l->thread_id) == self
			  : l->native_id && native && ty_u64_at(b + l->native_id) == native;
	return l->by_cframe && out->frame && out->found
		       ? take_u64(p, out->frame + l->current_frame, &out->frame)
		       : true;
}

/* It is still in the list: memory that was freed can look like it. */
static bool is_listed(const struct ty_python *p, uint64_t interpreter, uint64_t at,
		      const struct thread *t)
{
	uint64_t v;

	return take_u64(p,
			t->previous ? t->previous + p->layout.next_thread
				    : interpreter + p->layout.threads,
			&v) &&
	       v == at;
}

uint64_t ty_python_thread(const struct ty_python *p, uint64_t self, uint32_t native, uint64_t hint)
{
	const struct ty_python_layout *l = &p->layout;
	uint64_t interpreter, other, at, found = 0;
	bool is_one;
	struct thread t;

	if (!take_u64(p, p->runtime + l->interpreters, &interpreter) ||
	    !take_u64(p, interpreter + l->next_interpreter, &other))
		return 0;
	is_one = !other;
	if (hint && is_one && read_thread(p, hint, self, native, &t) && t.found &&
	    is_listed(p, interpreter, hint, &t))
		return hint;
	for (unsigned i = 0; interpreter && i < INTERPRETERS_MAX; i++) {
		if (!take_u64(p, interpreter + l->threads, &at))
			return 0;
		for (unsigned k = 0; at && k < THREADS_MAX; k++, at = t.next) {
			if (!read_thread(p, at, self, native, &t))
				break;
			if (!t.found || !t.frame || !is_listed(p, interpreter, at, &t))
				continue;
			if (found)
				return 0;
			found = at;
			if (is_one)
				return found;
		}
		if (!take_u64(p, interpreter + l->next_interpreter, &interpreter))
			return 0;
	}
	return found;
}

/* strings -----------------------------------------------------------------------------------------
 */

static void add_utf8(struct ty_buf *out, uint32_t c)
{
	/* Half of a pair stands for a byte that is no text; NUL ends strings. */
	if (!c || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		c = 0xfffd;
	if (c < 0x80) {
		ty_buf_addc(out, (char)c);
	} else if (c < 0x800) {
		ty_buf_addc(out, (char)(0xc0 | c >> 6));
		ty_buf_addc(out, (char)(0x80 | (c & 63)));
	} else {
		if (c < 0x10000) {
			ty_buf_addc(out, (char)(0xe0 | c >> 12));
		} else {
			ty_buf_addc(out, (char)(0xf0 | c >> 18));
			ty_buf_addc(out, (char)(0x80 | (c >> 12 & 63)));
		}
		ty_buf_addc(out, (char)(0x80 | (c >> 6 & 63)));
		ty_buf_addc(out, (char)(0x80 | (c & 63)));
	}
}

/* Appends a str (PEP 393), at most `most` characters of it, and NUL; `none`: of an empty one.
 * false: it is no str. */
static bool add_string(const struct ty_python *p, uint64_t at, unsigned most, const char *none,
		       struct ty_buf *out)
{
	uint8_t head[40], chars[FILE_MAX_ * 4];
	const struct ty_python_layout *l = &p->layout;
	unsigned width, is_ascii;
	uint64_t length;
	uint32_t state;

	if (at < 4096 || at % 8 || !p->read(p->ctx, at, head, sizeof(head)))
		return false;
	length = ty_u64_at(head + STRING_LENGTH);
	state = ty_u32_at(head + STRING_STATE);
	width = state >> 2 & 7;
	is_ascii = state >> 6 & 1;
	/* Names of files and functions are compact strings. */
	if (!(state >> 5 & 1) || (width != 1 && width != 2 && width != 4) ||
	    (is_ascii && width != 1) || length > UINT32_MAX)
		return false;
	if (!length)
		return !ty_buf_add(out, none, strlen(none) + 1);
	length = length < most ? length : most;
	if (!p->read(p->ctx, at + (is_ascii ? l->ascii : l->compact), chars, length * width))
		return false;
	for (size_t i = 0; i < length; i++)
		add_utf8(out, (uint32_t)ty_le_at(chars + i * width, width));
	ty_buf_addc(out, 0);
	return !out->failed;
}

/* frames ------------------------------------------------------------------------------------------
 */

/* The line of the instruction `at` (in bytes). */
static bool read_line(struct ty_python *p, const uint8_t *code, int64_t at, uint32_t *line)
{
	const uint64_t table = ty_u64_at(code + p->layout.line_table);
	const int32_t first = (int32_t)ty_u32_at(code + p->layout.first_line);
	uint64_t size;

	if (table % 8 || !take_u64(p, table + OB_SIZE, &size) || size > TY_PY_TABLE_MAX ||
	    (ty_buf_reset(&p->table), ty_buf_reserve(&p->table, size)) ||
	    !p->read(p->ctx, table + BYTES_DATA, p->table.p, size))
		return false;
	*line = ty_python_line(p->layout.lines, (const uint8_t *)p->table.p, size, first, at);
	return true;
}

/* Where the frame is in its code, in bytes; false: nowhere in it. */
static bool place(const struct ty_python *p, const uint8_t *frame, const uint8_t *code,
		  uint64_t code_at, int64_t *out)
{
	const struct ty_python_layout *l = &p->layout;

	if (!l->instructions) {
		const int32_t last = (int32_t)ty_u32_at(frame + l->instruction);

		*out = l->lines == TY_PY_LINETABLE ? 2 * (int64_t)last : last;
		return last >= -1 && last < INT32_MAX / 2;
	}
	*out = (int64_t)(ty_u64_at(frame + l->instruction) - (code_at + l->instructions));
	return *out >= -2 && *out % 2 == 0 && ty_u64_at(code + OB_SIZE) <= INT32_MAX &&
	       *out < 2 * (int64_t)ty_u64_at(code + OB_SIZE);
}

static bool add_frame(struct ty_python *p, const uint8_t *frame, struct ty_buf *out)
{
	const struct ty_python_layout *l = &p->layout;
	const uint64_t code_at = ty_u64_at(frame + l->code);
	struct ty_stk_python f = {.entry = l->entry == TY_PY_ENTRY_ALWAYS};
	const size_t start = out->len, from = start + sizeof(f);
	uint8_t code[CODE_BYTES];
	const uint32_t offsets[] = {OB_SIZE, l->file, l->name, l->first_line, l->line_table};
	const size_t n = reach(sizeof(code), 5, offsets);
	size_t file_end;
	int64_t at;

	if (code_at < 4096 || code_at % 8 || !n || !p->read(p->ctx, code_at, code, n) ||
	    ty_u64_at(code + OB_TYPE) != p->code_type || !place(p, frame, code, code_at, &at) ||
	    !read_line(p, code, at, &f.line) || ty_buf_add(out, &f, sizeof(f)))
		return false;
	if (add_string(p, ty_u64_at(code + l->file), FILE_MAX_, "<no file name>", out)) {
		file_end = out->len;
		if (add_string(p, ty_u64_at(code + l->name), NAME_MAX_, "<no name>", out)) {
			f.file_n = (uint16_t)(file_end - from);
			f.name_n = (uint16_t)(out->len - file_end);
			memcpy(out->p + start, &f, sizeof(f));
			return true;
		}
	}
	out->len = start;
	return false;
}

/* The frame that was added last is the first of its evaluation loop. */
static void mark_entry(struct ty_buf *out, size_t frame)
{
	const uint32_t yes = 1;

	memcpy(out->p + frame + offsetof(struct ty_stk_python, entry), &yes, sizeof(yes));
}

unsigned ty_python_frames(struct ty_python *p, uint64_t thread, struct ty_buf *out,
			  enum ty_stk_python_end *end)
{
	const struct ty_python_layout *l = &p->layout;
	const uint32_t offsets[] = {l->previous_frame, l->code, l->instruction,
				    l->mark ? l->mark - 7 : 0};
	const size_t bytes = reach(FRAME_BYTES, 4, offsets);
	uint64_t at = 0;
	size_t last = 0;
	unsigned n = 0;

	*end = TY_STK_PYTHON_INVALID;
	if (!bytes || !take_u64(p, thread + l->frame, &at) ||
	    (l->by_cframe && !take_u64(p, at + l->current_frame, &at)))
		return 0;
	for (unsigned i = 0; at; i++) {
		uint8_t b[FRAME_BYTES];

		if (n == TY_STK_PYTHON_MAX || i == FRAMES_MAX) {
			*end = TY_STK_PYTHON_MORE;
			return n;
		}
		if (at < 4096 || at % 8 || !p->read(p->ctx, at, b, bytes))
			return n;
		at = ty_u64_at(b + l->previous_frame);
		if (l->entry == TY_PY_ENTRY_SHIM && b[l->mark] == OWNED_BY_CSTACK) {
			if (n)
				mark_entry(out, last);
			continue;
		}
		if (out->len > UINT32_MAX / 2)
			return n;
		last = out->len;
		if (!add_frame(p, b, out))
			return n;
		n++;
		if (l->entry == TY_PY_ENTRY_FLAG && b[l->mark])
			mark_entry(out, last);
	}
	*end = TY_STK_PYTHON_ALL;
	return n;
}
