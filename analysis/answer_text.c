/* SPDX-License-Identifier: MIT */
/* Text of an answer's item: the thread, what it did or waited for, and what held it up. */
#include "answer_priv.h"

#include <stdio.h>

#include "block_requests.h"
#include "sentence.h"
#include "units.h"
#include "wait_peer.h"
#include "wait_call.h"
#include "wait_fd.h"
#include "waits.h"
#include "process_titles.h"

#define TOLD   2   /* of calls and of threads that ran instead, the first ones are named */
#define PIECES 512 /* of time runnable are examined */
#define MUCH   20  /* percent of an item: shown beside a larger part */

static void say_thread(struct ty_sentence *o, const struct ty_model *m, uint32_t thread)
{
	ty_put(o, "%s", ty_who_last(m, thread));
}

static void say_who(struct ty_sentence *o, const struct ty_answer_work *k, uint32_t who)
{
	char name[96];

	ty_ledger_group_name(k->x->m, k->group_of, who, name, sizeof(name));
	ty_put(o, "%s", name);
}

static unsigned percent(uint64_t part, uint64_t all)
{
	return all ? (unsigned)((part * 100 + all / 2) / all) : 0;
}

/* rows of an item --------------------------------------------------------------------------- */

/* The largest rows of the same thread and kind, which `rank` combines, with their sums. */
struct top {
	uint32_t id; /* system call and ABI, or a name's id */
	uint8_t abi;
	uint64_t ns;
};

static void top_add(struct top *v, unsigned *n, unsigned most, uint32_t id, uint8_t abi,
		    uint64_t ns)
{
	unsigned i = 0;

	while (i < *n && (v[i].id != id || v[i].abi != abi))
		i++;
	if (i == most)
		return;
	if (i == *n)
		v[(*n)++] = (struct top){id, abi, 0};
	v[i].ns += ns;
	for (; i && v[i].ns > v[i - 1].ns; i--) {
		struct top t = v[i];

		v[i] = v[i - 1];
		v[i - 1] = t;
	}
}

static void say_cpu(struct ty_sentence *o, const struct ty_answer_work *k,
		    const struct ty_answer_sum *s)
{
	struct top v[64];
	uint64_t user = 0, irq = 0;
	unsigned n = 0;
	char buf[32];
	bool any = false;

	vec_each (r, &k->book->row) {
		if (r->k.who != s->who)
			continue;
		if (r->k.what == TY_ROW_USER)
			user += r->ns;
		else if (r->k.what == TY_ROW_IRQ)
			irq += r->ns;
		else if (r->k.what == TY_ROW_KERNEL)
			top_add(v, &n, 64, (uint32_t)r->k.nr, r->k.abi, r->ns);
	}
	ty_put(o, " ran");
	if (percent(user, s->ns) >= 5) {
		ty_put(o, ": %u%% outside system calls", percent(user, s->ns));
		any = true;
	}
	for (unsigned i = 0; i < n && i < TOLD && percent(v[i].ns, s->ns) >= 5; i++) {
		ty_put(o, "%s %u%% in %s", any ? "," : ":", percent(v[i].ns, s->ns),
		       ty_syscall_name(k->x->arch, v[i].abi, (int32_t)v[i].id, buf));
		any = true;
	}
	if (percent(irq, s->ns) >= 5)
		ty_put(o, "%s %u%% in interrupt handlers", any ? "," : ":", percent(irq, s->ns));
}

/* In which call the thread was in most of that time: a wakeup in it is followed by a wait for a
 * CPU. Of many such pieces of the path, evenly chosen ones are examined. */
