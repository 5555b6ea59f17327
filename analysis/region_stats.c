/* SPDX-License-Identifier: MIT */
/* See region_stats.h. One pass picks the regions; they are sorted by name, then by length. */
#include "region_stats.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "event.h"
#include "outlier_parts.h"
#include "vec.h"

struct pick {
	uint64_t length_ns;
	uint32_t name, thread, region;
	uint8_t kind;
	bool timed;
};
typedef VEC(struct pick) picks;

const char *ty_region_kind_name(unsigned kind)
{
	switch (kind) {
	case TY_REG_CALL: return "function";
	case TY_REG_ASYNC_BEGIN: return "async";
	case TY_REG_INSTANT: return "instant";
	case TY_REG_COUNTER: return "counter";
	default: return "region";
	}
}

ORDER(by_name, struct pick,
      compare(a->name, b->name) ?: compare(a->kind, b->kind) ?: compare(b->timed, a->timed) ?:
      compare(a->length_ns, b->length_ns) ?: compare(a->region, b->region))

ORDER(by_name_thread, struct pick,
      compare(a->name, b->name) ?: compare(a->kind, b->kind) ?: compare(a->thread, b->thread) ?:
      compare(b->timed, a->timed) ?: compare(a->length_ns, b->length_ns) ?:
      compare(a->region, b->region))

static bool touches(const struct ty_window *w, const struct ty_region *r)
{
	return r->thread != TY_NONE && r->start_ns < w->to_ns &&
	       (r->end_ns > w->from_ns || r->start_ns >= w->from_ns);
}

static bool is_of(const struct ty_model *m, const struct ty_window *w, const struct ty_region *r,
		  struct ty_comm_memo *memo)
{
	bool tid = !w->tids_n;

	for (uint32_t i = 0; !tid && i < w->tids_n; i++)
		tid = ty_model_tid(m, r->thread, r->start_ns) == w->tids[i];
	return tid && ty_window_comm(w, m, r->thread, r->start_ns, memo);
}

bool ty_region_chosen(const struct ty_model *m, const struct ty_window *w,
		      const struct ty_region *r, struct ty_comm_memo *memo)
{
	return touches(w, r) && is_of(m, w, r, memo);
}

/* Those of a name (NULL: of all), or of the name and kind of one (like). */
static int choose(const struct ty_explain *x, const struct ty_window *w, const char *name,
		  const struct ty_region *like, picks *out, bool *known)
{
	struct ty_comm_memo memo = {0};
	uint32_t n = ty_model_regions(x->m), of = TY_NONE;

	for (uint32_t i = 0; i < n; i++) {
		struct ty_region r = ty_model_region(x->m, i);

		if (!(i & 4095) && ty_explain_stopped(x))
			return -TY_EINTR;
		if (!touches(w, &r))
			continue;
		if (r.thread != of)
			memo = (struct ty_comm_memo){0};
		of = r.thread;
		if (name && strcmp(ty_model_str(x->m, r.name), name) != 0)
			continue;
		if (like && (r.name != like->name || r.kind != like->kind))
			continue;
		*known = true;
		if (!is_of(x->m, w, &r, &memo))
			continue;
		if (vec_push(out, (struct pick){.length_ns = r.end_ns - r.start_ns,
						.name = r.name,
						.thread = r.thread,
						.region = i,
						.kind = r.kind,
						.timed = !r.flags && r.kind != TY_REG_INSTANT &&
							 r.kind != TY_REG_COUNTER}))
			return -TY_ENOMEM;
	}
	return 0;
}

ORDER(by_number, uint32_t, compare(*a, *b))

static void add_counts(const struct ty_explain *x, const struct ty_region *r,
		       struct ty_count_sum *sum)
{
	size_t first, end;

	ty_counts_of(x->counts, ty_model_tid(x->m, r->thread, r->start_ns), &first, &end);
	ty_counts_sum(x->counts, first, end, r->start_ns, r->end_ns, sum);
}

