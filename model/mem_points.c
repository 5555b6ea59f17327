/* SPDX-License-Identifier: MIT */
/* Points as a table: its columns, reading and finishing it (mem_points.h). Budget: 1 ns per field
 * read. Filling: mem_points_fill.c. */
#include "mem_build.h"

#include <stdlib.h>

#include "block_coder.h"
#include "block_column.h"

enum { KEY, BACK, VA, PA, PC, THREAD, EVENTS, TOTAL, ISSUE, XLAT, CPU, WHAT };

#define COL(field)                                                                                 \
	{                                                                                          \
		offsetof(struct ty_mem_row, field), sizeof(((struct ty_mem_row *)0)->field), false \
	}

const struct ty_table_kind ty_mem_kind = {
	.cols = 12,
	.row_bytes = sizeof(struct ty_mem_row),
	.col = {COL(key), COL(back), COL(va), COL(pa), COL(pc1), COL(thread1), COL(events),
		COL(total), COL(issue), COL(xlat), COL(cpu1), COL(what)},
	.length = TY_LEN_NONE,
};

void ty_mem_build_free(struct ty_mem_points *p)
{
	struct ty_mem_build *b = p->build;

	if (!b)
		return;
	(void)ty_block_coder_free(b->coder);
	ty_table_fill_fini(&b->fill);
	ty_mem_codes_free(b->codes);
	ty_mem_ids_fini(&b->threads);
	free(b);
	p->build = NULL;
}

void ty_mem_points_fini(struct ty_mem_points *p)
{
	ty_mem_build_free(p);
	ty_table_detach(&p->table);
	ty_store_free(p->store);
	vec_fini(&p->own_threads);
	vec_fini(&p->own_code);
	vec_fini(&p->own_groups);
	vec_fini(&p->gaps);
	*p = (struct ty_mem_points){0};
}

/* reading ------------------------------------------------------------------------------------- */

#define COLUMN(field, c, add) TY_BLOCK_COLUMN(out[k].field, block, i, n, c, add)

/* n rows from row i of a block on. */
static void decode(const struct ty_mem_points *p, const uint8_t *block, uint32_t i, uint32_t n,
		   unsigned want, struct ty_mem_point *out)
{
	uint64_t wide[TY_BLOCK_ROWS];
	bool doubt = p->table.checked; /* an index file's numbers */

	COLUMN(what, WHAT, 0);
	for (uint32_t k = 0; doubt && k < n; k++)
		if (out[k].level >= TY_MEM_LV_COUNT)
			out[k].level = TY_MEM_LV_UNKNOWN;
	if (want & TY_MEM_WANT_TIME) {
		COLUMN(ts_ns, KEY, 0);
		TY_BLOCK_COLUMN(wide[k], block, i, n, BACK, 0);
		for (uint32_t k = 0; k < n; k++)
			out[k].ts_ns = out[k].flags & TY_MP_HAS_TIME ? out[k].ts_ns - wide[k] : 0;
	}
	if (want & TY_MEM_WANT_VA) {
		COLUMN(va, VA, 0);
		for (uint32_t k = 0; k < n; k++)
			if (!(out[k].flags & (TY_MP_HAS_VA | TY_MP_HAS_TARGET)))
				out[k].va = 0;
	}
	if (want & TY_MEM_WANT_PA) {
		COLUMN(pa, PA, 0);
		for (uint32_t k = 0; k < n; k++)
			if (!(out[k].flags & TY_MP_HAS_PA))
				out[k].pa = 0;
	}
	if (want & TY_MEM_WANT_PC) {
		COLUMN(pc, PC, -1);
		for (uint32_t k = 0; (doubt || p->width) && k < n; k++) {
			if (out[k].pc >= p->codes)
				out[k].pc = UINT32_MAX;
			else if (p->width && !out[k].size)
				out[k].size = p->width[out[k].pc];
		}
	}
	if (want & TY_MEM_WANT_THREAD) {
		COLUMN(thread, THREAD, -1);
		for (uint32_t k = 0; doubt && k < n; k++)
			if (out[k].thread >= p->threads)
				out[k].thread = TY_MEM_NO_THREAD;
	}
	if (want & TY_MEM_WANT_EVENTS)
		COLUMN(events, EVENTS, 0);
	if (want & TY_MEM_WANT_TOTAL)
		COLUMN(total, TOTAL, 0);
	if (want & TY_MEM_WANT_ISSUE)
		COLUMN(issue, ISSUE, 0);
	if (want & TY_MEM_WANT_XLAT)
		COLUMN(xlat, XLAT, 0);
	if (want & TY_MEM_WANT_CPU)
		COLUMN(cpu, CPU, -1);
}

uint32_t ty_mem_points_rows(const struct ty_mem_points *p, uint64_t at, unsigned want,
			    struct ty_mem_point out[TY_BLOCK_ROWS])
{
	uint32_t row = (uint32_t)(p->first + at), n;

	if (at >= p->n)
		return 0;
	n = ty_block_together(&p->table, 0, row);
	n = n < p->n - at ? n : (uint32_t)(p->n - at);
	if (n)
		decode(p, ty_table_block(&p->table, row / TY_BLOCK_ROWS), row % TY_BLOCK_ROWS, n,
		       want, out);
	return n;
}

struct ty_mem_point ty_mem_points_pick(const struct ty_mem_points *p, uint64_t at, unsigned want)
{
	uint32_t row = (uint32_t)(p->first + at);
	struct ty_mem_point o = {0};

	decode(p, ty_table_block(&p->table, row / TY_BLOCK_ROWS), row % TY_BLOCK_ROWS, 1, want, &o);
	return o;
}

void ty_mem_points_between(const struct ty_mem_points *p, uint64_t from_ns, uint64_t to_ns,
			   uint64_t *first, uint64_t *n)
{
	uint64_t to = to_ns < UINT64_MAX - p->back_ns ? to_ns + p->back_ns : UINT64_MAX, last;

	*first = ty_table_before(&p->table, 0, from_ns);
	last = to == UINT64_MAX ? p->n : ty_table_before(&p->table, 0, to);
	*n = last > *first ? last - *first : 0;
}
