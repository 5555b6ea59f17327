/* SPDX-License-Identifier: MIT */
/* See flow_sums.h. */
#include "flow_sums.h"

#include <string.h>

#include "compare.h"
#include "huge_alloc.h"

enum { PAIRS_MAX = 1 << 22, LEVELS_MAX = 1 << 24, MANY = 1 << 10 };

/* Room for another function; after many for all that there can be: memory that is not written yet
 * costs nothing, and copying does. */
static int grow(struct ty_flow_sums *s)
{
	if (s->of.n < s->of.cap || s->of.cap < MANY || s->of.cap >= TY_CALLS_FUNCS)
		return vec_reserve(&s->of, s->of.n + 1);
	return ty_huge_grow((void **)&s->of.v, s->of.n, &s->of.cap, TY_CALLS_FUNCS,
			    sizeof(*s->of.v));
}

struct ty_flow_sum *ty_flow_sums_more(struct ty_flow_sums *s, uint32_t func)
{
	while (s->of.n <= func)
		if (grow(s) || vec_push(&s->of, (struct ty_flow_sum){0})) {
			s->nomem = true;
			return NULL;
		}
	return &s->of.v[func];
}

/* As ty_pair_map_add; NULL also when there are too many. */
static uint32_t *pair(struct ty_flow_sums *s, struct ty_pair_map *m, uint64_t a, uint64_t b)
{
	uint32_t *n;

	if (m->pairs.n >= PAIRS_MAX && ty_pair_map_get(m, a, b) == TY_PAIR_NONE) {
		s->many_pairs = true;
		return NULL;
	}
	n = ty_pair_map_add(m, a, b);
	s->nomem |= !n;
	return n;
}

static struct ty_flow_levels *levels_of(struct ty_flow_sums *s, int32_t pid, int32_t tid)
{
	uint32_t *at = pair(s, &s->threads, (uint32_t)pid, (uint32_t)tid);

	if (!at)
		return NULL;
	if (*at == TY_PAIR_NONE) {
		if (vec_push(&s->levels, (struct ty_flow_levels){.tid = tid, .pid = pid})) {
			s->nomem = true;
			return NULL;
		}
		*at = (uint32_t)s->levels.n - 1;
	}
	return s->last = &s->levels.v[*at];
}

uint32_t *ty_flow_sums_new_level(struct ty_flow_sums *s, const struct ty_flow_call *c)
{
	struct ty_flow_levels *l = s->last && s->last->pid == c->pid && s->last->tid == c->tid
					   ? s->last
					   : levels_of(s, c->pid, c->tid);
	uint32_t *more;
	size_t want;

	if (!l || c->func < l->n)
		return l ? &l->of[c->func] : NULL;
	want = c->func + 1 > 2 * l->n ? c->func + 1 : 2 * l->n;
	if (want - l->n > LEVELS_MAX - s->levels_n) {
		s->many_pairs = true;
		return NULL;
	}
	more = realloc(l->of, want * sizeof(*more));
	if (!more) {
		s->nomem = true;
		return NULL;
	}
	memset(more + l->n, 0, (want - l->n) * sizeof(*more));
	s->levels_n += want - l->n;
	l->of = more;
	l->n = want;
	return &l->of[c->func];
}

/* The calls by the most recent caller are added to those of that caller before. */
static void put_caller(struct ty_flow_sums *s, struct ty_flow_sum *a, uint32_t func)
{
	uint32_t *at = pair(s, &s->callers, func, a->caller);

	if (at && *at == TY_PAIR_NONE) {
		/* Numbered as the pairs are. */
		if (vec_push(&s->caller_calls, 0))
			s->nomem = true;
		else
			*at = (uint32_t)s->caller_calls.n - 1;
	}
	if (at && *at != TY_PAIR_NONE)
		s->caller_calls.v[*at] += a->calls;
	a->others += a->calls;
	a->calls = 0;
}

static void other_caller(struct ty_flow_sums *s, struct ty_flow_sum *a, uint32_t func,
			 uint32_t caller)
{
	if (a->calls)
		put_caller(s, a, func);
	a->caller = caller;
}

static void add_whole(struct ty_flow_sums *s, struct ty_flow_sum *a, const struct ty_flow_call *c,
		      uint64_t ns)
{
	if (ns >= a->max_ns)
		ty_flow_sum_longest(a, c, ns);
	a->max_insns = c->insns > a->max_insns ? c->insns : a->max_insns;
	if (!ty_flow_sums_room(s)) {
		s->beyond++;
	} else if (ty_ranks_add(&a->of_insns, c->insns, &s->ranks) ||
		   ty_ranks_add(&a->of_ns, ns, &s->ranks)) {
		s->nomem = true;
	} else {
		s->kept++;
	}
}

void ty_flow_sums_add(struct ty_flow_sums *s, const struct ty_flow_call *c, bool outermost)
{
	const bool counts = !(c->flags & TY_CALL_BACK); /* once, in however many parts */
	const uint64_t ns = ty_flow_call_ns(c);
	struct ty_flow_sum *a;

	a = c->func == TY_NO_FUNC ? NULL : ty_flow_sum_of(s, c->func);
	if (!a) {
		s->unknown += counts;
		return;
	}
	a->self_insns += c->self_insns;
	if (ns > c->children_ns)
		a->self_ns += ns - c->children_ns;
	if (outermost) {
		a->insns += c->insns;
		a->total_ns += ns;
	}
	if (counts && a->caller != c->caller)
		other_caller(s, a, c->func, c->caller);
	a->calls += counts;
	if (c->flags & TY_CALL_PARTIAL)
		a->not_whole += counts;
	else
		add_whole(s, a, c, ns);
}

