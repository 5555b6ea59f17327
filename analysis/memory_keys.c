/* SPDX-License-Identifier: MIT */
/*
 * Counts by key (memory_table.h). Keys are numbers that the points have already, except for pages,
 * which are processed in portions that fit the memory. Budget: a dozen instructions per sample and
 * table; for a page a cache miss, overlapped by prefetching.
 */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "heap.h"
#include "memory_table.h"

#define SOURCES (TY_MEM_LV_COUNT << 8) /* level << 8 | src_flags */

static int count_page(struct ty_memory_tab *t, uint64_t key, uint32_t *id)
{
	bool fresh;
	int r;

	if (t->pages.keys.n >= t->keys_max && ty_mem_id_find(&t->pages, key) == UINT32_MAX)
		return ty_key_range_less(&t->range);
	r = ty_mem_id(&t->pages, key, id, &fresh);
	return !r && fresh ? vec_push(&t->counts, (struct ty_memory_counted){0}) : r;
}

static inline void count(struct ty_memory_counted *c, const struct ty_mem_point *o)
{
	c->count++;
	c->cycles += o->flags & TY_MP_HAS_LAT ? o->total : 0;
}

TY_INLINE void count_by(enum ty_memory_by by, struct ty_memory_tab *t, const struct ty_mem_point *o,
			uint32_t n)
{
	for (const struct ty_mem_point *end = o + n; o < end; o++)
		if (ty_memory_is_about(by, o))
			count(&t->counts.v[ty_memory_key(by, t, o)], o);
}

/* All keys of the block first: so the look-ups' waits overlap. */
static int count_pages(struct ty_memory_tab *t, const struct ty_mem_point *o, uint32_t n)
{
	bool some = !ty_key_range_is_all(&t->range);
	uint64_t key[TY_BLOCK_ROWS];
	uint16_t at[TY_BLOCK_ROWS];
	uint32_t keys = 0, id;
	int r = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!ty_memory_is_about(TY_MEMORY_BY_PAGE, &o[i]))
			continue;
		key[keys] = ty_memory_key(TY_MEMORY_BY_PAGE, t, &o[i]);
		if (some && !ty_key_in(&t->range, key[keys]))
			continue;
		ty_mem_id_soon(&t->pages, key[keys]);
		at[keys++] = (uint16_t)i;
	}
	for (uint32_t i = 0; i < keys; i++) {
		r = count_page(t, key[i], &id);
		if (r || t->range.again)
			break;
		count(&t->counts.v[id], &o[at[i]]);
	}
	return r;
}

/* By function is by instruction first. */
static int count_rows(struct ty_memory_tab *t, const struct ty_mem_point *rows, uint32_t n)
{
	switch (t->request->by) {
	case TY_MEMORY_BY_PC:
	case TY_MEMORY_BY_FUNCTION: count_by(TY_MEMORY_BY_PC, t, rows, n); break;
	case TY_MEMORY_BY_SOURCE: count_by(TY_MEMORY_BY_SOURCE, t, rows, n); break;
	case TY_MEMORY_BY_PAGE: return count_pages(t, rows, n);
	case TY_MEMORY_BY_THREAD: count_by(TY_MEMORY_BY_THREAD, t, rows, n); break;
	default: count_by(TY_MEMORY_BY_BRANCH, t, rows, n); break;
	}
	return 0;
}

static int no_counts(struct ty_memory_tab *t, size_t n)
{
	ty_mem_ids_fini(&t->pages);
	t->counts.n = 0;
	if (vec_reserve(&t->counts, n))
		return -TY_ENOMEM;
	if (n)
		memset(t->counts.v, 0, n * sizeof(*t->counts.v));
	t->counts.n = n;
	return 0;
}

static int count_begin(struct ty_memory_tab *t)
{
	t->range = ty_key_range_all(t);
	t->counting = !t->same;
	t->best = malloc(((size_t)t->request->top + 1) * sizeof(*t->best));
	if (!t->best)
		return -TY_ENOMEM;
	switch (t->request->by) {
	case TY_MEMORY_BY_SOURCE: return no_counts(t, SOURCES);
	case TY_MEMORY_BY_THREAD: return no_counts(t, t->p->threads);
	case TY_MEMORY_BY_PAGE: return no_counts(t, 0);
	default: return t->same ? 0 : no_counts(t, t->p->codes);
	}
}

ORDER(rank_order, struct ty_memory_rank,
      compare(b->c.cycles, a->c.cycles) ?: compare(b->c.count, a->c.count) ?:
      compare(a->key, b->key))

/* The one that comes last in order is on top of the heap. */
static bool comes_after(const void *none, const struct ty_memory_rank *x,
			const struct ty_memory_rank *y)
{
	return rank_order(x, y) > 0;
}

