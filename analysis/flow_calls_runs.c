/* SPDX-License-Identifier: MIT */
/*
 * See flow_calls.h: calls from runs. A call to another function and the return from it, which
 * nearly all are, change the stack here; when nothing is called between, not even that. Budget: 150
 * instructions for both, with their sums.
 */
#include "flow_calls_priv.h"
#include "flow_walk.h"

/* The call that ended the run before r: true, unless it is left to ty_flow_calls_insns. */
static inline bool call(struct ty_flow_calls *c, struct ty_flow_thread *t, uint64_t ts_ns,
			int32_t cpu, const struct ty_walk_run *r)
{
	const uint64_t next = r[-1].last + r[-1].size;
	struct ty_flow_stack *s = &t->stack;
	const size_t n = s->frames.n;
	const struct ty_flow_place *p;
	struct ty_flow_frame *f;

	if (r->ip == next || t->doubt || n == s->frames.cap || n >= TY_DEPTH_MAX)
		return false;
	p = ty_flow_calls_place(c, t->pid, ts_ns, r->ip);
	f = &s->frames.v[n];
	s->frames.n = n + 1;
	f->call.start_ns = ts_ns;
	f->call.end_ns = TY_FLOW_NO_TIME;
	f->call.insns = f->call.self_insns = r->insns;
	f->call.children_ns = 0;
	f->call.seq = c->seq++;
	f->call.ip = r->ip;
	f->call.ret = next;
	f->call.tid = t->tid;
	f->call.pid = t->pid;
	f->call.cpu = cpu;
	f->call.func = p->func;
	f->call.flags = 0;
	f->lo = p->lo;
	f->hi = p->hi;
	ty_flow_stack_begin(s, f);
	return true;
}

/* The return that ended the run before r, the same. */
static inline bool ret(struct ty_flow_calls *c, struct ty_flow_thread *t, uint64_t ts_ns,
		       const struct ty_walk_run *r)
{
	struct ty_flow_stack *s = &t->stack;
	struct ty_flow_frame *f = ty_flow_stack_top(s);

	if (!f || f->call.ret != r->ip ||
	    ty_flow_trait_of(&c->places, f->call.func) != TY_FUNC_PLAIN)
		return false;
	t->doubt = false;
	ty_flow_stack_close(s, f, ts_ns);
	if (s->frames.n) {
		f[-1].call.insns += r->insns;
		f[-1].call.self_insns += r->insns;
	}
	return true;
}

/* The call that ended the run before r returns at the end of r: true, and both are done. */
static inline bool leaf(struct ty_flow_calls *c, struct ty_flow_thread *t, uint64_t start_ns,
			uint64_t end_ns, const struct ty_walk_run *r)
{
	struct ty_flow_stack *s = &t->stack;
	struct ty_flow_frame *up = ty_flow_stack_top(s);
	const struct ty_flow_place *p;
	struct ty_flow_call call;

	if (!s->sums || !up || t->doubt || s->frames.n >= TY_DEPTH_MAX || r->ip == r[1].ip)
		return false;
	p = ty_flow_calls_place(c, t->pid, start_ns, r->ip);
	if (ty_flow_trait_of(&c->places, p->func) != TY_FUNC_PLAIN)
		return false;
	call = (struct ty_flow_call){.start_ns = start_ns,
				     .end_ns = end_ns,
				     .insns = r->insns,
				     .self_insns = r->insns,
				     .seq = c->seq++,
				     .tid = t->tid,
				     .pid = t->pid,
				     .func = p->func,
				     .caller = up->call.func};
	s->credit += TY_LOOK_PAID;
	ty_flow_sums_leaf(s->sums, &call);
	up->call.insns += r->insns + r[1].insns;
	up->call.self_insns += r[1].insns;
	if (start_ns != end_ns && start_ns != TY_FLOW_NO_TIME && end_ns != TY_FLOW_NO_TIME)
		up->call.children_ns += end_ns - start_ns;
	return true;
}

/* The run was executed. */
static inline void went(struct ty_flow_thread *t, const struct ty_walk_run *r)
{
	t->ip = r->last;
	t->size = r->size;
	t->cls = r->cls & (uint8_t)~TY_BLOCK_INDIRECT;
	t->indirect = r->cls & TY_BLOCK_INDIRECT;
}

/* The times of runs: in most files all have one, which stays the same for many. */
struct clock {
	const struct ty_flow *f;
	struct ty_flow_thread *t;
	uint64_t tsc, ns;
	uint8_t timed; /* TY_FF_NO_TIME: there are times */
};

static inline uint64_t time_of(struct clock *k, const struct ty_walk_run *r)
{
	if (!(~r->flags & k->timed)) {
		k->ns = TY_FLOW_NO_TIME;
	} else if (r->tsc != k->tsc || k->ns == TY_FLOW_NO_TIME) {
		k->tsc = r->tsc;
		k->t->ts_ns = k->ns = ty_flow_ns(k->f, k->tsc);
	}
	return k->ns;
}

int ty_flow_calls_runs(struct ty_flow_calls *c, const struct ty_flow *f,
		       const struct ty_flow_at *at, const struct ty_walk_run *runs, size_t n)
{
	const struct ty_walk_run *const end = runs + n;
	struct ty_flow_thread *t = ty_flow_calls_thread(c, at->tid, at->pid);
	struct ty_flow_at now = {.tid = at->tid, .pid = at->pid, .cpu = at->cpu};
	struct clock k = {.f = f,
			  .t = t,
			  .ns = TY_FLOW_NO_TIME,
			  .timed = ty_flow_timed(f) ? TY_FF_NO_TIME : 0};

	if (!t)
		return -TY_ENOMEM;
	for (const struct ty_walk_run *r = runs; r < end; r++) {
		const uint64_t ts_ns = time_of(&k, r);

		if (r > runs && r[-1].cls == TY_FC_CALL) {
			if (r->cls == TY_FC_RETURN && r + 1 < end &&
			    r[1].ip == r[-1].last + r[-1].size &&
			    leaf(c, t, ts_ns, time_of(&k, r + 1), r)) {
				r++;
				continue;
			}
			if (call(c, t, ts_ns, now.cpu, r))
				continue;
		} else if (r > runs && r[-1].cls == TY_FC_RETURN && ret(c, t, ts_ns, r)) {
			continue;
		}
		if (r > runs)
			went(t, r - 1);
		now.ts_ns = ts_ns;
		ty_flow_calls_insns(c, t, &now, r->ip, r->insns);
	}
	if (n)
		went(t, end - 1);
	if (n && k.timed && end[-1].until)
		t->ts_ns = ty_flow_ns(f, end[-1].until);
	return c->nomem || c->places.nomem ? -TY_ENOMEM : 0;
}