/* Of [p, p + n), which have one name and kind; the timed ones come first, by length. */
static int measure(const struct ty_explain *x, const struct pick *p, size_t n, uint32_t *threads,
		   struct ty_region_stats *s)
{
	uint64_t last_ns = 0;
	size_t half;

	*s = (struct ty_region_stats){.name = p->name,
				      .kind = p->kind,
				      .thread = TY_NONE,
				      .count = n,
				      .slow = TY_NONE,
				      .median = TY_NONE};
	for (size_t i = 0; i < n; i++) {
		struct ty_region r = ty_model_region(x->m, p[i].region);

		if (!(i & 4095) && ty_explain_stopped(x))
			return -TY_EINTR;
		threads[i] = p[i].thread;
		if (r.kind == TY_REG_COUNTER) {
			s->min = !i || r.value < s->min ? r.value : s->min;
			s->max = !i || r.value > s->max ? r.value : s->max;
			s->last = r.start_ns >= last_ns ? r.value : s->last;
			last_ns = r.start_ns >= last_ns ? r.start_ns : last_ns;
		}
		s->lost += !!(r.flags & TY_RGN_LOST);
		s->unended += !!(r.flags & (TY_RGN_OPEN | TY_RGN_ENDED));
		s->unbegun +=
			!(r.flags & TY_RGN_LOST) && r.flags & (TY_RGN_BEFORE | TY_RGN_UNMATCHED);
		if (!p[i].timed)
			continue;
		s->timed++;
		s->elsewhere += !ty_region_of_one_thread(&r);
		if (x->counts && ty_region_of_one_thread(&r))
			add_counts(x, &r, &s->counts);
		s->total_ns += p[i].length_ns;
		s->self_ns += r.self_ns;
	}
	qsort(threads, n, sizeof(*threads), by_number);
	for (size_t i = 0; i < n; i++)
		s->threads += !i || threads[i] != threads[i - 1];
	if (!s->timed) {
		s->p50_ns = s->p90_ns = s->p99_ns = s->max_ns = UINT64_MAX;
		s->total_ns = s->self_ns = UINT64_MAX;
		return 0;
	}
#define RANK(percent) (((uint64_t)(percent)*s->timed + 99) / 100 - 1)
	s->p50_ns = p[RANK(50)].length_ns;
	s->p90_ns = p[RANK(90)].length_ns;
	s->p99_ns = p[RANK(99)].length_ns;
	s->max_ns = p[s->timed - 1].length_ns;
	s->slow = p[s->timed - 1].region;
	half = RANK(50);
	while (half && p[half - 1].length_ns == p[half].length_ns)
		half--;
	s->median = p[half].region;
#undef RANK
	return 0;
}

ORDER(by_total, struct ty_region_stats,
      compare(!a->timed, !b->timed) ?: compare(b->total_ns, a->total_ns) ?:
      compare(a->kind, b->kind) ?: compare(b->count, a->count) ?: compare(a->name, b->name) ?:
      compare(a->thread, b->thread))

/* Rows of the picks, one per name and kind, or per thread of them as well. */
static int add_up(const struct ty_explain *x, picks *p, bool threads, struct ty_region_stats **out,
		  uint32_t *n)
{
	VEC(struct ty_region_stats) v = {0};
	uint32_t *scratch = p->n ? malloc(p->n * sizeof(*scratch)) : NULL;
	int r = p->n && !scratch ? -TY_ENOMEM : 0;

	if (p->n)
		qsort(p->v, p->n, sizeof(*p->v), threads ? by_name_thread : by_name);
	for (size_t i = 0, k; !r && i < p->n; i = k) {
		struct ty_region_stats s;

		for (k = i + 1;
		     k < p->n && p->v[k].name == p->v[i].name && p->v[k].kind == p->v[i].kind &&
		     (!threads || p->v[k].thread == p->v[i].thread);
		     k++)
			;
		r = measure(x, p->v + i, k - i, scratch, &s);
		s.thread = threads ? p->v[i].thread : TY_NONE;
		r = r ? r : vec_push(&v, s);
	}
	free(scratch);
	vec_sort(&v, by_total);
	*out = v.v;
	*n = (uint32_t)v.n;
	return r;
}

