/* SPDX-License-Identifier: MIT */
/*
 * See chain.h. Invariants: segments neither overlap nor leave holes in [from, to); the window of a
 * hop is inside its parent's, so that the recursion ends; a thread already waited for further up is
 * not followed again (a loop).
 *
 * Cost: one step per span of the threads on the path within their part of the window, each with
 * log(spans) for its edge.
 */
#include "chain.h"

#include "block_requests.h"
#include "futex_waker.h"
#include "path_part.h"
#include "span_blocks.h"
#include "steal.h"
#include "syscall_ipc.h"
#include "wait_children.h"
#include "wait_retry.h"
#include "thread_walk.h"

#define MEANWHILE 16  /* limits for one wakeup: spans of a CPU, calls of a thread */
#define BACK	  256 /* spans of a thread, to find the threads it exchanges messages with */
#define STOLEN	  64  /* times of one run */
#define MANY	  8   /* runs, one behind the other, are read by blocks from here on */

const char *ty_seg_text(const struct ty_model *m, enum ty_seg_what w)
{
	static const char *const text[TY_SEG_WHATS] = {
		[TY_SEG_RUNS] = "running",
		[TY_SEG_STOLEN] = "its CPU lost to the hypervisor (steal time, inferred)",
		[TY_SEG_RUNNABLE] = "runnable (waiting for a CPU)",
		[TY_SEG_DEVICE] = "waiting for I/O completion",
		[TY_SEG_QUEUED] = "blocked, I/O request not yet issued to the device",
		[TY_SEG_NO_REQUEST] = "blocked, no I/O request in flight",
		[TY_SEG_TIMER] = "waiting, woken by a timer or its packet",
		[TY_SEG_IRQ] = "waiting, woken by an interrupt",
		[TY_SEG_UNWOKEN] = "waiting, waker not recorded",
		[TY_SEG_KILLED] = "waiting, until a signal killed it",
		[TY_SEG_LOST] = "unknown because of lost events",
		[TY_SEG_UNKNOWN] = "unknown",
		[TY_SEG_LOOP] = "waiting in a cycle of waits",
	};

	if (w == TY_SEG_OPEN) /* as ty_model_noun */
		return ty_model_is_part(m) ? "still waiting when the part ended"
					   : "still waiting when the recording ended";
	return w < TY_SEG_WHATS ? text[w] : "";
}

struct walk {
	const struct ty_explain *x;
	struct ty_path *p;
	size_t reused; /* hops that are parts of kept paths */
	int failed;
};

static void seg(struct walk *w, uint64_t from, uint64_t to, uint32_t thread, uint32_t span,
		uint32_t hop, enum ty_seg_what what, uint8_t flags, const struct ty_waker *waker)
{
	struct ty_seg s = {.start_ns = from,
			   .end_ns = to,
			   .thread = thread,
			   .span = span,
			   .hop = hop,
			   .what = (uint8_t)what,
			   .flags = flags,
			   .waker = waker ? *waker : TY_NO_WAKER};

	if (w->failed || from >= to)
		return;
	if (w->p->seg.n >= TY_PATH_SEGS)
		w->p->cut = true;
	else if (vec_push(&w->p->seg, s))
		w->failed = -TY_ENOMEM;
}

/* Does the thread wait for itself further up? depth: of all waits, at most TY_PATH_DEPTH, where
 * each counts as such a one. */
static bool on_stack(const struct walk *w, uint32_t thread, uint32_t hop, unsigned *depth)
{
	bool found = false;

	*depth = 0;
	for (; hop != TY_NONE && *depth < TY_PATH_DEPTH; hop = w->p->hop.v[hop].parent, ++*depth)
		found |= w->p->hop.v[hop].thread == thread;
	return found || *depth >= TY_PATH_DEPTH;
}

static void walk(struct walk *w, uint32_t thread, uint64_t from, uint64_t to, uint32_t hop);

/* The wait of the thread in [from, to), which k ended, and what is behind it. */
static void follow(struct walk *w, uint32_t thread, uint32_t span, uint64_t from, uint64_t to,
		   uint32_t parent, struct ty_waker k)
{
	uint8_t depth = parent == TY_NONE ? 0 : w->p->hop.v[parent].depth + 1;
	struct ty_hop h = {thread, span, from, to, parent, depth, k};

	if (vec_push(&w->p->hop, h))
		w->failed = -TY_ENOMEM;
	else
		walk(w, k.thread, from, to, (uint32_t)w->p->hop.n - 1);
}