static void say_runnable_in(struct ty_sentence *o, const struct ty_answer_work *k,
			    const struct ty_answer_sum *s)
{
	const struct ty_model *m = k->x->m;
	uint64_t all = 0;
	struct top v[64];
	unsigned n = 0, seen = 0, step;
	char buf[32];

	if (!k->path)
		return;
	for (unsigned pass = 0; pass < 2; pass++) {
		step = seen / PIECES + 1;
		seen = 0;
		vec_each (g, &k->path->seg) {
			const uint64_t ns = g->end_ns - g->start_ns;
			struct ty_syscall c;
			uint32_t call;

			if (g->what != TY_SEG_RUNNABLE || k->group_of[g->thread].thread != s->who ||
			    seen++ % step || !pass)
				continue;
			all += ns;
			call = ty_model_syscall_at(m, g->thread, g->start_ns);
			if (call == TY_NONE)
				continue;
			c = ty_model_syscall_brief(m, g->thread, call);
			top_add(v, &n, 64, (uint32_t)c.nr, c.abi, ns);
		}
	}
	if (!n || percent(v[0].ns, all) < 50)
		return;
	if (percent(v[0].ns, all) == 100)
		ty_put(o, ", all of it in ");
	else
		ty_put(o, ", %s%u%% of it in ", step > 1 ? "about " : "", percent(v[0].ns, all));
	ty_put(o, "%s", ty_syscall_name(k->x->arch, v[0].abi, (int32_t)v[0].id, buf));
}

static void say_runnable(struct ty_sentence *o, const struct ty_answer_work *k,
			 const struct ty_answer_sum *s)
{
	struct top v[64];
	unsigned n = 0, told = 0;
	uint64_t idle = 0, none = 0;
	const char *ran = k->group_of[s->who].n > 1 ? " (meanwhile on their CPUs:"
						    : " (meanwhile on its CPU:";
	bool any = false, left;

	vec_each (r, &k->book->row) {
		if (r->k.who != s->who || r->k.what != TY_ROW_RUNNABLE)
			continue;
		if (r->k.end == TY_END_THREAD)
			top_add(v, &n, 64, r->k.name, 0, r->ns);
		else if (r->k.end == TY_END_IDLE)
			idle += r->ns;
		else if (r->k.end != TY_END_SEVERAL)
			none += r->ns;
	}
	left = percent(idle, s->ns) > 50; /* nothing that ran kept it from that CPU */
	ty_put(o, left ? " was runnable" : " waited for a CPU");
	for (unsigned i = 0; i < n && i < TOLD && percent(v[i].ns, s->ns) >= 5; i++) {
		ty_put(o, "%s %s %u%%", any ? "," : ran, ty_model_str(k->x->m, v[i].id),
		       percent(v[i].ns, s->ns));
		told += percent(v[i].ns, s->ns);
		any = true;
	}
	if (percent(idle, s->ns) >= 5) {
		ty_put(o, "%s idle %u%%", any ? "," : ran, percent(idle, s->ns));
		told += percent(idle, s->ns);
		any = true;
	}
	if (percent(none, s->ns) >= 5 && any) {
		ty_put(o, ", not recorded %u%%", percent(none, s->ns));
		told += percent(none, s->ns);
	}
	if (any && told < 100)
		ty_put(o, ", others %u%%", 100 - told);
	if (any)
		ty_put(o, "%s)", left ? "; possible causes: wakeup latency, the hypervisor" : "");
	else if (none)
		ty_put(o, " (what ran on it is not recorded)");
	else
		ty_put(o, " (many threads shared it)");
	say_runnable_in(o, k, s);
}

/* waits ------------------------------------------------------------------------------------- */

/* "in fsync on "/var/x"" of a wait; its object behind that or, unless NULL, in `apart`. Returns its
 * kind, enum ty_stall_kind. */
static unsigned say_call(struct ty_sentence *o, const struct ty_answer_work *k, uint32_t span,
			 struct ty_sentence *apart)
{
	const struct ty_explain *x = k->x;
	struct ty_span s = ty_model_span(x->m, span);
	uint32_t call = ty_wait_call(x, &s);
	struct ty_wait_for w = ty_wait_for(x, &s, call);
	char buf[32], peer[TY_PEER];
	const char *name;
	bool connecting;

