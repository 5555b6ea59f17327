/* SPDX-License-Identifier: MIT */
/*
 * Shared work: whether a thread waits for parts of work that it distributed. Budget: TY_STALL_BACK
 * calls or spans of one thread for each query; for ty_stall_shares_out those of TY_STALL_LOOKED
 * threads with one parent that worked meanwhile, and FDS descriptors (fd_kind.h); for each of
 * these, and once more, the parent of each other thread.
 */
#include <unistd.h>

#include "fd_kind.h"
#include "stalls_priv.h"
#include "syscall_ipc.h"
#include "thread_walk.h"

#define FDS   8	 /* that are looked at for one wait */
#define GIVEN 16 /* what was given to one of them */

/* What a thread does on a set of semaphores. */
struct on_set {
	unsigned same, slept; /* that operation; so often it was waited for */
	bool differs;	      /* does others, too, by which it gives */
};

/*
 * What the thread does, around t, on the set of semaphores that the call waits at. The operations
 * are behind a pointer, which stands for them: so threads with operations on their stacks are
 * unknown, and so are calls without the pointer (ipc(2) of 32-bit programs).
 */
static struct on_set on_set(const struct ty_explain *x, uint32_t thread, uint32_t call, uint64_t t)
{
	struct ty_rows near = ty_calls_near(x->m, thread, t, TY_STALL_BACK);
	struct ty_syscall there = ty_model_syscall(x->m, call);
	struct on_set does = {0};
	bool behind;

	ty_explain_deed(x, &there, &behind);
	for (uint32_t i = near.from; !behind && i < near.to; i++) {
		struct ty_syscall c = ty_model_syscall_brief(x->m, thread, i);

		if (!ty_explain_same_args(x, &c, &there, 1))
			continue;
		if (!ty_explain_same_args(x, &c, &there, 2)) {
			does.differs = true;
			continue;
		}
		does.same++;
		does.slept += ty_sleep_in(x->m, &c) != TY_NONE;
	}
	return does;
}

/* Do both do what the call waits to be able to do, and others, by which they give (or the waker
 * slept there itself)? And did the waiter get through at once now and then, as at a lock: requests
 * and answers, of which each has a semaphore of the set, are waited for each time. */
static bool takes_there(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	struct on_set own = on_set(h->x, c->s.thread, c->s.syscall, c->end_ns),
		      other = on_set(h->x, c->waker.thread, c->s.syscall, c->end_ns);

	return own.slept * 4 <= own.same * 3 && (other.slept || (other.same && other.differs));
}

bool ty_stall_takes_turns(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	if (c->waker.kind != TY_WAKER_THREAD || (c->s.syscall == TY_NONE && !c->w.by_waker))
		return false;
	if (c->w.kind == TY_STALL_SEMAPHORE)
		return takes_there(h, c);
	return c->w.word &&
	       ty_stall_waits_on(h, c->waker.thread, ty_wait_word_of(h->x, &c->w, c->s.syscall),
				 c->end_ns);
}

/* Does what the thread gives to the descriptor, by this call or the next ones, wake a thread of
 * this creator? A reader that did not wait for the first piece yet waits for the next. */
static bool wakes_there(const struct ty_explain *x, uint32_t call, int64_t fd, int32_t maker)
{
	uint32_t thread = ty_model_syscall(x->m, call).thread,
		 threads = ty_model_summary(x->m)->threads, end = ty_thread_calls(x->m, thread).to;
	uint64_t from[GIVEN], to[GIVEN];
	unsigned gave = 0;

	for (unsigned n = 0; call < end && n < TY_STALL_BACK && gave < GIVEN; n++, call++) {
		struct ty_syscall s = ty_model_syscall_brief(x->m, thread, call);
		struct ty_syscall_ipc talk = ty_syscall_ipc(x, &s);
		unsigned says;

		if (!(talk.says & (TY_GIVES | TY_CLOSES)))
			continue;
		says = ty_syscall_ipc_on(x, &s, &talk, fd);
		if (says & TY_CLOSES)
			break;
		if (!(says & TY_GIVES))
			continue;
		from[gave] = s.start_ns;
		to[gave++] = s.end_ns;
	}
	for (uint32_t i = 0; gave && i < threads; i++) {
		if (i == thread || ty_model_thread(x->m, i)->forked_by != maker ||
		    !ty_model_wakeups(x->m, i, from[0], to[gave - 1] + 1))
			continue;
		for (unsigned k = 0; k < gave; k++)
			if (ty_model_wakeups(x->m, i, from[k], to[k] + 1) &&
			    ty_stall_last_woke(x, i, thread, to[k]) >= from[k])
				return true;
	}
	return false;
}

