/* SPDX-License-Identifier: MIT */
/* See flow_walk_priv.h: runs, times and marks. */
#include "flow_walk_priv.h"

#ifdef TY_HAVE_IPT

#include "huge_alloc.h"

/* From so many runs on there is room for so many (6 MB) in huge pages: a fault for each small page
 * costs as much as following the code. */
enum { RUNS_MANY = 1 << 12, RUNS_HUGE = 1 << 17 };

int ty_walk_more_runs(struct ty_walk *w, size_t n)
{
	struct ty_walked *out = w->out;

	size_t cap = out->runs.cap;

	if (out->runs.n >= TY_WALK_TAKEN_MAX)
		return ty_walk_odd();
	if (out->runs.n + n <= cap)
		return 0;
	if (cap < RUNS_MANY)
		return vec_reserve(&out->runs, out->runs.n + n) ? -TY_ENOMEM : 0;
	cap = cap < RUNS_HUGE ? RUNS_HUGE : 2 * cap;
	return ty_huge_grow((void **)&out->runs.v, out->runs.n, &out->runs.cap, cap,
			    sizeof(*out->runs.v))
		       ? -TY_ENOMEM
		       : 0;
}

unsigned ty_walk_partly(struct ty_walk *w, const struct ty_block *b, uint64_t ip)
{
	uint64_t at = b->ip;
	unsigned n = 0;

	while (at < ip && n < b->insns)
		at += b->sizes[n++];
	if (n > w->done) {
		w->run.insns += n - w->done;
		ty_walk_last_is(w, at - b->sizes[n - 1], b->sizes[n - 1], TY_FC_OTHER);
	}
	w->done = 0;
	return n;
}

int ty_walk_count_time(struct ty_walk *w, const struct ty_block *b, uint64_t ip)
{
	bool split = w->r->each_time;
	int r;

	w->fresh = false;
	if (ip >> 63) {
		size_t was = w->which;

		w->pid = w->r->pid_at(w->r->ctx, true, w->tsc, &w->which);
		split |= was != w->which;
	}
	split |= w->bounded && w->within != ty_walk_is_within(w);
	if (!split && (w->run.insns || ip != w->run.ip)) {
		w->run.until = w->tsc;
		return 0;
	}
	if (split) {
		unsigned n = b ? ty_walk_partly(w, b, ip) : 0;

		r = ty_walk_end_run(w, w->out->marks.n);
		if (r)
			return r;
		w->done = n;
	}
	ty_walk_begin_run(w, ip);
	w->run.flags |= TY_FF_EXACT;
	return 0;
}

int ty_walk_new_time(struct ty_walk *w, uint64_t ip)
{
	w->fresh = false;
	if (ip >> 63)
		w->pid = w->r->pid_at(w->r->ctx, true, w->tsc, NULL);
	if (w->out->times.n >= TY_WALK_TAKEN_MAX)
		return ty_walk_odd();
	return vec_push(&w->out->times, (struct ty_walk_time){.at = (uint32_t)w->out->taken.n,
							      .marks = (uint32_t)w->out->marks.n,
							      .ip = ip,
							      .tsc = w->tsc});
}

int ty_walk_mark(struct ty_walk *w, struct ty_walk_mark m)
{
	int r = w->memos ? ty_walk_end_run(w, w->out->marks.n) : 0;

	if (r)
		return r;
	w->in_gap = false;
	m.at = (uint32_t)w->out->taken.n;
	m.tsc = w->tsc;
	m.flags |= w->fresh ? TY_FF_EXACT : 0;
	m.flags |= w->timed ? 0 : TY_FF_NO_TIME;
	w->fresh = false;
	/* Packets alone make them, 14 bytes of memory each byte: so many are not ordinary. */
	if (w->out->marks.n >= TY_WALK_MARKS_MAX)
		return ty_walk_odd();
	return vec_push(&w->out->marks, m);
}

static int direct(struct ty_walk *w, const struct ty_block *b)
{
	if (b->end.call && ty_block_target(b) != ty_block_next(b))
		ty_walk_remember(w, ty_block_next(b));
	return ty_walk_branch(w, b, ty_block_target(b));
}

int ty_walk_pass(struct ty_walk *w, const struct ty_block *b)
{
	if (b->end.cls == TY_STEP_DIRECT)
		return direct(w, b);
	if (b->end.cls != TY_STEP_OTHER && b->end.cls != TY_STEP_REP)
		return ty_walk_odd();
	if (w->memos)
		ty_walk_whole(w, b);
	w->ip = ty_block_next(b);
	return TY_WALK_MORE;
}

#endif
