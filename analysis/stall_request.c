/* SPDX-License-Identifier: MIT */
/*
 * Requests and replies, from wakeups and system calls.
 *
 * Budget: TY_STALL_BACK spans or calls of one thread for each question.
 */
#include <unistd.h>

#include "process_of_thread.h"
#include "stall_woken.h"
#include "syscall_ipc.h"
#include "thread_walk.h"

#define WAKEUPS 8 /* wakeups of one by the other that are looked at */

bool ty_stall_waits_on(const struct ty_stall_search *h, uint32_t thread, uint64_t word, uint64_t t)
{
	const struct ty_explain *x = h->x;
	struct ty_rows near = ty_calls_near(x->m, thread, t, TY_STALL_BACK);

	/* The blocks that are kept contain those near t. */
	if (!word || (!(word & TY_FUTEX_USE) && !ty_stall_on_word(h, thread, word, t).waits))
		return false;
	for (uint32_t i = near.from; i < near.to; i++)
		if (ty_wait_word(x, i) == word)
			return true;
	return false;
}

/* Had the thread received something where it waits now before it ever woke the one that ended the
 * wait? */
static bool heard_first(const struct ty_explain *x, const struct ty_candidate *c)
{
	const struct ty_thread *th = ty_model_thread(x->m, c->s.thread);
	uint64_t first = ty_stall_first_woken(x, c->waker.thread, c->s.thread, false);
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
		says = ty_syscall_ipc_on(x, &s, &t, c->w.fd);
		if (says & TY_CLOSES)
			heard = false; /* what the number was before */
		else if (says & TY_TAKES && s.ret > 0)
			heard = true;
	}
	return heard;
}

/* Before its wait the thread gave something to fd `to` and has taken nothing from `from` since. */
static bool sent_last(const struct ty_explain *x, uint32_t call, int64_t to, int64_t from)
{
	struct ty_calls_back w =
		ty_calls_before(x->m, ty_model_syscall(x->m, call).thread, call, 32);

	while (ty_call_back(&w) && w.s.end_ns - w.s.start_ns < TY_STALL_LITTLE_NS) {
		struct ty_syscall_ipc t = ty_syscall_ipc(x, &w.s);

		if (w.s.ret <= 0 || !(t.says & (TY_GIVES | TY_TAKES)))
			continue;
		if (ty_syscall_ipc_on(x, &w.s, &t, to) & TY_GIVES)
			return true;
		if (ty_syscall_ipc_on(x, &w.s, &t, from) & TY_TAKES)
			return false;
	}
	return false;
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
	return talk.says & TY_GIVES && talk.gives >= 0 &&
			       !ty_explain_args(x, &s, (unsigned)talk.gives + 1, args)
		       ? (int32_t)args[talk.gives]
		       : -1;
}

/* It was the first of both to wake the other, and has just sent again what did that: the other side
 * was not waiting yet, so no wakeup is recorded. */
static bool has_unseen_request(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	const struct ty_explain *x = h->x;
	uint32_t thread = c->s.thread, last = c->waker.thread;
	uint64_t first = ty_stall_first_woken(x, last, thread, false);
	int64_t to;

	if (c->w.fd < 0 || first >= c->s.start_ns ||
	    first > ty_stall_first_woken(x, thread, last, false))
		return false;
	to = ty_stall_given_to(x, thread, first);
	return to >= 0 && sent_last(x, ty_stall_first_call(h, c), to, c->w.fd);
}

bool ty_stall_went_back(const struct ty_explain *x, uint32_t peer, uint32_t span, uint64_t t)
{
	const struct ty_thread *th = ty_model_thread(x->m, peer);
	struct ty_wait_for was, w;
	struct ty_span s;

	if (span == th->spans_first)
		return false;
	s = ty_model_span(x->m, span - 1);
	if (s.state != TY_ST_SLEEPING || s.syscall == TY_NONE)
		return false;
	was = ty_wait_for(x, &s, s.syscall);
	for (unsigned n = 0; ++span - th->spans_first < th->spans_n && n < TY_STALL_BACK; n++) {
		s = ty_model_span_brief(x->m, peer, span);
		if (s.start_ns >= t)
			break;
		if (s.state != TY_ST_SLEEPING)
			continue;
		s = ty_model_span(x->m, span);
		if (s.syscall == TY_NONE)
			continue;
		w = ty_wait_for(x, &s, s.syscall);
		if (w.kind == was.kind && (was.word || was.fd >= 0) &&
		    ty_wait_same(x->m, peer, &w, peer, &was))
			return true;
	}
	return false;
}