	ty_wait_look_at_fd(x, &s, call, false, &w);
	ty_wait_look_at_path(x, &s, call, &w);
	if (call == TY_NONE)
		return w.kind;
	name = ty_explain_call(x, call, buf);
	ty_put(o, " in %s", name);
	/* Of epoll's descriptor nothing is expected. */
	if (*w.object && w.kind != TY_STALL_EVENTS)
		ty_put(apart ? apart : o, " on %s", ty_wait_argument(name, w.object));
	else if (ty_wait_peer(x, k->requests, s.thread, call, s.start_ns, s.end_ns, &w, peer,
			      &connecting) >= 0)
		ty_put(apart ? apart : o, " for a %s on %s", connecting ? "connection" : "reply",
		       peer);
	else if (*w.object)
		ty_put(apart ? apart : o, " on %s", ty_wait_argument(name, w.object));
	return w.kind;
}

/* The device of the wait's request that was in flight longest. */
static void say_disk(struct ty_sentence *o, const struct ty_answer_work *k,
		     const struct ty_answer_sum *s)
{
	const struct ty_model *m = k->x->m;
	struct ty_span span = ty_model_span(m, s->span);
	struct ty_waker by = ty_waker_find(m, span.edge);
	struct ty_flight f[TY_FLIGHTS];
	char disk[TY_DISK_TEXT];
	unsigned n = ty_block_flights(m, span.thread, &by, span.start_ns, span.end_ns, f);
	uint32_t io = by.io;

	for (unsigned i = 0; i < n; i++)
		if (io == TY_NONE ||
		    ty_model_io(m, f[i].io).end_ns - ty_model_io(m, f[i].io).start_ns >
			    ty_model_io(m, io).end_ns - ty_model_io(m, io).start_ns)
			io = f[i].io;
	if (io == TY_NONE) {
		ty_put(o, " waited for a disk");
		return;
	}
	ty_put(o, " waited for %s",
	       ty_explain_disk(k->x, ty_model_io(m, io).major, ty_model_io(m, io).minor, disk));
}

/* object: of the longest piece. A piece in requests that overlap is in the book once for each, cut
 * where they begin. */
static void say_pieces(struct ty_sentence *o, const struct ty_answer_work *k, uint64_t pieces,
		       uint64_t longest_ns, const char *object)
{
	if (k->overlap && pieces > 1 && *object)
		ty_put(o, " (the longest wait:%s)", object);
	else if (!k->overlap && pieces > 1)
		ty_put(o, " (%llu times, the longest %s%s)", (unsigned long long)pieces,
		       ty_duration(longest_ns), object);
}

/* Did the call end for want of an event? A timer may wake it for another reason, as that which
 * sends a SYN again. */
static bool timed_out(const struct ty_explain *x, uint32_t span)
{
	struct ty_span s = ty_model_span(x->m, span);

	return ty_wait_timed_out(x, ty_wait_call(x, &s));
}

static bool reply_there(const struct ty_answer_work *k, uint32_t span)
{
	struct ty_span s = ty_model_span(k->x->m, span);

	return ty_wait_reply_there(k->x, k->requests, s.thread, ty_wait_call(k->x, &s), s.start_ns,
				   s.end_ns);
}

/* Did a timer of the network end it? */
static bool by_network(const struct ty_explain *x, uint32_t span)
{
	struct ty_waker w = {.kind = TY_WAKER_NONE};

	if (span != TY_NONE)
		w = ty_waker_find(x->m, ty_model_span(x->m, span).edge);
	return w.net && w.kind == TY_WAKER_TIMER;
}

static void say_next_packet(struct ty_sentence *o, const struct ty_answer_work *k, uint32_t span)
{
	const uint32_t thread = ty_model_span(k->x->m, span).thread,
		       peer = ty_wait_next_packet(k->x->m, thread, span);

	if (peer == TY_NONE)
		return;
	ty_put(o, "; the next packet came from ");
	say_thread(o, k->x->m, peer);
}

/* Does a runtime sleep in this wait, by its stack? */
static bool sleeps_by_stack(const struct ty_explain *x, uint32_t span)
{
	struct ty_span s = ty_model_span(x->m, span);

	return x->role && x->role(x->ctx, ty_model_tid(x->m, s.thread, s.start_ns), s.start_ns,
				  s.end_ns) == TY_ROLE_SLEEP;
}

