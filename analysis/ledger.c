/* SPDX-License-Identifier: MIT */
/*
 * See ledger.h. Time is distributed from the thread's state spans to system calls and interrupts
 * and cut at their boundaries; every piece is added to exactly one row, so that rows sum by
 * construction.
 *
 * Cost: one step per span, system call and interrupt of the thread within the window, in order: a
 * system call costs its share of a block of rows and two additions. The thread that ran instead is
 * found from at most RIVALS spans of a CPU per wait, beyond that by the zoom forest. Objects
 * (arguments read from the file) are resolved only for waits of at least OBJECT_NS.
 */
#include "ledger.h"

#include <stdlib.h>

#include "block_requests.h"
#include "command_path.h"
#include "cpu_gaps.h"
#include "irq_find.h"
#include "ledger_rows.h"
#include "ledger_samples.h"
#include "steal.h"
#include "wait_retry.h"
#include "wait_call.h"
#include "waits.h"

#define RIVALS	  64
#define OBJECT_NS UINT64_C(1000000)
#define HELD_NS	  UINT64_C(5000000) /* shorter waits for a CPU are ordinary */
#define FEW	  64		    /* are cheaper to read one by one than as rows of a block */
#define FEW_IRQS  4		    /* are cheaper to step over than to search behind */

/* A walk over a thread's calls: rows [i, n) are those not over yet, call is the one behind them. */
struct calls {
	uint32_t thread, call, last;
	uint32_t i, n;
	struct ty_call_rows *rows;
	uint64_t lost_ns; /* events of the thread were lost up to here, no call has ended since */
	uint8_t outside;  /* of all calls it is USER, KTHREAD or UNTOLD */
};

/* A walk over threads' times, into a book. */
struct walk {
	struct ty_book book;
	const struct ty_explain *x;
	struct calls calls;
	struct ty_span_rows *spans;
	const struct ty_cpu_gaps *gaps; /* of the whole window */
	struct ty_cpu_gaps own;		/* used when the caller has none */
	/* No interrupt of the CPU before irq ends after irq_ns; TY_NONE: unknown. */
	uint32_t irq_cpu, irq;
	uint64_t irq_ns;
	/* The last one that was read. */
	uint32_t read_cpu, read;
	struct ty_irq_span irq_read;
};

/* What a walk reads, not to be cleared for each. */
struct rows {
	struct ty_call_rows calls;
	struct ty_span_rows spans;
};

/* In [from, to); w->own is to be freed in any case. Failures stand in the book. */
static void find_gaps(struct walk *w, uint64_t from, uint64_t to)
{
	w->gaps = w->x->gaps ? w->x->gaps : &w->own;
	if (!w->x->gaps)
		w->book.failed = ty_cpu_gaps_find(w->x->m, from, to, &w->own);
}

/* A piece of a span, in the row of that kind and state. */
static void book(struct walk *w, enum ty_ledger_what what, enum ty_state state, uint64_t ns,
		 uint32_t span)
{
	ty_book_add(&w->book,
		    (struct ty_ledger_key){.what = what, .state = (uint8_t)state, .nr = -1}, ns,
		    span);
}

static struct walk walk_of(const struct ty_explain *x, struct rows *rows)
{
	return (struct walk){.book = {.x = x, .who = TY_NONE},
			     .x = x,
			     .calls.rows = &rows->calls,
			     .spans = &rows->spans,
			     .irq_cpu = TY_NONE,
			     .read_cpu = TY_NONE};
}

/* running ----------------------------------------------------------------------------------- */

static void calls_begin(struct walk *w, uint32_t thread, uint64_t from, uint64_t to)
{
	const struct ty_model *m = w->x->m;
	const struct ty_thread *t = ty_model_thread(m, thread);
	struct calls *c = &w->calls;
	uint32_t behind = t->syscalls_first + t->syscalls_n;

	c->thread = thread;
	c->call = ty_explain_call_after(m, thread, from);
	c->last = ty_explain_call_after(m, thread, to);
	c->call = c->call == TY_NONE ? behind : c->call;
	c->last = c->last == TY_NONE ? behind : c->last + 1;
	c->i = c->n = 0;
	c->lost_ns = 0;
	/* A thread without any recorded start or end of a call may have been in one call all the
	 * time; a worker that the kernel created for a traced thread always is. */
	c->outside = t->kernel ? TY_ROW_KTHREAD : t->syscalls_n ? TY_ROW_USER : TY_ROW_UNRECORDED;
}

