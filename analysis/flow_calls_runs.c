/* SPDX-License-Identifier: MIT */
/*
 * See flow_calls.h: calls from runs. A call to another function and the return from it, which
 * nearly all are, change the stack here. Budget: 150 instructions for both, with their sums.
 */
#include "flow_calls_priv.h"
#include "flow_walk.h"

/* The call that ended the last run: true, unless it is left to ty_flow_calls_insns. */
static inline bool call(struct ty_flow_calls *c, struct ty_flow_thread *t, uint64_t ts_ns,
			int32_t cpu, uint64_t ip, uint64_t next)
{
	struct ty_flow_stack *s = &t->stack;
	const struct ty_flow_place *p;
	struct ty_flow_frame *f;

	if (ip == next || t->doubt || s->frames.n == s->frames.cap || s->frames.n >= TY_DEPTH_MAX)
		return false;
	p = ty_flow_calls_place(c, t->pid, ts_ns, ip);
	f = &s->frames.v[s->frames.n++];
	f->call.start_ns = ts_ns;
	f->call.end_ns = TY_FLOW_NO_TIME;
	f->call.insns = f->call.self_insns = f->call.children_ns = 0;
	f->call.seq = c->seq++;
	f->call.ip = ip;
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

/* The return that ended the last run, the same. */
static inline bool ret(struct ty_flow_calls *c, struct ty_flow_thread *t, uint64_t ts_ns,
		       uint64_t ip)
{
	struct ty_flow_frame *f = ty_flow_stack_top(&t->stack);

	if (!f || f->call.ret != ip || ty_flow_trait_of(&c->places, f->call.func) != TY_FUNC_PLAIN)
		return false;
	t->doubt = false;
	ty_flow_stack_close(&t->stack, f, ts_ns);
	return true;
}

int ty_flow_calls_runs(struct ty_flow_calls *c, const struct ty_flow *f,
		       const struct ty_flow_at *at, const struct ty_walk_run *runs, size_t n)
{
	struct ty_flow_thread *t = ty_flow_calls_thread(c, at->tid, at->pid);
	struct ty_flow_at now = {.tid = at->tid, .pid = at->pid, .cpu = at->cpu};
	const bool timed = ty_flow_timed(f);
	uint64_t tsc = 0;

	now.ts_ns = TY_FLOW_NO_TIME;
	for (const struct ty_walk_run *r = runs; t && r < runs + n; r++) {
		const uint64_t next = t->ip + t->size;
		struct ty_flow_frame *top;

		if (!timed || r->flags & TY_FF_NO_TIME) {
			now.ts_ns = TY_FLOW_NO_TIME;
		} else if (r->tsc != tsc || now.ts_ns == TY_FLOW_NO_TIME) {
			tsc = r->tsc;
			t->ts_ns = now.ts_ns = ty_flow_ns(f, tsc);
		}
		if (t->have && (t->cls == TY_FC_CALL
					? call(c, t, now.ts_ns, now.cpu, r->ip, next)
					: t->cls == TY_FC_RETURN && ret(c, t, now.ts_ns, r->ip))) {
			top = ty_flow_stack_top(&t->stack);
			if (top) {
				top->call.insns += r->insns;
				top->call.self_insns += r->insns;
			}
		} else {
			ty_flow_calls_insns(c, t, &now, r->ip, r->insns);
		}
		t->ip = r->last;
		t->size = r->size;
		t->cls = r->cls & (uint8_t)~TY_BLOCK_INDIRECT;
		t->indirect = r->cls & TY_BLOCK_INDIRECT;
	}
	if (t && n && timed && runs[n - 1].until)
		t->ts_ns = ty_flow_ns(f, runs[n - 1].until);
	return !t || c->nomem || c->places.nomem ? -TY_ENOMEM : 0;
}
