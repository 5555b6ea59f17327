/* SPDX-License-Identifier: MIT */
/*
 * Content of the tables' rows (memory_table.h): the values of their samples are collected, or
 * counted, for as many rows at a time as memory allows; likewise the targets of branches, by ranges
 * of their hash. Budget: six instructions per sample and table, fifty more when it belongs to a
 * row.
 */
#include <stdlib.h>

#include "memory_table.h"

#define PAIR_BYTES 160u /* of a target and its row, while their tables grow */

/* `at`: of the sample among the points. */
static void add_access(const struct ty_memory_tab *t, struct ty_memory_row *w, uint64_t at,
		       const struct ty_mem_point *o)
{
	if (!w->count++) {
		bool page = t->request->by == TY_MEMORY_BY_PAGE;

		w->key = page ? o->va >> 12 << 12 : t->best[w - t->out->rows].key;
		w->pid = page ? ty_memory_pid(t, o) : -1;
		w->ts_ns = ty_mem_points_pick(t->p, at, TY_MEM_WANT_TIME).ts_ns;
	}
	if (o->kind == TY_MEM_BRANCH) {
		w->mispredicts += !!(o->events & TY_MEM_EV_MISPREDICT);
		w->not_taken += !!(o->events & TY_MEM_EV_NOT_TAKEN);
	}
	w->loads += o->kind == TY_MEM_LOAD;
	w->stores += o->kind == TY_MEM_STORE;
	if (o->events & (TY_MEM_EV_TLB_ACCESS | TY_MEM_EV_TLB_WALK)) {
		w->tlb++;
		w->walks += !!(o->events & TY_MEM_EV_TLB_WALK);
	}
	if (o->events & (TY_MEM_EV_L1_ACCESS | TY_MEM_EV_L1_MISS)) {
		w->l1++;
		w->l1_miss += !!(o->events & TY_MEM_EV_L1_MISS);
	}
}

static uint64_t value_bytes(uint64_t samples)
{
	uint64_t bytes = samples * sizeof(struct ty_latency_value);

	return bytes < TY_LATENCY_HIST_BYTES ? bytes : TY_LATENCY_HIST_BYTES;
}

/* The samples that belong to rows that are gathered now; how many. */
TY_INLINE uint32_t hits_by(enum ty_memory_by by, const struct ty_memory_tab *t,
			   const struct ty_mem_point *o, uint32_t n, struct ty_memory_hit *hit)
{
	const uint32_t *row_of = t->row_of;
	uint32_t from = t->from, some = t->to - from, hits = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t key;
		uint32_t row;

		if (!ty_memory_is_about(by, &o[i]))
			continue;
		key = ty_memory_key(by, t, &o[i]);
		if (by != TY_MEMORY_BY_PAGE)
			row = row_of[key];
		else if (t->maybe[ty_memory_maybe(key)])
			row = ty_mem_id_find(&t->shown, key);
		else
			continue;
		hit[hits] = (struct ty_memory_hit){i, row};
		hits += row - from < some;
	}
	return hits;
}

static uint32_t hits_of(const struct ty_memory_tab *t, const struct ty_mem_point *o, uint32_t n,
			struct ty_memory_hit hit[TY_BLOCK_ROWS])
{
	switch (t->request->by) {
	case TY_MEMORY_BY_PC:
	case TY_MEMORY_BY_FUNCTION: return hits_by(TY_MEMORY_BY_PC, t, o, n, hit);
	case TY_MEMORY_BY_SOURCE: return hits_by(TY_MEMORY_BY_SOURCE, t, o, n, hit);
	case TY_MEMORY_BY_PAGE: return hits_by(TY_MEMORY_BY_PAGE, t, o, n, hit);
	case TY_MEMORY_BY_THREAD: return hits_by(TY_MEMORY_BY_THREAD, t, o, n, hit);
	default: return hits_by(TY_MEMORY_BY_BRANCH, t, o, n, hit);
	}
}