static bool calls_more(struct walk *w)
{
	const struct ty_model *m = w->x->m;
	struct calls *c = &w->calls;

	if (c->call >= c->last)
		return false;
	if (c->last - c->call > FEW) {
		c->n = ty_model_call_rows(m, c->thread, c->call, c->rows);
	} else {
		struct ty_syscall s = ty_model_syscall_brief(m, c->thread, c->call);

		c->rows->start_ns[0] = s.start_ns;
		c->rows->end_ns[0] = s.end_ns;
		c->rows->ret[0] = s.ret;
		c->rows->nr[0] = s.nr;
		c->rows->abi[0] = s.abi;
		c->rows->flags[0] = s.flags;
		c->rows->entered[0] = s.loc != TY_NO_LOC;
		c->n = 1;
	}
	c->call += c->n;
	c->i = 0;
	return c->n;
}

static void call_over(struct calls *c)
{
	c->lost_ns = c->rows->end_ns[c->i] > c->lost_ns ? 0 : c->lost_ns;
	c->i++;
}

/* The call that contains t, which is not before the previous query; TY_NONE. */
static uint32_t call_at(struct walk *w, uint64_t t)
{
	struct calls *c = &w->calls;

	while (c->i < c->n || calls_more(w)) {
		if (c->rows->flags[c->i] & TY_SF_ENDED || c->rows->end_ns[c->i] > t)
			return c->rows->start_ns[c->i] <= t && c->rows->end_ns[c->i] > t
				       ? c->call - c->n + c->i
				       : TY_NONE;
		call_over(c);
	}
	return TY_NONE;
}

/* In user mode or in calls, [from, to) without interrupts and lost events, after the previous
 * query. */
static void known_modes(struct walk *w, uint32_t span, uint64_t from, uint64_t to)
{
	struct calls *c = &w->calls;
	uint64_t outside = 0, longest = 0;

	while (from < to) {
		uint64_t start = to, end = to;

		if (c->i < c->n || calls_more(w)) {
			end = c->rows->flags[c->i] & TY_SF_ENDED ? UINT64_MAX
								 : c->rows->end_ns[c->i];
			if (end <= from) {
				call_over(c);
				continue;
			}
			start = c->rows->start_ns[c->i] < to ? c->rows->start_ns[c->i] : to;
			/* Its start is among what was lost. */
			if (c->lost_ns && c->rows->flags[c->i] & TY_SF_LOST &&
			    !c->rows->entered[c->i])
				start = from;
		}
		if (start > from) {
			outside += start - from;
			longest = start - from > longest ? start - from : longest;
			from = start;
		}
		end = end < to ? end : to;
		if (end > from)
			ty_book_call(&w->book, c->rows->nr[c->i], c->rows->abi[c->i], end - from,
				     span);
		from = end;
	}
	if (outside)
		ty_book_pieces(&w->book,
			       (struct ty_ledger_key){
				       .what = c->outside, .state = TY_ST_RUNNING, .nr = -1},
			       outside, longest, span);
}

/* The same where events may be lost: what the thread did on that CPU then is unknown, but of
 * kernel threads. */
static void modes(struct walk *w, uint32_t cpu, uint32_t span, uint64_t from, uint64_t to)
{
	const struct ty_cpu_gap *g;

	while (w->gaps->gap.n && w->calls.outside == TY_ROW_USER && from < to &&
	       (g = ty_cpu_gap_after(w->gaps, cpu, from)) && g->from_ns < to) {
		uint64_t end = g->to_ns < to ? g->to_ns : to;

		if (g->from_ns > from) {
			known_modes(w, span, from, g->from_ns);
			from = g->from_ns;
		}
		book(w, TY_ROW_CALLS_LOST, TY_ST_RUNNING, end - from, span);
		w->calls.lost_ns = g->to_ns;
		from = end;
	}
	known_modes(w, span, from, to);
}