/* Was the thread, in [from, to], in a call that hands something over? */
static bool gives(const struct ty_explain *x, uint32_t thread, uint64_t from, uint64_t to)
{
	uint32_t i = ty_model_syscall_after(x->m, thread, from),
		 end = ty_thread_calls(x->m, thread).to;

	for (unsigned n = 0; i < end && n < MEANWHILE; n++, i++) {
		struct ty_syscall c = ty_model_syscall_brief(x->m, thread, i);

		if (c.start_ns > to)
			break;
		if ((ty_syscall_ipc(x, &c).says & (TY_GIVES | TY_SIGNALS)) == TY_GIVES)
			return true;
	}
	return false;
}

/* True if, before t, a kernel thread woke `to` after `from` had woken it, so that it forwards
 * wakeups. */
static bool hands_on(const struct ty_model *m, uint32_t from, uint32_t to, uint64_t t)
{
	const struct ty_thread *th = ty_model_thread(m, to);
	uint32_t i = ty_model_span_find(m, to, t);

	for (unsigned n = 0; i != TY_NONE && i > th->spans_first && n < BACK; n++) {
		struct ty_span s = ty_model_span_brief(m, to, --i);
		struct ty_waker k;
		uint32_t j;

		if (s.state != TY_ST_RUNNABLE || s.flags & (TY_SF_PREEMPT | TY_SF_YIELD))
			continue;
		k = ty_waker_find(m, ty_model_span_edge(m, &s, i));
		if (k.kind != TY_WAKER_THREAD || !ty_model_thread(m, k.thread)->kernel)
			continue;
		/* It ran; before that it was ready, as its own waker had made it. */
		j = ty_model_span_find(m, k.thread, k.act_ns);
		if (j == TY_NONE || j == ty_model_thread(m, k.thread)->spans_first)
			continue;
		s = ty_model_span_brief(m, k.thread, --j);
		if (s.state != TY_ST_RUNNABLE)
			continue;
		k = ty_waker_find(m, ty_model_span_edge(m, &s, j));
		if (k.kind == TY_WAKER_THREAD && k.thread == from)
			return true;
	}
	return false;
}

/*
 * The thread that a kernel thread serves which a timer had just woken at the end of this span: work
 * handed over before it runs produces no second wakeup. It is the one thread inside a handing-over
 * call from that wakeup until the kernel thread ran, which exchanges messages with the waiter
 * through kernel threads. TY_NONE: none, or several.
 */
static uint32_t serves(const struct walk *w, uint32_t hop, uint32_t span,
		       const struct ty_waker *timer)
{
	const struct ty_model *m = w->x->m;
	const struct ty_hop *h = &w->p->hop.v[hop];
	const struct ty_thread *t = ty_model_thread(m, h->waker.thread);
	struct ty_span ready = {.state = TY_ST_UNKNOWN};
	uint64_t to = timer->ts_ns;
	uint32_t one = TY_NONE;

	if (span + 1 < t->spans_first + t->spans_n)
		ready = ty_model_span_brief(m, h->waker.thread, span + 1);
	if (ready.state == TY_ST_RUNNABLE)
		to = ready.end_ns;
	for (uint32_t cpu = 0; cpu < ty_model_summary(m)->cpus; cpu++) {
		uint32_t n = ty_model_cpu_spans(m, cpu),
			 i = n ? ty_model_cpu_span_find(m, cpu, timer->ts_ns) : n;

		for (unsigned k = 0; i < n && k < MEANWHILE; k++, i++) {
			struct ty_span s = ty_model_cpu_span_brief(m, cpu, i);

			if (s.start_ns > to)
				break;
			if (s.thread == TY_NONE || s.thread == one || s.thread == h->thread ||
			    !gives(w->x, s.thread, timer->ts_ns, to))
				continue;
			if (one != TY_NONE)
				return TY_NONE;
			one = s.thread;
		}
	}
	return one != TY_NONE && (hands_on(m, h->thread, one, timer->ts_ns) ||
				  hands_on(m, one, h->thread, timer->ts_ns))
		       ? one
		       : TY_NONE;
}

/* Did the thread wake another one in (a, b] between two attempts of its own wait? Then what ended
 * the attempt before is behind that, and no cycle. */