/* Of waits for disks on the path: the path divides each by the requests in it. */
static void count_waits(const struct ty_answer_work *k, const struct ty_answer_sum *s, uint64_t *n,
			uint64_t *longest_ns)
{
	uint32_t span = TY_NONE;
	uint64_t ns = 0;

	*n = *longest_ns = 0;
	vec_each (g, &k->path->seg) {
		struct ty_span w;

		if (k->group_of[g->thread].thread != s->who ||
		    (g->what != TY_SEG_DEVICE && g->what != TY_SEG_QUEUED &&
		     g->what != TY_SEG_NO_REQUEST))
			continue;
		if (g->span != span) {
			w = ty_model_span(k->x->m, g->span);
			w.syscall = ty_wait_call(k->x, &w);
			if ((w.syscall == TY_NONE
				     ? -1
				     : ty_model_syscall_brief(k->x->m, g->thread, w.syscall).nr) !=
			    s->nr)
				continue;
			span = g->span;
			ns = 0;
			++*n;
		}
		ns += g->end_ns - g->start_ns;
		*longest_ns = ns > *longest_ns ? ns : *longest_ns;
	}
}

/* Its waker: of a single wait the thread, of several ones, which have a row together, its name.
 */
static void say_waker(struct ty_sentence *o, const struct ty_answer_work *k,
		      const struct ty_answer_sum *s, bool child, const char *name)
{
	struct ty_waker w = {.kind = TY_WAKER_NONE};

	if (s->pieces == 1 && s->span != TY_NONE) {
		struct ty_span span = ty_model_span(k->x->m, s->span);

		w = ty_waker_find(k->x->m, span.edge);
		if (ty_waker_killed(k->x->m, &span, &w)) {
			ty_put(o, ", until a signal from ");
			say_thread(o, k->x->m, w.thread);
			ty_put(o, " killed it");
			return;
		}
	}
	ty_put(o, child ? " for " : ", woken by ");
	if (w.kind == TY_WAKER_THREAD)
		say_thread(o, k->x->m, w.thread);
	else
		ty_put(o, "%s", name);
}

/* Of waits for a disk, the part without a request there. */
static void say_no_request(struct ty_sentence *o, const struct ty_answer_work *k,
			   const struct ty_answer_sum *s)
{
	uint64_t ns = 0;

	vec_each (r, &k->book->row)
		if (r->k.end == TY_END_NO_REQUEST && r->k.who == s->who && r->k.nr == s->nr &&
		    r->k.abi == s->abi && ty_answer_part_of(k, &r->k) == TY_PART_DISK)
			ns += r->ns;
	if (percent(ns, s->ns) >= 5)
		ty_put(o,
		       percent(ns, s->ns) == 100 ? "; all that time " TY_NOT_IN_FLIGHT
						 : "; for %u%% of that time " TY_NOT_IN_FLIGHT,
		       percent(ns, s->ns));
}

