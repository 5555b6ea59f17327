/* SPDX-License-Identifier: MIT */
/* Frames of a made-up process of CPython 3.11, whole and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "python_frames.h"

/* The whole memory, from BASE on. */
enum { BASE = 0x10000, BYTES = 0x4000, TYPE = BASE + 8, SELF = 0x7777000 };
enum {
	RUNTIME = 0x100,
	INTERPRETER = 0x400,
	THREAD = 0x800,
	OTHER = 0xa00,
	CFRAME = 0xc00,
	FRAME = 0x1000,
	CODE = 0x2000,
	STRINGS = 0x3000
};
static uint8_t memory[BYTES];
static unsigned reads;

static bool read_memory(void *ctx, uint64_t addr, void *out, size_t n)
{
	reads++;
	if (addr < BASE || addr > BASE + BYTES || n > BASE + BYTES - addr)
		return false;
	memcpy(out, memory + (addr - BASE), n);
	return true;
}

static void put(size_t at, uint64_t v)
{
	memcpy(memory + at, &v, 8);
}

/* A str of one byte per character. */
static void put_text(size_t at, const char *s)
{
	put(at + 16, strlen(s));
	put(at + 32, 1 << 2 | 1 << 5 | 1 << 6);
	memcpy(memory + at + 48, s, strlen(s));
}

static void put_frame(size_t i, size_t code, int64_t instruction, uint64_t previous, bool entry)
{
	const size_t at = FRAME + 0x100 * i;

	put(at + 32, BASE + code);
	put(at + 48, previous);
	put(at + 56, BASE + code + 184 + (uint64_t)instruction);
	memory[at + 68] = entry;
}

static struct ty_python make(void)
{
	struct ty_python p = {.layout = *ty_python_layout(0x030b),
			      .runtime = BASE + RUNTIME,
			      .code_type = TYPE,
			      .read = read_memory};

	ty_buf_init(&p.table, TY_PY_TABLE_MAX);
	memset(memory, 0, sizeof(memory));
	put(RUNTIME + 40, BASE + INTERPRETER);
	put(INTERPRETER + 16, BASE + OTHER);
	put(OTHER + 8, BASE + THREAD);
	put(OTHER + 152, SELF + 1);
	put(THREAD, BASE + OTHER);
	put(THREAD + 152, SELF);
	put(THREAD + 160, 812);
	put(THREAD + 56, BASE + CFRAME);
	put(CFRAME + 8, BASE + FRAME);
	put_frame(0, CODE, 2, BASE + FRAME + 0x100, false);
	put_frame(1, CODE, 0, 0, true);
	put(CODE + 8, TYPE);
	put(CODE + 16, 4); /* instructions */
	put(CODE + 72, 40);
	put(CODE + 112, BASE + STRINGS);
	put(CODE + 128, BASE + STRINGS + 0x100);
	put(CODE + 136, BASE + STRINGS + 0x200);
	put_text(STRINGS, "/srv/app.py");
	put_text(STRINGS + 0x100, "handle");
	put(STRINGS + 0x210, 6);
	memcpy(memory + STRINGS + 0x220, "\xd0\1\2\xd8\1\2", 6); /* lines + 0, + 1 */
	return p;
}

static unsigned frames(struct ty_python *p, struct ty_buf *out, enum ty_stk_python_end *end)
{
	const uint64_t t = ty_python_thread(p, SELF, 0, 0);

	out->len = 0;
	*end = TY_STK_PYTHON_ALL;
	return t ? ty_python_frames(p, t, out, end) : 0;
}