static bool was_awake(const struct ty_model *m, const struct ty_waker *k, uint64_t a, uint64_t b)
{
	uint8_t state =
		ty_model_span_brief(m, k->thread, ty_model_span_find(m, k->thread, k->act_ns))
			.state;

	return k->act_ns > a && k->act_ns <= b &&
	       (state == TY_ST_RUNNING || state == TY_ST_RUNNABLE);
}

/* When did the thread act that ended the wait at b? Before that, if a softirq which it raised did
 * the rest, and it had gone to sleep meanwhile: what ends that sleep comes too late to be a cause.
 */
static uint64_t acted_ns(const struct ty_model *m, const struct ty_waker *k, uint64_t a, uint64_t b)
{
	struct ty_span s;

	if (k->act_ns <= a || k->act_ns >= b)
		return b;
	s = ty_model_span_brief(m, k->thread, ty_model_span_find(m, k->thread, b - 1));
	return s.state != TY_ST_RUNNING && s.start_ns > k->act_ns ? k->act_ns : b;
}

/* A part [a, b) of the wait that k ended, in which no request of it is known. */
static void part_seg(struct walk *w, const struct ty_span *s, uint32_t span, uint64_t a, uint64_t b,
		     uint32_t hop, struct ty_waker k)
{
	enum ty_seg_what what;
	unsigned depth = 0;
	uint64_t act;

	if (a >= b)
		return;
	switch ((enum ty_waker_kind)k.kind) {
	case TY_WAKER_THREAD:
		if (k.thread == s->thread ||
		    (on_stack(w, k.thread, hop, &depth) &&
		     (depth >= TY_PATH_DEPTH || !was_awake(w->x->m, &k, a, b)))) {
			seg(w, a, b, s->thread, span, hop,
			    depth >= TY_PATH_DEPTH ? TY_SEG_UNKNOWN : TY_SEG_LOOP, s->flags, &k);
			return;
		}
		if (w->failed)
			return;
		if (b == s->end_ns && ty_waker_killed(w->x->m, s, &k)) {
			what = TY_SEG_KILLED;
			break;
		}
		act = acted_ns(w->x->m, &k, a, b);
		seg(w, act, b, s->thread, span, hop, TY_SEG_IRQ, s->flags, &k);
		follow(w, s->thread, span, a, act, hop, k);
		return;
	case TY_WAKER_DEVICE: what = k.io != TY_NONE ? TY_SEG_NO_REQUEST : TY_SEG_DEVICE; break;
	case TY_WAKER_TIMER: what = TY_SEG_TIMER; break;
	case TY_WAKER_IPI:
	case TY_WAKER_UNKNOWN: what = TY_SEG_IRQ; break;
	default: what = s->flags & TY_SF_OPEN ? TY_SEG_OPEN : TY_SEG_UNWOKEN;
	}
	seg(w, a, b, s->thread, span, hop, what, s->flags, &k);
}

/* May the wait have been for requests of the thread's own: one's completion ended it, or a kernel
 * thread did, which may but have handed that on? */
static bool may_be_for_requests(const struct ty_model *m, const struct ty_span *s,
				const struct ty_waker *k)
{
	return k->io != TY_NONE || (s->state == TY_ST_BLOCKED && k->kind == TY_WAKER_THREAD &&
				    ty_model_thread(m, k->thread)->kernel);
}

/* ended: what did, by its wakeup. */
static void wait_seg(struct walk *w, const struct ty_span *s, uint32_t span, uint64_t a, uint64_t b,
		     uint32_t hop, struct ty_waker ended)
{
	struct ty_waker k = ty_futex_waker(w->x, s, ended), io;
	struct ty_flight f[TY_FLIGHTS];
	unsigned n = 0;

	w->p->inferred |= k.inferred;
	if (k.kind == TY_WAKER_TIMER && hop != TY_NONE && b == s->end_ns &&
	    ty_model_thread(w->x->m, s->thread)->kernel &&
	    w->p->hop.v[hop].waker.thread == s->thread) {
		uint32_t by = serves(w, hop, span, &k);

		if (by != TY_NONE) {
			k.kind = TY_WAKER_THREAD;
			k.thread = by;
			k.inferred = true;
			w->p->inferred = true;
		}
	}
	if (b < s->end_ns && k.kind == TY_WAKER_THREAD && k.act_ns > b)
		k = TY_NO_WAKER;
	if (may_be_for_requests(w->x->m, s, &k))
		n = ty_block_flights(w->x->m, s->thread, &k, a, b, f);
	while (n--) {
		part_seg(w, s, span, f[n].to_ns, b, hop, k);
		io = (struct ty_waker){.kind = TY_WAKER_DEVICE,
				       .thread = TY_NONE,
				       .cpu = k.cpu,
				       .ts_ns = k.ts_ns,
				       .act_ns = k.act_ns,
				       .name = k.kind == TY_WAKER_DEVICE ? k.name : 0,
				       .io = f[n].io};
		seg(w, f[n].from_ns, f[n].to_ns, s->thread, span, hop,
		    f[n].queued ? TY_SEG_QUEUED : TY_SEG_DEVICE, s->flags, &io);
		b = f[n].from_ns;
	}
	part_seg(w, s, span, a, b, hop, k);
}