static const struct ty_irq_span *irq_span(struct walk *w, uint32_t cpu, uint32_t i)
{
	if (w->read_cpu != cpu || w->read != i)
		w->irq_read = ty_model_irq_span(w->x->m, cpu, i);
	w->read_cpu = cpu;
	w->read = i;
	return &w->irq_read;
}

/* The first interrupt of the CPU that ends after t: not far behind the last one requested, if t is
 * later. */
static uint32_t irq_after(struct walk *w, uint32_t cpu, uint64_t t)
{
	const struct ty_model *m = w->x->m;
	uint32_t n = ty_model_irq_spans(m, cpu);

	if (w->irq_cpu == cpu && w->irq_ns <= t)
		for (uint32_t i = w->irq; i < w->irq + FEW_IRQS; i++)
			if (i >= n || irq_span(w, cpu, i)->end_ns > t)
				return i;
	return ty_irq_after(m, cpu, t);
}

static void present(struct walk *w, const struct ty_span *s, uint32_t span, uint64_t from,
		    uint64_t to)
{
	const struct ty_model *m = w->x->m;
	uint32_t irq = irq_after(w, s->cpu, from), irqs = ty_model_irq_spans(m, s->cpu);

	w->irq_cpu = s->cpu;
	w->irq_ns = to;
	for (; from < to && irq < irqs; irq++) {
		const struct ty_irq_span *q = irq_span(w, s->cpu, irq);
		struct ty_ledger_key k = {.what = TY_ROW_IRQ,
					  .end = q->kind,
					  .state = TY_ST_RUNNING,
					  .nr = -1,
					  .name = q->name};

		if (q->start_ns >= to)
			break;
		if (q->end_ns <= from)
			continue;
		if (q->start_ns > from) {
			modes(w, s->cpu, span, from, q->start_ns);
			from = q->start_ns;
		}
		ty_book_add(&w->book, k, (q->end_ns < to ? q->end_ns : to) - from, span);
		from = q->end_ns;
		if (from > to)
			break;
	}
	w->irq = irq;
	if (from < to)
		modes(w, s->cpu, span, from, to);
}

/* On a CPU, but for what the hypervisor possibly took of it. */
static void running(struct walk *w, const struct ty_span *s, uint32_t span, uint64_t from,
		    uint64_t to)
{
	struct ty_stolen g;

	while (from < to && ty_stolen_next(w->x, s, from, to, &g)) {
		if (g.from_ns > from)
			present(w, s, span, from, g.from_ns);
		book(w, TY_ROW_STEAL, TY_ST_RUNNING, g.to_ns - g.from_ns, span);
		from = g.to_ns;
	}
	if (from < to)
		present(w, s, span, from, to);
}

/* ready ------------------------------------------------------------------------------------- */

/* After the first RIVALS spans of the CPU, threads are summed up, by the zoom forest. */
static void several_rivals(struct walk *w, struct ty_ledger_key k, uint32_t cpu, uint32_t span,
			   uint64_t from, uint64_t to)
{
	uint64_t rest = to - from;
	struct ty_cell c = {.ns = {0}};

	if (ty_model_cpu_spans(w->x->m, cpu))
		ty_model_cells(w->x->m, (struct ty_track){TY_TRACK_CPU, cpu}, from, to, 1, &c);
	k.name = 0;
	k.end = TY_END_SEVERAL;
	ty_book_add(&w->book, k, c.ns[TY_ST_RUNNING], span);
	k.end = TY_END_IDLE;
	ty_book_add(&w->book, k, c.ns[TY_ST_IDLE], span);
	rest -= c.ns[TY_ST_RUNNING] + c.ns[TY_ST_IDLE];
	k.end = TY_END_NONE;
	ty_book_add(&w->book, k, rest, span);
}

/* How long the thread, at the start of its wait for a CPU, was not allowed to run: its cgroup was
 * held back for most of that wait. */
static uint64_t throttled(const struct ty_explain *x, const struct ty_span *s)
{
	uint64_t ns = s->end_ns - s->start_ns;
	struct ty_throttled h;

	if (!x->throttled || ns < HELD_NS ||
	    !x->throttled(x->ctx, ty_model_tid(x->m, s->thread, s->start_ns), s->start_ns,
			  s->end_ns, &h) ||
	    h.ns < ns / 2)
		return 0;
	return h.ns;
}

