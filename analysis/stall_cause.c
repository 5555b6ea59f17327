/* SPDX-License-Identifier: MIT */
/*
 * The culprit of a wait, and whether it is a stall.
 *
 * Budget: the path of the wait (chain.h), for a lock that of its holders, too; and bounded looks
 * back: TY_STALL_BACK spans or calls of one thread, SIGNALS points of a CPU.
 */
#include "block_requests.h"
#include "fd_kind.h"
#include "stalls_priv.h"
#include "wait_call.h"
#include "wait_fd.h"
#include "syscall_ipc.h"
#include "thread_walk.h"

#include <stdlib.h>
#include <string.h>

#define SIGNALS		20000
#define REQUEST_THREADS 8 /* whose requests are counted */

/* devices ----------------------------------------------------------------------------------- */

/* What of the path was with block devices: at them, before them, and neither though a request of it
 * ended the wait; how many requests, the longest. */
static void requests(struct ty_stall_search *h, struct ty_candidate *c, const struct ty_path *p)
{
	const struct ty_model *m = h->x->m;
	uint32_t of[REQUEST_THREADS], n = 0, i = ty_model_io_after(m, c->end_ns), before = 0;
	uint64_t longest = 0;

	c->ios = 0;
	c->io_ns = c->queued_ns = c->no_io_ns = 0;
	vec_each (s, &p->seg) {
		uint64_t ns = s->end_ns - s->start_ns;
		bool known = false;

		c->io_ns += s->what == TY_SEG_DEVICE && s->waker.io != TY_NONE ? ns : 0;
		c->queued_ns += s->what == TY_SEG_QUEUED ? ns : 0;
		c->no_io_ns += s->what == TY_SEG_NO_REQUEST ? ns : 0;
		if (s->what != TY_SEG_DEVICE || s->waker.io == TY_NONE)
			continue;
		if (ns > longest) {
			longest = ns;
			c->io = s->waker.io;
		}
		for (uint32_t k = 0; k < n && !known; k++)
			known = of[k] == s->thread;
		if (!known && n < REQUEST_THREADS)
			of[n++] = s->thread;
	}
	/* Backwards; requests are in order of issue. */
	for (unsigned k = 0; i && n && k < 65536 && before < 512; k++) {
		struct ty_io io = ty_model_io(m, --i);
		bool own = i == c->io;

		if (io.busy_to_ns <= c->s.start_ns)
			break;
		before += io.start_ns < c->s.start_ns;
		for (uint32_t t = 0; t < n && !own; t++)
			own = ty_block_is_of(m, &io, of[t]);
		c->ios += own && io.end_ns > c->s.start_ns;
	}
	if (c->waker.io != TY_NONE)
		c->io = c->waker.io;
	if (c->io != TY_NONE && !c->ios)
		c->ios = 1;
}

/* stops ------------------------------------------------------------------------------------- */

/* The sender of the signal that stopped the thread at t. TY_NONE: not recorded (a tracer). */
static uint32_t stopper(const struct ty_model *m, uint32_t thread, uint64_t t)
{
	uint32_t cpus = ty_model_summary(m)->cpus, best = TY_NONE;
	int32_t tgid = ty_model_thread(m, thread)->tgid;
	uint64_t at = 0;

	for (uint32_t c = 0; c < cpus; c++) {
		uint32_t i = ty_model_point_after(m, c, t + 1);

		for (unsigned n = 0; i && n < SIGNALS; n++) {
			struct ty_point p = ty_model_point(m, c, --i);

			if (p.ts_ns < at)
				break;
			if (p.kind != TY_PT_SIGNAL || !ty_stall_is_stop_signal(p.a) ||
			    p.b >= TY_NONE)
				continue;
			if (p.b != thread &&
			    (tgid < 0 || ty_model_thread(m, (uint32_t)p.b)->tgid != tgid))
				continue;
			at = p.ts_ns;
			best = p.thread;
			break;
		}
	}
	return best;
}

/* A stopped thread's tracer, or the sender of the signal. */
static void blame_stopper(const struct ty_stall_search *h, struct ty_candidate *c)
{
	bool inferred;
	uint32_t by;

	c->tracer = ty_stall_by_tracer(h, c, &inferred);
	by = c->tracer ? c->waker.thread : stopper(h->x->m, c->s.thread, c->s.start_ns);
	c->s.proven = c->s.proven && !(c->tracer && inferred);
	if (by == TY_NONE)
		return;
	c->s.culprit = by;
	c->s.culprit_ns = c->s.start_ns;
}

