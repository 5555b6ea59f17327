/* SPDX-License-Identifier: MIT */
/*
 * Requests and replies, from wakeups and system calls.
 *
 * Budget: TY_STALL_BACK spans or calls of one thread for each question; ty_stall_woke_another: of
 * each thread that was woken meanwhile.
 */

#include "stalls_priv.h"
#include "syscall_ipc.h"

#define WAKEUPS	 8		  /* wakeups of one by the other that are looked at */
#define BEGUN_NS UINT64_C(500000) /* a new thread that has run no longer has only begun */

static bool just_born(const struct ty_model *m, uint32_t thread, uint64_t t)
{
	const struct ty_thread *th = ty_model_thread(m, thread);
	struct ty_seek q = {.states = 1u << TY_ST_SLEEPING, .min_ns = TY_STALL_LITTLE_NS, .nr = -1};
	uint32_t k = ty_model_seek(m, (struct ty_track){TY_TRACK_THREAD, thread}, &q, th->start_ns,
				   false);

	return th->born && (k == TY_NONE || ty_model_span_brief(m, thread, k).start_ns >= t);
}

/* How long the thread ran from its birth to t. */
static uint64_t ran_ns(const struct ty_model *m, uint32_t thread, uint64_t t)
{
	uint64_t from = ty_model_thread(m, thread)->start_ns;
	struct ty_cell cell = {0};

	if (t > from)
		ty_model_cells(m, (struct ty_track){TY_TRACK_THREAD, thread}, from, t, 1, &cell);
	return cell.ns[TY_ST_RUNNING];
}

/*
 * Could what ended the wait before this span be a request or an answer of `who`, about something
 * that is waited for by futex or otherwise? Not a lock that is let go, of the kernel (that of their
 * memory map) or their own; nor a new thread's word to its maker that it has begun; nor that the
 * other side of a FIFO is there.
 */
static bool is_message(const struct ty_explain *x, uint32_t thread, uint32_t span, uint32_t who,
		       uint64_t ts, bool futex)
{
	const struct ty_thread *t = ty_model_thread(x->m, thread);
	struct ty_wait_for w;
	struct ty_span s;
	enum ty_sysid id;
	uint32_t call;

	if (span == t->spans_first)
		return true;
	s = ty_model_span_brief(x->m, thread, span - 1);
	if (s.state == TY_ST_BLOCKED || !t->traced)
		return s.state != TY_ST_BLOCKED;
	/* RUNNING: woken before it had left the CPU. */
	call = ty_model_syscall_at(x->m, thread, s.end_ns - 1);
	if (call == TY_NONE)
		return s.state == TY_ST_SLEEPING;
	w = ty_wait_for(x, &s, call);
	if (w.kind == TY_STALL_FUTEX && ty_model_thread(x->m, who)->forked_by == (int32_t)thread &&
	    just_born(x->m, who, ts) && (!futex || ran_ns(x->m, who, ts) < BEGUN_NS))
		return false;
	/* Both sides of a FIFO wait for each other to open it. */
	id = ty_explain_row(x, call)->id;
	if (id == TY_SYS_open || id == TY_SYS_openat)
		return false;
	return w.kind != TY_STALL_OTHER && (w.class == TY_WAIT_PEER || w.class == TY_WAIT_IDLE);
}

/* What the waker's call says, by which it woke; 0: nothing. */
static unsigned waker_says(const struct ty_explain *x, const struct ty_waker *k)
{
	uint32_t call = k->kind == TY_WAKER_THREAD ? ty_model_syscall_at(x->m, k->thread, k->act_ns)
						   : TY_NONE;
	struct ty_syscall c;

	if (call == TY_NONE)
		return 0;
	c = ty_model_syscall_brief(x->m, k->thread, call);
	return ty_syscall_ipc(x, &c).says;
}

bool ty_stall_made_room(const struct ty_explain *x, const struct ty_waker *k)
{
	return (waker_says(x, k) & (TY_TAKES | TY_GIVES)) == TY_TAKES;
}

