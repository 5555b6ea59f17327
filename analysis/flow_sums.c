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

/* Adds the quick calls of a function to its other counts. */
static void settle(struct ty_flow_sums *s, struct ty_flow_sum *a)
{
	const uint64_t n = a->quick;

	if (!n)
		return;
	a->quick = 0;
	s->calls += n;
	a->f.count += n;
	a->caller_calls += n;
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
		s->caller_calls.v[*at] += a->caller_calls;
	a->caller_calls = 0;
}

static void other_caller(struct ty_flow_sums *s, struct ty_flow_sum *a, uint32_t func,
			 uint32_t caller)
{
	settle(s, a);
	if (a->caller_calls) {
		put_caller(s, a, func);
		a->f.callers.n = 1; /* or more: counted when closed */
	}
	a->caller = caller;
}

static void add_whole(struct ty_flow_sums *s, struct ty_flow_sum *a, const struct ty_flow_call *c,
		      uint64_t ns)
{
	if (ns >= a->f.max_ns)
		ty_flow_sum_longest(a, c, ns);
	a->f.max_insns = c->insns > a->f.max_insns ? c->insns : a->f.max_insns;
	if (!ty_flow_sums_room(s)) {
		s->beyond++;
	} else if (ty_ranks_add(&a->insns, c->insns, &s->held) ||
		   ty_ranks_add(&a->ns, ns, &s->held)) {
		s->nomem = true;
	} else {
		s->kept++;
		a->kept++;
	}
}

void ty_flow_sums_add(struct ty_flow_sums *s, const struct ty_flow_call *c, bool outermost)
{
	const bool counts = !(c->flags & TY_CALL_BACK); /* once, in however many parts */
	const uint64_t ns = ty_flow_call_ns(c);
	struct ty_flow_sum *a;

	a = c->func == TY_NO_FUNC ? NULL : ty_flow_sum_of(s, c->func);
	if (!a) {
		s->calls += counts;
		return;
	}
	a->f.self_insns += c->self_insns;
	if (ns > c->children_ns)
		a->f.self_ns += ns - c->children_ns;
	if (outermost) {
		a->f.insns += c->insns;
		a->f.total_ns += ns;
	}
	if (counts && a->caller != c->caller)
		other_caller(s, a, c->func, c->caller);
	a->quick += counts;
	if (c->flags & TY_CALL_PARTIAL)
		a->f.not_whole += counts;
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
	a->quick += n;
	a->kept += n;
	a->f.self_insns += n * c->self_insns;
	a->f.insns += outermost * c->insns;
	if (c->insns > a->f.max_insns)
		a->f.max_insns = c->insns;
	if (!a->f.max_ns)
		ty_flow_sum_longest(a, c, 0);
	if (ty_ranks_add_many(&a->insns, c->insns, n, &s->held) ||
	    ty_ranks_add_many(&a->ns, 0, n, &s->held))
		s->nomem = true;
}

ORDER(by_count, struct ty_flow_caller, compare(b->count, a->count) ?: compare(a->func, b->func))

/* The callers of all functions: first how many, then where they are, then which. In few passes:
 * what is summed of many functions is in no cache. */
static void close_callers(struct ty_flow_sums *s, struct ty_flow_caller *all)
{
	vec_each (p, &s->callers.pairs)
		s->of.v[p->a].f.callers.n += p->value != TY_PAIR_NONE;
	vec_each (a, &s->of) {
		const size_t n = a->f.callers.n;

		a->f.callers.v = all;
		if (!n && a->caller_calls)
			all[a->f.callers.n++] = (struct ty_flow_caller){.func = a->caller,
									.count = a->caller_calls};
		all += n ? n : a->f.callers.n;
		a->f.callers.n = n ? 0 : a->f.callers.n;
	}
	vec_each (p, &s->callers.pairs) {
		struct ty_flow_func *f = &s->of.v[p->a].f;

		if (p->value != TY_PAIR_NONE)
			f->callers.v[f->callers.n++] = (struct ty_flow_caller){
				.func = (uint32_t)p->b, .count = s->caller_calls.v[p->value]};
	}
	if (!s->callers.pairs.n)
		return;
	vec_each (a, &s->of)
		vec_sort(&a->f.callers, by_count);
}

void ty_flow_sums_callers(struct ty_flow_sums *s, struct ty_flow_caller **callers)
{
	vec_each (a, &s->of) {
		settle(s, a);
		if (!a->f.callers.n) /* as of most functions: one */
			continue;
		if (a->caller_calls)
			put_caller(s, a, (uint32_t)(a - s->of.v));
		a->f.callers.n = 0;
	}
	*callers = malloc((s->of.n + s->callers.pairs.n + 1) * sizeof(**callers));
	s->nomem |= !*callers;
	if (*callers)
		close_callers(s, *callers);
}

void ty_flow_sum_percentiles(struct ty_flow_sum *a)
{
	if (!a->kept)
		return;
	a->f.p50_insns = ty_ranks_nth(&a->insns, ty_flow_rank(a->kept, 50));
	a->f.p99_insns = ty_ranks_nth(&a->insns, ty_flow_rank(a->kept, 99));
	a->f.p50_ns = ty_ranks_nth(&a->ns, ty_flow_rank(a->kept, 50));
	a->f.p99_ns = ty_ranks_nth(&a->ns, ty_flow_rank(a->kept, 99));
}

void ty_flow_sums_fini(struct ty_flow_sums *s)
{
	if (s->held) /* which most functions have none of */
		vec_each (a, &s->of) {
			ty_ranks_fini(&a->insns);
			ty_ranks_fini(&a->ns);
		}
	vec_fini(&s->of);
	vec_each (l, &s->levels)
		free(l->of);
	vec_fini(&s->levels);
	vec_fini(&s->caller_calls);
	ty_pair_map_fini(&s->threads);
	ty_pair_map_fini(&s->callers);
}