static void ready(struct walk *w, const struct ty_span *s, uint32_t span, uint64_t from,
		  uint64_t to)
{
	const struct ty_model *m = w->x->m;
	struct ty_ledger_key k = {.what = TY_ROW_RUNNABLE, .state = TY_ST_RUNNABLE, .nr = -1};
	uint32_t n = ty_model_cpu_spans(m, s->cpu), i;
	uint64_t held = s->start_ns + throttled(w->x, s);

	if (held > from) {
		held = held < to ? held : to;
		book(w, TY_ROW_THROTTLED, TY_ST_RUNNABLE, held - from, span);
		from = held;
	}
	k.abi = s->flags & TY_SF_YIELD	   ? TY_END_YIELD
		: s->flags & TY_SF_PREEMPT ? TY_END_PREEMPT
					   : TY_END_WOKEN;
	i = n ? ty_model_cpu_span_find(m, s->cpu, from) : 0;
	for (unsigned r = 0; r < RIVALS && i < n && from < to; r++, i++) {
		struct ty_span c = ty_model_cpu_span_brief(m, s->cpu, i);
		uint64_t end = c.end_ns < to ? c.end_ns : to;

		if (end <= from)
			continue;
		k.name = 0;
		k.end = c.state == TY_ST_IDLE ? TY_END_IDLE : TY_END_NONE;
		if (c.thread != TY_NONE && c.thread != s->thread) {
			k.end = TY_END_THREAD;
			k.name = ty_model_thread(m, c.thread)->name;
		}
		ty_book_add(&w->book, k, end - from, span);
		from = end;
	}
	if (from < to)
		several_rivals(w, k, s->cpu, span, from, to);
}

/* waits ------------------------------------------------------------------------------------- */

/* A wait of the row k that a request's completion or a thread ended: while requests of it were in
 * flight, before that, and the rest. */
static void requests(struct walk *w, const struct ty_waker *by, struct ty_ledger_key k,
		     uint32_t thread, uint32_t span, uint64_t from, uint64_t to)
{
	const struct ty_model *m = w->x->m;
	bool kernel = by->io == TY_NONE && ty_model_thread(m, by->thread)->kernel;
	struct ty_flight f[TY_FLIGHTS];
	unsigned n = by->io != TY_NONE || kernel ? ty_block_flights(m, thread, by, from, to, f) : 0;
	struct ty_ledger_key rest = k, io = k;

	rest.end = by->io != TY_NONE ? TY_END_NO_REQUEST : k.end;
	rest.name = by->io != TY_NONE ? 0 : k.name;
	io.name = by->io != TY_NONE ? k.name : 0;
	for (unsigned i = 0; i < n; i++) {
		if (f[i].from_ns > from)
			ty_book_add(&w->book, rest, f[i].from_ns - from, span);
		io.end = f[i].queued ? TY_END_QUEUED : TY_END_IO;
		ty_book_add(&w->book, io, f[i].to_ns - f[i].from_ns, span);
		from = f[i].to_ns;
	}
	if (from < to)
		ty_book_add(&w->book, n || by->io != TY_NONE ? rest : k, to - from, span);
}