static int add_target(struct ty_memory_tab *t, uint32_t row, uint64_t address)
{
	struct ty_memory_targets *g = &t->targets;
	uint32_t id;
	bool fresh;
	int r;

	if (g->range.again || !ty_key_in(&g->range, address))
		return 0;
	if (g->pairs.keys.n >= TY_MEMORY_KEYS_MIN && g->pairs.keys.n * PAIR_BYTES > t->keep_bytes)
		return ty_key_range_less(&g->range);
	r = ty_mem_id(&g->addresses, address, &id, &fresh);
	return r ? r : ty_mem_id(&g->pairs, (uint64_t)row << 32 | id, &id, &fresh);
}

static int gather_targets(struct ty_memory_tab *t, const struct ty_mem_point *rows,
			  const struct ty_memory_hit *hit, uint32_t hits)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < hits; i++)
		if (rows[hit[i].at].flags & TY_MP_HAS_TARGET)
			r = add_target(t, hit[i].row, rows[hit[i].at].va);
	return r;
}

/* The values of samples whose rows are known; the block's first is number `at`. */
static void gather_rows(struct ty_memory_tab *t, uint64_t at, const struct ty_mem_point *rows,
			const struct ty_memory_hit *hit, uint32_t hits)
{
	for (uint32_t i = 0; i < hits; i++) {
		const struct ty_mem_point *o = &rows[hit[i].at];
		const struct ty_memory_keep *k = &t->keep[hit[i].row - t->from];
		struct ty_latency_value value = {o->total, o->issue, o->xlat, o->flags};
		struct ty_memory_row *w = &t->out->rows[hit[i].row];

		if (k->value)
			k->value[w->count] = value;
		else
			ty_latency_each(w, value, ty_latency_count, k->hist);
		add_access(t, w, at + hit[i].at, o);
	}
}

/* The next rows, as many as there is room for; at least one. */
static int keep_some(struct ty_memory_tab *t)
{
	uint64_t bytes = 0;
	int r;

	t->from = t->to;
	t->targets.range = ty_key_range_all(t);
	while (t->to < t->out->rows_n) {
		bytes += value_bytes(t->best[t->to].c.count);
		if (t->to > t->from && bytes > t->keep_bytes)
			break;
		t->to++;
	}
	t->keep = calloc((size_t)(t->to - t->from) + 1, sizeof(*t->keep));
	r = t->keep ? 0 : -TY_ENOMEM;
	for (uint32_t i = t->from; !r && i < t->to; i++) {
		struct ty_memory_keep *k = &t->keep[i - t->from];
		uint64_t samples = t->best[i].c.count;

		if (value_bytes(samples) == TY_LATENCY_HIST_BYTES)
			k->hist = calloc(1, TY_LATENCY_HIST_BYTES);
		else
			k->value = malloc((samples + 1) * sizeof(*k->value));
		r = k->hist || k->value ? 0 : -TY_ENOMEM;
	}
	return r;
}

/* Percentiles of values that were kept. hist: of 0, which it leaves; of few values it needs none.
 */
static void use_values(struct ty_memory_row *w, const struct ty_latency_value *value,
		       uint32_t *hist)
{
	struct ty_latency_few few;
	bool sorts = w->count <= TY_LATENCY_FEW;

	for (uint64_t i = 0; i < w->count; i++)
		if (sorts)
			ty_latency_each(w, value[i], ty_latency_insert, &few);
		else
			ty_latency_each(w, value[i], ty_latency_count, hist);
	for (unsigned which = 0; which < TY_LATENCIES; which++)
		if (sorts)
			ty_latency_percentiles_few(ty_latency_of(w, which), few.v[which]);
		else
			ty_latency_percentiles(ty_latency_of(w, which),
					       hist + which * TY_LATENCY_VALUES);
}

static bool has_many(const struct ty_memory_tab *t)
{
	for (uint32_t i = 0; i < t->best_n; i++)
		if (t->best[i].c.count > TY_LATENCY_FEW)
			return true;
	return false;
}