bool ty_stall_handed(const struct ty_explain *x, const struct ty_waker *k)
{
	unsigned says = waker_says(x, k);

	return says & (TY_TAKES | TY_GIVES) && !(says & (TY_MESSAGE | TY_SIGNALS));
}

/* Did `who` wake thread with the wakeup that began this span? A birth is no asking, nor is a lock
 * of the kernel (that of their memory map) that is let go. */
static bool woken_by(const struct ty_explain *x, uint32_t thread, uint32_t span, uint32_t who,
		     bool futex, uint64_t *ts)
{
	const struct ty_model *m = x->m;
	struct ty_span s = ty_model_span_brief(m, thread, span);
	struct ty_waker k;

	if (s.state != TY_ST_RUNNABLE ||
	    s.flags & (TY_SF_PREEMPT | TY_SF_YIELD | TY_SF_BEFORE | TY_SF_NEW))
		return false;
	if (!ty_waker_is(m, ty_model_span_edge(m, &s, span), who, &k))
		return false;
	*ts = k.ts_ns;
	/* What makes room tells waiting writers: that is no message. */
	if (ty_stall_made_room(x, &k))
		return false;
	return is_message(x, thread, span, who, *ts, futex);
}

/* When did `who` last wake thread up to t? 0: not seen. *span: the one that this began. */
static uint64_t last_woken_at(const struct ty_explain *x, uint32_t thread, uint32_t who, uint64_t t,
			      bool futex, uint32_t *span)
{
	const struct ty_model *m = x->m;
	const struct ty_thread *th = ty_model_thread(m, thread);
	uint32_t k = ty_model_span_find(m, thread, t);
	uint64_t ts;

	for (unsigned n = 0; k != TY_NONE && n < TY_STALL_BACK; n++, k--) {
		*span = k;
		if (woken_by(x, thread, k, who, futex, &ts) && ts <= t)
			return ts;
		if (k == th->spans_first)
			break;
	}
	return 0;
}

static uint64_t last_woken(const struct ty_explain *x, uint32_t thread, uint32_t who, uint64_t t,
			   bool futex)
{
	uint32_t span;

	return last_woken_at(x, thread, who, t, futex, &span);
}

uint64_t ty_stall_last_woke(const struct ty_explain *x, uint32_t thread, uint32_t who, uint64_t t)
{
	return last_woken(x, thread, who, t, true);
}

/* When did `who` first wake thread? UINT64_MAX: not among its first spans since both are there. */
static uint64_t first_woken(const struct ty_explain *x, uint32_t thread, uint32_t who, bool futex)
{
	const struct ty_thread *th = ty_model_thread(x->m, thread);
	uint64_t born = ty_model_thread(x->m, who)->start_ns, ts;
	uint32_t k = born > th->start_ns ? ty_model_span_find(x->m, thread, born) : TY_NONE,
		 first = k == TY_NONE ? th->spans_first : k, end = th->spans_first + th->spans_n;

	for (k = first; k < end && k - first < TY_STALL_BACK; k++)
		if (woken_by(x, thread, k, who, futex, &ts))
			return ts;
	return UINT64_MAX;
}

bool ty_stall_waits_on(const struct ty_explain *x, uint32_t thread, uint64_t word, uint64_t t)
{
	const struct ty_thread *th = ty_model_thread(x->m, thread);
	uint32_t end = th->syscalls_first + th->syscalls_n,
		 i = ty_model_syscall_after(x->m, thread, t);

	i = i < end ? i : end;
	end = end - i > TY_STALL_BACK ? i + TY_STALL_BACK : end;
	i = i - th->syscalls_first > TY_STALL_BACK ? i - TY_STALL_BACK : th->syscalls_first;
	for (; word && i < end; i++)
		if (ty_wait_word(x, i) == word)
			return true;
	return false;
}

static bool has_request(const struct ty_explain *x, uint32_t thread, uint32_t peer, uint64_t t,
			bool futex)
{
	uint64_t request_ns = last_woken(x, peer, thread, t, futex);

	return request_ns && request_ns > last_woken(x, thread, peer, t, futex) &&
	       first_woken(x, peer, thread, futex) <= first_woken(x, thread, peer, futex);
}