/* Does the waker send more later, without a request for it? */
static bool says_more(const struct ty_explain *x, const struct ty_candidate *c, uint64_t request_ns,
		      bool futex)
{
	uint64_t end = ty_model_summary(x->m)->end_ns;

	return ty_stall_last_woken(x, c->s.thread, c->waker.thread, end, futex) > c->end_ns &&
	       ty_stall_last_woken(x, c->waker.thread, c->s.thread, end, futex) == request_ns;
}

/* The reply was there before the thread waited for it, so no wakeup is recorded: since it last sent
 * on the channel of its request, it has received something from `from`. It was the whole reply,
 * because the other side had gone back to wait for requests before it ended this wait, or continues
 * with unrequested messages. A first part alone is not a reply. */
static bool replied_unseen(const struct ty_stall_search *h, const struct ty_candidate *c,
			   bool futex, int64_t from)
{
	const struct ty_explain *x = h->x;
	uint32_t thread = c->s.thread, span;
	uint64_t request_ns =
		ty_stall_last_woken_at(x, c->waker.thread, thread, c->s.start_ns, futex, &span);
	int64_t to = from < 0 ? -1 : ty_stall_given_to(x, thread, request_ns);
	struct ty_calls_back w = ty_calls_before(x->m, thread, c->s.syscall, TY_STALL_BACK);

	while (to >= 0 && ty_call_back(&w) && w.s.start_ns > request_ns) {
		struct ty_syscall_ipc t = ty_syscall_ipc(x, &w.s);

		if (w.s.ret <= 0 || !(t.says & (TY_GIVES | TY_TAKES)))
			continue;
		if (ty_syscall_ipc_on(x, &w.s, &t, to) & TY_GIVES)
			break;
		if (ty_syscall_ipc_on(x, &w.s, &t, from) & TY_TAKES)
			return ty_stall_went_back(x, c->waker.thread, span, c->waker.act_ns) ||
			       says_more(x, c, request_ns, futex);
	}
	return false;
}

bool ty_stall_sent_request(const struct ty_stall_search *h, const struct ty_candidate *c,
			   uint32_t first, int64_t fd)
{
	const struct ty_explain *x = h->x;
	uint32_t thread = c->s.thread, last = c->waker.thread;
	uint64_t t = c->s.start_ns;
	bool futex = c->w.kind == TY_STALL_FUTEX && !ty_stall_waits_in_pool(h, c);

	/* A server does not wait for replies at the same place. */
	if (heard_first(x, c) ||
	    (c->w.word &&
	     ty_stall_waits_on(h, last, ty_wait_word_of(x, &c->w, c->s.syscall), c->end_ns)))
		return false;
	if (ty_stall_has_request(h, thread, last, t, futex) && !replied_unseen(h, c, futex, fd))
		return true;
	if (has_unseen_request(h, c))
		return true;
	/* What comes from outside is no reply to what was handed on within the process. */
	if (c->w.kind == TY_STALL_EVENTS &&
	    ty_process_of(x->m, first) == ty_process_of(x->m, thread) &&
	    ty_process_of(x->m, last) != ty_process_of(x->m, thread))
		return false;
	/* Other threads passed the request on. */
	return first != thread && first != last &&
	       ty_stall_has_request(h, thread, first, t, futex) &&
	       ty_stall_last_woken(x, first, thread, t, futex) >
		       ty_stall_last_woken(x, thread, last, t, futex) &&
	       ty_stall_first_woken(x, first, thread, futex) <=
		       ty_stall_first_woken(x, thread, last, futex);
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
			/* A counter can look like a lock; waits for locks rarely time out. */
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
		    ty_stall_last_woken_at(x, peer[i], c->s.thread, c->s.start_ns, true, &span) &&
		    hands_over(x, c->s.thread, peer[i], span))
			return true;
	return false;
}

bool ty_stall_answers(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	return ty_stall_last_woken(h->x, c->waker.thread, c->s.thread,
				   ty_model_summary(h->x->m)->end_ns, true) > c->end_ns;
}

bool ty_stall_sent(const struct ty_stall_search *h, uint32_t thread, uint32_t call, int64_t fd)
{
	struct ty_calls_back w = ty_calls_before(h->x->m, thread, call, 32);

	while (ty_call_back(&w) && w.s.end_ns - w.s.start_ns < TY_STALL_LITTLE_NS) {
		struct ty_syscall_ipc t = ty_syscall_ipc(h->x, &w.s);

		if (w.s.ret >= 0 && t.says & TY_GIVES &&
		    (fd < 0 || ty_syscall_ipc_on(h->x, &w.s, &t, fd) & TY_GIVES))
			return true;
	}
	return false;
}