/* The thread runs in [a, b) of its span s. From the end backward: time without any activity of the
 * CPU is not the thread's own. After the first STOLEN of them the rest is not divided. */
static void run_seg(struct walk *w, const struct ty_span *s, uint32_t span, uint64_t a, uint64_t b,
		    uint32_t hop)
{
	struct ty_stolen g[STOLEN];
	uint64_t at = a;
	unsigned n = 0;

	while (n < STOLEN && ty_stolen_next(w->x, s, at, b, &g[n]))
		at = g[n++].to_ns;
	for (at = b; n; at = g[n].from_ns) {
		n--;
		seg(w, g[n].to_ns, at, s->thread, span, hop, TY_SEG_RUNS, s->flags, NULL);
		seg(w, g[n].from_ns, g[n].to_ns, s->thread, span, hop, TY_SEG_STOLEN, s->flags,
		    NULL);
	}
	seg(w, a, at, s->thread, span, hop, TY_SEG_RUNS, s->flags, NULL);
}

/*
 * The thread runs in [a, b). What is known there of a wait for a lock that it made on the CPU, at
 * least in part: then all of that, back to `first`, is what the holder did, and what was behind it
 * the thread's run. Returns the start of what was explained; b: there is no such wait.
 */
static uint64_t spin_seg(struct walk *w, const struct ty_span *s, uint32_t span, uint64_t first,
			 uint64_t a, uint64_t b, uint32_t hop)
{
	struct ty_spin spin;
	uint64_t from, to;
	unsigned depth;

	if (b - a < TY_SPIN_NS || !ty_spin_find(w->x, s->thread, a, b, &spin))
		return b;
	w->p->inferred |= spin.waker.inferred;
	from = spin.start_ns > first ? spin.start_ns : first;
	to = spin.end_ns < b ? spin.end_ns : b;
	if (spin.waker.kind != TY_WAKER_THREAD)
		return b;
	if (on_stack(w, spin.waker.thread, hop, &depth)) {
		w->p->bound = true;
		return b;
	}
	run_seg(w, s, span, to, b, hop);
	follow(w, s->thread, span, from, to, hop, spin.waker);
	return from;
}

/* The time before the thread was created is its parent's. */
static void before_birth(struct walk *w, uint32_t thread, uint64_t from, uint64_t to, uint32_t hop)
{
	const struct ty_thread *t = ty_model_thread(w->x->m, thread);
	unsigned depth;

	if (t->born && t->forked_by >= 0 && (uint32_t)t->forked_by != thread &&
	    !on_stack(w, (uint32_t)t->forked_by, hop, &depth) &&
	    ty_model_thread(w->x->m, (uint32_t)t->forked_by)->start_ns < t->start_ns)
		walk(w, (uint32_t)t->forked_by, from, to, hop);
	else
		seg(w, from, to, thread, TY_NONE, hop, TY_SEG_UNKNOWN, 0, NULL);
}

/* Where the wait in this span began: its first attempt, the first wait for any of several children,
 * or the first wait of an event loop before what ended this one. */
static uint32_t first_attempt(struct walk *w, uint32_t thread, uint32_t span, uint64_t from,
			      const struct ty_waker *by)
{
	uint32_t attempt = ty_wait_retry_first(w->x, thread, span, from, &w->p->inferred);
	uint32_t retried = ty_wait_children_first(w->x, thread, attempt, from, by);
	uint32_t first = ty_wait_loop_first(w->x, thread, retried, from, by);

	w->p->inferred |= first != retried;
	return first;
}

/* Is the wait, which ends at *at, in a path that was found before? *at: to where it explains all.
 */