/* A stop for most of the wait ends the chain: what the one that continued the thread did until then
 * explains nothing. */
static bool end_at_stop(const struct ty_stall_search *h, struct ty_candidate *c)
{
	const struct ty_link *l = c->s.link;
	uint64_t whole_ns = l->end_ns - l->start_ns;
	bool ends = false;

	for (uint32_t k = 1; k < c->s.links; k++) {
		struct ty_span s;
		uint32_t by;

		if (l[k].span == TY_NONE || l[k].end_ns - l[k].start_ns < whole_ns / 2)
			continue;
		s = ty_model_span(h->x->m, l[k].span);
		if (s.state != TY_ST_STOPPED)
			continue;
		by = stopper(h->x->m, l[k].thread, s.start_ns);
		c->s.links = k + 1;
		c->s.culprit = by == TY_NONE ? l[k].thread : by;
		c->s.culprit_ns = s.start_ns;
		ends = true;
	}
	return ends;
}

/* waits ------------------------------------------------------------------------------------- */

static void take_root(struct ty_stall_search *h, struct ty_candidate *c, const struct ty_path *p)
{
	const struct ty_seg *s = &p->seg.v[c->root.seg];
	const struct ty_thread *t;

	c->s.links = ty_path_links(h->x->m, p, c->root.seg, c->s.link, TY_STALL_LINKS);
	if (c->root.thread == c->s.thread || c->root.thread == TY_NONE)
		return;
	t = ty_model_thread(h->x->m, c->root.thread);
	c->s.culprit = c->root.thread;
	c->s.culprit_ns = s->start_ns + (s->end_ns - s->start_ns) / 2;
	/* The first span of a new thread is its creation; then it is runnable. */
	if (s->what != TY_SEG_RUNNABLE || !t->born || s->span - t->spans_first > 1)
		return;
	/* Until it first ran it had no say in its name: the one it had at last. */
	for (size_t i = 0; i < p->seg.n; i++)
		if (p->seg.v[i].thread == c->s.culprit)
			c->s.culprit_ns = p->seg.v[i].end_ns - 1;
}

static bool device_bound(const struct ty_candidate *c)
{
	return c->root.what_ns[TY_SEG_DEVICE] > c->root.ns / 2;
}

static bool kernel_root(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	return c->root.thread == c->s.thread || c->root.thread == TY_NONE ||
	       ty_model_thread(h->x->m, c->root.thread)->kernel;
}

uint32_t ty_stall_first_call(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	return c->tries ? ty_model_span(h->x->m, c->first_span).syscall : c->s.syscall;
}

/* The device that an uninterruptible wait was for, by its requests; what of it is not explained. */
static void describe_blocked(struct ty_stall_search *h, struct ty_candidate *c,
			     const struct ty_path *p)
{
	bool device = device_bound(c);

	requests(h, c, p);
	if (!kernel_root(h, c) && c->waker.io == TY_NONE)
		return;
	if (c->io_ns + c->queued_ns > c->s.duration_ns / 2 || (!c->no_io_ns && device)) {
		/* By recorded requests, but for what is left over. */
		c->s.proven = c->io_ns + c->queued_ns >= c->s.duration_ns / 10 * 9 ||
			      (!c->no_io_ns && device);
		if (c->w.kind != TY_STALL_FAULT)
			c->s.kind = TY_STALL_IO;
	} else if (c->no_io_ns) {
		c->s.proven = false; /* what it waited for first is not known */
	} else if (c->root.thread != c->s.thread && kernel_root(h, c) &&
		   c->root.what_ns[TY_SEG_TIMER] > c->s.duration_ns / 2) {
		/* A kernel thread that a timer wakes delays no thread by itself. */
		c->kernel_timer = true;
		c->s.proven = false;
	}
}