static void functions_and_lines(void **state)
{
	struct ty_python p = make();
	struct ty_stk_python f;
	enum ty_stk_python_end end;
	struct ty_buf b;

	ty_buf_init(&b, 1 << 20);
	assert_int_equal(ty_python_thread(&p, SELF, 0, 0), BASE + THREAD);
	assert_int_equal(ty_python_thread(&p, 0, 812, 0), BASE + THREAD);
	assert_int_equal(ty_python_thread(&p, SELF + 2, 0, 0), 0);
	assert_int_equal(frames(&p, &b, &end), 2);
	assert_int_equal(end, TY_STK_PYTHON_ALL);
	memcpy(&f, b.p, sizeof(f));
	assert_int_equal(f.line, 41);
	assert_int_equal(f.entry, 0);
	assert_int_equal(f.file_n, 12);
	assert_string_equal(b.p + sizeof(f), "/srv/app.py");
	assert_string_equal(b.p + sizeof(f) + f.file_n, "handle");
	memcpy(&f, b.p + sizeof(f) + f.file_n + f.name_n, sizeof(f));
	assert_int_equal(f.line, 40);
	assert_int_equal(f.entry, 1);
	ty_buf_fini(&b);
	ty_buf_fini(&p.table);
}

/* Memory that was freed still looks like the thread. */
static void only_threads_in_the_list(void **state)
{
	struct ty_python p = make();

	put(OTHER + 8, 0);
	assert_int_equal(ty_python_thread(&p, SELF, 0, BASE + THREAD), 0);
	/* Of two interpreters, which one runs the thread is unknown. */
	p = make();
	put(INTERPRETER, BASE + 0x600);
	put(0x600 + 16, BASE + 0x700);
	put(0x700 + 152, SELF);
	put(0x700 + 56, BASE + CFRAME);
	assert_int_equal(ty_python_thread(&p, SELF, 0, 0), 0);
	put(0x700 + 56, 0); /* not running there */
	assert_int_equal(ty_python_thread(&p, SELF, 0, 0), BASE + THREAD);
	ty_buf_fini(&p.table);
}

static void ends_at_what_is_no_frame(void **state)
{
	static const struct {
		size_t at;
		uint64_t v;
	} damage[] = {
		{FRAME + 0x100 + 32, BASE + THREAD}, /* not of the type of code */
		{FRAME + 0x100 + 32, 0x100},
		{FRAME + 0x100 + 56, BASE + CODE + 184 + 8}, /* behind the code */
		{FRAME + 0x100 + 56, BASE + CODE + 184 + 3},
		{FRAME + 48, BASE + FRAME + 0x101},
		{FRAME + 48, BASE + BYTES - 8},
	};
	enum ty_stk_python_end end;
	struct ty_buf b;

	ty_buf_init(&b, 1 << 20);
	for (size_t i = 0; i < sizeof(damage) / sizeof(*damage); i++) {
		struct ty_python p = make();

		put(damage[i].at, damage[i].v);
		assert_int_equal(frames(&p, &b, &end), 1);
		assert_int_equal(end, TY_STK_PYTHON_INVALID);
		ty_buf_fini(&p.table);
	}
	for (unsigned i = 0; i < 5; i++) {
		static const size_t at[] = {CODE + 8, STRINGS + 16, STRINGS + 0x100 + 16,
					    STRINGS + 32, STRINGS + 0x210};
		static const uint64_t v[] = {TYPE + 8, UINT64_MAX / 2, UINT64_MAX / 2, 0,
					     UINT64_MAX / 2};
		struct ty_python p = make();

		put(at[i], v[i]);
		assert_int_equal(frames(&p, &b, &end), 0);
		assert_int_equal(end, TY_STK_PYTHON_INVALID);
		assert_int_equal(b.len, 0);
		ty_buf_fini(&p.table);
	}
	ty_buf_fini(&b);
}

static void a_circle_ends(void **state)
{
	struct ty_python p = make();
	enum ty_stk_python_end end;
	struct ty_buf b;

	ty_buf_init(&b, 1 << 20);
	put(FRAME + 0x100 + 48, BASE + FRAME);
	assert_int_equal(frames(&p, &b, &end), TY_STK_PYTHON_MAX);
	assert_int_equal(end, TY_STK_PYTHON_MORE);
	put(THREAD + 8, BASE + OTHER);
	put(THREAD + 152, 1);
	assert_int_equal(ty_python_thread(&p, SELF, 0, 0), 0);
	ty_buf_fini(&b);
	ty_buf_fini(&p.table);
}

