/* SPDX-License-Identifier: MIT */
/* Filling tables: open blocks of rows; see table.h. Their coding: table_code.c. */
#include <stdlib.h>

#include "block_coder.h"
#include "paged_pool.h"
#include "table.h"

#define FIRST_CAP 8u

void ty_table_fill_init(struct ty_table_fill *f, const struct ty_table_kind *kind,
			struct ty_store *store)
{
	*f = (struct ty_table_fill){.kind = kind, .store = store};
}

void ty_table_fill_fini(struct ty_table_fill *f)
{
	if (f->ref.n)
		ty_store_beside(f->store, 0, f->ref.n * ty_table_fill_block_bytes(f));
	for (size_t i = 0; i < f->track.n; i++)
		ty_paged_pool_free(f->pool, f->track.v[i].open);
	vec_fini(&f->track);
	while (f->spare) {
		uint8_t *p = f->spare;

		memcpy(&f->spare, p, sizeof(f->spare));
		ty_paged_pool_free(f->pool, p);
	}
	vec_fini(&f->chain);
	vec_fini(&f->ref);
	vec_fini(&f->next);
	vec_fini(&f->node);
	f->rows = 0;
}

void ty_table_reset(struct ty_table_fill *f)
{
	ty_table_fill_fini(f);
}

/* Code the open block of the track, whose last row ends at end; it is empty then. */
static int code_open(struct ty_table_fill *f, uint32_t track, uint64_t end)
{
	struct ty_track_fill *t = &f->track.v[track];
	uint8_t *rows = t->open;
	uint32_t n = t->n;

	t->n = 0;
	if (!f->coder)
		return ty_table_code(f, track, rows, n, end);
	t->open = NULL;
	return ty_block_coder_put(f->coder, f, track, rows, n, end, t->cap == TY_BLOCK_ROWS,
				  &t->open);
}

static void release(struct ty_table_fill *f, struct ty_track_fill *t)
{
	if (f->pool && t->open && !ty_paged_pool_has(f->pool, t->open))
		f->pool->held -= t->cap * f->kind->row_bytes;
	ty_paged_pool_free(f->pool, t->open);
}

static int grow(struct ty_table_fill *f, struct ty_track_fill *t)
{
	uint32_t cap = t->cap ? t->cap * 4 : FIRST_CAP;
	size_t row = f->kind->row_bytes;
	uint8_t *p = f->pool ? ty_paged_pool_alloc(f->pool, cap * row) : malloc(cap * row);

	if (!p)
		return -TY_ENOMEM;
	memcpy(p, t->open ?: p, t->n * row);
	release(f, t);
	t->open = p;
	t->cap = cap;
	return 0;
}

static struct ty_track_fill *track_of(struct ty_table_fill *f, uint32_t track)
{
	if (track >= f->track.n) {
		if (vec_reserve(&f->track, track + 1))
			return NULL;
		memset(f->track.v + f->track.n, 0, (track + 1 - f->track.n) * sizeof(*f->track.v));
		f->track.n = track + 1;
	}
	return &f->track.v[track];
}

int ty_table_push(struct ty_table_fill *f, uint32_t track, const void *row)
{
	struct ty_track_fill *t = track_of(f, track);
	size_t size = f->kind->row_bytes;
	uint64_t start;
	int r;

	if (!t)
		return -TY_ENOMEM;
	if (f->rows >= UINT32_MAX - 1)
		return -TY_ELIMIT;
	memcpy(&start, row, sizeof(start));
	if (start < t->last_ns)
		start = t->last_ns;
	if (t->n == TY_BLOCK_ROWS) {
		r = code_open(f, track, start);
		if (r)
			return r;
		if (!t->open)
			t->open = f->pool ? ty_paged_pool_alloc(f->pool, TY_BLOCK_ROWS * size)
					  : malloc(TY_BLOCK_ROWS * size);
		if (!t->open) {
			t->cap = 0;
			return -TY_ENOMEM;
		}
	}
	if (t->n == t->cap && grow(f, t))
		return -TY_ENOMEM;
	memcpy(t->open + (size_t)t->n * size, row, size);
	memcpy(t->open + (size_t)t->n * size, &start, sizeof(start));
	t->last_ns = start;
	t->n++;
	f->rows++;
	return 0;
}

int ty_table_seal(struct ty_table_fill *f, uint32_t track, uint64_t end_ns)
{
	struct ty_track_fill *t = track < f->track.n ? &f->track.v[track] : NULL;
	int r = t && t->n ? code_open(f, track, end_ns > t->last_ns ? end_ns : t->last_ns) : 0;

	if (t) {
		release(f, t);
		t->open = NULL;
		t->cap = 0;
	}
	return r;
}

int ty_table_adopt(struct ty_table_fill *f, const struct ty_table *t, uint32_t track)
{
	for (uint32_t b = t->block_first[track]; b < t->block_first[track + 1]; b++) {
		if (vec_push(&f->ref, t->ref[b]) || vec_push(&f->next, UINT32_MAX) ||
		    (f->kind->forest && vec_push(&f->node, t->node[b])) || ty_table_chain(f, track))
			return -TY_ENOMEM;
		f->rows += t->ref[b].rows;
	}
	return 0;
}
