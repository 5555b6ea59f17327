/* SPDX-License-Identifier: MIT */
/*
 * Turns and parts: is what a thread waits for a lock that goes from hand to hand; or its share of a
 * work that it has handed out? Budget: TY_STALL_BACK calls or spans of one thread for each
 * question, of ty_stall_shares_out: of each thread that one maker made and that worked meanwhile.
 */
#include <unistd.h>

#include "stalls_priv.h"
#include "talk.h"

/* Does the thread, around t, do what that call waits to be able to do (System V's semaphores): the
 * same operations, and others, too, by which it gives; or it slept there itself? */
static bool takes_there(const struct ty_explain *x, uint32_t thread, uint32_t call, uint64_t t)
{
	const struct ty_thread *th = ty_model_thread(x->m, thread);
	const struct ty_seek q = {.states = 1u << TY_ST_SLEEPING, .min_ns = 1, .nr = -1};
	uint32_t end = th->syscalls_first + th->syscalls_n,
		 i = ty_model_syscall_after(x->m, thread, t);
	struct ty_syscall there = ty_model_syscall(x->m, call);
	uint64_t args[6], other[6];
	bool same = false, differs = false;

	if (!x->args || x->args(x->ctx, &there, args))
		return false;
	i = i < end ? i : end;
	end = end - i > TY_STALL_BACK ? i + TY_STALL_BACK : end;
	i = i - th->syscalls_first > TY_STALL_BACK ? i - TY_STALL_BACK : th->syscalls_first;
	for (; i < end && !(same && differs); i++) {
		struct ty_syscall c = ty_model_syscall_brief(x->m, thread, i);
		uint32_t k;

		if (c.nr != there.nr || c.abi != there.abi)
			continue;
		c = ty_model_syscall(x->m, i);
		if (x->args(x->ctx, &c, other) || other[0] != args[0])
			continue;
		if (other[1] != args[1]) {
			differs = true;
			continue;
		}
		same = true;
		k = ty_model_seek(x->m, (struct ty_track){TY_TRACK_THREAD, thread}, &q, c.start_ns,
				  false);
		if (k != TY_NONE && ty_model_span_brief(x->m, thread, k).start_ns < c.end_ns)
			return true;
	}
	return same && differs;
}

bool ty_stall_takes_turns(const struct ty_hunt *h, const struct ty_cand *c)
{
	if (c->waker.kind != TY_WAKER_THREAD || c->s.syscall == TY_NONE)
		return false;
	if (c->w.kind == TY_STALL_SEMAPHORE)
		return takes_there(h->x, c->waker.thread, c->s.syscall, c->end_ns);
	return c->w.word && ty_stall_waits_on(h->x, c->waker.thread,
					      ty_wait_word(h->x, c->s.syscall), c->end_ns);
}

/* When did the thread, before its wait and after t, begin to hand something to several descriptors?
 * 0: it did not. */
static uint64_t gave_to_several(const struct ty_explain *x, const struct ty_cand *c, uint64_t t)
{
	uint32_t thread = c->s.thread, call = c->s.syscall;
	const struct ty_thread *th = ty_model_thread(x->m, thread);
	uint64_t from = 0;
	int64_t one = -1;
	bool several = false;

	for (unsigned n = 0; call != TY_NONE && call > th->syscalls_first && n < TY_STALL_BACK;
	     n++) {
		struct ty_syscall s = ty_model_syscall_brief(x->m, thread, --call);
		struct ty_talk talk = ty_talk(x, &s);
		int64_t to;

		if (s.start_ns <= t)
			break;
		if (s.ret <= 0 || !(talk.says & TY_GIVES) || talk.gives < 0)
			continue;
		to = ty_stall_given_to(x, thread, s.start_ns);
		if (to <= STDERR_FILENO)
			continue;
		several = several || (one >= 0 && to != one);
		one = to;
		from = s.start_ns;
	}
	return several ? from : 0;
}

/* Has one of both ever woken the other; or is the thread new, and was not seen to hear what was
 * handed out? */
static bool have_to_do(const struct ty_explain *x, const struct ty_cand *c, uint32_t thread)
{
	uint64_t end = ty_model_summary(x->m)->end_ns;

	return ty_stall_last_woke(x, thread, c->s.thread, end) ||
	       ty_stall_last_woke(x, c->s.thread, thread, end) ||
	       ty_stall_just_born(x->m, thread, c->s.start_ns);
}

static uint64_t worked_ns(const struct ty_model *m, uint32_t thread, uint64_t from, uint64_t to)
{
	struct ty_cell cell = {0};

	if (from < to)
		ty_model_cells(m, (struct ty_track){TY_TRACK_THREAD, thread}, from, to, 1, &cell);
	return cell.ns[TY_ST_RUNNING] + cell.ns[TY_ST_RUNNABLE];
}

bool ty_stall_shares_out(const struct ty_hunt *h, const struct ty_cand *c)
{
	const struct ty_explain *x = h->x;
	const struct ty_thread *peer = ty_model_thread(x->m, c->waker.thread);
	uint32_t threads = ty_model_summary(x->m)->threads;
	uint64_t from, works;

	if (peer->forked_by < 0 || !x->args)
		return false;
	from = gave_to_several(x, c,
			       ty_stall_last_woke(x, c->s.thread, c->waker.thread, c->s.start_ns));
	if (!from ||
	    worked_ns(x->m, c->waker.thread, c->s.start_ns, c->end_ns) < c->s.duration_ns / 2)
		return false;
	works = worked_ns(x->m, c->waker.thread, from, c->end_ns);
	for (uint32_t i = 0; i < threads; i++) {
		const struct ty_thread *t = ty_model_thread(x->m, i);

		if (i != c->s.thread && i != c->waker.thread && t->traced &&
		    t->forked_by == peer->forked_by && t->end_ns > from &&
		    t->start_ns < c->end_ns && worked_ns(x->m, i, from, c->end_ns) >= works / 2 &&
		    have_to_do(x, c, i))
			return true;
	}
	return false;
}
