/* SPDX-License-Identifier: MIT */
/*
 * See ledger.h. A time is handed down from the thread's state spans to system calls and interrupts
 * and cut at their borders; every piece is added to exactly one row, so that rows sum by
 * construction.
 *
 * Cost: one step per span, system call and interrupt of the thread within the window, in order: a
 * system call costs its share of a block of rows and two additions. For who ran instead at most
 * RIVALS spans of a CPU per wait, the rest by the zoom forest. Objects of waits (arguments are read
 * from the file) only of waits of at least OBJECT_NS.
 */
#include "ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_path.h"
#include "compare.h"
#include "irq_find.h"
#include "process.h"
#include "waits.h"

#define RIVALS	  64
#define OBJECT_NS UINT64_C(1000000)
#define ROWS_MAX  2000
#define ENOUGH	  256 /* objects of waits that are told; and rows in the first map */
#define HINTS	  512
#define FEW_CALLS 64 /* are cheaper to read one by one than as rows of a block */
#define FEW_IRQS  4  /* are cheaper to step over than to search behind */

struct key {
	uint32_t who; /* command's ledger: thread index; else TY_NONE */
	uint8_t what; /* enum what */
	uint8_t end;  /* enum ender: of waits */
	uint8_t abi, state;
	int32_t nr;	 /* system call, -1 none */
	uint32_t name;	 /* string id: interrupt, rival, waker; 0 none */
	uint32_t object; /* index + 1 of an object's text; 0 none */
};

enum what { USER, KERNEL, IRQ, READY, WAIT, FAULT, STOPPED, NEW, DEAD, LOST, UNKNOWN, OTHERS };
enum ender {
	E_THREAD,
	E_DEVICE,
	E_IO,
	E_TIMER,
	E_SIGNAL,
	E_IRQ,
	E_OPEN,
	E_NONE,
	E_YIELD,
	E_PREEMPT,
	E_WOKEN,
	E_IDLE,
	E_CROWD
};

struct row {
	struct key k;
	uint64_t ns, longest;
	uint32_t span;
};

/* A walk over a thread's calls: rows [i, n) are those not over yet, call is the one behind them. */
struct calls {
	uint32_t thread, call, last;
	uint32_t i, n;
	struct ty_call_rows rows;
};

struct book {
	const struct ty_explain *x;
	VEC(struct row) row;
	uint32_t *map; /* index + 1, by hash */
	uint32_t mask;
	uint32_t in_call[HINTS]; /* the row of a system call's number where it was last time */
	struct calls calls;
	/* No interrupt of the CPU before irq ends after irq_ns; TY_NONE: not known. */
	uint32_t irq_cpu, irq;
	uint64_t irq_ns;
	VEC(char *) object;
	uint32_t who;
	int failed;
};

/* rows -------------------------------------------------------------------------------------- */