static void say_wait(struct ty_sentence *o, const struct ty_answer_work *k,
		     const struct ty_answer_sum *s)
{
	const struct ty_book_row *r = &k->book->row.v[s->row];
	const char *name = r->k.name ? ty_model_str(k->x->m, r->k.name) : "";
	/* Waits in one call may have had many objects: that of the longest is its own only. */
	char object[2 * TY_WAIT_OBJECT] = "";
	struct ty_sentence of_longest = {.p = object, .size = sizeof(object)};
	uint64_t pieces = 0, longest_ns = 0;
	unsigned kind = TY_STALL_OTHER;
	bool slept = s->part == TY_PART_SLEEP ||
		     (s->part == TY_PART_TIMEOUT && sleeps_by_stack(k->x, s->span));

	switch ((enum ty_answer_part)s->part) {
	case TY_PART_DISK: say_disk(o, k, s); break;
	case TY_PART_DEVICE: ty_put(o, " waited for device %s", name); break;
	case TY_PART_STOPPED: ty_put(o, " was stopped"); return;
	case TY_PART_IDLE: ty_put(o, " was idle"); break;
	case TY_PART_FAULT: ty_put(o, " waited in page faults"); break;
	default: ty_put(o, slept ? " slept" : " waited");
	}
	if (s->part != TY_PART_FAULT)
		kind = say_call(o, k, s->span, s->pieces > 1 ? &of_longest : NULL);
	if (s->part == TY_PART_TIMEOUT && !slept)
		ty_put(o, by_network(k->x, s->span)  ? ", woken by " TY_NET_TIMER_TEXT
			  : timed_out(k->x, s->span) ? " until it timed out"
			  : reply_there(k, s->span)  ? ", woken by " TY_REPLY_THERE_TEXT
						     : ", woken by a timer");
	else if (s->part == TY_PART_WAIT && r->k.end == TY_END_OPEN)
		ty_put(o, ", still waiting when the %s ended", ty_model_noun(k->x->m));
	else if (s->part == TY_PART_WAIT && r->k.end == TY_END_IRQ)
		ty_put(o, ", woken by an interrupt");
	else if (s->part == TY_PART_WAIT && *name)
		say_waker(o, k, s, kind == TY_STALL_CHILD, name);
	else if (s->part == TY_PART_WAIT)
		ty_put(o, ", waker not recorded");
	if (s->part == TY_PART_DISK && k->path && k->group_of)
		count_waits(k, s, &pieces, &longest_ns);
	say_pieces(o, k, pieces ? pieces : s->pieces, pieces ? longest_ns : s->longest_ns, object);
	if (s->part == TY_PART_DISK)
		say_no_request(o, k, s);
}

/* The innermost wait, of the threads that are of interest, that the segment is behind; NULL. */
static const struct ty_hop *own_hop(const struct ty_answer_work *k, const struct ty_seg *g)
{
	for (uint32_t h = g->hop; h != TY_NONE; h = k->path->hop.v[h].parent)
		if (!k->mine || k->mine[k->path->hop.v[h].thread])
			return &k->path->hop.v[h];
	return NULL;
}

/* The innermost wait that led to the segment, of a thread of the command; NULL: none, or it was for
 * the end of a child. */
static const struct ty_hop *behind(const struct ty_answer_work *k, const struct ty_seg *g)
{
	const struct ty_hop *hop = own_hop(k, g);
	struct ty_span span;
	uint32_t call;

	if (!hop)
		return NULL;
	span = ty_model_span(k->x->m, hop->span);
	call = ty_wait_call(k->x, &span);
	return ty_wait_for(k->x, &span, call).kind == TY_STALL_CHILD ? NULL : hop;
}

/* The wait that the path's longest piece of the item is behind; NULL: the piece is not behind one,
 * or only behind waits for the end of a child. */
static const struct ty_hop *hop_of(const struct ty_answer_work *k, const struct ty_answer_sum *s)
{
	const struct ty_seg *best = NULL;
	struct ty_span piece;
	uint64_t most = 0;

	if (!k->path || s->span == TY_NONE)
		return NULL;
	/* A segment of a kernel thread may be of several of its spans. */
	piece = ty_model_span(k->x->m, s->span);
	vec_each (g, &k->path->seg) {
		uint64_t from = g->start_ns > piece.start_ns ? g->start_ns : piece.start_ns,
			 to = g->end_ns < piece.end_ns ? g->end_ns : piece.end_ns;

		if (g->thread == piece.thread && from < to && to - from > most) {
			most = to - from;
			best = g;
		}
	}
	return best ? behind(k, best) : NULL;
}

/* True if this wait is most of the item. In an item of many pieces the longest one means little. */
static bool mostly_behind(const struct ty_answer_work *k, const struct ty_answer_sum *s,
			  const struct ty_hop *hop)
{
	uint64_t ns = 0;

	if (s->longest_ns >= s->ns / 2)
		return true;
	vec_each (g, &k->path->seg)
		if (k->group_of[g->thread].thread == s->who && g->hop != TY_NONE &&
		    ty_seg_on_cpu(g->what) == (s->part == TY_PART_CPU) && own_hop(k, g) == hop)
			ns += g->end_ns - g->start_ns;
	return ns >= s->ns / 2;
}