/* The counts by instruction become those by function. */
static int fold(struct ty_memory_tab *t)
{
	const uint32_t *of = t->request->function_of_pc;
	VEC(struct ty_memory_counted) sum = {0};
	uint32_t n = 0;

	for (uint32_t pc = 0; pc < t->p->codes; pc++)
		n = of[pc] >= n ? of[pc] + 1 : n;
	if (vec_reserve(&sum, n))
		return -TY_ENOMEM;
	if (n)
		memset(sum.v, 0, n * sizeof(*sum.v));
	for (uint32_t pc = 0; pc < t->p->codes; pc++) {
		const struct ty_memory_counted *c = &(t->same ? t->same : t)->counts.v[pc];

		sum.v[of[pc]].count += c->count;
		sum.v[of[pc]].cycles += c->cycles;
	}
	vec_fini(&t->counts);
	t->counts.v = sum.v;
	t->counts.n = n;
	t->counts.cap = sum.cap;
	return 0;
}

/* What a pass has counted; the next one's keys. */
static int count_end(struct ty_memory_tab *t)
{
	bool whole = !t->range.again;
	int r = t->request->by == TY_MEMORY_BY_FUNCTION ? fold(t) : 0;

	for (size_t i = 0; !r && whole && i < t->counts.n; i++) {
		struct ty_memory_rank v = {t->counts.v[i], t->request->by == TY_MEMORY_BY_PAGE
								   ? t->pages.keys.v[i]
								   : i};

		t->out->keys += !!v.c.count;
		t->out->samples += v.c.count;
		if (v.c.count)
			heap_keep(t->best, t->best_n, t->request->top, &v, comes_after, NULL);
	}
	t->counting = ty_key_range_next(&t->range);
	return !r && t->counting ? no_counts(t, 0) : r;
}

/* Rows by key, of keys that are few enough to be numbers of an array. */
static int number(struct ty_memory_tab *t, size_t keys)
{
	const uint32_t *of =
		t->request->by == TY_MEMORY_BY_FUNCTION ? t->request->function_of_pc : NULL;
	uint32_t *row = malloc((keys + 1) * sizeof(*row));

	if (!row)
		return -TY_ENOMEM;
	memset(row, 0xff, (keys + 1) * sizeof(*row));
	for (uint32_t i = 0; i < t->best_n; i++)
		row[t->best[i].key] = i;
	if (of) {
		t->row_of = malloc(((size_t)t->p->codes + 1) * sizeof(*t->row_of));
		for (uint32_t pc = 0; t->row_of && pc < t->p->codes; pc++)
			t->row_of[pc] = row[of[pc]];
		free(row);
	} else {
		t->row_of = row;
	}
	return t->row_of ? 0 : -TY_ENOMEM;
}

/* Number the rows that are shown. */
static int choose(struct ty_memory_tab *t)
{
	size_t keys = t->counts.n;
	uint32_t id;
	bool fresh;
	int r;

	vec_fini(&t->counts);
	ty_mem_ids_fini(&t->pages);
	qsort(t->best, t->best_n, sizeof(*t->best), rank_order);
	t->out->rows_n = t->best_n;
	t->out->rows = calloc((size_t)t->best_n + 1, sizeof(*t->out->rows));
	if (!t->out->rows)
		return -TY_ENOMEM;
	if (t->request->by != TY_MEMORY_BY_PAGE)
		return number(t, keys);
	r = 0;
	for (uint32_t i = 0; !r && i < t->best_n; i++) {
		t->maybe[ty_memory_maybe(t->best[i].key)] = 1;
		r = ty_mem_id(&t->shown, t->best[i].key, &id, &fresh);
	}
	return r;
}

static int count_pass(struct ty_memory_group *g)
{
	const struct ty_mem_points *p = g->tab->p;
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	uint32_t n;
	int r = 0;

	for (uint64_t at = 0;
	     !r && (n = ty_mem_points_rows(p, at, g->want | TY_MEM_WANT_TOTAL, rows)); at += n) {
		r = ty_mem_stopped(g->work) ? -TY_EINTR : 0;
		for (unsigned i = 0; !r && i < g->n; i++)
			if (g->tab[i].counting && !g->tab[i].range.again)
				r = count_rows(&g->tab[i], rows, n);
	}
	return r;
}

int ty_memory_tab_keys(struct ty_memory_group *g)
{
	bool more = true;
	int r = 0;

	for (unsigned i = 0; !r && i < g->n; i++)
		r = count_begin(&g->tab[i]);
	while (!r && more) {
		r = count_pass(g);
		more = false;
		/* Backwards: a table that uses another one's counts follows it. */
		for (unsigned i = g->n; !r && i-- > 0;) {
			struct ty_memory_tab *t = &g->tab[i];

			if (t->counting || t->same)
				r = count_end(t);
			t->same = NULL;
			more |= t->counting;
		}
	}
	for (unsigned i = 0; !r && i < g->n; i++)
		r = choose(&g->tab[i]);
	return r;
}
