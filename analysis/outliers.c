/* SPDX-License-Identifier: MIT */
/*
 * See outliers.h. One thread at a time: a first pass over its calls counts their lengths in a
 * histogram per (abi, number), a second one takes the first call in the median's bar.
 */
#include "outliers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log_histogram.h"
#include "compare.h"
#include "cpu_gaps.h"
#include "hash_index.h"
#include "vec.h"
#include "thread_walk.h"

#define GROUPS 512u /* different calls of one thread that are kept apart; Linux has fewer */

struct group {
	struct ty_outlier o;
	unsigned median_bar;
	uint32_t *bar; /* TY_BARS; NULL: not an outlier */
};

struct search {
	const struct ty_explain *x;
	const struct ty_window *w;
	struct group group[GROUPS];
	uint32_t n;
	struct ty_hash_index index; /* of group, by abi and number */
	struct ty_call_rows rows;
	VEC(struct ty_outlier) found;
	uint32_t max;
	uint64_t more, left_out;
};

static struct group *group_of(struct search *s, uint8_t abi, int32_t nr, bool make)
{
	const uint32_t key = (uint32_t)nr * 8 + abi;

	hash_each (at, &s->index, key)
		if (s->group[at].o.nr == nr && s->group[at].o.abi == abi)
			return &s->group[at];
	if (!make || s->n == GROUPS || ty_hash_add(&s->index, key, s->n))
		return NULL;
	s->group[s->n] = (struct group){.o = {.nr = nr, .abi = abi}};
	return &s->group[s->n++];
}

/* Is row i a call to be examined? */
static bool chosen(const struct search *s, uint32_t thread, uint32_t i, struct ty_comm_memo *memo)
{
	const struct ty_call_rows *r = &s->rows;

	if (r->flags[i] & (TY_SF_BEFORE | TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED | TY_SF_SNAPSHOT) ||
	    r->end_ns[i] > s->w->to_ns)
		return false;
	if (s->w->cpus_n && (r->cpu[i] == TY_NONE || !ty_window_cpu(s->w, r->cpu[i])))
		return false;
	return ty_window_comm(s->w, s->x->m, thread, r->start_ns[i], memo);
}

static int count_call(struct search *s, uint32_t call, uint32_t i)
{
	const struct ty_call_rows *r = &s->rows;
	struct group *g = group_of(s, r->abi[i], r->nr[i], true);
	uint64_t ns = r->end_ns[i] - r->start_ns[i];

	if (!g && s->n < GROUPS)
		return -TY_ENOMEM;
	if (!g) {
		s->left_out++;
		return 0;
	}
	if (!g->bar && !(g->bar = calloc(TY_BARS, sizeof(*g->bar))))
		return -TY_ENOMEM;
	g->bar[ty_bar_of(ns)]++;
	if (!g->o.count++ || ns > g->o.slow_ns) {
		g->o.slow = call;
		g->o.slow_ns = ns;
		g->o.slow_start_ns = r->start_ns[i];
	}
	return 0;
}

/* A first call of the median's bar. */
static int take_median(struct search *s, uint32_t call, uint32_t i)
{
	const struct ty_call_rows *r = &s->rows;
	struct group *g = group_of(s, r->abi[i], r->nr[i], false);
	uint64_t ns = r->end_ns[i] - r->start_ns[i];

	if (!g || !g->bar || g->o.median != TY_NONE || ty_bar_of(ns) != g->median_bar)
		return 0;
	g->o.median = call;
	g->o.median_ns = ns;
	g->o.median_start_ns = r->start_ns[i];
	return 0;
}

/* Every chosen call of the thread in the window. */
static int walk(struct search *s, uint32_t thread, int (*each)(struct search *, uint32_t, uint32_t))
{
	const struct ty_model *m = s->x->m;
	uint32_t call = ty_model_syscall_after(m, thread, s->w->from_ns), n;
	uint32_t end = ty_thread_calls(m, thread).to;
	struct ty_comm_memo memo = {0};
	int r = 0;

	while (call != TY_NONE && call < end && !r) {
		n = ty_model_call_rows(m, thread, call, &s->rows);
		for (uint32_t i = 0; i < n && !r; i++) {
			if (s->rows.start_ns[i] >= s->w->to_ns)
				return 0;
			if (s->rows.start_ns[i] >= s->w->from_ns && chosen(s, thread, i, &memo))
				r = each(s, call + i, i);
		}
		if (!n)
			break;
		call += n;
	}
	return r;
}

/* Groups without an outlier lose their bars. Is one left? */
static bool any_outlier(struct search *s)
{
	bool any = false;

	for (uint32_t i = 0; i < s->n; i++) {
		struct group *g = &s->group[i];
		uint64_t rank = (g->o.count + 1) / 2, seen = 0, width;
		unsigned b = 0;

		while (seen + g->bar[b] < rank)
			seen += g->bar[b++];
		g->median_bar = b;
		g->o.median = TY_NONE;
		if (g->o.count < TY_OUTLIER_CALLS ||
		    g->o.slow_ns / 2 < ty_bar_begin(b, &width) + width - 1) {
			free(g->bar);
			g->bar = NULL;
		}
		any |= g->bar != NULL;
	}
	return any;
}

ORDER(by_loss, struct ty_outlier,
      compare(b->slow_ns - b->median_ns, a->slow_ns - a->median_ns) ?: compare(a->slow, b->slow))