static enum ty_sock_role role_on(const struct ty_stall_search *h, uint32_t thread, uint32_t call,
				 int64_t fd)
{
	const struct ty_model *m = h->x->m;

	return call == TY_NONE || !h->o.requests
		       ? TY_SOCK_UNKNOWN
		       : ty_fd_side(&h->o.requests->sides, ty_process_of(m, thread), fd,
				    ty_model_syscall_brief(m, thread, call).start_ns);
}

/* The side that the thread's calls before `call` tell: by what they said on fd; where to >= 0, by
 * what they took there and gave to `to`. Of a connection it is known for all of the recording. */
static struct ty_stall_side side_on(const struct ty_stall_search *h, uint32_t thread, uint32_t call,
				    int64_t fd, int64_t to)
{
	const struct ty_explain *x = h->x;
	struct ty_calls_back w = ty_calls_before(x->m, thread, call, TY_STALL_BACK + 1);
	struct ty_stall_side side = {0};
	enum ty_sock_role role = role_on(h, thread, call, fd);
	unsigned first = 0, last = 0, seen = 0;
	bool all = true;

	while (ty_call_back(&w)) {
		struct ty_syscall_ipc t = ty_syscall_ipc(x, &w.s);
		unsigned what;

		all = w.left; /* else it is not known what came first */
		if (!t.says || (w.s.ret < 0 && !(t.says & TY_CONNECTS)))
			continue;
		if (t.says & TY_ACCEPTS) {
			side.is_server = w.s.ret == fd;
			if (side.is_server)
				break;
			continue;
		}
		what = ty_syscall_ipc_on(x, &w.s, &t, fd);
		if (to >= 0)
			what |= ty_syscall_ipc_on(x, &w.s, &t, to) & (TY_GIVES | TY_CLOSES);
		if (!what)
			continue;
		side.is_client = what & TY_CONNECTS;
		if (what & (TY_CONNECTS | TY_CLOSES))
			break;
		first = what;
		last = last ? last : what;
		seen |= what;
		if (role && seen & TY_GIVES)
			break;
	}
	if (role) {
		side.is_client = role == TY_SOCK_CLIENT;
		side.is_server = role == TY_SOCK_SERVER;
	} else if (!all) {
		return (struct ty_stall_side){0};
	} else if (!side.is_client && !side.is_server && seen & TY_GIVES) {
		side.is_client = first & TY_GIVES;
		side.is_server = first & TY_TAKES;
	}
	side.sent = seen & TY_GIVES;
	side.sent_last = last & TY_GIVES;
	return side;
}

bool ty_stall_is_server(const struct ty_stall_search *h, uint32_t thread, uint32_t call, int64_t fd)
{
	return fd >= 0 && side_on(h, thread, call, fd, -1).is_server;
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
	side = side_on(h, c->s.thread, c->s.syscall, fd, -1);
	if (side.is_client || side.is_server || side.sent || c->waker.kind != TY_WAKER_THREAD)
		return side;
	/* One way only, as pipes are: requests use another one, where it woke the peer last. Such a
	 * thread is a server only if it was started with that pipe as its standard input; it may
	 * have sent a greeting first. Others may only have been informed that the peer is there. */
	side.is_server = fd == STDIN_FILENO && ty_stall_is_started(h, c);
	request_ns = ty_stall_last_woken(x, c->waker.thread, c->s.thread, c->s.start_ns, false);
	to = request_ns ? ty_stall_given_to(x, c->s.thread, request_ns) : -1;
	if (to < 0 || to == fd)
		return side;
	pair = side_on(h, c->s.thread, c->s.syscall, fd, to);
	if (side.is_server)
		side.sent = pair.sent;
	else if (pair.is_client)
		side = pair;
	side.inferred = true;
	return side;
}

bool ty_stall_woken_before(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	uint32_t thread = c->s.thread, peer = c->waker.thread;
	bool futex = c->w.kind == TY_STALL_FUTEX;

	return ty_stall_last_woken(h->x, thread, peer, c->s.start_ns, true) &&
	       ty_stall_first_woken(h->x, thread, peer, futex) <
		       ty_stall_first_woken(h->x, peer, thread, futex);
}

bool ty_stall_ended_by_request(const struct ty_stall_search *h, const struct ty_candidate *c,
			       uint32_t first)
{
	return c->w.word && ty_stall_only_ends(h, c) && !ty_stall_on_path(h, c, true);
}
