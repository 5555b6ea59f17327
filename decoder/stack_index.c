/* SPDX-License-Identifier: MIT */
/*
 * See stack_index.h. Every size and number is checked when the index is built. A malformed record
 * ends the reading, because later heads cannot be distinguished from data.
 */
#include "stack_index.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "partition.h"
#include "vec.h"

/* Waits by their thread, wakers by their wakee. */
struct entry {
	uint64_t ns;
	uint32_t tid, off;
	uint8_t kind;
};

struct ty_stack_index {
	const uint8_t *p;
	VEC(struct entry) v; /* by kind, thread, time */
	struct ty_stack_counts n;
};

ORDER(by_thread, struct entry,
      compare(a->kind, b->kind) ?: compare(a->tid, b->tid) ?: compare(a->ns, b->ns) ?:
      compare(a->off, b->off))

static bool is_id(uint32_t id)
{
	return id && id <= INT32_MAX;
}

static bool is_stack(const struct ty_stk_head *h)
{
	if (!is_id(h->tid) || !is_id(h->pid) || !is_id(h->target))
		return false;
	if (h->kind == TY_STK_HOLDER)
		return h->flags && h->flags < TY_LOCK_KINDS && !h->regs_n && !h->kernel_n &&
		       !h->len;
	if (h->kind == TY_STK_PYTHON)
		return h->target == h->tid && !h->regs_n && !h->kernel_n &&
		       h->flags < TY_STK_PYTHON_ENDS;
	return (h->kind == TY_STK_WAIT || h->kind == TY_STK_WAKER) &&
	       (h->kind == TY_STK_WAKER || h->target == h->tid) && h->regs_n <= TY_STK_REGS_MAX &&
	       h->kernel_n <= TY_STK_KERNEL_MAX && h->len >= 8u * h->regs_n + 8u * h->kernel_n &&
	       h->len <= 8u * h->regs_n + 8u * h->kernel_n + TY_STK_BYTES;
}

/* Of a newer tarry: only its length is known. */
static bool is_newer(const struct ty_stk_head *h)
{
	return h->kind > TY_STK_PYTHON && h->kind < TY_STK_NEVER;
}

/* The head at `at`, if it and what it holds lie in the n bytes. */
static bool head_at(const uint8_t *p, size_t n, size_t at, struct ty_stk_head *h)
{
	if (n - at < sizeof(*h))
		return false;
	memcpy(h, p + at, sizeof(*h));
	return h->len <= n - at - sizeof(*h);
}

static void take_piece(struct ty_stack_index *x, const struct ty_stk_head *h, uint64_t *next)
{
	/* A recording that kept its newest part begins with any. */
	if (*next != UINT64_MAX && h->aux > *next)
		x->n.pieces_missing += h->aux - *next;
	*next = h->aux + 1;
	if (h->ns >= x->n.left_out) {
		x->n.left_out = h->ns;
		x->n.limited = h->target < h->ns ? h->target : h->ns;
	}
}

struct ty_stack_index *ty_stack_index_new(const void *section, size_t n)
{
	struct ty_stack_index *x = calloc(1, sizeof(*x));
	uint64_t next = UINT64_MAX;
	struct ty_stk_head h;

	if (!x)
		return NULL;
	x->p = section;
	x->n.damaged = n > UINT32_MAX;
	for (size_t at = 0; !x->n.damaged && at < n; at += sizeof(h) + h.len) {
		x->n.damaged = !head_at(x->p, n, at, &h) || !(is_stack(&h) || is_newer(&h) ||
							      (h.kind == TY_STK_PIECE && !h.len));
		if (x->n.damaged)
			break;
		if (is_newer(&h)) {
			x->n.newer++;
			continue;
		}
		if (h.kind == TY_STK_PIECE) {
			take_piece(x, &h, &next);
			continue;
		}
		x->n.waits += h.kind == TY_STK_WAIT;
		x->n.wakers += h.kind == TY_STK_WAKER;
		if (vec_push(&x->v,
			     ((struct entry){.ns = h.ns,
					     .tid = h.kind == TY_STK_HOLDER ? h.tid : h.target,
					     .off = (uint32_t)at,
					     .kind = h.kind}))) {
			ty_stack_index_free(x);
			return NULL;
		}
	}
	vec_sort(&x->v, by_thread);
	return x;
}

void ty_stack_index_free(struct ty_stack_index *x)
{
	if (!x)
		return;
	vec_fini(&x->v);
	free(x);
}

struct ty_stack_counts ty_stack_counts(const struct ty_stack_index *x)
{
	return x ? x->n : (struct ty_stack_counts){0};
}

/* The first entry of the kind that is not before (tid, ns). */
static size_t first_at(const struct ty_stack_index *x, uint8_t kind, uint32_t tid, uint64_t ns)
{
	const struct entry want = {.ns = ns, .tid = tid, .kind = kind};

	return partition_point(i, (size_t)0, x->v.n, by_thread(&x->v.v[i], &want) < 0);
}

static void give(const struct ty_stack_index *x, const struct entry *e, struct ty_stack *out)
{
	const uint8_t *p = x->p + e->off;
	size_t words;

	*out = (struct ty_stack){0};
	memcpy(&out->head, p, sizeof(out->head));
	p += sizeof(out->head);
	memcpy(out->kernel, p, 8u * out->head.kernel_n);
	p += 8u * out->head.kernel_n;
	memcpy(out->regs, p, 8u * out->head.regs_n);
	words = 8u * out->head.regs_n + 8u * out->head.kernel_n;
	out->bytes = p + 8u * out->head.regs_n;
	out->bytes_n = out->head.len - words;
}

