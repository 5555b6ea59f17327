/* SPDX-License-Identifier: MIT */
/* See jitdump.h. */
#include "jitdump.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "err.h"
#include "pair_map.h"
#include "checked_read.h"

#define MAGIC 0x4a695444u
enum { LOAD, MOVE, DEBUG_INFO, CLOSE };
enum { FLAG_TSC = 1, HEAD = 40, RECORD_HEAD = 16, ELF_HEAD = 64 };

struct reading {
	VEC(struct ty_jit_load) loads;
	struct ty_pair_map by_index; /* a code's index to its load */
	struct ty_jitdump *out;
	uint64_t lines_addr; /* of the next function, which has the lines from: */
	size_t lines_from;
	uint64_t least; /* offset of a line in its function */
	int (*load)(void *, const struct ty_jit_load *);
	void *ctx;
};

ORDER(by_off, struct ty_code_line, compare(a->off, b->off) ?: compare(a->line, b->line))

/* Lines of the next function. The file of an entry may be that of the previous one. */
static int on_lines(struct reading *g, struct ty_rd *r)
{
	const char *file = NULL;
	uint64_t n;

	g->out->lines.n = g->lines_from; /* lines of a function whose record did not follow */
	g->lines_addr = ty_rd_u64(r);
	for (n = ty_rd_u64(r); n && ty_rd_left(r); n--) {
		struct ty_code_line l = {.off = ty_rd_u64(r) - g->lines_addr,
					 .line = (int)ty_rd_u32(r)};
		const char *name;

		ty_rd_u32(r); /* column */
		name = ty_rd_str(r);
		if (!name)
			break;
		file = strcmp(name, "\xff") ? name : file;
		l.file = file;
		if (file && l.line > 0 && vec_push(&g->out->lines, l))
			return -TY_ENOMEM;
	}
	return n || r->bad ? -TY_EFORMAT : 0;
}

/* Assign those lines to the function. */
static void take_lines(struct reading *g, struct ty_jit_load *l)
{
	size_t n = g->out->lines.n - g->lines_from;
	struct ty_code_line *v;

	if (!n || g->lines_addr != l->addr)
		return;
	v = &g->out->lines.v[g->lines_from];
	l->line = g->lines_from;
	l->lines_n = n;
	qsort(v, n, sizeof(*v), by_off);
	g->least = v->off < g->least ? v->off : g->least;
	g->lines_from += n;
}

static int on_load(struct reading *g, struct ty_rd *r, uint64_t ts)
{
	struct ty_jit_load l = {.ts = ts};
	uint64_t index;
	uint32_t *at;

	ty_rd_u64(r); /* pid, tid */
	ty_rd_u64(r); /* vma: of a dump that was mapped elsewhere; the code ran at addr */
	l.addr = ty_rd_u64(r);
	l.n = ty_rd_u64(r);
	index = ty_rd_u64(r);
	l.name = ty_rd_str(r);
	l.code = ty_rd_bytes(r, l.n);
	if (!l.code || !l.name)
		return -TY_EFORMAT;
	if (!l.n)
		return 0;
	take_lines(g, &l);
	at = ty_pair_map_add(&g->by_index, index, 0);
	if (!at || vec_push(&g->loads, l))
		return -TY_ENOMEM;
	*at = (uint32_t)g->loads.n - 1;
	return g->load(g->ctx, &l);
}

static int on_move(struct reading *g, struct ty_rd *r, uint64_t ts)
{
	uint64_t to, n, index;
	uint32_t at;

	ty_rd_u64(r); /* pid, tid */
	ty_rd_u64(r); /* vma */
	ty_rd_u64(r); /* from where */
	to = ty_rd_u64(r);
	n = ty_rd_u64(r);
	index = ty_rd_u64(r);
	at = ty_pair_map_get(&g->by_index, index, 0);
	if (r->bad || at == TY_PAIR_NONE || n != g->loads.v[at].n)
		return r->bad ? -TY_EFORMAT : 0;
	g->loads.v[at].ts = ts;
	g->loads.v[at].addr = to;
	return g->load(g->ctx, &g->loads.v[at]);
}

int ty_jitdump_read(const uint8_t *p, size_t n, struct ty_jitdump *out,
		    int (*load)(void *ctx, const struct ty_jit_load *l), void *ctx)
{
	struct ty_rd r = ty_rd_init(p, n, false);
	struct reading g = {.load = load, .ctx = ctx, .out = out, .least = UINT64_MAX};
	uint32_t head;
	int e = 0;

	*out = (struct ty_jitdump){0};
	if (n < HEAD || ty_rd_u32(&r) != MAGIC || ty_rd_u32(&r) != 1)
		return -TY_EFORMAT;
	head = ty_rd_u32(&r);
	ty_rd_u64(&r); /* machine, padding */
	out->pid = (int32_t)ty_rd_u32(&r);
	ty_rd_u64(&r); /* when it was begun */
	out->tsc = ty_rd_u64(&r) & FLAG_TSC;
	if (head < HEAD || !ty_rd_bytes(&r, head - HEAD))
		return -TY_EFORMAT;
	while (!e && ty_rd_left(&r) >= RECORD_HEAD) {
		uint32_t id = ty_rd_u32(&r), size = ty_rd_u32(&r);
		uint64_t ts = ty_rd_u64(&r);
		const uint8_t *body =
			size < RECORD_HEAD ? NULL : ty_rd_bytes(&r, size - RECORD_HEAD);
		struct ty_rd b = ty_rd_init(body, body ? size - RECORD_HEAD : 0, false);

		if (!body || id == CLOSE) {
			out->damaged = !body;
			break;
		}
		if (id == LOAD)
			e = on_load(&g, &b, ts);
		else if (id == MOVE)
			e = on_move(&g, &b, ts);
		else if (id == DEBUG_INFO)
			e = on_lines(&g, &b);
		if (e == -TY_EFORMAT) {
			out->damaged = true;
			e = 0;
		}
		out->loads = g.loads.n;
	}
	out->damaged |= ty_rd_left(&r) && ty_rd_left(&r) < RECORD_HEAD;
	out->lines.n = g.lines_from;
	/* V8 adds the size of the ELF header that `perf inject` puts before each function: none of
	 * its functions has a line at its start, which all others' have. */
	vec_each (l, &out->lines)
		l->off -= g.least >= ELF_HEAD ? ELF_HEAD : 0;
	vec_fini(&g.loads);
	ty_pair_map_fini(&g.by_index);
	return e;
}