/* The kind of a wait whose path and waker are known, and what of it is recorded. */
static void describe(struct ty_stall_search *h, struct ty_candidate *c, const struct ty_path *p)
{
	c->s.kind = c->w.kind;
	c->s.proven =
		c->waker.kind != TY_WAKER_NONE && !(c->s.flags & TY_SF_LOST) && !c->w.by_waker;
	if (c->w.class != TY_WAIT_DEFINITE)
		return;
	if (c->s.state == TY_ST_BLOCKED && c->w.kind != TY_STALL_CHILD) {
		describe_blocked(h, c, p);
		return;
	}
	if (c->s.kind == TY_STALL_LOCK && c->w.word)
		c->s.proven = false; /* the holder is inferred: the waker */
	if (c->w.holder && c->s.culprit != TY_NONE && c->s.links > 1 &&
	    ty_model_thread(h->x->m, c->s.link[1].thread)->tid == c->w.holder)
		c->s.proven = true;
}

/* Was waking the waiter the last thing that another thread of its process did? Runtimes with joins
 * of their own look like this. */
static bool were_last_words(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	const struct ty_thread *t, *own = ty_model_thread(h->x->m, c->s.thread);
	struct ty_cell rest;

	if (c->w.kind != TY_STALL_FUTEX || c->waker.kind != TY_WAKER_THREAD)
		return false;
	t = ty_model_thread(h->x->m, c->waker.thread);
	if (!t->died || t->tid == t->tgid || t->tgid < 0 || t->tgid != own->tgid)
		return false;
	/* It may have to wait for a CPU yet. */
	rest = ty_thread_time(h->x->m, c->waker.thread, c->waker.act_ns, t->end_ns);
	return rest.ns[TY_ST_RUNNING] + rest.ns[TY_ST_SLEEPING] + rest.ns[TY_ST_BLOCKED] <
	       h->o.min_ns;
}

/* Did a child end the wait by its own end? */
static bool child_died(const struct ty_model *m, const struct ty_candidate *c)
{
	const struct ty_thread *t;
	uint32_t call;

	if (c->waker.kind != TY_WAKER_THREAD)
		return false;
	t = ty_model_thread(m, c->waker.thread);
	if (!t->died || t->tid != t->tgid || t->ppid < 0 ||
	    t->ppid != ty_model_thread(m, c->s.thread)->tgid)
		return false;
	/* A thread that exits makes no more calls, and wakes no other thread from user mode. */
	call = ty_model_syscall_at(m, c->waker.thread, c->waker.act_ns);
	if (call != TY_NONE)
		return ty_model_syscall_brief(m, c->waker.thread, call).flags & TY_SF_ENDED;
	return ty_model_syscall_after(m, c->waker.thread, c->waker.act_ns) == TY_NONE;
}

/* Where nothing is known of the thread's states: the call that most of the time was spent in. */
static uint32_t call_within(const struct ty_model *m, const struct ty_candidate *c)
{
	uint32_t call = ty_explain_main_call(m, c->s.thread, c->s.start_ns, c->end_ns);

	return call != TY_NONE && !(ty_model_syscall_brief(m, c->s.thread, call).flags & TY_SF_LOST)
		       ? call
		       : TY_NONE;
}

/* The path of the wait; for a lock, of the part in which the holder was not idle. 1; 0: there is
 * none; or the result of ty_path_find. */
static int find_path(struct ty_stall_search *h, struct ty_candidate *c, struct ty_path *p)
{
	int r = c->tries ? ty_path_of_wait(h->x, c->s.span, c->s.start_ns, c->end_ns, p)
			 : ty_path_find(h->x, c->s.thread, c->s.start_ns, c->end_ns, p);

	if (r || !p->seg.n)
		return r;
	return h->o.all ? 1 : ty_stall_cut_idle(h, c, p);
}

