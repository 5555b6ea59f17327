/* SPDX-License-Identifier: MIT */
/*
 * See flow_calls.h: calls from runs. A call to another function and the return from it, which
 * nearly all are, change the stack here. Budget: 150 instructions for both, with their sums.
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

/* The run was executed. */
static inline void went(struct ty_flow_thread *t, const struct ty_walk_run *r)
{
	t->ip = r->last;
	t->size = r->size;
	t->cls = r->cls & (uint8_t)~TY_BLOCK_INDIRECT;
	t->indirect = r->cls & TY_BLOCK_INDIRECT;
}

int ty_flow_calls_runs(struct ty_flow_calls *c, const struct ty_flow *f,
		       const struct ty_flow_at *at, const struct ty_walk_run *runs, size_t n)
{
	const struct ty_walk_run *const end = runs + n;
	struct ty_flow_thread *t = ty_flow_calls_thread(c, at->tid, at->pid);
	struct ty_flow_at now = {.tid = at->tid, .pid = at->pid, .cpu = at->cpu};
	const uint8_t timed = ty_flow_timed(f) ? TY_FF_NO_TIME : 0;
	uint64_t tsc = 0, ts_ns = TY_FLOW_NO_TIME;

	if (!t)
		return -TY_ENOMEM;
	for (const struct ty_walk_run *r = runs; r < end; r++) {
		/* In most files all have a time, which stays the same for many. */
		if (!(~r->flags & timed)) {
			ts_ns = TY_FLOW_NO_TIME;
		} else if (r->tsc != tsc || ts_ns == TY_FLOW_NO_TIME) {
			tsc = r->tsc;
			t->ts_ns = ts_ns = ty_flow_ns(f, tsc);
		}
		if (r > runs &&
		    (r[-1].cls == TY_FC_CALL ? call(c, t, ts_ns, now.cpu, r)
					     : r[-1].cls == TY_FC_RETURN && ret(c, t, ts_ns, r)))
			continue;
		if (r > runs)
			went(t, r - 1);
		now.ts_ns = ts_ns;
		ty_flow_calls_insns(c, t, &now, r->ip, r->insns);
	}
	if (n)
		went(t, end - 1);
	if (n && timed && end[-1].until)
		t->ts_ns = ty_flow_ns(f, end[-1].until);
	return c->nomem || c->places.nomem ? -TY_ENOMEM : 0;
}