static void keep_largest(struct search *s)
{
	if (!s->found.n)
		return;
	vec_sort(&s->found, by_loss);
	if (s->found.n > s->max) {
		s->more += s->found.n - s->max;
		s->found.n = s->max;
	}
}

static int look_at(struct search *s, uint32_t thread)
{
	int r;

	s->n = 0;
	ty_hash_clear(&s->index);
	r = walk(s, thread, count_call);
	if (!r && any_outlier(s))
		r = walk(s, thread, take_median);
	for (uint32_t i = 0; i < s->n; i++) {
		struct group *g = &s->group[i];

		g->o.thread = thread;
		if (g->bar && g->o.median != TY_NONE && !r)
			r = vec_push(&s->found, g->o);
		free(g->bar);
	}
	if (s->found.n > 2 * (size_t)s->max + 1000)
		keep_largest(s);
	return r;
}

/* what differs ------------------------------------------------------------------------------ */

static uint64_t gap(const struct ty_outlier_row *r)
{
	return r->slow_ns > r->median_ns ? r->slow_ns - r->median_ns : r->median_ns - r->slow_ns;
}

ORDER(by_gap, struct ty_outlier_row, compare(gap(b), gap(a)) ?: strcmp(a->row, b->row))

static struct ty_outlier_row *row_of(struct ty_outlier *o, const struct ty_ledger_row *row)
{
	uint32_t i = 0;

	while (i < o->n && strcmp(o->rows[i].row, row->row) != 0)
		i++;
	if (i == o->n) {
		o->rows[o->n].span = TY_NONE;
		memcpy(o->rows[o->n++].row, row->row, sizeof(row->row));
	}
	return &o->rows[i];
}

/* Rows of only one of the two name the waker of a single wait with its number. */
static void name_wakers(const struct ty_model *m, struct ty_outlier *o, const struct ty_ledger *of)
{
	char text[TY_LEDGER_ROW_TEXT];

	for (uint32_t i = 0; i < of->n; i++) {
		struct ty_outlier_row *row = row_of(o, &of->rows[i]);

		if (row->slow_ns && row->median_ns)
			continue;
		snprintf(row->row, sizeof(row->row), "%s",
			 ty_ledger_row_text(m, &of->rows[i], text));
		if (of->rows[i].ns == of->rows[i].longest_ns)
			row->span = of->rows[i].span;
	}
}

int ty_outlier_ledgers(const struct ty_explain *x, struct ty_outlier *o, uint32_t median_thread)
{
	struct ty_ledger slow, median = {0};
	int r = ty_ledger_thread(x, o->thread, o->slow_start_ns, o->slow_start_ns + o->slow_ns,
				 &slow);

	if (!r)
		r = ty_ledger_thread(x, median_thread, o->median_start_ns,
				     o->median_start_ns + o->median_ns, &median);
	if (!r && !(o->rows = calloc(slow.n + median.n + 1, sizeof(*o->rows))))
		r = -TY_ENOMEM;
	for (uint32_t i = 0; !r && i < slow.n; i++)
		row_of(o, &slow.rows[i])->slow_ns += slow.rows[i].ns;
	for (uint32_t i = 0; !r && i < median.n; i++)
		row_of(o, &median.rows[i])->median_ns += median.rows[i].ns;
	if (!r) {
		name_wakers(x->m, o, &slow);
		name_wakers(x->m, o, &median);
		qsort(o->rows, o->n, sizeof(*o->rows), by_gap);
	}
	ty_ledger_fini(&slow);
	ty_ledger_fini(&median);
	return r;
}

int ty_outliers_find(const struct ty_explain *x, const struct ty_window *w, uint32_t max,
		     struct ty_outliers *out, struct ty_err *err)
{
	struct search *s = calloc(1, sizeof(*s));
	uint32_t threads = ty_model_summary(x->m)->threads;
	struct ty_explain known = *x;
	struct ty_cpu_gaps gaps = {0};
	int r = s ? 0 : -TY_ENOMEM;

	*out = (struct ty_outliers){0};
	if (s) {
		s->x = x;
		s->w = w;
		s->max = max;
	}
	for (uint32_t i = 0; !r && i < threads; i++) {
		const struct ty_thread *t = ty_model_thread(x->m, i);

		if (t->syscalls_n && (!w->traced_only || t->traced) && ty_window_thread(w, x->m, i))
			r = look_at(s, i);
	}
	if (s) {
		keep_largest(s);
		*out = (struct ty_outliers){.v = s->found.v,
					    .n = (uint32_t)s->found.n,
					    .more = s->more,
					    .left_out = s->left_out};
		ty_hash_fini(&s->index);
	}
	if (!r)
		r = ty_cpu_gaps_find(x->m, w->from_ns, w->to_ns, &gaps);
	known.gaps = &gaps;
	for (uint32_t i = 0; !r && i < out->n; i++)
		r = ty_outlier_ledgers(&known, &out->v[i], out->v[i].thread);
	ty_cpu_gaps_fini(&gaps);
	free(s);
	return r ? ty_fail(err, -r, TY_NO_OFFSET, "cannot compare the slowest calls: %s",
			   ty_strerror(r))
		 : 0;
}

void ty_outlier_fini(struct ty_outlier *o)
{
	free(o->rows);
	free(o->parts);
	*o = (struct ty_outlier){0};
}

void ty_outliers_fini(struct ty_outliers *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		ty_outlier_fini(&o->v[i]);
	free(o->v);
	*o = (struct ty_outliers){0};
}