static uint32_t hash(const struct key *k)
{
	uint64_t h = k->who;

	h = h * 31 + k->what;
	h = h * 31 + k->end;
	h = h * 31 + k->abi;
	h = h * 1000003 + (uint32_t)k->nr;
	h = h * 1000003 + k->name;
	h = h * 1000003 + k->object;
	return (uint32_t)(h * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static bool same(const struct key *a, const struct key *b)
{
	return a->who == b->who && a->what == b->what && a->end == b->end && a->abi == b->abi &&
	       a->nr == b->nr && a->name == b->name && a->object == b->object;
}

static int grow(struct book *b)
{
	uint32_t n = b->map ? 2 * (b->mask + 1) : ENOUGH;
	uint32_t *map = calloc(n, sizeof(*map));

	if (!map)
		return -TY_ENOMEM;
	free(b->map);
	b->map = map;
	b->mask = n - 1;
	for (uint32_t r = 0; r < b->row.n; r++) {
		uint32_t i = hash(&b->row.v[r].k) & b->mask;

		while (map[i])
			i = (i + 1) & b->mask;
		map[i] = r + 1;
	}
	return 0;
}

/* Index of the row; TY_NONE when there is no memory. */
static uint32_t row_of(struct book *b, struct key k)
{
	static const struct key others = {
		.who = TY_NONE, .what = OTHERS, .state = TY_ST_UNKNOWN, .nr = -1};
	uint32_t i;

	k.who = b->who;
	if (b->row.n * 2 >= (b->map ? b->mask + 1 : 0) && grow(b)) {
		b->failed = -TY_ENOMEM;
		return TY_NONE;
	}
	for (;;) {
		for (i = hash(&k) & b->mask; b->map[i]; i = (i + 1) & b->mask)
			if (same(&b->row.v[b->map[i] - 1].k, &k))
				return b->map[i] - 1;
		if (b->row.n < ROWS_MAX || k.what == OTHERS)
			break;
		k = others;
	}
	if (vec_push(&b->row, (struct row){.k = k, .span = TY_NONE})) {
		b->failed = -TY_ENOMEM;
		return TY_NONE;
	}
	b->map[i] = (uint32_t)b->row.n;
	return b->map[i] - 1;
}

/* Pieces of a span, ns together, of which the longest lasts that long. */
static void add(struct book *b, uint32_t row, uint64_t ns, uint64_t longest, uint32_t span)
{
	struct row *r = row == TY_NONE ? NULL : &b->row.v[row];

	if (!r)
		return;
	r->ns += ns;
	if (longest > r->longest) {
		r->longest = longest;
		r->span = span;
	}
}

static void book(struct book *b, struct key k, uint64_t ns, uint32_t span)
{
	if (ns && !b->failed)
		add(b, row_of(b, k), ns, ns, span);
}

static void book_call(struct book *b, int32_t nr, uint8_t abi, uint64_t ns, uint32_t span)
{
	uint32_t *hint = &b->in_call[(uint32_t)nr % HINTS];
	const struct key *k = *hint < b->row.n ? &b->row.v[*hint].k : NULL;

	if (!k || k->what != KERNEL || k->nr != nr || k->abi != abi || k->who != b->who)
		*hint = row_of(
			b,
			(struct key){.what = KERNEL, .state = TY_ST_RUNNING, .nr = nr, .abi = abi});
	add(b, *hint, ns, ns, span);
}

static uint32_t object(struct book *b, const char *text)
{
	char *copy;

	if (!*text)
		return 0;
	for (size_t i = 0; i < b->object.n; i++)
		if (!strcmp(b->object.v[i], text))
			return (uint32_t)i + 1;
	if (b->object.n >= ENOUGH)
		return 0;
	copy = strdup(text);
	if (!copy || vec_push(&b->object, copy)) {
		free(copy);
		b->failed = -TY_ENOMEM;
		return 0;
	}
	return (uint32_t)b->object.n;
}

/* running ----------------------------------------------------------------------------------- */

static void calls_begin(struct book *b, uint32_t thread, uint64_t from, uint64_t to)
{
	const struct ty_model *m = b->x->m;
	const struct ty_thread *t = ty_model_thread(m, thread);
	struct calls *c = &b->calls;
	uint32_t behind = t->syscalls_first + t->syscalls_n;

	c->thread = thread;
	c->call = ty_explain_call_after(m, thread, from);
	c->last = ty_explain_call_after(m, thread, to);
	c->call = c->call == TY_NONE ? behind : c->call;
	c->last = c->last == TY_NONE ? behind : c->last + 1;
	c->i = c->n = 0;
}

static bool calls_more(struct book *b)
{
	const struct ty_model *m = b->x->m;
	struct calls *c = &b->calls;

	if (c->call >= c->last)
		return false;
	if (c->last - c->call > FEW_CALLS) {
		c->n = ty_model_call_rows(m, c->thread, c->call, &c->rows);
	} else {
		struct ty_syscall s = ty_model_syscall_brief(m, c->thread, c->call);

		c->rows.start_ns[0] = s.start_ns;
		c->rows.end_ns[0] = s.end_ns;
		c->rows.nr[0] = s.nr;
		c->rows.abi[0] = s.abi;
		c->rows.flags[0] = s.flags;
		c->n = 1;
	}
	c->call += c->n;
	c->i = 0;
	return c->n;
}

/* In user mode or in calls, [from, to) without interrupts, behind what was asked before. */
static void modes(struct book *b, uint32_t span, uint64_t from, uint64_t to)
{
	struct calls *c = &b->calls;
	uint64_t user = 0, longest = 0;

	while (from < to) {
		uint64_t start = to, end = to;

		if (c->i < c->n || calls_more(b)) {
			end = c->rows.flags[c->i] & TY_SF_ENDED ? UINT64_MAX : c->rows.end_ns[c->i];
			if (end <= from) {
				c->i++;
				continue;
			}
			start = c->rows.start_ns[c->i] < to ? c->rows.start_ns[c->i] : to;
		}
		if (start > from) {
			user += start - from;
			longest = start - from > longest ? start - from : longest;
			from = start;
		}
		end = end < to ? end : to;
		if (end > from)
			book_call(b, c->rows.nr[c->i], c->rows.abi[c->i], end - from, span);
		from = end;
	}
	if (user)
		add(b, row_of(b, (struct key){.what = USER, .state = TY_ST_RUNNING, .nr = -1}),
		    user, longest, span);
}

/* The first interrupt of the CPU that ends after t: not far behind the last one asked for, if t is
 * later. */
static uint32_t irq_after(const struct book *b, uint32_t cpu, uint64_t t)
{
	const struct ty_model *m = b->x->m;
	uint32_t n = ty_model_irq_spans(m, cpu);

	if (b->irq_cpu == cpu && b->irq_ns <= t)
		for (uint32_t i = b->irq; i < b->irq + FEW_IRQS; i++)
			if (i >= n || ty_model_irq_span(m, cpu, i).end_ns > t)
				return i;
	return ty_irq_after(m, cpu, t);
}

static void running(struct book *b, const struct ty_span *s, uint32_t span, uint64_t from,
		    uint64_t to)
{
	const struct ty_model *m = b->x->m;
	uint32_t irq = irq_after(b, s->cpu, from), irqs = ty_model_irq_spans(m, s->cpu);

	b->irq_cpu = s->cpu;
	b->irq_ns = to;
	for (; from < to && irq < irqs; irq++) {
		struct ty_irq_span q = ty_model_irq_span(m, s->cpu, irq);
		struct key k = {.what = IRQ,
				.end = q.kind,
				.state = TY_ST_RUNNING,
				.nr = -1,
				.name = q.name};

		if (q.start_ns >= to)
			break;
		if (q.end_ns <= from)
			continue;
		if (q.start_ns > from) {
			modes(b, span, from, q.start_ns);
			from = q.start_ns;
		}
		book(b, k, (q.end_ns < to ? q.end_ns : to) - from, span);
		from = q.end_ns;
		if (from > to)
			break;
	}
	b->irq = irq;
	if (from < to)
		modes(b, span, from, to);
}

/* ready ------------------------------------------------------------------------------------- */

/* Behind the first RIVALS spans of the CPU nobody is named any more: by the zoom forest. */
static void crowd(struct book *b, struct key k, uint32_t cpu, uint32_t span, uint64_t from,
		  uint64_t to)
{
	uint64_t rest = to - from;
	struct ty_cell c = {.ns = {0}};

	if (ty_model_cpu_spans(b->x->m, cpu))
		ty_model_cells(b->x->m, (struct ty_track){TY_TRACK_CPU, cpu}, from, to, 1, &c);
	k.name = 0;
	k.end = E_CROWD;
	book(b, k, c.ns[TY_ST_RUNNING], span);
	k.end = E_IDLE;
	book(b, k, c.ns[TY_ST_IDLE], span);
	rest -= c.ns[TY_ST_RUNNING] + c.ns[TY_ST_IDLE];
	k.end = E_NONE;
	book(b, k, rest, span);
}

static void ready(struct book *b, const struct ty_span *s, uint32_t span, uint64_t from,
		  uint64_t to)
{
	const struct ty_model *m = b->x->m;
	struct key k = {.what = READY, .state = TY_ST_RUNNABLE, .nr = -1};
	uint32_t n = ty_model_cpu_spans(m, s->cpu), i;

	k.abi = s->flags & TY_SF_YIELD ? E_YIELD : s->flags & TY_SF_PREEMPT ? E_PREEMPT : E_WOKEN;
	i = n ? ty_model_cpu_span_find(m, s->cpu, from) : 0;
	for (unsigned r = 0; r < RIVALS && i < n && from < to; r++, i++) {
		struct ty_span c = ty_model_cpu_span_brief(m, s->cpu, i);
		uint64_t end = c.end_ns < to ? c.end_ns : to;

		if (end <= from)
			continue;
		k.name = 0;
		k.end = c.state == TY_ST_IDLE ? E_IDLE : E_NONE;
		if (c.thread != TY_NONE && c.thread != s->thread) {
			k.end = E_THREAD;
			k.name = ty_model_thread(m, c.thread)->name;
		}
		book(b, k, end - from, span);
		from = end;
	}
	if (from < to)
		crowd(b, k, s->cpu, span, from, to);
}

/* waits ------------------------------------------------------------------------------------- */

static bool is_interrupted(int64_t ret)
{
	return ret == -4 || (ret <= -512 && ret >= -516); /* EINTR, ERESTART* */
}

static void waiting(struct book *b, uint32_t span, uint64_t from, uint64_t to)
{
	const struct ty_model *m = b->x->m;
	struct ty_span s = ty_model_span(m, span);
	struct ty_waker w;
	struct key k = {.what = WAIT, .state = s.state, .nr = -1};
	struct ty_syscall c = {.ret = 0};

	if (s.state == TY_ST_BLOCKED && s.flags & TY_SF_NEW) {
		k.what = NEW;
		book(b, k, to - from, span);
		return;
	}
	w = ty_waker_find(m, s.edge);
	s.syscall = ty_wait_call(b->x, &s);
	if (s.syscall != TY_NONE) {
		c = ty_model_syscall_brief(m, s.thread, s.syscall);
		k.nr = c.nr;
		k.abi = c.abi;
		if (to - from >= OBJECT_NS)
			k.object = object(b, ty_wait_for(b->x, &s, s.syscall).object);
	} else if (s.state == TY_ST_BLOCKED && ty_model_thread(m, s.thread)->traced) {
		k.what = FAULT;
	}
	if (s.state == TY_ST_STOPPED)
		k.what = STOPPED;
	switch ((enum ty_waker_kind)w.kind) {
	case TY_WAKER_THREAD:
		k.end = s.syscall != TY_NONE && is_interrupted(c.ret) ? E_SIGNAL : E_THREAD;
		k.name = ty_model_thread(m, w.thread)->name;
		break;
	case TY_WAKER_DEVICE:
		k.end = w.io != TY_NONE ? E_IO : E_DEVICE;
		k.name = w.name;
		break;
	case TY_WAKER_TIMER: k.end = E_TIMER; break;
	case TY_WAKER_IPI:
	case TY_WAKER_UNKNOWN: k.end = E_IRQ; break;
	default: k.end = s.flags & TY_SF_OPEN ? E_OPEN : E_NONE;
	}
	book(b, k, to - from, span);
}

/* A time of a thread, within its life. */
static void account(struct book *b, uint32_t thread, uint64_t from, uint64_t to)
{
	const struct ty_model *m = b->x->m;
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t k = from < to ? ty_model_span_find(m, thread, from) : TY_NONE;

	calls_begin(b, thread, from, to);
	for (; k < t->spans_first + t->spans_n && from < to && !b->failed; k++) {
		struct ty_span s = ty_model_span_brief(m, thread, k);
		uint64_t end = s.end_ns < to ? s.end_ns : to;
		struct key u = {.what = UNKNOWN, .state = s.state, .nr = -1};

		if (ty_explain_stopped(b->x))
			b->failed = -TY_EINTR;
		if (end <= from)
			continue;
		switch ((enum ty_state)s.state) {
		case TY_ST_RUNNING: running(b, &s, k, from, end); break;
		case TY_ST_RUNNABLE: ready(b, &s, k, from, end); break;
		case TY_ST_SLEEPING:
		case TY_ST_BLOCKED:
		case TY_ST_STOPPED: waiting(b, k, from, end); break;
		case TY_ST_DEAD:
			u.what = DEAD;
			book(b, u, end - from, k);
			break;
		default: u.what = s.flags & TY_SF_LOST ? LOST : UNKNOWN; book(b, u, end - from, k);
		}
		from = end;
	}
	if (from < to)
		book(b, (struct key){.what = UNKNOWN, .state = TY_ST_UNKNOWN, .nr = -1}, to - from,
		     TY_NONE);
}

/* texts ------------------------------------------------------------------------------------- */

static void ended_by(const struct book *b, const struct key *k, char *out, size_t size)
{
	const char *name = k->name ? ty_model_str(b->x->m, k->name) : "";

	switch ((enum ender)k->end) {
	case E_THREAD: snprintf(out, size, ", ended by thread %s", name); return;
	case E_DEVICE: snprintf(out, size, ", ended by device %s", name); return;
	case E_IO: snprintf(out, size, ", ended by I/O completion (%s)", name); return;
	case E_TIMER: snprintf(out, size, ", ended by timer"); return;
	case E_SIGNAL: snprintf(out, size, ", ended by a signal of %s", name); return;
	case E_IRQ: snprintf(out, size, ", ended by an interrupt"); return;
	case E_OPEN: snprintf(out, size, ", to the end of the recording"); return;
	default: snprintf(out, size, ", end not recorded");
	}
}

static void text(const struct book *b, const struct row *r, char *out, size_t size)
{
	const struct ty_model *m = b->x->m;
	static const char *const irq[] = {"interrupt", "softirq", "vector"};
	const struct key *k = &r->k;
	const char *call = "", *name = k->name ? ty_model_str(m, k->name) : "", *obj = "";
	char buf[32], end[80];
	size_t n = 0;

	if (k->who != TY_NONE) {
		const struct ty_thread *t = ty_model_thread(m, k->who);

		n = (size_t)snprintf(out, size, "%s/%d: ", ty_model_str(m, t->name), t->tid);
		n = n < size ? n : size - 1;
	}
	if (k->nr >= 0)
		call = ty_syscall_name(b->x->arch, k->what == READY ? 0 : k->abi, k->nr, buf);
	if (k->object)
		obj = b->object.v[k->object - 1];
	out += n;
	size -= n;
	switch ((enum what)k->what) {
	case USER: snprintf(out, size, "on CPU in user mode"); return;
	case KERNEL: snprintf(out, size, "on CPU in kernel: %s", call); return;
	case IRQ:
		snprintf(out, size, "stolen by %s %s", irq[k->end < 3 ? k->end : 2], name);
		return;
	case READY:
		snprintf(out, size, "ready%s, %s%s",
			 k->abi == E_YIELD     ? " after sched_yield"
			 : k->abi == E_PREEMPT ? " after being preempted"
					       : "",
			 k->end == E_THREAD  ? name
			 : k->end == E_CROWD ? "others, not told apart, ran instead"
			 : k->end == E_IDLE  ? "its CPU was idle"
					     : "its CPU's work not recorded",
			 k->end == E_THREAD ? " ran instead" : "");
		return;
	case WAIT:
	case FAULT:
	case STOPPED:
		ended_by(b, k, end, sizeof(end));
		if (k->what == STOPPED)
			snprintf(out, size, "stopped%s", end);
		else if (k->what == FAULT)
			snprintf(out, size, "blocked in a page fault%s", end);
		else if (k->nr < 0)
			snprintf(out, size, "blocked, system call not recorded%s%s",
				 k->state == TY_ST_BLOCKED ? " (uninterruptible)" : "", end);
		else
			snprintf(out, size, "blocked in %s%s%s%s%s%s", call, *obj ? "(" : "", obj,
				 *obj ? ")" : "",
				 k->state == TY_ST_BLOCKED ? " (uninterruptible)" : "", end);
		return;
	case NEW: snprintf(out, size, "new, not yet started"); return;
	case DEAD: snprintf(out, size, "after its exit"); return;
	case LOST: snprintf(out, size, "not known: events were lost"); return;
	case UNKNOWN: snprintf(out, size, "not known: nothing is recorded"); return;
	case OTHERS: snprintf(out, size, "smaller rows, together"); return;
	}
}

static int by_ns(const void *pa, const void *pb)
{
	const struct ty_ledger_row *a = pa, *b = pb;

	return compare(b->ns, a->ns) ?: strcmp(a->row, b->row);
}

static int by_text(const void *pa, const void *pb)
{
	const struct ty_ledger_row *a = pa, *b = pb;

	return strcmp(a->row, b->row);
}

/* Rows as texts; those that read alike are one. */
static int finish(struct book *b, struct ty_ledger *out)
{
	uint32_t w = 0;

	if (!b->failed) {
		out->rows = calloc(b->row.n + 1, sizeof(*out->rows));
		b->failed = out->rows ? 0 : -TY_ENOMEM;
	}
	for (size_t i = 0; i < b->row.n && !b->failed; i++) {
		out->rows[i].ns = b->row.v[i].ns;
		out->rows[i].span = b->row.v[i].span;
		out->rows[i].state = b->row.v[i].k.state;
		text(b, &b->row.v[i], out->rows[i].row, sizeof(out->rows[i].row));
	}
	if (!b->failed && b->row.n) {
		qsort(out->rows, b->row.n, sizeof(*out->rows), by_text);
		for (size_t i = 0; i < b->row.n; i++) {
			if (w && !strcmp(out->rows[w - 1].row, out->rows[i].row))
				out->rows[w - 1].ns += out->rows[i].ns;
			else
				out->rows[w++] = out->rows[i];
		}
		qsort(out->rows, w, sizeof(*out->rows), by_ns);
		out->n = w;
	}
	vec_fini(&b->row);
	for (size_t i = 0; i < b->object.n; i++)
		free(b->object.v[i]);
	vec_fini(&b->object);
	free(b->map);
	if (b->failed)
		ty_ledger_fini(out);
	return b->failed;
}

int ty_ledger_thread(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		     struct ty_ledger *out)
{
	const struct ty_thread *t = ty_model_thread(x->m, thread);
	struct book b = {.x = x, .who = TY_NONE, .irq_cpu = TY_NONE};

	*out = (struct ty_ledger){.thread = thread};
	out->start_ns = from_ns > t->start_ns ? from_ns : t->start_ns;
	out->end_ns = to_ns < t->end_ns ? to_ns : t->end_ns;
	if (out->end_ns < out->start_ns)
		out->end_ns = out->start_ns;
	out->total_ns = out->end_ns - out->start_ns;
	out->threads = 1;
	account(&b, thread, out->start_ns, out->end_ns);
	return finish(&b, out);
}

int ty_ledger_process(const struct ty_explain *x, uint32_t process, uint64_t from_ns,
		      uint64_t to_ns, struct ty_ledger *out)
{
	struct book b = {.x = x, .who = TY_NONE, .irq_cpu = TY_NONE};

	*out = (struct ty_ledger){.thread = process, .start_ns = UINT64_MAX};
	for (uint32_t i = 0; i < ty_model_summary(x->m)->threads && !b.failed; i++) {
		const struct ty_thread *t = ty_model_thread(x->m, i);
		uint64_t from = from_ns > t->start_ns ? from_ns : t->start_ns,
			 to = to_ns < t->end_ns ? to_ns : t->end_ns;

		if (from >= to || ty_process_of(x->m, i) != process)
			continue;
		account(&b, i, from, to);
		out->start_ns = from < out->start_ns ? from : out->start_ns;
		out->end_ns = to > out->end_ns ? to : out->end_ns;
		out->total_ns += to - from;
		out->threads++;
	}
	if (!out->threads)
		out->start_ns = out->end_ns = from_ns;
	return finish(&b, out);
}

int ty_ledger_command(const struct ty_explain *x, uint64_t from_ns, uint64_t to_ns,
		      struct ty_ledger *out)
{
	struct book b = {.x = x, .who = TY_NONE, .irq_cpu = TY_NONE};
	struct ty_path p;
	uint64_t at;
	int r;

	*out = (struct ty_ledger){.thread = TY_NONE};
	r = ty_command_path(x, from_ns, to_ns, &out->start_ns, &out->end_ns, &p);
	if (r == -TY_ENOTFOUND)
		return r;
	out->total_ns = out->end_ns - out->start_ns;
	out->threads = 1;
	out->inferred = p.inferred;
	at = out->start_ns;
	for (size_t k = 0; k < p.seg.n && !r; k++) {
		const struct ty_seg *s = &p.seg.v[k];

		/* A path that was cut short lacks its beginning. */
		b.who = TY_NONE;
		if (s->start_ns > at)
			book(&b, (struct key){.what = UNKNOWN, .state = TY_ST_UNKNOWN, .nr = -1},
			     s->start_ns - at, TY_NONE);
		b.who = s->thread;
		if (s->span == TY_NONE)
			book(&b, (struct key){.what = UNKNOWN, .state = TY_ST_UNKNOWN, .nr = -1},
			     s->end_ns - s->start_ns, TY_NONE);
		else
			account(&b, s->thread, s->start_ns, s->end_ns);
		at = s->end_ns;
	}
	b.who = TY_NONE;
	if (!r && at < out->end_ns)
		book(&b, (struct key){.what = UNKNOWN, .state = TY_ST_UNKNOWN, .nr = -1},
		     out->end_ns - at, TY_NONE);
	ty_path_fini(&p);
	if (r && !b.failed)
		b.failed = r;
	return finish(&b, out);
}

void ty_ledger_fini(struct ty_ledger *l)
{
	free(l->rows);
	l->rows = NULL;
	l->n = 0;
}