static void waiting(struct walk *w, const struct ty_span *brief, uint32_t span, uint64_t from,
		    uint64_t to)
{
	const struct ty_model *m = w->x->m;
	struct ty_span s = *brief;
	struct ty_waker by;
	struct ty_ledger_key k = {.what = TY_ROW_WAIT, .state = s.state, .nr = -1};
	const struct calls *r = &w->calls;
	struct ty_syscall c = {.ret = 0};
	char object[TY_WAIT_OBJECT];
	uint32_t in;

	if (s.state == TY_ST_BLOCKED && s.flags & TY_SF_NEW) {
		k.what = TY_ROW_NEW;
		ty_book_add(&w->book, k, to - from, span);
		return;
	}
	by = ty_waker_find(m, ty_model_span_edge(m, &s, span));
	in = s.syscall = call_at(w, s.start_ns);
	s.syscall = ty_wait_call(w->x, &s);
	if (s.syscall != TY_NONE) {
		if (s.syscall == in)
			c = (struct ty_syscall){.nr = r->rows->nr[r->i],
						.abi = r->rows->abi[r->i],
						.ret = r->rows->ret[r->i],
						.flags = r->rows->flags[r->i]};
		else
			c = ty_model_syscall_brief(m, s.thread, s.syscall);
		k.nr = c.nr;
		k.abi = c.abi;
		if (s.end_ns - s.start_ns >= OBJECT_NS) {
			ty_wait_object(w->x, &s, s.syscall, object);
			k.object = ty_book_object(&w->book, object);
		}
	} else if (ty_wait_is_page(m, &s)) {
		k.what = TY_ROW_FAULT;
	}
	if (s.state == TY_ST_STOPPED)
		k.what = TY_ROW_STOPPED;
	switch ((enum ty_waker_kind)by.kind) {
	case TY_WAKER_THREAD:
		k.end = s.syscall != TY_NONE && ty_wait_retry_interrupted(&c) ? TY_END_SIGNAL
									      : TY_END_THREAD;
		k.name = ty_model_thread(m, by.thread)->name;
		break;
	case TY_WAKER_DEVICE:
		k.end = by.io != TY_NONE ? TY_END_IO : TY_END_DEVICE;
		k.name = by.name;
		break;
	case TY_WAKER_TIMER:
		k.end = s.syscall != TY_NONE && ty_wait_ended_by_timeout(w->x, &c) ? TY_END_TIMEOUT
										   : TY_END_TIMER;
		break;
	case TY_WAKER_IPI:
	case TY_WAKER_UNKNOWN: k.end = TY_END_IRQ; break;
	default: k.end = s.flags & TY_SF_OPEN ? TY_END_OPEN : TY_END_NONE;
	}
	if ((s.state == TY_ST_BLOCKED || ty_model_thread(m, s.thread)->kernel) &&
	    (by.io != TY_NONE || by.kind == TY_WAKER_THREAD))
		requests(w, &by, k, s.thread, span, from, to);
	else
		ty_book_add(&w->book, k, to - from, span);
}

/* A piece of a span, in its row. */
static void book_span(struct walk *w, const struct ty_span *s, uint32_t span, uint64_t from,
		      uint64_t to)
{
	enum ty_ledger_what what = TY_ROW_UNKNOWN;

	switch ((enum ty_state)s->state) {
	case TY_ST_RUNNING: running(w, s, span, from, to); return;
	case TY_ST_RUNNABLE: ready(w, s, span, from, to); return;
	case TY_ST_SLEEPING:
	case TY_ST_BLOCKED:
	case TY_ST_STOPPED: waiting(w, s, span, from, to); return;
	case TY_ST_DEAD: what = TY_ROW_DEAD; break;
	default:
		if (s->flags & TY_SF_LOST) {
			what = TY_ROW_LOST;
			w->calls.lost_ns = s->end_ns;
		}
	}
	book(w, what, s->state, to - from, span);
}

/* The thread's spans from `span` on, as rows: how many (0: none). */
static uint32_t spans_more(struct walk *w, uint32_t thread, uint32_t span, uint32_t last)
{
	struct ty_span_rows *rows = w->spans;
	struct ty_span s;

	if (span > last)
		return 0;
	if (last - span > FEW)
		return ty_model_span_rows(w->x->m, thread, span, rows);
	s = ty_model_span_brief(w->x->m, thread, span);
	rows->start_ns[0] = s.start_ns;
	rows->start_ns[1] = s.end_ns;
	rows->cpu[0] = s.cpu;
	rows->state[0] = s.state;
	rows->flags[0] = s.flags;
	return 1;
}