/* Was the one that ended the wait stopped for most of it? */
static bool was_stopped(const struct ty_answer_work *k, const struct ty_hop *hop)
{
	vec_each (h, &k->path->hop)
		if (h->thread == hop->waker.thread && h->start_ns >= hop->start_ns &&
		    h->end_ns <= hop->end_ns &&
		    h->end_ns - h->start_ns >= (hop->end_ns - hop->start_ns) / 2 &&
		    ty_model_span(k->x->m, h->span).state == TY_ST_STOPPED)
			return true;
	return false;
}

enum deed { RAN_THEN, WAS_READY, WAITED_THEN, DEEDS };

static enum deed deed_of(enum ty_ledger_what what)
{
	switch (what) {
	case TY_ROW_RUNNABLE: return WAS_READY;
	case TY_ROW_THROTTLED:
	case TY_ROW_STOPPED:
	case TY_ROW_WAIT:
	case TY_ROW_FAULT:
	case TY_ROW_NEW: return WAITED_THEN;
	default: return RAN_THEN;
	}
}

/* Of time that is another process's: what it did most, and the largest row of that. ns: of each
 * kind. */
static const struct ty_book_row *main_deed(const struct ty_answer_work *k,
					   const struct ty_answer_sum *s, uint64_t ns[DEEDS])
{
	const struct ty_book_row *most[DEEDS] = {0};
	enum deed best = RAN_THEN;

	memset(ns, 0, DEEDS * sizeof(*ns));
	vec_each (r, &k->book->row) {
		enum deed d = deed_of((enum ty_ledger_what)r->k.what);

		if (r->k.who != s->who || ty_answer_part_of(k, &r->k) != TY_PART_OTHERS)
			continue;
		ns[d] += r->ns;
		if (!most[d] || r->ns > most[d]->ns)
			most[d] = r;
	}
	for (unsigned d = 0; d < DEEDS; d++)
		best = ns[d] > ns[best] ? (enum deed)d : best;
	return most[best] ? most[best] : &k->book->row.v[s->row];
}

/* What ends such a wait need not be what the thread waited for. */
static bool for_any_event(const struct ty_explain *x, uint32_t span)
{
	struct ty_span s = ty_model_span(x->m, span);
	uint32_t call = ty_wait_call(x, &s);

	return call != TY_NONE && ty_explain_row(x, call)->wait_on == TY_WAIT_ON_EVENTS;
}

/* Is the wait for input on a terminal? Then says so: the process that typed is no cause. */
static bool say_terminal(struct ty_sentence *o, const struct ty_answer_work *k,
			 const struct ty_hop *hop, const struct ty_book_row *row)
{
	const struct ty_explain *x = k->x;
	const struct ty_span span = ty_model_span(x->m, hop->span);
	const uint32_t call = ty_wait_call(x, &span);
	const struct ty_wait_for w = ty_wait_for(x, &span, call);
	const char *terminal = ty_wait_terminal(x, span.thread, span.start_ns, &w);
	char buf[32];

	if (!terminal)
		return false;
	say_thread(o, x->m, hop->thread);
	ty_put(o, " waited for input on the terminal %s in %s", terminal,
	       ty_explain_call(x, call, buf));
	say_pieces(o, k, row->pieces, row->longest, "");
	return true;
}

