/* SPDX-License-Identifier: MIT */
/* See flow_paths.h. */
#include "flow_paths.h"

#include <stdlib.h>
#include <string.h>

/* Executed so often before it is found out; and so often again, for another caller or time. */
enum { PATHS_MAX = 1 << 12, SEEN = 2, AGAIN = 16 };

static void forget(struct ty_flow_path *p)
{
	free(p->calls);
	free(p->open);
}

static void add_up(struct ty_flow_path *p, struct ty_flow_sums *sums)
{
	for (uint32_t i = 0; p->count && i < p->calls_n; i++) {
		struct ty_flow_path_calls *e = &p->calls[i];
		const struct ty_flow_call call = {.start_ns = p->start_ns,
						  .end_ns = p->start_ns,
						  .insns = e->insns,
						  .self_insns = e->self_insns,
						  .seq = p->seq + e->seq,
						  .tid = p->tid,
						  .func = e->func,
						  .caller = e->caller};

		ty_flow_sums_add_many(sums, &call, p->count * e->n, e->outermost * e->n);
		e->outermost = 0;
	}
	p->count = 0;
}

void ty_flow_paths_add_up(struct ty_flow_paths *p, struct ty_flow_sums *sums)
{
	vec_each (path, &p->v) {
		add_up(path, sums);
		forget(path);
	}
	p->v.n = 0;
}

void ty_flow_paths_fini(struct ty_flow_paths *p)
{
	vec_each (path, &p->v)
		forget(path);
	vec_fini(&p->v);
}

/* A call that is active while the path is found out. */
struct active {
	struct ty_flow_path_open open;
	uint64_t at; /* instructions before it */
	bool inner;
};

struct making {
	struct ty_flow_path path;
	struct active active[TY_WALK_PATH_MAX];
	uint32_t n;
	struct ty_flow_path_calls calls[TY_WALK_PATH_MAX];
};

static uint32_t caller(const struct making *m, uint32_t level)
{
	return level ? m->active[level - 1].open.func : m->path.func;
}

/* false: it is left to run by run. */
static bool begin(struct making *m, struct ty_flow_places *places, uint64_t ts_ns,
		  const struct ty_memo_cut *c, uint64_t at)
{
	const uint64_t ret = c->last + c->size;
	struct active *a = &m->active[m->n];
	const struct ty_flow_place *p;

	if (c->to == ret)
		return false;
	p = ty_flow_place_at(places, m->path.pid, ts_ns, c->to);
	if (p->func == TY_NO_FUNC)
		return false;
	*a = (struct active){.open = {.ip = c->to,
				      .ret = ret,
				      .lo = p->lo,
				      .hi = p->hi,
				      .func = p->func,
				      .seq = m->path.begun++,
				      .trait = (uint8_t)ty_flow_trait_of(places, p->func)},
			     .at = at};
	for (uint32_t i = 0; i < m->n; i++)
		a->inner |= m->active[i].open.func == p->func;
	if (p->func >= m->path.functions)
		m->path.functions = p->func + 1;
	if (p->from_ns > m->path.from_ns)
		m->path.from_ns = p->from_ns;
	if (p->until_ns < m->path.until_ns)
		m->path.until_ns = p->until_ns;
	if (++m->n > m->path.deepest)
		m->path.deepest = m->n;
	return true;
}

static bool end(struct making *m, const struct ty_memo_cut *c, uint64_t at)
{
	struct ty_flow_path_calls *e = m->calls;
	const struct active *a;
	uint64_t insns, self;

	if (!m->n)
		return false;
	a = &m->active[m->n - 1];
	if (a->open.ret != c->to)
		return false;
	if (a->open.trait == TY_FUNC_SETS_JUMP && m->n == 1 && !m->path.jump)
		m->path.jump = c->to;
	else if (a->open.trait != TY_FUNC_PLAIN)
		return false;
	m->n--;
	insns = at - a->at;
	self = insns - a->open.callees;
	*(m->n ? &m->active[m->n - 1].open.callees : &m->path.callees) += insns;
	m->path.ended++;
	while (e < m->calls + m->path.calls_n &&
	       (e->func != a->open.func || e->caller != caller(m, m->n) || e->insns != insns ||
		e->self_insns != self || e->inner != a->inner))
		e++;
	if (e == m->calls + m->path.calls_n) {
		m->path.calls_n++;
		*e = (struct ty_flow_path_calls){.insns = insns,
						 .self_insns = self,
						 .func = a->open.func,
						 .caller = caller(m, m->n),
						 .inner = a->inner};
	}
	e->n++;
	e->seq = a->open.seq > e->seq ? a->open.seq : e->seq;
	return true;
}

/* All events of the path; counted from its first cut on. */
static bool follow(struct making *m, struct ty_flow_places *places, const struct ty_walk_path *p,
		   uint64_t ts_ns)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < p->cuts_n; i++) {
		const struct ty_memo_cut *c = &p->cuts[i];

		at += i ? c->insns : 0;
		if (c->cls == TY_FC_CALL ? !begin(m, places, ts_ns, c, at)
					 : c->cls != TY_FC_RETURN || !end(m, c, at))
			return false;
	}
	for (uint32_t i = 0; i < m->n; i++)
		m->active[i].open.left = at - m->active[i].at;
	return true;
}

static void *copy(const void *from, size_t n)
{
	void *to = malloc(n ? n : 1);

	return to ? memcpy(to, from, n) : NULL;
}

struct ty_flow_path *ty_flow_path_find(struct ty_flow_paths *p, struct ty_flow_places *places,
				       struct ty_flow_sums *sums, const struct ty_walk_run *r,
				       int32_t pid, uint64_t ts_ns, uint32_t func)
{
	struct making m = {.path = {.path = r->path,
				    .pid = pid,
				    .age = places->age,
				    .func = func,
				    .until_ns = UINT64_MAX}};
	struct ty_flow_path *to = &m.path;

	/* What is executed rarely is not worth it. */
	if (++r->path->seen <= SEEN || r->path->seen > SEEN + AGAIN)
		return NULL;
	if (p->v.n >= PATHS_MAX)
		ty_flow_paths_add_up(p, sums);
	to->known = follow(&m, places, r->path, ts_ns);
	to->open_n = m.n;
	if (to->known) {
		to->calls = copy(m.calls, to->calls_n * sizeof(*m.calls));
		to->open = malloc((to->open_n + 1) * sizeof(*to->open));
	}
	for (uint32_t i = 0; to->open && i < m.n; i++)
		to->open[i] = m.active[i].open;
	if ((to->known && (!to->calls || !to->open)) || vec_push(&p->v, *to)) {
		forget(to);
		return NULL;
	}
	r->path->plan = (uint32_t)p->v.n;
	to = &p->v.v[p->v.n - 1];
	return to->known ? to : NULL;
}
