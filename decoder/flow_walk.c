/* SPDX-License-Identifier: MIT */
/*
 * See flow_walk.h. When events apply: libipt's pt_event (intel-pt.h): asynchronous ones at their
 * address, "disabled" at the next branch that can leave, others at once. An event that is pending
 * has been read, so no question may be asked before it is applied. Budget: 25 ns per branch.
 */
#include "flow_walk.h"

#include <string.h>

#include "err.h"

void ty_walked_fini(struct ty_walked *w)
{
	vec_fini(&w->taken);
	vec_fini(&w->times);
	vec_fini(&w->marks);
}

#ifdef TY_HAVE_IPT

#include "pt_conf.h"

/* Real code does not run that long without a packet; a loop that is not what ran does. */
enum { IDLE_BLOCKS_MAX = 20000, RETURNS = 64, TAKEN_MAX = 1 << 20 };
enum { MORE, DONE };

struct walk {
	struct ty_blocks *blocks;
	const struct ty_walk_range *r;
	struct ty_walked *out;
	struct pt_query_decoder *q;
	struct pt_event ev;
	bool held;   /* ev is not applied yet */
	bool beyond; /* ev is of the next range */
	bool on, past, timed, fresh;
	bool over; /* packets of the next range were used, and it was not noticed */
	uint64_t pos;
	int status;
	unsigned idle; /* blocks since the last packet */
	int32_t pid;
	uint64_t ip, tsc, t_ns, resume;
	uint64_t last;		   /* instruction executed last since tracing began; 0 */
	uint64_t returns[RETURNS]; /* of calls, for compressed returns: a ring */
	unsigned returns_at, returns_n;
};

static int odd(void)
{
	return -TY_EUNSUPPORTED;
}

/* Has the PSB at the range's end been read? It is read ahead, with branches before it still to ask
 * for, until one of its own events is pending. */
static void where(struct walk *w)
{
	uint64_t pos;

	if (w->r->end >= w->r->n || pt_qry_get_offset(w->q, &pos) < 0 || pos <= w->r->end)
		return;
	w->over = w->past && pos != w->pos;
	w->past = true;
	w->pos = pos;
}

/* The next event, if one is pending, and the time that the decoder has come to. */
static int look(struct walk *w)
{
	uint64_t tsc;

	if (w->status < 0)
		return odd();
	where(w);
	if (!w->held && w->status & pts_event_pending) {
		w->beyond = w->past;
		w->status = pt_qry_event(w->q, &w->ev, sizeof(w->ev));
		if (w->status < 0)
			return odd();
		w->held = true;
		if (!w->beyond)
			where(w);
	}
	if (pt_qry_time(w->q, &tsc, NULL, NULL) >= 0 && (!w->timed || tsc != w->tsc)) {
		w->timed = true;
		w->tsc = tsc;
		w->fresh = true;
		w->t_ns = w->r->ns_of(w->r->ctx, true, tsc);
	}
	return 0;
}

/* A new time belongs to the instruction at ip. */
static int stamp(struct walk *w, uint64_t ip)
{
	if (!w->fresh)
		return 0;
	w->fresh = false;
	if (ip >> 63)
		w->pid = w->r->pid_at(w->r->ctx, true, w->tsc);
	return vec_push(&w->out->times, (struct ty_walk_time){.at = (uint32_t)w->out->taken.n,
							      .marks = (uint32_t)w->out->marks.n,
							      .ip = ip,
							      .tsc = w->tsc});
}

static int mark(struct walk *w, struct ty_walk_mark m)
{
	w->idle = 0;
	m.at = (uint32_t)w->out->taken.n;
	m.tsc = w->tsc;
	m.flags |= w->fresh ? TY_FF_EXACT : 0;
	m.flags |= w->timed ? 0 : TY_FF_NO_TIME;
	w->fresh = false;
	return vec_push(&w->out->marks, m);
}

static int branch(struct walk *w, const struct ty_block *b, uint64_t to)
{
	w->last = b->last;
	w->ip = to;
	if (to == b->next)
		return 0;
	if (w->out->taken.n >= TAKEN_MAX)
		return odd();
	return vec_push(&w->out->taken, (struct ty_taken){.from = b->last, .to = to});
}