/* The main activity, meanwhile, of a process outside the command's tree. */
static void say_others(struct ty_sentence *o, const struct ty_answer_work *k,
		       const struct ty_answer_sum *s)
{
	const struct ty_hop *hop = hop_of(k, s);
	uint64_t ns[DEEDS];
	const struct ty_book_row *row = main_deed(k, s, ns);
	const struct ty_ledger_key *r = &row->k;
	unsigned ran = percent(ns[RAN_THEN], s->ns), ready = percent(ns[WAS_READY], s->ns);
	bool woken = hop && hop->waker.kind == TY_WAKER_THREAD && for_any_event(k->x, hop->span);
	char buf[32];

	if (hop && say_terminal(o, k, hop, row))
		return;
	if (hop) {
		say_thread(o, k->x->m, hop->thread);
		ty_put(o, " waited");
		say_call(o, k, hop->span, NULL);
	} else {
		ty_put(o, "spent waiting");
	}
	ty_put(o, woken ? ", woken by " : " for ");
	/* The waker, if it is another thread. */
	if (hop && hop->waker.kind == TY_WAKER_THREAD &&
	    k->group_of[hop->waker.thread].thread != s->who) {
		say_thread(o, k->x->m, hop->waker.thread);
		if (was_stopped(k, hop)) {
			ty_put(o, ", which was stopped");
			return;
		}
		ty_put(o, ", which waited for ");
	}
	say_who(o, k, s->who);
	if (deed_of((enum ty_ledger_what)r->what) != WAITED_THEN && ran >= MUCH && ready >= MUCH) {
		ty_put(o,
		       ready > ran ? ", which waited for a CPU (%u%%) and ran (%u%%)"
				   : ", which ran (%u%%) and waited for a CPU (%u%%)",
		       ready > ran ? ready : ran, ready > ran ? ran : ready);
		return;
	}
	switch ((enum ty_ledger_what)r->what) {
	case TY_ROW_RUNNABLE: ty_put(o, ", which waited for a CPU"); break;
	case TY_ROW_THROTTLED: ty_put(o, ", which was throttled by its CPU quota"); break;
	case TY_ROW_STOPPED: ty_put(o, ", which was stopped"); break;
	case TY_ROW_WAIT:
	case TY_ROW_FAULT:
	case TY_ROW_NEW:
		ty_put(o, ", which %s",
		       r->end != TY_END_TIMER && r->end != TY_END_TIMEOUT ? "waited"
		       : by_network(k->x, s->span) ? "waited for " TY_NET_TIMER_TEXT
						   : "slept");
		if (r->nr >= 0)
			ty_put(o, " in %s", ty_syscall_name(k->x->arch, r->abi, r->nr, buf));
		say_pieces(o, k, row->pieces, row->longest, "");
		if (by_network(k->x, s->span))
			say_next_packet(o, k, s->span);
		break;
	default: ty_put(o, ", which ran");
	}
}

static void say_item(struct ty_sentence *o, const struct ty_answer_work *k,
		     const struct ty_answer_sum *s)
{
	const struct ty_hop *hop;

	if (s->part == TY_PART_UNKNOWN) {
		if (s->who != TY_NONE)
			say_who(o, k, s->who);
		ty_put(o, "%sunknown%s", s->who != TY_NONE ? ": " : "",
		       k->book->row.v[s->row].k.what == TY_ROW_LOST ? " because of lost events"
								    : "");
		return;
	}
	if (s->part == TY_PART_OTHERS) {
		say_others(o, k, s);
		return;
	}
	say_who(o, k, s->who);
	switch ((enum ty_answer_part)s->part) {
	case TY_PART_CPU: say_cpu(o, k, s); break;
	case TY_PART_RUNNABLE: say_runnable(o, k, s); break;
	case TY_PART_THROTTLED: ty_put(o, " was throttled by its CPU quota (inferred)"); break;
	case TY_PART_STOLEN:
		ty_put(o, " lost its CPU to the hypervisor (steal time, inferred)");
		break;
	default: say_wait(o, k, s);
	}
	hop = hop_of(k, s);
	if (hop && k->group_of[hop->thread].thread != s->who && mostly_behind(k, s, hop)) {
		ty_put(o, "; ");
		say_thread(o, k->x->m, hop->thread);
		ty_put(o, " waited for ");
		say_who(o, k, s->who);
		say_call(o, k, hop->span, NULL);
	}
}

void ty_answer_item_text(const struct ty_answer_work *k, const struct ty_answer_sum *s, char *out,
			 size_t size)
{
	*out = 0;
	say_item(&(struct ty_sentence){out, size, 0}, k, s);
	ty_who_once(out);
}