/* Had the thread heard something where it waits now before it ever woke the one that ended the
 * wait? */
static bool heard_first(const struct ty_explain *x, const struct ty_candidate *c)
{
	const struct ty_thread *th = ty_model_thread(x->m, c->s.thread);
	uint64_t first = first_woken(x, c->waker.thread, c->s.thread, false);
	bool heard = false;

	for (uint32_t k = 0; c->w.fd >= 0 && k < th->syscalls_n && k < TY_STALL_BACK; k++) {
		struct ty_syscall s =
			ty_model_syscall_brief(x->m, c->s.thread, th->syscalls_first + k);
		struct ty_syscall_ipc t = ty_syscall_ipc(x, &s);
		unsigned says;

		if (s.end_ns > first)
			break;
		if (!(t.says & (TY_TAKES | TY_CLOSES)))
			continue;
		s = ty_model_syscall(x->m, th->syscalls_first + k);
		says = ty_syscall_ipc_on(x, &s, &t, c->w.fd);
		if (says & TY_CLOSES)
			heard = false; /* what the number was before */
		else if (says & TY_TAKES && s.ret > 0)
			heard = true;
	}
	return heard;
}

int64_t ty_stall_given_to(const struct ty_explain *x, uint32_t thread, uint64_t t)
{
	uint32_t call = ty_model_syscall_at(x->m, thread, t);
	struct ty_syscall s;
	struct ty_syscall_ipc talk;
	uint64_t args[6];

	if (call == TY_NONE || !x->args)
		return -1;
	s = ty_model_syscall(x->m, call);
	talk = ty_syscall_ipc(x, &s);
	return talk.says & TY_GIVES && talk.gives >= 0 && !x->args(x->ctx, &s, args)
		       ? (int32_t)args[talk.gives]
		       : -1;
}

/* Does the one that ended the wait say more later, without having been asked for that? */
static bool says_more(const struct ty_explain *x, const struct ty_candidate *c, uint64_t request_ns,
		      bool futex)
{
	uint64_t end = ty_model_summary(x->m)->end_ns;

	return last_woken(x, c->s.thread, c->waker.thread, end, futex) > c->end_ns &&
	       last_woken(x, c->waker.thread, c->s.thread, end, futex) == request_ns;
}

/* The reply was there before the thread waited for it, so no wakeup is recorded: since it last sent
 * on the channel of its request, it has received something from `from`. It was the whole reply,
 * because the other side continues with unrequested messages. A first part alone is not a reply. */
static bool replied_unseen(const struct ty_explain *x, const struct ty_candidate *c, bool futex,
			   int64_t from)
{
	uint32_t thread = c->s.thread, call = c->s.syscall;
	const struct ty_thread *th = ty_model_thread(x->m, thread);
	uint64_t request_ns = last_woken(x, c->waker.thread, thread, c->s.start_ns, futex);
	int64_t to = from < 0 || call == TY_NONE ? -1 : ty_stall_given_to(x, thread, request_ns);

	for (unsigned n = 0; to >= 0 && call > th->syscalls_first && n < TY_STALL_BACK; n++) {
		struct ty_syscall s = ty_model_syscall_brief(x->m, thread, --call);
		struct ty_syscall_ipc t = ty_syscall_ipc(x, &s);

		if (s.start_ns <= request_ns)
			break;
		if (s.ret <= 0 || !(t.says & (TY_GIVES | TY_TAKES)))
			continue;
		s = ty_model_syscall(x->m, call);
		if (ty_syscall_ipc_on(x, &s, &t, to) & TY_GIVES)
			break;
		if (ty_syscall_ipc_on(x, &s, &t, from) & TY_TAKES)
			return says_more(x, c, request_ns, futex);
	}
	return false;
}

bool ty_stall_sent_request(const struct ty_stall_search *h, const struct ty_candidate *c,
			   int64_t fd)
{
	bool futex = c->w.kind == TY_STALL_FUTEX && !ty_stall_waits_in_pool(h, c);

	/* Who replies does not wait for replies at the same place. */
	if (c->w.word && ty_stall_waits_on(h->x, c->waker.thread,
					   ty_wait_word_of(h->x, &c->w, c->s.syscall), c->end_ns))
		return false;
	return !heard_first(h->x, c) &&
	       has_request(h->x, c->s.thread, c->waker.thread, c->s.start_ns, futex) &&
	       !replied_unseen(h->x, c, futex, fd);
}

