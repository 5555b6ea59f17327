/* SPDX-License-Identifier: MIT */
/*
 * See flow_walk_priv.h. A TIP.PGD without an address and without a preceding FUP belongs to a far
 * transfer. When the code reaches a near branch first, the FUP of an interrupt or exception is
 * missing (two page faults on the first instruction of a program look like that). Nothing before
 * that branch is then known to have been executed until tracing begins again: at an address on the
 * path, that is where it was interrupted; elsewhere, the path is a gap. When tracing begins again
 * on the path before a far transfer, the same FUP is missing, and that transfer was not executed.
 */
#include "flow_walk_priv.h"

#ifdef TY_HAVE_IPT

/* Back to where the way to the end of tracing began. */
static void go_back(struct ty_walk *w)
{
	unsigned calls = w->returns_at - w->left.returns_at;

	w->ip = w->left.ip;
	w->block = w->cur = NULL;
	w->out->taken.n = w->left.taken;
	w->out->runs.n = w->left.runs;
	w->run = w->left.run;
	w->done = w->left.done;
	w->returns_at = w->left.returns_at;
	/* What lay deepest in a full ring is overwritten. */
	w->returns_n = calls >= TY_WALK_RETURNS			     ? 0
		       : w->left.returns_n > TY_WALK_RETURNS - calls ? TY_WALK_RETURNS - calls
								     : w->left.returns_n;
	w->left.returns_n = w->returns_n;
}

/* Tracing ended somewhere on the path to here: only the next begin of tracing can show where. */
static int ended_nowhere(struct ty_walk *w)
{
	uint64_t off = (uint64_t)(w->q.event - w->r->bytes);
	int r;

	go_back(w);
	w->leaving = w->on = false;
	w->nowhere = true;
	w->end = w->out->marks.n;
	w->resume = 0;
	ty_walk_take_event(w);
	r = ty_walk_mark(w, (struct ty_walk_mark){.kind = TY_FLOW_GAP,
						  .upto = w->ip,
						  .ip = w->ip,
						  .value = w->out->gaps.n});
	w->ip = 0;
	/* A TIP.PGD without address. */
	return r ? r
		 : vec_push(&w->out->gaps, (struct ty_walk_gap){.off = off,
								.bytes = 1,
								.text = ty_pt_ended_nowhere});
}

/* Tracing begins at `to` after such an end: interrupted there, if that is on the way. */
int ty_walk_find_end(struct ty_walk *w, uint64_t to)
{
	struct ty_walk_mark *m = &w->out->marks.v[w->end];
	const struct ty_block *b = NULL;
	size_t taken = w->out->taken.n;
	const uint64_t tsc = w->tsc;
	const bool timed = w->timed;
	bool same;
	int r = TY_WALK_MORE;

	w->nowhere = false;
	same = w->r->pid_at(w->r->ctx, w->q.event_timed, w->q.event_tsc, NULL) == w->pid;
	go_back(w);
	/* What is executed there is executed before the end. */
	w->tsc = w->left.tsc;
	w->timed = w->left.timed;
	for (unsigned i = 0; same && r == TY_WALK_MORE && i < TY_WALK_IDLE_MAX; i++) {
		b = ty_walk_here(w);
		if (!b || ty_walk_holds(b, to))
			break;
		r = ty_walk_pass(w, b);
	}
	w->tsc = tsc;
	w->timed = timed;
	if (r == -TY_ENOMEM)
		return r;
	if (!same || r != TY_WALK_MORE || !b || !ty_walk_holds(b, to)) {
		go_back(w);
		m->to = to;
		return w->memos ? ty_walk_end_run(w, w->end) : TY_WALK_MORE;
	}
	if (w->memos) {
		ty_walk_partly(w, b, to);
		r = ty_walk_end_run(w, w->end);
		if (r)
			return r;
	}
	m->kind = TY_FLOW_ASYNC;
	m->flags |= TY_FF_INFERRED;
	m->ip = m->upto = w->resume = to;
	m->value = 0;
	for (; m < w->out->marks.v + w->out->marks.n; m++)
		m->at += (uint32_t)(w->out->taken.n - taken);
	return TY_WALK_MORE;
}