void ty_flow_sums_add_many(struct ty_flow_sums *s, const struct ty_flow_call *c, uint64_t n,
			   uint64_t outermost)
{
	struct ty_flow_sum *a = ty_flow_sum_of(s, c->func);

	if (!a)
		return;
	if (a->caller != c->caller)
		other_caller(s, a, c->func, c->caller);
	a->calls += n;
	a->self_insns += n * c->self_insns;
	a->insns += outermost * c->insns;
	if (c->insns > a->max_insns)
		a->max_insns = c->insns;
	if (!a->max_ns)
		ty_flow_sum_longest(a, c, 0);
	if (ty_ranks_add_many(&a->of_insns, c->insns, n, &s->ranks) ||
	    ty_ranks_add_many(&a->of_ns, 0, n, &s->ranks))
		s->nomem = true;
}

ORDER(by_count, struct ty_flow_caller, compare(b->count, a->count) ?: compare(a->func, b->func))

/* By function: its place among n of them, plus 1; NULL: out of memory. */
static uint32_t *places_of(const struct ty_flow_sums *s, const struct ty_flow_func *of, size_t n)
{
	uint32_t *at = calloc(s->of.n, sizeof(*at));

	for (size_t i = 0; at && i < n; i++)
		at[of[i].func] = (uint32_t)i + 1;
	return at;
}

/* First how many, then where they are, then which. */
static void fill(const struct ty_flow_sums *s, const uint32_t *at, struct ty_flow_func *of,
		 size_t n, struct ty_flow_caller *all)
{
	vec_each (p, &s->callers.pairs)
		if (at[p->a] && p->value != TY_PAIR_NONE)
			of[at[p->a] - 1].callers.n++;
	for (size_t i = 0; i < n; i++) {
		of[i].callers.v = all;
		all += of[i].callers.n;
		of[i].callers.n = 0;
	}
	vec_each (p, &s->callers.pairs) {
		struct ty_flow_func *f = at[p->a] ? &of[at[p->a] - 1] : NULL;

		if (f && p->value != TY_PAIR_NONE)
			f->callers.v[f->callers.n++] = (struct ty_flow_caller){
				.func = (uint32_t)p->b, .count = s->caller_calls.v[p->value]};
	}
	for (size_t i = 0; i < n; i++)
		vec_sort(&of[i].callers, by_count);
}

void ty_flow_sums_callers(struct ty_flow_sums *s, struct ty_flow_func *of, size_t n,
			  struct ty_flow_caller **callers)
{
	uint32_t *at = NULL;

	for (size_t i = 0; i < n; i++) {
		struct ty_flow_sum *a = &s->of.v[of[i].func];

		if (a->others && a->calls)
			put_caller(s, a, of[i].func);
	}
	*callers = malloc((n + s->callers.pairs.n + 1) * sizeof(**callers));
	if (*callers && s->callers.pairs.n) {
		at = places_of(s, of, n);
		if (at)
			fill(s, at, of, n, *callers + n);
		s->nomem |= !at;
		free(at);
	}
	/* As of most functions: one. */
	for (size_t i = 0; *callers && i < n; i++) {
		const struct ty_flow_sum *a = &s->of.v[of[i].func];

		if (!a->calls)
			continue;
		(*callers)[i] = (struct ty_flow_caller){.func = a->caller, .count = a->calls};
		of[i].callers.v = &(*callers)[i];
		of[i].callers.n = 1;
	}
	s->nomem |= !*callers;
}

struct ty_flow_func ty_flow_sums_func(struct ty_flow_sums *s, uint32_t func)
{
	struct ty_flow_sum *a = &s->of.v[func];
	const uint64_t n = ty_ranks_count(&a->of_insns);
	struct ty_flow_func f = {.insns = a->insns,
				 .self_insns = a->self_insns,
				 .max_ns = a->max_ns,
				 .max_start_ns = a->max_start_ns,
				 .max_tid = a->max_tid,
				 .func = func,
				 .count = a->others + a->calls,
				 .not_whole = a->not_whole,
				 .total_ns = a->total_ns,
				 .self_ns = a->self_ns,
				 .max_insns = a->max_insns};

	if (!n)
		return f;
	f.p50_insns = ty_ranks_nth(&a->of_insns, ty_flow_rank(n, 50));
	f.p99_insns = ty_ranks_nth(&a->of_insns, ty_flow_rank(n, 99));
	f.p50_ns = ty_ranks_nth(&a->of_ns, ty_flow_rank(n, 50));
	f.p99_ns = ty_ranks_nth(&a->of_ns, ty_flow_rank(n, 99));
	return f;
}

void ty_flow_sums_fini(struct ty_flow_sums *s)
{
	if (s->ranks.outside) /* which most functions have none of */
		vec_each (a, &s->of) {
			ty_ranks_fini(&a->of_insns);
			ty_ranks_fini(&a->of_ns);
		}
	ty_ranks_room_fini(&s->ranks);
	vec_fini(&s->of);
	vec_each (l, &s->levels)
		free(l->of);
	vec_fini(&s->levels);
	vec_fini(&s->caller_calls);
	ty_pair_map_fini(&s->threads);
	ty_pair_map_fini(&s->callers);
}