#define HANDED 4 /* threads of one process that hand a wakeup on */

/* The thread's last wait of some length before t that is no lock's: for what, and its span. */
static bool wait_before(const struct ty_explain *x, uint32_t thread, uint64_t t,
			struct ty_wait_for *w, struct ty_span *s)
{
	const struct ty_seek q = {
		.states = 1u << TY_ST_SLEEPING, .min_ns = TY_STALL_LITTLE_NS, .nr = -1};
	const struct ty_model *m = x->m;

	for (unsigned n = 0; n < WAKEUPS; n++) {
		uint32_t k =
			ty_model_seek(m, (struct ty_track){TY_TRACK_THREAD, thread}, &q, t, true);

		if (k == TY_NONE)
			return false;
		*s = ty_model_span(m, k);
		if (s->start_ns >= t) /* a damaged index */
			return false;
		t = s->start_ns;
		*w = ty_wait_for(x, s, s->syscall);
		if (s->syscall != TY_NONE && w->class != TY_WAIT_DEFINITE)
			return true;
	}
	return false;
}

bool ty_stall_waker_was_idle(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	int32_t tgid = ty_model_thread(m, c->s.thread)->tgid;
	struct ty_waker by = c->waker;
	uint32_t peer = TY_NONE;

	for (unsigned n = 0; n < HANDED; n++) {
		uint32_t woken = peer;
		struct ty_wait_for w;
		struct ty_span s;

		peer = by.thread;
		if (!wait_before(h->x, peer, by.act_ns, &w, &s))
			return false;
		by = ty_waker_find(m, s.edge);
		/* A clock that neither of both has set. */
		if (by.kind == TY_WAKER_TIMER && w.word && woken != TY_NONE)
			return !ty_stall_last_woke(h->x, peer, woken, s.start_ns) &&
			       !ty_stall_last_woke(h->x, peer, c->s.thread, s.start_ns);
		if (by.kind != TY_WAKER_THREAD || by.thread == c->s.thread)
			return false;
		if (w.class == TY_WAIT_IDLE)
			return !ty_stall_last_woke(h->x, by.thread, peer, s.start_ns);
		if (!w.word || tgid < 0 || ty_model_thread(m, by.thread)->tgid != tgid)
			return false;
	}
	return false;
}

bool ty_stall_next_wait(const struct ty_explain *x, uint32_t thread, uint32_t span, bool forward,
			struct ty_wait_for *w, uint32_t *call)
{
	const struct ty_thread *t = ty_model_thread(x->m, thread);

	for (unsigned n = 0; n < 64 && span - t->spans_first < t->spans_n; n++) {
		struct ty_span s = ty_model_span_brief(x->m, thread, span);

		if (s.state == TY_ST_SLEEPING) {
			s = ty_model_span(x->m, span);
			*call = s.syscall;
			*w = ty_wait_for(x, &s, s.syscall);
			/* A counter can look like a lock; locks are seldom waited for in vain. */
			if (s.syscall != TY_NONE &&
			    (w->class != TY_WAIT_DEFINITE || ty_wait_timed_out(x, s.syscall)))
				return true;
		}
		span += forward ? 1u : UINT32_MAX;
	}
	return false;
}

/*
 * The wakeup that began this span of peer gave it the thread's place: peer waits next where the
 * thread had waited before, on the same descriptor; or both for a time, each where it is itself
 * parked and woken. So the leader of a pool hands over, and does not ask.
 */