/* A time of a thread, within its life, and within these of its spans. */
static void account_spans(struct walk *w, uint32_t thread, uint32_t k, uint32_t last, uint64_t from,
			  uint64_t to)
{
	uint32_t n;

	calls_begin(w, thread, from, to);
	ty_ledger_samples(&w->book, w->gaps, thread, from, to);
	for (; k != TY_NONE && (n = spans_more(w, thread, k, last)); k += n)
		for (uint32_t i = 0; i < n && from < to && !w->book.failed; i++) {
			struct ty_span s = {.start_ns = w->spans->start_ns[i],
					    .end_ns = w->spans->start_ns[i + 1],
					    .thread = thread,
					    .cpu = w->spans->cpu[i],
					    .edge = TY_NONE,
					    .syscall = TY_NONE,
					    .state = w->spans->state[i],
					    .flags = w->spans->flags[i]};
			uint64_t end = s.end_ns < to ? s.end_ns : to;

			if (ty_explain_stopped(w->x))
				w->book.failed = -TY_EINTR;
			if (end <= from)
				continue;
			book_span(w, &s, k + i, from, end);
			from = end;
		}
	if (from < to)
		book(w, TY_ROW_UNKNOWN, TY_ST_UNKNOWN, to - from, TY_NONE);
}

/* A time of a thread, within its life. */
static void account(struct walk *w, uint32_t thread, uint64_t from, uint64_t to)
{
	uint32_t k = from < to ? ty_model_span_find(w->x->m, thread, from) : TY_NONE;

	account_spans(w, thread, k, k == TY_NONE ? 0 : ty_model_span_find(w->x->m, thread, to),
		      from, to);
}

/* ------------------------------------------------------------------------------------------- */

static int done(struct walk *w, struct ty_ledger *out)
{
	ty_cpu_gaps_fini(&w->own);
	return ty_book_close(&w->book, out);
}

int ty_ledger_thread(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		     struct ty_ledger *out)
{
	const struct ty_thread *t = ty_model_thread(x->m, thread);
	struct rows rows;
	struct walk w = walk_of(x, &rows);

	*out = (struct ty_ledger){.thread = thread};
	out->start_ns = from_ns > t->start_ns ? from_ns : t->start_ns;
	out->end_ns = to_ns < t->end_ns ? to_ns : t->end_ns;
	if (out->end_ns < out->start_ns)
		out->end_ns = out->start_ns;
	out->total_ns = out->end_ns - out->start_ns;
	out->threads = 1;
	find_gaps(&w, out->start_ns, out->end_ns);
	account(&w, thread, out->start_ns, out->end_ns);
	return done(&w, out);
}

int ty_ledger_process(const struct ty_explain *x, const struct ty_member *of, uint32_t n,
		      uint64_t from_ns, uint64_t to_ns, struct ty_ledger *out)
{
	struct rows rows;
	struct walk w = walk_of(x, &rows);

	*out = (struct ty_ledger){.thread = of->process, .start_ns = UINT64_MAX};
	find_gaps(&w, from_ns, to_ns);
	for (; n && !w.book.failed; of++, n--) {
		const struct ty_thread *t = ty_model_thread(x->m, of->thread);
		uint64_t from = from_ns > t->start_ns ? from_ns : t->start_ns,
			 to = to_ns < t->end_ns ? to_ns : t->end_ns;

		if (from >= to)
			continue;
		account(&w, of->thread, from, to);
		out->start_ns = from < out->start_ns ? from : out->start_ns;
		out->end_ns = to > out->end_ns ? to : out->end_ns;
		out->total_ns += to - from;
		out->threads++;
	}
	if (!out->threads)
		out->start_ns = out->end_ns = from_ns;
	return done(&w, out);
}

/* The group in which each thread on the path is reported, by thread index. */
static int group_path_threads(const struct ty_model *m, const struct ty_path *p,
			      struct ty_ledger_group **out)
{
	struct ty_ledger_group *c = calloc((size_t)ty_model_summary(m)->threads + 1, sizeof(*c));

	*out = c;
	if (!c)
		return -TY_ENOMEM;
	vec_each (s, &p->seg)
		c[s->thread].n = 1;
	return ty_ledger_groups(m, NULL, c);
}

/* Is what follows on the path the next span of the same thread? Both are one time of it then. */
static bool goes_on(const struct ty_seg *s, const struct ty_seg *next)
{
	return next->thread == s->thread && next->start_ns == s->end_ns && s->span != TY_NONE &&
	       next->span == s->span + 1;
}