static void remember(struct walk *w, uint64_t next)
{
	w->returns[w->returns_at++ % RETURNS] = next;
	if (w->returns_n < RETURNS)
		w->returns_n++;
}

static int direct(struct walk *w, const struct ty_block *b)
{
	if (b->end.call && b->end.target != b->next)
		remember(w, b->next);
	return branch(w, b, b->end.target);
}

/* Ask the packets which way the block's last instruction went. */
static int ask(struct walk *w, const struct ty_block *b)
{
	uint64_t to = b->next;
	int taken = 0, r;

	if (w->held || w->status & pts_eos)
		return odd();
	w->idle = 0;
	if (b->end.cls == TY_STEP_COND) {
		w->status = pt_qry_cond_branch(w->q, &taken);
		to = taken ? b->end.target : b->next;
	} else {
		bool known = false;

		if (b->end.ret) {
			w->status = pt_qry_cond_branch(w->q, &taken);
			known = w->status >= 0;
			if (known && (!taken || !w->returns_n))
				return odd();
			if (known) {
				to = w->returns[--w->returns_at % RETURNS];
				w->returns_n--;
			}
		} else if (b->end.call && !b->end.far) {
			remember(w, b->next);
		}
		if (!known) {
			w->status = pt_qry_indirect_branch(w->q, &to);
			if (w->status < 0 || w->status & pts_ip_suppressed)
				return odd();
		}
	}
	r = look(w);
	r = r ? r : stamp(w, b->last);
	return r ? r : branch(w, b, to);
}

/* Is ip the address of an instruction of the block? */
static bool holds(const struct ty_block *b, uint64_t ip)
{
	uint64_t at = b->ip;

	if (ip < b->ip || ip > b->last)
		return false;
	for (unsigned i = 0; at < ip; i++)
		at += b->sizes[i];
	return at == ip;
}

/* One block further without a question; -TY_EUNSUPPORTED when its end would need one. */
static int pass(struct walk *w, const struct ty_block *b)
{
	if (b->end.cls == TY_STEP_DIRECT)
		return direct(w, b);
	if (b->end.cls != TY_STEP_OTHER && b->end.cls != TY_STEP_REP)
		return odd();
	w->last = b->last;
	w->ip = b->next;
	return 0;
}

/* Tracing ends by the block's last instruction, if that is one that can. */
static int disabled(struct walk *w, const struct ty_block *b)
{
	const struct pt_event ev = w->ev; /* look() reads the next */
	bool leaves = b->end.cls == TY_STEP_KERNEL || b->end.far;
	bool call = b->end.call || b->end.cls == TY_STEP_KERNEL;
	int r;

	if (!ev.ip_suppressed)
		leaves |= b->end.cls == TY_STEP_COND || b->end.cls == TY_STEP_INDIRECT ||
			  (b->end.cls == TY_STEP_DIRECT && b->end.target == ev.variant.disabled.ip);
	if (!leaves)
		return pass(w, b);
	w->resume = b->end.cls == TY_STEP_DIRECT ? b->end.target : call ? b->next : 0;
	r = stamp(w, b->last);
	if (r)
		return r;
	w->held = false;
	w->on = false;
	r = look(w);
	if (r)
		return r;
	r = mark(w, (struct ty_walk_mark){.kind = TY_FLOW_STOP,
					  .upto = b->next,
					  .ip = b->last,
					  .to = ev.ip_suppressed ? 0 : ev.variant.disabled.ip});
	w->last = 0;
	return r;
}

/* Interrupted before the instruction at `at`, which is in the block or further on. */
static int interrupted(struct walk *w, const struct ty_block *b, uint64_t at)
{
	struct ty_walk_mark m = {.kind = TY_FLOW_ASYNC, .upto = at, .ip = at};
	int r;

	if (w->ip != at && !(b && holds(b, at)))
		return b ? pass(w, b) : odd();
	w->held = false;
	w->on = w->ev.type == ptev_async_branch;
	w->ip = at;
	w->resume = at;
	if (w->on) {
		if (w->ev.ip_suppressed)
			return odd();
		m.to = w->ip = w->ev.variant.async_branch.to;
	}
	r = look(w);
	w->last = 0;
	return r ? r : mark(w, m);
}