/* Histograms of the rows' lengths. */
static int count_lengths(const picks *p, struct ty_region_report *out)
{
	out->lengths = calloc(out->n + (size_t)1, sizeof(*out->lengths));
	if (!out->lengths)
		return -TY_ENOMEM;
	for (uint32_t i = 0; i < out->n; i++)
		vec_each (k, p)
			if (k->timed && k->name == out->v[i].name && k->kind == out->v[i].kind)
				out->lengths[i]
					.count[k->length_ns ? 64 - __builtin_clzll(k->length_ns)
							    : 0]++;
	return 0;
}

/* The slowest of a name beside a median one. */
static int compare_two(const struct ty_explain *x, const struct ty_region_stats *s,
		       struct ty_outlier *o)
{
	struct ty_region slow = ty_model_region(x->m, s->slow),
			 median = ty_model_region(x->m, s->median);

	*o = (struct ty_outlier){.thread = slow.thread,
				 .count = s->timed,
				 .slow_start_ns = slow.start_ns,
				 .slow_ns = slow.end_ns - slow.start_ns,
				 .median_start_ns = median.start_ns,
				 .median_ns = median.end_ns - median.start_ns,
				 .elsewhere = !ty_region_of_one_thread(&slow) ||
					      !ty_region_of_one_thread(&median)};
	return ty_outlier_compare(x, o, median.thread);
}

int ty_region_report_find(const struct ty_explain *x, const struct ty_window *w, const char *name,
			  struct ty_region_report *out)
{
	bool known = false;
	picks p = {0};
	int r;

	*out = (struct ty_region_report){.left_out = ty_model_summary(x->m)->regions_left_out};
	r = choose(x, w, name, NULL, &p, &known);
	r = r ? r : add_up(x, &p, false, &out->v, &out->n);
	if (!r && name) {
		r = known ? add_up(x, &p, true, &out->by_thread, &out->by_thread_n) : -TY_ENOTFOUND;
		r = r ? r : count_lengths(&p, out);
		if (!r && out->n && out->v[0].timed > 1)
			r = compare_two(x, &out->v[0], &out->beside);
	}
	vec_fini(&p);
	return r;
}

int ty_region_slowest_find(const struct ty_explain *x, const struct ty_window *w, uint32_t region,
			   uint32_t max, struct ty_region_slowest *out)
{
	const struct ty_region like = ty_model_region(x->m, region);
	struct ty_region_stats *all = NULL;
	uint32_t n = 0;
	bool known = false;
	picks p = {0};
	int r;

	*out = (struct ty_region_slowest){.other = TY_NONE};
	r = choose(x, w, NULL, &like, &p, &known);
	r = r ? r : add_up(x, &p, false, &all, &n);
	if (!r && n) {
		out->all = *all;
		out->v = calloc(max, sizeof(*out->v));
		r = out->v ? 0 : -TY_ENOMEM;
	}
	/* By length now. */
	for (size_t i = n ? all->timed : 0; !r && i > 0 && out->n < max; i--)
		out->v[out->n++] = p.v[i - 1].region;
	for (size_t i = 0; !r && n && i < all->timed && i <= (all->timed + 1) / 2; i++)
		if (p.v[i].region != all->median)
			out->other = p.v[i].region;
	r = r ? r : add_up(x, &p, true, &out->by_thread, &out->by_thread_n);
	free(all);
	vec_fini(&p);
	return r;
}

void ty_region_slowest_fini(struct ty_region_slowest *s)
{
	free(s->v);
	free(s->by_thread);
	*s = (struct ty_region_slowest){0};
}

void ty_region_report_fini(struct ty_region_report *r)
{
	free(r->v);
	free(r->lengths);
	free(r->by_thread);
	ty_outlier_fini(&r->beside);
	*r = (struct ty_region_report){0};
}