/* The segments of a thread from s to e. The span of one that began before is that of its last
 * part. */
static void account_segs(struct walk *w, const struct ty_seg *s, const struct ty_seg *e)
{
	uint32_t k = s->span;

	if (ty_model_span_brief(w->x->m, s->thread, k).start_ns > s->start_ns)
		k = ty_model_span_find(w->x->m, s->thread, s->start_ns);
	account_spans(w, s->thread, k, e->span, s->start_ns, e->end_ns);
}

/* Adds each segment of the path to the rows of its group (group_of). What the path does not cover
 * (one that was cut short lacks its beginning) is unknown. */
static void account_path(struct walk *w, const struct ty_path *p,
			 const struct ty_ledger_group *group_of, uint64_t from, uint64_t to)
{
	for (const struct ty_seg *s = p->seg.v, *end = vec_at(&p->seg, p->seg.n), *e; s < end;
	     from = e->end_ns, s = e + 1) {
		for (e = s; e + 1 < end && goes_on(e, e + 1);)
			e++;
		w->book.who = TY_NONE;
		if (s->start_ns > from)
			book(w, TY_ROW_UNKNOWN, TY_ST_UNKNOWN, s->start_ns - from, TY_NONE);
		w->book.who = group_of[s->thread].thread;
		if (s->span == TY_NONE)
			book(w, TY_ROW_UNKNOWN, TY_ST_UNKNOWN, s->end_ns - s->start_ns, TY_NONE);
		else
			account_segs(w, s, e);
	}
	w->book.who = TY_NONE;
	if (from < to)
		book(w, TY_ROW_UNKNOWN, TY_ST_UNKNOWN, to - from, TY_NONE);
}

/* The book of a walk is that of the caller meanwhile. */
int ty_ledger_path(const struct ty_explain *x, const struct ty_path *p,
		   const struct ty_ledger_group *group_of, uint64_t from_ns, uint64_t to_ns,
		   struct ty_book *b)
{
	struct rows rows;
	struct walk w = walk_of(x, &rows);

	find_gaps(&w, from_ns, to_ns);
	b->failed = w.book.failed;
	w.book = *b;
	account_path(&w, p, group_of, from_ns, to_ns);
	ty_cpu_gaps_fini(&w.own);
	*b = w.book;
	return b->failed;
}

int ty_ledger_add(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		  const struct ty_ledger_group *group_of, struct ty_book *b, uint64_t *ns)
{
	const struct ty_thread *t = ty_model_thread(x->m, thread);
	uint64_t from = from_ns > t->start_ns ? from_ns : t->start_ns,
		 to = to_ns < t->end_ns ? to_ns : t->end_ns;
	struct rows rows;
	struct walk w = walk_of(x, &rows);

	*ns = from < to ? to - from : 0;
	if (!*ns)
		return 0;
	find_gaps(&w, from, to);
	b->failed = w.book.failed;
	w.book = *b;
	w.book.who = group_of[thread].thread;
	account(&w, thread, from, to);
	ty_cpu_gaps_fini(&w.own);
	*b = w.book;
	return b->failed;
}

int ty_ledger_command(const struct ty_explain *x, uint64_t from_ns, uint64_t to_ns,
		      struct ty_ledger *out)
{
	struct rows rows;
	struct walk w = walk_of(x, &rows);
	struct ty_ledger_group *group_of = NULL;
	struct ty_path p;
	int r;

	*out = (struct ty_ledger){.thread = TY_NONE};
	r = ty_command_path(x, from_ns, to_ns, &out->start_ns, &out->end_ns, &p);
	if (r == -TY_ENOTFOUND)
		return r;
	out->total_ns = out->end_ns - out->start_ns;
	out->threads = 1;
	out->inferred = p.inferred;
	find_gaps(&w, out->start_ns, out->end_ns);
	if (!r)
		r = group_path_threads(x->m, &p, &group_of);
	w.book.group_of = group_of;
	if (!r)
		account_path(&w, &p, group_of, out->start_ns, out->end_ns);
	ty_path_fini(&p);
	if (r && !w.book.failed)
		w.book.failed = r;
	r = done(&w, out);
	free(group_of);
	return r;
}