/* Other text than ASCII is UTF-8; the half of a pair is none. */
static void text(void **state)
{
	static const uint16_t wide[] = {'f', 0xe4, 0x6d4b, 0xdc80};
	struct ty_python p = make();
	struct ty_stk_python f;
	enum ty_stk_python_end end;
	struct ty_buf b;

	ty_buf_init(&b, 1 << 20);
	put(STRINGS + 0x100 + 16, 4);
	put(STRINGS + 0x100 + 32, 2 << 2 | 1 << 5);
	memcpy(memory + STRINGS + 0x100 + 72, wide, sizeof(wide));
	assert_int_equal(frames(&p, &b, &end), 2);
	memcpy(&f, b.p, sizeof(f));
	assert_string_equal(b.p + sizeof(f) + f.file_n, "f\u00e4\u6d4b\ufffd");
	assert_int_equal(f.name_n, strlen("f\u00e4\u6d4b\ufffd") + 1);
	ty_buf_fini(&b);
	ty_buf_fini(&p.table);
}

/* compile() takes an empty file name, code.replace() an empty function name. */
static void empty_names(void **state)
{
	struct ty_python p = make();
	struct ty_stk_python f;
	enum ty_stk_python_end end;
	struct ty_buf b;

	ty_buf_init(&b, 1 << 20);
	put(STRINGS + 16, 0);
	put(STRINGS + 0x100 + 16, 0);
	assert_int_equal(frames(&p, &b, &end), 2);
	assert_int_equal(end, TY_STK_PYTHON_ALL);
	memcpy(&f, b.p, sizeof(f));
	assert_string_equal(b.p + sizeof(f), "<no file name>");
	assert_string_equal(b.p + sizeof(f) + f.file_n, "<no name>");
	assert_int_equal(f.file_n, sizeof("<no file name>"));
	assert_int_equal(f.name_n, sizeof("<no name>"));
	ty_buf_fini(&b);
	ty_buf_fini(&p.table);
}

/* Any bytes changed: it ends, within its limits. */
static void any_memory(void **state)
{
	enum ty_stk_python_end end;
	struct ty_buf b;

	ty_buf_init(&b, 1 << 20);
	srand(1);
	for (unsigned i = 0; i < 5000; i++) {
		struct ty_python p = make();

		for (unsigned k = 0; k < 1u + (unsigned)rand() % 8; k++) {
			const size_t at = (size_t)rand() % (BYTES / 8) * 8;

			put(i % 2 ? at : at % 0x1400,
			    rand() % 2 ? (uint64_t)rand()
				       : (uint64_t)(BASE + rand() % BYTES / 8 * 8));
		}
		assert_true(frames(&p, &b, &end) <= TY_STK_PYTHON_MAX);
		ty_buf_fini(&p.table);
	}
	ty_buf_fini(&b);
}

/* A description that no version can have is refused. */
static void own_description(void **state)
{
	uint64_t v[TY_PY_OWN_BYTES / 8] = {0};
	struct ty_python_layout l;

	memcpy(v, "xdebugpy", 8);
	v[1] = 0x030d00f0;
	v[45] = 8;
	v[65] = 16;
	v[66] = 32;
	v[68] = 32;
	v[69] = 16;
	v[70] = 40;
	v[23] = 72;
	assert_true(ty_python_layout_own(v, sizeof(v), &l));
	assert_int_equal(l.version, 0x030d);
	assert_int_equal(l.frame, 72);
	assert_false(ty_python_layout_own(v, sizeof(v) - 1, &l));
	v[23] = 1ull << 40;
	assert_false(ty_python_layout_own(v, sizeof(v), &l));
	v[23] = 72;
	v[2] = 1; /* no GIL */
	assert_false(ty_python_layout_own(v, sizeof(v), &l));
	v[2] = 0;
	v[1] = 0x030e00f0;
	assert_false(ty_python_layout_own(v, sizeof(v), &l));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_and_lines),
		cmocka_unit_test(only_threads_in_the_list),
		cmocka_unit_test(ends_at_what_is_no_frame),
		cmocka_unit_test(a_circle_ends),
		cmocka_unit_test(text),
		cmocka_unit_test(empty_names),
		cmocka_unit_test(any_memory),
		cmocka_unit_test(own_description),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