/* Apply the event that is held, or go one block towards where it applies. */
static int event(struct walk *w)
{
	const struct pt_event ev = w->ev;
	const struct ty_block *b = NULL;
	int r;

	switch (ev.type) {
	case ptev_enabled:
		if (ev.status_update || w->on || ev.ip_suppressed)
			return odd();
		w->ip = ev.variant.enabled.ip;
		w->on = true;
		w->held = false;
		r = look(w);
		w->pid = w->r->pid_at(w->r->ctx, w->timed, w->tsc);
		return r ? r
			 : mark(w, (struct ty_walk_mark){.kind = TY_FLOW_START,
							 .flags = w->ip == w->resume ? TY_FF_RESUMED
										     : 0,
							 .ip = w->ip});
	case ptev_exec_mode:
		if (ev.variant.exec_mode.mode != ptem_64bit)
			return odd();
		w->held = false;
		return look(w);
	case ptev_cbr:
		w->held = false;
		r = look(w);
		return r ? r
			 : mark(w, (struct ty_walk_mark){.kind = TY_FLOW_CBR,
							 .upto = w->on ? w->ip : 0,
							 .value = ev.variant.cbr.ratio});
	case ptev_paging:
	case ptev_async_paging:
	case ptev_vmcs:
	case ptev_async_vmcs:
	case ptev_tick: w->held = false; return look(w);
	case ptev_tsx:
		if (!ev.status_update || ev.variant.tsx.speculative)
			return odd();
		w->held = false;
		return look(w);
	case ptev_disabled:
	case ptev_async_disabled:
	case ptev_async_branch: break;
	default: return odd();
	}
	if (!w->on || ++w->idle > IDLE_BLOCKS_MAX)
		return odd();
	b = ty_blocks_at(w->blocks, w->pid, w->t_ns, w->ip);
	if (ev.type != ptev_disabled)
		return interrupted(w, b,
				   ev.type == ptev_async_disabled ? ev.variant.async_disabled.at
								  : ev.variant.async_branch.from);
	return b ? disabled(w, b) : odd();
}

static int step(struct walk *w)
{
	const struct ty_block *b;

	if (w->held && !w->beyond)
		return event(w);
	if (!w->on)
		return w->past || w->status & pts_eos ? DONE : odd();
	if (w->over || (w->held && !w->r->stops))
		return odd();
	if (!w->held && w->status & pts_eos)
		return DONE;
	b = ty_blocks_at(w->blocks, w->pid, w->t_ns, w->ip);
	if (!b || ++w->idle > IDLE_BLOCKS_MAX)
		return odd();
	if (w->held) {
		if (!holds(b, w->r->stop_ip))
			return pass(w, b);
		w->ip = w->r->stop_ip;
		return DONE;
	}
	return b->end.cls == TY_STEP_COND || b->end.cls == TY_STEP_INDIRECT ||
			       b->end.cls == TY_STEP_KERNEL
		       ? ask(w, b)
		       : pass(w, b);
}

int ty_flow_walk(struct ty_blocks *blocks, const struct ty_walk_range *range, struct ty_walked *out)
{
	struct walk w = {.blocks = blocks, .r = range, .out = out};
	struct pt_config conf;
	int r;

	out->taken.n = out->times.n = out->marks.n = 0;
	ty_pt_conf(&conf, range->cpu, range->bytes, range->n);
	w.q = pt_qry_alloc_decoder(&conf);
	if (!w.q)
		return -TY_ENOMEM;
	w.t_ns = range->ns_of(range->ctx, false, 0);
	w.status = pt_qry_sync_set(w.q, &w.ip, range->off);
	r = w.status < 0 ? odd() : 0;
	w.on = !r && !(w.status & pts_ip_suppressed);
	r = r ? r : look(&w);
	w.pid = range->pid_at(range->ctx, w.timed, w.tsc);
	out->on = w.on;
	out->ip = w.ip;
	if (!r && w.on)
		r = stamp(&w, w.ip);
	while (!r)
		r = step(&w);
	pt_qry_free_decoder(w.q);
	if (r != DONE)
		return r;
	return mark(&w, (struct ty_walk_mark){.kind = TY_WALK_END, .upto = w.on ? w.ip : 0});
}

#else

int ty_flow_walk(struct ty_blocks *blocks, const struct ty_walk_range *range, struct ty_walked *out)
{
	return -TY_EUNSUPPORTED;
}

#endif