/* Is `to` on the way to the far transfer that is said to have ended tracing, before that? */
static bool is_before_far(struct ty_walk *w, uint64_t to)
{
	uint64_t ip = w->left.ip, far = w->out->marks.v[w->end].ip;

	w->block = NULL;
	for (unsigned i = 0; i < TY_WALK_IDLE_MAX && to != far; i++) {
		const struct ty_block *b = ty_blocks_after(w->blocks, NULL, w->pid, w->t_ns, ip);

		if (!b || ty_walk_holds(b, to))
			return b;
		if (ty_block_last(b) == far)
			return false;
		ip = b->end.cls == TY_STEP_DIRECT ? ty_block_target(b) : ty_block_next(b);
	}
	return false;
}

/* Tracing begins at `to` again behind a far transfer: one before which it was interrupted? */
int ty_walk_find_far(struct ty_walk *w, uint64_t to)
{
	struct ty_walk_mark *m = &w->out->marks.v[w->end];
	int r;

	w->far = false;
	if (to == w->resume ||
	    w->r->pid_at(w->r->ctx, w->q.event_timed, w->q.event_tsc, NULL) != w->pid ||
	    !is_before_far(w, to))
		return TY_WALK_MORE;
	/* The time of the end is that of the interruption. */
	m->flags |= w->out->times.n > w->times ? TY_FF_EXACT : 0;
	w->out->times.n = w->times;
	r = ty_walk_find_end(w, to);
	return r == TY_WALK_MORE && w->out->marks.v[w->end].kind == TY_FLOW_STOP ? ty_walk_odd()
										 : r;
}

/* True if the code reaches `to`, where tracing ends, without a branch, as at the end of a filtered
 * address range. */
static bool runs_out(const struct ty_block *b, uint64_t to)
{
	bool passes = b->end.cls == TY_STEP_OTHER || b->end.cls == TY_STEP_REP;

	return (to > b->ip && ty_walk_holds(b, to)) || (passes && to == ty_block_next(b));
}

static uint64_t before(const struct ty_block *b, uint64_t ip)
{
	uint64_t at = b->ip;

	for (unsigned i = 0; at + b->sizes[i] < ip; i++)
		at += b->sizes[i];
	return at;
}

/* Tracing ends by the block's last instruction, if that is one that can. */
int ty_walk_stopped(struct ty_walk *w, const struct ty_block *b)
{
	bool told = !w->q.suppressed;
	uint64_t to = told ? w->q.to : 0;
	bool leaves = b->end.cls == TY_STEP_KERNEL || b->end.far;
	bool call = b->end.call || b->end.cls == TY_STEP_KERNEL;
	struct ty_walk_mark m = {
		.kind = TY_FLOW_STOP, .upto = ty_block_next(b), .ip = ty_block_last(b), .to = to};
	int r;

	if (told && runs_out(b, to)) {
		leaves = true;
		m.upto = to;
		m.ip = before(b, to);
		w->resume = 0;
	} else {
		if (told)
			leaves |= b->end.cls == TY_STEP_COND || b->end.cls == TY_STEP_INDIRECT ||
				  (b->end.cls == TY_STEP_DIRECT && ty_block_target(b) == to);
		else if (!leaves && (b->end.cls == TY_STEP_COND || b->end.cls == TY_STEP_INDIRECT))
			return ended_nowhere(w);
		w->resume = b->end.cls == TY_STEP_DIRECT ? ty_block_target(b)
			    : call			 ? ty_block_next(b)
							 : 0;
	}
	if (!leaves)
		return ty_walk_pass(w, b);
	w->leaving = w->on = false;
	w->far = !told;
	w->times = w->out->times.n;
	ty_walk_take_event(w);
	r = ty_walk_stamp(w, b, m.ip);
	if (w->memos && m.upto < ty_block_next(b))
		(void)ty_walk_partly(w, b, m.upto);
	else if (w->memos)
		ty_walk_whole(w, b);
	w->end = w->out->marks.n;
	return r ? r : ty_walk_mark(w, m);
}

#endif