static bool hands_over(const struct ty_explain *x, uint32_t thread, uint32_t peer, uint32_t span)
{
	uint32_t at = ty_model_span_find(x->m, thread,
					 ty_model_span_brief(x->m, peer, span).start_ns),
		 before, after;
	struct ty_wait_for own, other;
	int32_t tgid = ty_model_thread(x->m, thread)->tgid;

	if (tgid < 0 || ty_model_thread(x->m, peer)->tgid != tgid ||
	    !ty_stall_next_wait(x, thread, at, false, &own, &before) ||
	    !ty_stall_next_wait(x, peer, span, true, &other, &after))
		return false;
	if (own.fd >= 0)
		return own.fd == other.fd && own.kind == other.kind;
	return own.word && other.word && ty_wait_timed_out(x, before) &&
	       ty_wait_timed_out(x, after) && ty_stall_ever_woken(x, thread, before) &&
	       ty_stall_ever_woken(x, peer, after);
}

bool ty_stall_hands_on(const struct ty_stall_search *h, const struct ty_candidate *c,
		       uint32_t first)
{
	const struct ty_explain *x = h->x;
	const struct ty_thread *t = ty_model_thread(x->m, c->s.thread);
	const uint32_t peer[] = {first, c->waker.thread};
	uint32_t span = c->s.span + 1;

	if (c->waker.kind != TY_WAKER_THREAD)
		return false;
	if (span - t->spans_first < t->spans_n && hands_over(x, c->waker.thread, c->s.thread, span))
		return true;
	for (unsigned i = 0; i < 2; i++)
		if (peer[i] != c->s.thread &&
		    last_woken_at(x, peer[i], c->s.thread, c->s.start_ns, true, &span) &&
		    hands_over(x, c->s.thread, peer[i], span))
			return true;
	return false;
}

/* Did `who` wake thread in [from, to]? */
static bool woke_within(const struct ty_explain *x, uint32_t thread, uint32_t who, uint64_t from,
			uint64_t to)
{
	const struct ty_model *m = x->m;
	uint32_t first = ty_model_thread(m, thread)->spans_first, k;
	uint64_t ts;

	if (!ty_model_wakeups(m, thread, from, to + 1))
		return false;
	k = ty_model_span_find(m, thread, to);
	for (unsigned n = 0; k != TY_NONE && n < TY_STALL_BACK; n++, k--) {
		if (woken_by(x, thread, k, who, true, &ts) && ts >= from && ts <= to)
			return true;
		if (k == first || ty_model_span_brief(m, thread, k).start_ns < from)
			break;
	}
	return false;
}

bool ty_stall_woke_another(const struct ty_explain *x, uint32_t thread, uint64_t from, uint64_t to,
			   uint32_t but)
{
	uint32_t threads = ty_model_summary(x->m)->threads;

	for (uint32_t i = 0; i < threads; i++)
		if (i != thread && i != but && !ty_model_thread(x->m, i)->kernel &&
		    woke_within(x, i, thread, from, to))
			return true;
	return false;
}

bool ty_stall_answers(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	return last_woken(h->x, c->waker.thread, c->s.thread, ty_model_summary(h->x->m)->end_ns,
			  true) > c->end_ns;
}

bool ty_stall_sent(const struct ty_stall_search *h, uint32_t thread, uint32_t call, int64_t fd)
{
	const struct ty_explain *x = h->x;
	const struct ty_thread *th = ty_model_thread(x->m, thread);
	uint32_t i = call;

	for (unsigned n = 0; i != TY_NONE && i > th->syscalls_first && n < 32; n++) {
		struct ty_syscall s = ty_model_syscall_brief(x->m, thread, --i);
		struct ty_syscall_ipc t;

		if (s.end_ns - s.start_ns >= TY_STALL_LITTLE_NS)
			return false;
		t = ty_syscall_ipc(x, &s);
		if (s.ret < 0 || !(t.says & TY_GIVES))
			continue;
		if (fd < 0 || ty_syscall_ipc_on(x, &s, &t, fd) & TY_GIVES)
			return true;
	}
	return false;
}

/* The side that the thread's calls before `call` tell: by what they said on fd; where to >= 0, by
 * what they took there and gave to `to`. */