static bool reuse(struct walk *w, const struct ty_span *s, uint32_t span, uint64_t first,
		  uint64_t *at, uint32_t hop)
{
	int r = w->x->paths && *at == s->end_ns && !ty_model_thread(w->x->m, s->thread)->kernel
			? ty_path_part(w->x->paths, s, span, first, *at, hop, w->p)
			: 0;

	if (r > 0) {
		w->reused += (size_t)r;
		*at = w->p->seg.v[w->p->seg.n - 1].start_ns;
	} else if (r < 0) {
		w->failed = r;
	}
	return r;
}

/* What the thread ran and was runnable without a wait, from this span of the block back. Returns
 * the row that is another matter; -1: there is none. *at: to where it explains all. */
static int32_t own_rows(struct walk *w, struct ty_span_block *b, uint32_t span, uint64_t first,
			uint64_t *at, uint32_t hop)
{
	const struct ty_span_rows *v = &b->rows;
	int32_t i = (int32_t)(span - b->first);

	if (vec_reserve(&w->p->seg, w->p->seg.n + (size_t)i + 1))
		w->failed = -TY_ENOMEM;
	for (; i >= 0 && *at > first && !w->failed && w->p->seg.n < TY_PATH_SEGS; i--) {
		uint64_t a = v->start_ns[i] > first ? v->start_ns[i] : first;
		bool runs = v->state[i] == TY_ST_RUNNING;

		if (runs ? a != v->start_ns[i] || *at != v->start_ns[i + 1] ||
				    !ty_span_own_run(w->x, b, (uint32_t)i)
			 : v->state[i] != TY_ST_RUNNABLE)
			break;
		if (ty_explain_stopped(w->x))
			w->failed = -TY_EINTR;
		if (a < *at)
			w->p->seg.v[w->p->seg.n++] =
				(struct ty_seg){.start_ns = a,
						.end_ns = *at,
						.thread = b->thread,
						.span = b->first + (uint32_t)i,
						.hop = hop,
						.what = runs ? TY_SEG_RUNS : TY_SEG_RUNNABLE,
						.flags = v->flags[i],
						.waker = TY_NO_WAKER};
		*at = a;
	}
	return i;
}

/* The same from this span on, by as many blocks as it takes. Returns the first span that is another
 * matter; TY_NONE: there are no more. */
static uint32_t own_segs(struct walk *w, uint32_t thread, uint32_t span, uint64_t first,
			 uint64_t *at, uint32_t hop)
{
	const uint32_t last = ty_model_thread(w->x->m, thread)->spans_first;

	for (;;) {
		struct ty_span_block *b = ty_span_block(w->x->spans, w->x->m, thread, span);
		int32_t i = own_rows(w, b, span, first, at, hop);

		if (i >= 0 || *at <= first || w->failed)
			return b->first + (uint32_t)i;
		if (b->first == last)
			return TY_NONE;
		span = b->first - 1;
	}
}