/* A polled lock: held up by the thread that released it, if that is recorded. */
static int explain_polls(struct ty_stall_search *h, struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	struct ty_span s = ty_model_span(m, c->s.span);
	struct ty_release by = {.thread = TY_NONE};
	unsigned left = TY_RELEASE_LOOKS;
	struct ty_path p = {0};
	struct ty_root root;
	int r;

	if (c->poll_got != TY_NONE)
		by = ty_polled_release(h->x, c->poll_failed, c->poll_got, &left);
	c->s.syscall = c->polled;
	c->w = ty_wait_for(h->x, &s, c->polled);
	c->w.kind = c->s.kind = TY_STALL_LOCK;
	c->w.class = TY_WAIT_DEFINITE;
	c->s.proven = by.thread == TY_NONE; /* the wait is proven; its holder is inferred */
	ty_stall_only_link(c, TY_SEG_TIMER, c->waker);
	if (by.thread == TY_NONE)
		return ty_stall_judge(h, c, NULL, 0);
	c->waker = (struct ty_waker){.kind = TY_WAKER_THREAD,
				     .inferred = true,
				     .thread = by.thread,
				     .ts_ns = by.ts_ns,
				     .act_ns = by.ts_ns,
				     .io = TY_NONE};
	c->s.link[0].what = TY_SEG_WHATS;
	c->s.link[0].waker = c->waker;
	r = by.ts_ns > c->s.start_ns ? ty_path_find(h->x, by.thread, c->s.start_ns, by.ts_ns, &p)
				     : 0;
	if (r || !p.seg.n) {
		ty_path_fini(&p);
		return r ? r : ty_stall_judge(h, c, NULL, 0);
	}
	root = ty_path_root(&p);
	c->s.culprit = root.thread;
	c->s.culprit_ns = p.seg.v[root.seg].start_ns;
	c->s.links += ty_path_links(h->x->m, &p, root.seg, c->s.link + 1, TY_STALL_LINKS - 1);
	ty_path_fini(&p);
	return ty_stall_judge(h, c, NULL, 0);
}

/* Is the state of the root unknown for most of its time, or its waker one that slept then? Then
 * nothing is known of the cause. */
static bool unknown_root(const struct ty_candidate *c, const struct ty_path *p)
{
	uint8_t what = p->seg.v[c->root.seg].what;

	return what == TY_SEG_UNKNOWN || what == TY_SEG_LOST || what == TY_SEG_LOOP;
}

int ty_stall_explain(struct ty_stall_search *h, struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	struct ty_span s = ty_model_span(m, c->s.span);
	struct ty_spin spin;
	struct ty_path p;
	bool stall;
	int r;

	if (c->busy_waited)
		s.syscall = c->s.syscall;
	c->s.culprit = c->s.syscall = TY_NONE;
	c->io = TY_NONE;
	c->rival_prio = c->own_prio = INT32_MIN;
	c->waker = TY_NO_WAKER;
	c->s.syscall = ty_wait_call(h->x, &s);
	if (c->s.state == TY_ST_RUNNABLE) {
		r = ty_stall_run_queue(h, c);
		return r < 0 ? r : ty_stall_judge(h, c, NULL, r);
	}
	if (c->polls)
		return explain_polls(h, c);
	if (c->s.state == TY_ST_UNKNOWN) {
		c->s.kind = TY_STALL_LOST;
		ty_stall_only_link(c, TY_SEG_LOST, c->waker);
		c->s.syscall = call_within(m, c);
		s.state = TY_ST_SLEEPING;
		if (c->s.syscall != TY_NONE)
			c->w = ty_wait_for(h->x, &s, c->s.syscall);
		else
			c->w.class = TY_WAIT_PEER;
		r = ty_stall_judge(h, c, NULL, 0);
		if (c->w.kind == TY_STALL_OTHER)
			c->s.syscall = TY_NONE;
		return r;
	}
	if (c->s.state != TY_ST_RUNNING)
		c->waker = ty_futex_waker(h->x, &s, ty_waker_find(m, s.edge));
	else if (ty_spin_find(h->x, c->s.thread, c->s.start_ns, c->end_ns, &spin))
		c->waker = spin.waker;
	c->w = ty_wait_for(h->x, &s, c->s.syscall);
	c->s.by_waker = c->w.by_waker;
	r = c->w.by_value ? ty_stall_counts(h, c) : 0;
	if (r < 0)
		return r;
	if (r) {
		c->w.kind = TY_STALL_FUTEX;
		c->w.class = TY_WAIT_PEER;
	}
	if (c->s.state == TY_ST_SLEEPING && c->w.class == TY_WAIT_IDLE && child_died(m, c)) {
		/* By a signal, a pidfd or a pipe: it learns that its child has ended. */
		c->w.kind = TY_STALL_CHILD;
		c->w.class = TY_WAIT_END;
	}
	c->last_words = were_last_words(h, c);
	if (c->s.state == TY_ST_STOPPED) {
		c->w.kind = TY_STALL_STOPPED;
		c->w.class = TY_WAIT_DEFINITE;
	}
	r = c->s.state == TY_ST_SLEEPING && c->w.class != TY_WAIT_DEFINITE ? ty_stall_job_path(h)
									   : 0;
	if (r)
		return r;
	p = h->spare;
	h->spare = (struct ty_path){0};
	r = find_path(h, c, &p);
	if (r <= 0) {
		h->spare = p;
		c->holder_idle = !r && p.seg.n;
		return c->holder_idle ? ty_stall_judge(h, c, NULL, 0) : r;
	}
	c->root = ty_path_root(&p);
	if (c->root.thread == TY_NONE) {
		h->spare = p;
		return -TY_ENOMEM;
	}
	take_root(h, c, &p);
	describe(h, c, &p);
	stall = ty_stall_judge(h, c, &p, 0);
	c->s.proven = c->s.proven && !p.inferred && !c->for_work_ns && !unknown_root(c, &p);
	ty_stall_steal_of_path(c, &p);
	if (c->s.kind == TY_STALL_STOPPED) {
		blame_stopper(h, c);
	} else if (!end_at_stop(h, c) && stall && c->root.thread != c->s.thread) {
		r = ty_stall_blame_rival(h, c, &p);
		if (r == 1 && c->w.class != TY_WAIT_DEFINITE)
			c->s.kind = TY_STALL_RUNQUEUE;
		if (r == 2 && c->s.kind != TY_STALL_LOCK) {
			c->s.kind = TY_STALL_RUNQUEUE;
			c->s.culprit = TY_NONE;
		}
	}
	if (c->s.culprit != TY_NONE &&
	    (c->s.kind == TY_STALL_IO || c->s.kind == TY_STALL_FAULT ||
	     c->s.kind == TY_STALL_TIMER) &&
	    kernel_root(h, c))
		c->s.culprit = TY_NONE;
	h->spare = p;
	return r < 0 ? r : stall;
}