/* Percentiles of the rows that were gathered. */
static void use_kept(struct ty_memory_tab *t, uint32_t *hist)
{
	for (uint32_t i = t->from; t->keep && i < t->to; i++) {
		struct ty_memory_row *w = &t->out->rows[i];
		struct ty_memory_keep *k = &t->keep[i - t->from];

		if (k->value)
			use_values(w, k->value, hist);
		for (unsigned which = 0; k->hist && which < TY_LATENCIES; which++)
			ty_latency_percentiles(ty_latency_of(w, which),
					       k->hist + which * TY_LATENCY_VALUES);
		free(k->value);
		free(k->hist);
	}
	free(t->keep);
	t->keep = NULL;
}

/* Targets of the range are counted; are there more? */
static bool use_targets(struct ty_memory_tab *t)
{
	struct ty_memory_targets *g = &t->targets;

	for (size_t i = 0; !g->range.again && i < g->pairs.keys.n; i++)
		t->out->rows[g->pairs.keys.v[i] >> 32].targets++;
	ty_mem_ids_fini(&g->addresses);
	ty_mem_ids_fini(&g->pairs);
	return ty_key_range_next(&g->range);
}

/* The rows that each table keeps, by one pass. Blocks without any are decoded for their keys only.
 */
static int gather_pass(struct ty_memory_group *g)
{
	const unsigned rest = TY_MEM_WANT_EVENTS | TY_MEM_WANT_TOTAL | TY_MEM_WANT_ISSUE |
			      TY_MEM_WANT_XLAT | (g->branches ? TY_MEM_WANT_VA : 0);
	const struct ty_mem_points *p = g->tab->p;
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	struct ty_memory_hit hit[TY_BLOCK_ROWS];
	uint32_t n;
	bool whole = false; /* a block is likely to be as the one before */
	int r = 0;

	for (uint64_t at = 0;
	     !r && (n = ty_mem_points_rows(p, at, whole ? g->want | rest : g->want, rows));
	     at += n) {
		bool has = whole;

		whole = false;
		r = ty_mem_stopped(g->work) ? -TY_EINTR : 0;
		for (unsigned i = 0; !r && i < g->n; i++) {
			struct ty_memory_tab *t = &g->tab[i];
			uint32_t hits = t->from == t->to ? 0 : hits_of(t, rows, n, hit);

			if (!hits)
				continue;
			if (!has)
				ty_mem_points_rows(p, at, rest & ~g->want, rows);
			has = whole = true;
			gather_rows(t, at, rows, hit, hits);
			if (t == g->branches)
				r = gather_targets(t, rows, hit, hits);
		}
	}
	return r;
}

/* Targets that there was no room for. */
static int targets_pass(struct ty_memory_group *g)
{
	const struct ty_mem_points *p = g->tab->p;
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	struct ty_memory_hit hit[TY_BLOCK_ROWS];
	uint32_t n;
	int r = 0;

	for (uint64_t at = 0;
	     !r && (n = ty_mem_points_rows(p, at, TY_MEM_WANT_PC | TY_MEM_WANT_VA, rows));
	     at += n) {
		r = ty_mem_stopped(g->work) ? -TY_EINTR : 0;
		if (!r)
			r = gather_targets(g->branches, rows, hit,
					   hits_of(g->branches, rows, n, hit));
	}
	return r;
}

int ty_memory_tab_rows(struct ty_memory_group *g)
{
	uint32_t *hist = NULL;
	bool more = true;
	int r = 0;

	for (unsigned i = 0; i < g->n && !hist && !r; i++)
		if (has_many(&g->tab[i]) && !(hist = calloc(1, TY_LATENCY_HIST_BYTES)))
			r = -TY_ENOMEM;
	while (!r && more) {
		more = false;
		for (unsigned i = 0; !r && i < g->n; i++) {
			r = keep_some(&g->tab[i]);
			more |= g->tab[i].from < g->tab[i].to;
		}
		if (!r && more)
			r = gather_pass(g);
		for (unsigned i = 0; i < g->n; i++)
			use_kept(&g->tab[i], hist);
		while (!r && g->branches && use_targets(g->branches))
			r = targets_pass(g);
	}
	free(hist);
	return r;
}