static void walk(struct walk *w, uint32_t thread, uint64_t from, uint64_t to, uint32_t hop)
{
	const struct ty_model *m = w->x->m;
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint64_t at = to, first = t->start_ns > from ? t->start_ns : from;
	uint32_t k, runs = 0;

	if (at > t->end_ns) {
		/* What ended the wait ran on behind the thread's end: its last moments. */
		uint64_t end = t->end_ns > from ? t->end_ns : from;

		seg(w, end, at, thread, TY_NONE, hop, TY_SEG_UNKNOWN, 0, NULL);
		at = end;
	}
	if (at > first && t->spans_n) {
		k = ty_model_span_find(m, thread, at - 1);
		for (; at > first && !w->failed && !w->p->cut; k--) {
			uint32_t began;
			struct ty_waker by;
			struct ty_span s;
			uint64_t a;

			if (w->x->spans && runs >= MANY) {
				k = own_segs(w, thread, k, first, &at, hop);
				if (k == TY_NONE || at <= first || w->failed || w->p->cut)
					break;
			}
			s = ty_model_span_brief(m, thread, k);
			a = s.start_ns > first ? s.start_ns : first;
			began = k;
			runs = s.state == TY_ST_RUNNING || s.state == TY_ST_RUNNABLE ? runs + 1 : 0;
			if (ty_explain_stopped(w->x))
				w->failed = -TY_EINTR;
			switch ((enum ty_state)s.state) {
			case TY_ST_RUNNING: {
				uint64_t spun = spin_seg(w, &s, k, first, a, at, hop);

				if (spun < at) {
					at = spun;
					k = at > first ? ty_model_span_find(m, thread, at - 1) + 1
						       : k;
					continue;
				}
				run_seg(w, &s, k, a, at, hop);
				break;
			}
			case TY_ST_RUNNABLE:
				seg(w, a, at, thread, k, hop, TY_SEG_RUNNABLE, s.flags, NULL);
				break;
			case TY_ST_SLEEPING:
				if (reuse(w, &s, k, first, &at, hop)) {
					k = at > first ? ty_model_span_find(m, thread, at - 1) + 1
						       : k;
					continue;
				}
				/* Kernel threads work for others: before the request they worked
				 * for other threads. */
				a = t->kernel ? first : a;
				by = ty_waker_find(m, ty_model_span_edge(m, &s, k));
				if (!t->kernel && at == s.end_ns) {
					began = first_attempt(w, thread, k, first, &by);
					a = ty_model_span_brief(m, thread, began).start_ns;
					a = a > first ? a : first;
				}
				wait_seg(w, &s, k, a, at, hop, by);
				k = began;
				break;
			case TY_ST_BLOCKED:
			case TY_ST_STOPPED:
				by = ty_waker_find(m, ty_model_span_edge(m, &s, k));
				wait_seg(w, &s, k, a, at, hop, by);
				break;
			default:
				seg(w, a, at, thread, k, hop,
				    s.flags & TY_SF_LOST ? TY_SEG_LOST : TY_SEG_UNKNOWN, s.flags,
				    NULL);
			}
			at = a;
			if (k == t->spans_first)
				break;
		}
	}
	if (at > from && !w->failed && !w->p->cut)
		before_birth(w, thread, from, at, hop);
}

/* Found from the end. */
static int turn(struct walk *w)
{
	struct ty_path *p = w->p;

	for (size_t i = 0, j = p->seg.n; i + 1 < j; i++) {
		struct ty_seg s = p->seg.v[i];

		p->seg.v[i] = p->seg.v[--j];
		p->seg.v[j] = s;
	}
	return w->failed || !w->x->paths ? w->failed
					 : ty_path_keep(w->x->paths, p, p->hop.n - w->reused);
}

static void begin(struct ty_path *p)
{
	p->seg.n = p->hop.n = 0;
	p->cut = p->inferred = p->bound = false;
}

int ty_path_find(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		 struct ty_path *p)
{
	struct walk w = {.x = x, .p = p};

	begin(p);
	if (from_ns < to_ns)
		walk(&w, thread, from_ns, to_ns, TY_NONE);
	return turn(&w);
}

int ty_path_of_wait(const struct ty_explain *x, uint32_t span, uint64_t from_ns, uint64_t to_ns,
		    struct ty_path *p)
{
	struct ty_span s = ty_model_span(x->m, span);
	struct walk w = {.x = x, .p = p};

	begin(p);
	if (from_ns < to_ns)
		wait_seg(&w, &s, span, from_ns, to_ns, TY_NONE, ty_waker_find(x->m, s.edge));
	return turn(&w);
}

void ty_path_cut(struct ty_path *p, uint64_t from_ns, uint64_t to_ns)
{
	size_t n = 0;

	vec_each (s, &p->seg) {
		s->start_ns = s->start_ns > from_ns ? s->start_ns : from_ns;
		s->end_ns = s->end_ns < to_ns ? s->end_ns : to_ns;
		if (s->start_ns < s->end_ns)
			p->seg.v[n++] = *s;
	}
	p->seg.n = n;
	/* Hops without a remaining segment are kept: others refer to their parents by number. */
	vec_each (h, &p->hop) {
		h->start_ns = h->start_ns > from_ns ? h->start_ns : from_ns;
		h->end_ns = h->end_ns < to_ns ? h->end_ns : to_ns;
	}
}

int ty_path_append(struct ty_path *to, struct ty_path *from)
{
	const uint32_t base = (uint32_t)to->hop.n;
	int r = 0;

	vec_each (h, &from->hop) {
		if (h->parent != TY_NONE)
			h->parent += base;
		r = r ? r : vec_push(&to->hop, *h);
	}
	vec_each (s, &from->seg) {
		if (s->hop != TY_NONE)
			s->hop += base;
		r = r ? r : vec_push(&to->seg, *s);
	}
	to->inferred |= from->inferred;
	return r;
}

void ty_path_fini(struct ty_path *p)
{
	vec_fini(&p->seg);
	vec_fini(&p->hop);
}