/* What was opened by a path is a FIFO, for all that is seen of it: the waker had opened its side by
 * a path, too, the same where both are known. A device's other side may be read as well. */
static bool is_fifo(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	const struct ty_explain *x = h->x;
	const char *own = NULL, *other = NULL;
	uint32_t call = ty_model_syscall_at(x->m, c->waker.thread, c->waker.act_ns);
	struct ty_syscall s = ty_model_syscall(x->m, call);
	struct ty_syscall_ipc t = ty_syscall_ipc(x, &s);
	int arg = t.gives >= 0 ? t.gives : t.takes;
	uint64_t args[6];

	if (arg < 0 || !x->args || x->args(x->ctx, &s, args) ||
	    ty_fd_kind(x, c->waker.thread, (uint32_t)args[arg], s.start_ns, &other) != TY_FD_FILE)
		return false;
	ty_fd_kind(x, c->s.thread, (uint64_t)c->w.fd, c->s.start_ns, &own);
	if (own && (!strncmp(own, "/dev/", 5) || !strncmp(own, "/proc/", 6)))
		return false;
	return !own || !other || *own != '/' || *other != '/' || !strcmp(own, other);
}

void ty_stall_refine(struct ty_stall_search *h, struct ty_candidate *c)
{
	struct ty_span s = ty_model_span_brief(h->x->m, c->s.thread, c->s.span);
	bool open = c->s.kind == TY_STALL_FD || c->s.kind == TY_STALL_EVENTS;

	if (!ty_stall_is_wait(c->s.state))
		return;
	s.syscall = c->s.syscall; /* which end of a pipe it used */
	/* Each try may open the file anew. */
	if (c->polls)
		s.start_ns = ty_model_syscall(h->x->m, c->polled).start_ns;
	if (open && c->waker.net)
		c->w.kind = TY_STALL_SOCKET;
	/* What lies behind a pointer may have been another thing in each of several tries. */
	if (c->tries && c->w.fd < 0 && !c->w.word)
		c->s.proven = false;
	/* What a timer or a signal ended, or lost events hide, says nothing of the next read. */
	ty_wait_look_at_fd(h->x, &s, open ? c->s.syscall : TY_NONE,
			   ty_stall_made_room(h->x, &c->waker), &c->w);
	ty_wait_look_at_path(h->x, &s, c->s.syscall, &c->w);
	if (c->w.of_call && c->s.waits > 1)
		*c->w.object = 0;
	if (open && c->w.kind == TY_STALL_FD && c->w.opened && ty_stall_handed(h->x, &c->waker) &&
	    is_fifo(h, c)) {
		c->w.kind = TY_STALL_PIPE;
		c->s.proven = false;
	}
	if (open)
		c->s.kind = c->w.kind;
	c->s.proven = c->s.proven && (!c->w.guessed || c->w.ready);
}