bool ty_stack_of_wait(const struct ty_stack_index *x, int32_t tid, uint64_t from_ns, uint64_t to_ns,
		      struct ty_stack *out)
{
	const size_t i = x ? first_at(x, TY_STK_WAIT, (uint32_t)tid, from_ns) : 0;
	const struct entry *e = x && i < x->v.n ? &x->v.v[i] : NULL;

	if (!e || e->kind != TY_STK_WAIT || e->tid != (uint32_t)tid || e->ns > to_ns)
		return false;
	give(x, e, out);
	return true;
}

bool ty_stack_of_waker(const struct ty_stack_index *x, int32_t woken_tid, uint64_t from_ns,
		       uint64_t to_ns, struct ty_stack *out)
{
	const size_t i = x && to_ns < UINT64_MAX
				 ? first_at(x, TY_STK_WAKER, (uint32_t)woken_tid, to_ns + 1)
				 : 0;
	const struct entry *e = i ? &x->v.v[i - 1] : NULL;

	if (!e || e->kind != TY_STK_WAKER || e->tid != (uint32_t)woken_tid || e->ns < from_ns)
		return false;
	give(x, e, out);
	return true;
}

/* The string of n bytes with its NUL at *p, which is moved behind it; NULL: it is none. */
static const char *take_string(const uint8_t **p, const uint8_t *end, size_t n)
{
	const char *s = (const char *)*p;

	if (n < 2 || n > (size_t)(end - *p) || memchr(s, 0, n) != s + n - 1)
		return NULL;
	*p += n;
	return s;
}

unsigned ty_stack_python(const struct ty_stack_index *x, const struct ty_stack *wait,
			 struct ty_python_frame *out, enum ty_stk_python_end *end)
{
	const size_t i = first_at(x, TY_STK_PYTHON, wait->head.tid, wait->head.ns);
	const struct entry *e = i < x->v.n ? &x->v.v[i] : NULL;
	struct ty_stk_python f;
	const uint8_t *p, *to;
	struct ty_stk_head h;
	unsigned n = 0;

	if (!e || e->kind != TY_STK_PYTHON || e->tid != wait->head.tid || e->ns != wait->head.ns)
		return 0;
	p = x->p + e->off;
	memcpy(&h, p, sizeof(h));
	p += sizeof(h);
	to = p + h.len;
	*end = h.flags;
	for (; p < to && n < TY_STK_PYTHON_MAX; n++) {
		*end = TY_STK_PYTHON_INVALID;
		if ((size_t)(to - p) < sizeof(f))
			break;
		memcpy(&f, p, sizeof(f));
		p += sizeof(f);
		out[n] = (struct ty_python_frame){.line = f.line <= INT32_MAX ? f.line : 0,
						  .entry = f.entry};
		out[n].file = take_string(&p, to, f.file_n);
		out[n].name = out[n].file ? take_string(&p, to, f.name_n) : NULL;
		if (!out[n].name)
			break;
		*end = h.flags;
	}
	return n;
}

unsigned ty_stack_holder_of(const struct ty_stack_index *x, int32_t tid, uint64_t from_ns,
			    uint64_t to_ns, struct ty_stk_head *out)
{
	unsigned n = 0;

	for (size_t i = x ? first_at(x, TY_STK_HOLDER, (uint32_t)tid, from_ns) : 0;
	     x && i < x->v.n && x->v.v[i].kind == TY_STK_HOLDER && x->v.v[i].tid == (uint32_t)tid &&
	     x->v.v[i].ns <= to_ns;
	     i++) {
		struct ty_stk_head h;

		memcpy(&h, x->p + x->v.v[i].off, sizeof(h));
		n = n && h.target == out->target && h.aux == out->aux && h.flags == out->flags
			    ? n + 1
			    : 1;
		*out = h;
	}
	return n;
}

bool ty_stack_nth(const struct ty_stack_index *x, size_t i, struct ty_stack *out)
{
	if (i >= x->v.n || x->v.v[i].kind != TY_STK_WAIT)
		return false;
	give(x, &x->v.v[i], out);
	return true;
}

/* mappings ----------------------------------------------------------------------------------------
 */

static int add_map(struct ty_code *code, const struct ty_stk_head *h, const uint8_t *p)
{
	struct ty_stk_map m;
	const char *path = (const char *)p + sizeof(m);
	int file;

	if (h->len <= sizeof(m) || p[h->len - 1])
		return -TY_EFORMAT;
	memcpy(&m, p, sizeof(m));
	if (m.build_id_n > sizeof(m.build_id) || !m.bytes || m.start + m.bytes < m.start ||
	    !memchr(path, 0, h->len - sizeof(m)))
		return -TY_EFORMAT;
	file = ty_code_file(code, path, m.build_id, m.build_id_n);
	return file < 0 ? file
			: ty_code_map(code, (int32_t)h->pid, h->ns, m.start, m.bytes, m.off, file);
}

int ty_stack_maps(const void *section, size_t n, struct ty_code *code)
{
	const uint8_t *p = section;
	struct ty_stk_head h;
	int e = 0;

	for (size_t at = 0; at < n && !e; at += sizeof(h) + h.len) {
		if (!head_at(p, n, at, &h) || h.pid > INT32_MAX || h.target > INT32_MAX)
			return false;
		if (h.kind == TY_STK_MAP)
			e = add_map(code, &h, p + at + sizeof(h));
		else if (h.kind == TY_STK_EXEC)
			e = ty_code_exec(code, (int32_t)h.pid, h.ns);
		else if (h.kind == TY_STK_FORK)
			e = ty_code_fork(code, (int32_t)h.target, (int32_t)h.pid, h.ns);
		else if (h.kind != TY_STK_PIECE && !is_newer(&h))
			e = -TY_EFORMAT;
	}
	return e == -TY_ENOMEM ? e : !e;
}