static struct ty_stall_side side_on(const struct ty_explain *x, uint32_t thread, uint32_t call,
				    int64_t fd, int64_t to)
{
	const struct ty_thread *th = ty_model_thread(x->m, thread);
	struct ty_stall_side side = {0};
	unsigned first = 0, last = 0, seen = 0;
	uint32_t i = call;

	for (unsigned n = 0; i != TY_NONE && i > th->syscalls_first; n++) {
		struct ty_syscall s = ty_model_syscall_brief(x->m, thread, --i);
		struct ty_syscall_ipc t = ty_syscall_ipc(x, &s);
		unsigned what;

		if (n >= TY_STALL_BACK)
			return side; /* what came first is not known */
		if (!t.says || (s.ret < 0 && !(t.says & TY_CONNECTS)))
			continue;
		if (t.says & TY_ACCEPTS) {
			side.is_server = s.ret == fd;
			if (side.is_server)
				break;
			continue;
		}
		what = ty_syscall_ipc_on(x, &s, &t, fd);
		if (to >= 0)
			what |= ty_syscall_ipc_on(x, &s, &t, to) & (TY_GIVES | TY_CLOSES);
		if (!what)
			continue;
		side.is_client = what & TY_CONNECTS;
		if (what & (TY_CONNECTS | TY_CLOSES))
			break;
		first = what;
		last = last ? last : what;
		seen |= what;
	}
	if (!side.is_client && !side.is_server && seen & TY_GIVES) {
		side.is_client = first & TY_GIVES;
		side.is_server = first & TY_TAKES;
	}
	side.sent = seen & TY_GIVES;
	side.sent_last = last & TY_GIVES;
	return side;
}

bool ty_stall_is_server(const struct ty_explain *x, uint32_t thread, uint32_t call, int64_t fd)
{
	return fd >= 0 && side_on(x, thread, call, fd, -1).is_server;
}

/* Without a descriptor the peer is the client if it woke the thread first, and the thread had sent
 * nothing before. (Not of futexes: without a waiter they are released without a call.) */
struct ty_stall_side ty_stall_side(const struct ty_stall_search *h, const struct ty_candidate *c,
				   int64_t fd)
{
	const struct ty_explain *x = h->x;
	struct ty_stall_side side = {0}, pair;
	uint64_t request_ns;
	int64_t to;

	if (fd < 0 || !x->args)
		return side;
	side = side_on(x, c->s.thread, c->s.syscall, fd, -1);
	if (side.is_client || side.is_server || side.sent || c->waker.kind != TY_WAKER_THREAD)
		return side;
	/* One way only, as pipes are: requests use another one, where it woke the peer last. */
	request_ns = last_woken(x, c->waker.thread, c->s.thread, c->s.start_ns, false);
	to = request_ns ? ty_stall_given_to(x, c->s.thread, request_ns) : -1;
	if (to < 0 || to == fd)
		return side;
	pair = side_on(x, c->s.thread, c->s.syscall, fd, to);
	if (pair.is_client)
		side = pair;
	side.inferred = true;
	return side;
}

bool ty_stall_woken_before(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	uint32_t thread = c->s.thread, peer = c->waker.thread;
	bool futex = c->w.kind == TY_STALL_FUTEX;

	return last_woken(h->x, thread, peer, c->s.start_ns, true) &&
	       first_woken(h->x, thread, peer, futex) < first_woken(h->x, peer, thread, futex);
}

/* Since it last heard from `peer`, had the thread woken that one by giving to a descriptor? */
static bool gave_by_fd(const struct ty_explain *x, const struct ty_candidate *c, uint32_t peer)
{
	uint32_t thread = c->s.thread;
	uint64_t request_ns = c->s.start_ns, heard = last_woken(x, thread, peer, request_ns, true);

	for (unsigned n = 0; n < WAKEUPS; n++) {
		request_ns = last_woken(x, peer, thread, request_ns, true);
		if (request_ns <= heard)
			return false;
		if (ty_stall_given_to(x, thread, request_ns--) >= 0)
			return true;
	}
	return false;
}

bool ty_stall_ended_by_request(const struct ty_stall_search *h, const struct ty_candidate *c,
			       uint32_t first)
{
	return c->w.word && ty_stall_only_ends(h, c) &&
	       (gave_by_fd(h->x, c, c->waker.thread) || gave_by_fd(h->x, c, first));
}