/* Has the descriptor to which the call sends a peer? Not a log file, though another program may
 * follow it; but what was opened by a path, as a FIFO is, when that wakes a thread of those that
 * share the work. */
static bool has_peer(const struct ty_explain *x, int64_t fd, uint32_t call, int32_t maker)
{
	struct ty_syscall s = ty_model_syscall(x->m, call);
	const char *name;
	enum ty_fd_kind k = ty_fd_kind(x, s.thread, (uint64_t)fd, s.start_ns, &name);

	return k == TY_FD_PIPE || k == TY_FD_SOCKET || k == TY_FD_EVENTFD ||
	       (k == TY_FD_FILE && wakes_there(x, call, fd, maker));
}

static bool is_among(int64_t fd, const int64_t *v, unsigned n)
{
	while (n && v[n - 1] != fd)
		n--;
	return n;
}

/* When did the thread, before its wait and after t, begin to send to several descriptors, each with
 * a peer? 0: it did not. */
static uint64_t gave_to_several(const struct ty_explain *x, const struct ty_candidate *c,
				uint64_t t, int32_t maker)
{
	struct ty_calls_back w = ty_calls_before(x->m, c->s.thread, c->s.syscall, TY_STALL_BACK);
	uint64_t from = 0;
	int64_t one = -1, none[FDS]; /* one with a peer; those without */
	unsigned nones = 0;
	bool several = false;

	while (ty_call_back(&w) && w.s.start_ns > t) {
		int64_t to = w.s.ret > 0 ? ty_stall_given_to(x, c->s.thread, w.s.start_ns) : -1;

		if (to <= STDERR_FILENO || is_among(to, none, nones))
			continue;
		if (to != one && !several && !has_peer(x, to, w.call, maker)) {
			if (nones == FDS)
				break;
			none[nones++] = to;
			continue;
		}
		several = several || (one >= 0 && to != one);
		one = to;
		from = w.s.start_ns;
	}
	return several ? from : 0;
}

/* Did the new thread take something that was handed to it, and hand something over then? */
static bool takes_and_gives(const struct ty_explain *x, uint32_t thread)
{
	const struct ty_thread *th = ty_model_thread(x->m, thread);
	bool took = false;

	for (uint32_t k = 0; k < th->syscalls_n && k < TY_STALL_BACK; k++) {
		struct ty_syscall s = ty_model_syscall_brief(x->m, thread, th->syscalls_first + k);
		unsigned says = s.ret > 0 ? ty_syscall_ipc(x, &s).says : 0;

		took = took || says & TY_TAKES;
		if (took && says & TY_GIVES &&
		    ty_stall_given_to(x, thread, s.start_ns) > STDERR_FILENO)
			return true;
	}
	return false;
}

/* Has one of both ever woken the other; or is the thread new, and was not seen to be woken by what
 * was handed out? */
static bool have_to_do(const struct ty_explain *x, const struct ty_candidate *c, uint32_t thread)
{
	uint64_t end = ty_model_summary(x->m)->end_ns;

	return ty_stall_last_woke(x, thread, c->s.thread, end) ||
	       ty_stall_last_woke(x, c->s.thread, thread, end) ||
	       (ty_stall_just_born(x->m, thread, c->s.start_ns) && takes_and_gives(x, thread));
}

bool ty_stall_shares_out(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	const struct ty_explain *x = h->x;
	const struct ty_thread *peer = ty_model_thread(x->m, c->waker.thread);
	uint32_t threads = ty_model_summary(x->m)->threads;
	uint64_t from, works;
	unsigned looked = 0;

	if (peer->forked_by < 0 || !x->args)
		return false;
	if (ty_thread_worked(x->m, c->waker.thread, c->s.start_ns, c->end_ns) <
	    c->s.duration_ns / 2)
		return false;
	from = gave_to_several(x, c,
			       ty_stall_last_woke(x, c->s.thread, c->waker.thread, c->s.start_ns),
			       peer->forked_by);
	if (!from)
		return false;
	works = ty_thread_worked(x->m, c->waker.thread, from, c->end_ns);
	for (uint32_t i = 0; i < threads && looked < TY_STALL_LOOKED; i++) {
		const struct ty_thread *t = ty_model_thread(x->m, i);

		if (i == c->s.thread || i == c->waker.thread || !t->traced ||
		    t->forked_by != peer->forked_by || t->end_ns <= from ||
		    t->start_ns >= c->end_ns ||
		    ty_thread_worked(x->m, i, from, c->end_ns) < works / 2)
			continue;
		looked++;
		if (have_to_do(x, c, i))
			return true;
	}
	return false;
}
