/* SPDX-License-Identifier: MIT */
/*
 * The relations of a wait (graph/relations.h), and the rule that decides on it. Each is evaluated
 * at most once for a wait; its cost is stated where it is implemented (stall_request.c,
 * stall_worker.c ...).
 */
#include <signal.h>

#include "process_of_thread.h"
#include "relations.h"
#include "rule.h"
#include "stalls_priv.h"
#include "request_lookup.h"
#include "syscall_ipc.h"
#include "wait_call.h"
#include "wait_fd.h"
#include "wait_peer.h"
#include "thread_walk.h"

struct view {
	struct ty_stall_search *h;
	struct ty_candidate *c;
	const struct ty_path *p; /* of a wait; else NULL */
	int cpu_explained;
	uint64_t shown_ns; /* what the window, and so the command's path, has of it */
	/* Which side the thread has on the descriptor it waits on: made on first use. */
	bool side_made, guessed;
	int64_t fd;
	struct ty_stall_side side;
	struct ty_relations of;
};

/* Did the thread wake another one by its last call before its wait? */
static bool just_woke_another(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	const struct ty_thread *t = ty_model_thread(h->x->m, c->s.thread);
	uint32_t call = ty_stall_first_call(h, c), back = call > t->syscalls_first;

	return back && ty_stall_woke_another(
			       h->x, c->s.thread,
			       ty_model_syscall_brief(h->x->m, c->s.thread, call - back).start_ns,
			       c->s.start_ns, TY_NONE);
}

/* Is what ended the wait, or all that the thread did, among lost events? */
static bool end_lost(const struct ty_model *m, const struct ty_candidate *c)
{
	return c->s.state == TY_ST_UNKNOWN ||
	       (c->waker.kind == TY_WAKER_NONE &&
		(c->s.flags & TY_SF_LOST || ty_lost_behind(m, c->s.thread, c->s.span)));
}

/* The descriptor of the other side, unless new peers arrive there; -1: unknown. guessed: by what
 * the thread did next. */
static int64_t peer_fd(const struct ty_stall_search *h, const struct ty_candidate *c, bool *guessed)
{
	int64_t fd;

	*guessed = c->w.kind == TY_STALL_EVENTS || c->w.fd < 0;
	if (!*guessed)
		return c->w.fd;
	return ty_wait_next_fd(h->x, c->s.thread, c->s.syscall, false, &fd) & TY_TAKES ? fd : -1;
}

static const struct ty_stall_side *side(struct view *v)
{
	if (!v->side_made) {
		v->side_made = true;
		v->fd = -1;
		if (v->c->w.class == TY_WAIT_PEER || v->c->w.kind == TY_STALL_EVENTS) {
			v->fd = peer_fd(v->h, v->c, &v->guessed);
			v->side = ty_stall_side(v->h, v->c, v->fd);
		}
	}
	return &v->side;
}

static bool holds(struct view *v, enum ty_relation r)
{
	return ty_relation_holds(&v->of, r);
}

/* Did a signal end the wait that stops a service, or makes it read its files again? */
static bool by_stop_request(const struct view *v)
{
	int sig = ty_waker_signal(v->h->x->m, v->c->s.thread, &v->c->waker);

	return sig == SIGHUP || sig == SIGINT || sig == SIGQUIT || sig == SIGTERM;
}

/* The command needed this wait of its own first thread once, and then computed. */
static bool needed_once(struct view *v)
{
	return !by_stop_request(v) && v->h->path_end == v->c->s.thread && holds(v, TY_R_ON_PATH) &&
	       !holds(v, TY_R_RECURS) && holds(v, TY_R_COMPUTED_AFTER);
}

/* Several share the work; or the place of a pool's leader is handed over. */
static bool work_shared(const struct view *v)
{
	if (ty_stall_is_for_workers(v->h, v->c, v->p))
		return true;
	return v->c->w.word ? ty_stall_hands_on(v->h, v->c, v->p->seg.v[0].thread)
			    : ty_stall_shares_out(v->h, v->c);
}

struct idle {
	uint32_t process;
	bool serves,
		open; /* the process replied to requests; a request of it, or its own, is open */
};

/* Does the thread wait at other times for the events that the waiter waits for now? Threads that
 * take turns at that, as those of a runtime, do not work for each other. */
static bool polls_in_turn(const struct view *v, uint32_t thread)
{
	const struct ty_explain *x = v->h->x;
	const struct ty_candidate *c = v->c;
	struct ty_rows near = ty_calls_near(x->m, thread, c->end_ns, TY_STALL_BACK);
	struct ty_syscall own;

	if (c->w.kind != TY_STALL_EVENTS || c->s.syscall == TY_NONE || thread == c->s.thread)
		return false;
	own = ty_model_syscall(x->m, c->s.syscall);
	for (uint32_t i = near.from; i < near.to; i++) {
		struct ty_syscall s = ty_model_syscall_brief(x->m, thread, i);

		if (s.nr == own.nr && ty_explain_same_args(x, &s, &own, 1))
			return true;
	}
	return false;
}

/* Was the thread, of the process of the waiter, idle in this wait, which `by` ended: a wait for any
 * event that was no reply; in threads that take turns at such waits, any wait for a timer; or, by
 * futex, outside of a request of its own, for a timer that it had not set for `client`, a runtime's
 * clock. */
static bool is_idle(const struct view *v, const struct idle *of, uint32_t thread, uint32_t span,
		    const struct ty_waker *by, uint32_t client)
{
	const struct ty_explain *x = v->h->x;
	const bool timer = by->kind == TY_WAKER_TIMER, events = !of->open && (timer || of->serves),
		   word = v->c->w.word && by->kind == TY_WAKER_THREAD,
		   words = timer && v->c->w.word && client != TY_NONE;
	struct ty_wait_for w;
	struct ty_span s;

	if (!events && !word && !words)
		return false;
	if (span == TY_NONE || ty_process_of(x->m, thread) != of->process)
		return false;
	s = ty_model_span_brief(x->m, thread, span);
	s.syscall = ty_model_syscall_at(x->m, thread, s.start_ns);
	if (s.syscall == TY_NONE)
		s.edge = ty_model_span_edge(x->m, &s, span);
	w = ty_wait_for(x, &s, s.syscall);
	if (w.kind == TY_STALL_EVENTS)
		return events || (word && !ty_stall_last_woke(x, by->thread, thread, s.start_ns));
	if (timer && !of->open && w.word && polls_in_turn(v, thread))
		return true;
	return words && w.word && !ty_stall_last_woke(x, thread, client, s.start_ns) &&
	       !ty_stall_last_woke(x, thread, v->c->s.thread, s.start_ns) &&
	       !ty_requests_around(v->h->o.requests, thread, s.start_ns, s.end_ns);
}

static uint32_t hop_thread(const struct view *v, uint32_t hop)
{
	return hop == TY_NONE ? TY_NONE : v->p->hop.v[hop].thread;
}

/* The idle waits for a timer among the segments from t on, before `left`, which becomes the first
 * of them. */
static uint64_t idle_timers(const struct view *v, const struct idle *of, size_t *left, uint64_t t)
{
	uint64_t ns = 0;

	for (; *left && v->p->seg.v[*left - 1].start_ns >= t; --*left) {
		const struct ty_seg *s = &v->p->seg.v[*left - 1];

		if (s->what == TY_SEG_TIMER &&
		    is_idle(v, of, s->thread, s->span, &s->waker, hop_thread(v, s->hop)))
			ns += s->end_ns - s->start_ns;
	}
	return ns;
}

/* Was the process idle for most of the wait? Threads of runtimes take turns to wait for the next
 * timer or event, and those of a server for the next request. What is behind an idle wait, all of
 * its time, is part of it: the hops that follow it, and the segments of that time. */
static bool peer_idle(const struct view *v)
{
	const struct ty_model *m = v->h->x->m;
	const struct ty_candidate *c = v->c;
	const struct ty_requests *q = v->h->o.requests;
	const struct ty_hop *hop = v->p->hop.v;
	struct idle of = {.process = ty_process_of(m, c->s.thread)};
	size_t left = v->p->seg.n;
	uint64_t ns = 0;

	of.serves = ty_requests_served(q, of.process);
	of.open = ty_requests_of_process(q, m, of.process, c->s.start_ns, c->end_ns) &&
		  !ty_stall_elsewhere(v->h, c, of.process);
	for (uint32_t i = 0, k; i < v->p->hop.n; i = k) {
		k = i + 1;
		if (!is_idle(v, &of, hop[i].thread, hop[i].span, &hop[i].waker,
			     hop_thread(v, hop[i].parent)))
			continue;
		ns += hop[i].end_ns - hop[i].start_ns + idle_timers(v, &of, &left, hop[i].end_ns);
		while (left && v->p->seg.v[left - 1].start_ns >= hop[i].start_ns)
			left--;
		while (k < v->p->hop.n && hop[k].parent != TY_NONE && hop[k].parent >= i)
			k++;
	}
	ns += idle_timers(v, &of, &left, 0);
	return ns > c->s.duration_ns / 2;
}

/* Did the exit of its process wake the thread, which made no call from then on; or a thread that
 * exited before this one ran? A thread that joins one that exits makes others. */
static bool killed(const struct view *v)
{
	const struct ty_model *m = v->h->x->m;
	const struct ty_candidate *c = v->c;
	const struct ty_thread *t = ty_model_thread(m, c->s.thread);
	uint32_t by = c->waker.thread, call;
	struct ty_syscall last;

	if (c->s.syscall == TY_NONE || !t->died ||
	    c->s.syscall + 1 < t->syscalls_first + t->syscalls_n ||
	    ty_process_of(m, by) != ty_process_of(m, c->s.thread))
		return false;
	call = ty_model_syscall_at(m, by, c->waker.act_ns);
	if (call == TY_NONE)
		return false;
	if (ty_model_syscall_brief(m, by, call).flags & TY_SF_ENDED)
		return true;
	last = ty_model_syscall_brief(m, by, ty_thread_calls(m, by).to - 1);
	return last.flags & TY_SF_ENDED &&
	       !ty_thread_time(m, c->s.thread, c->end_ns, last.start_ns).ns[TY_ST_RUNNING];
}

/* Had the thread work, by what is recorded before the end of its wait was lost? */
static bool work_lost(struct view *v)
{
	const struct ty_candidate *c = v->c;

	if (c->s.state == TY_ST_UNKNOWN)
		return c->w.class != TY_WAIT_END && c->w.class != TY_WAIT_IDLE;
	if (holds(v, TY_R_DEFINITE))
		return c->s.state != TY_ST_BLOCKED || c->w.kind == TY_STALL_CHILD;
	return holds(v, TY_R_PEER) && (holds(v, TY_R_SENT) || holds(v, TY_R_ON_PATH));
}

/* Had the thread an open request, whose client it held up? Not where it waited for more from that
 * client, until that one sent it. */
static bool is_request(const struct view *v)
{
	const struct ty_candidate *c = v->c;
	const struct ty_request *q =
		ty_requests_around(v->h->o.requests, c->s.thread, c->s.start_ns, c->end_ns);

	return q && !(c->waker.kind == TY_WAKER_THREAD && c->w.class == TY_WAIT_PEER &&
		      c->w.fd == q->fd);
}

/* Was the thread awaiting a reply, which came at the end of the wait, or right behind its timeout,
 * or not at all? */
static bool awaits_reply(struct view *v)
{
	const struct ty_candidate *c = v->c;
	const struct ty_requests *q = v->h->o.requests;

	if (!holds(v, TY_R_BY_TIMER))
		return ty_requests_awaited(q, c->s.thread, c->s.start_ns, c->end_ns, false);
	return (holds(v, TY_R_TIMED_OUT) ? ty_wait_unanswered : ty_wait_reply_there)(
		v->h->x, q, c->s.thread, c->s.syscall, c->s.start_ns, c->end_ns);
}

/* A network timer only ends the wait where a packet of the connection was sent again. */
static bool connecting(const struct view *v)
{
	const struct ty_candidate *c = v->c;
	const struct ty_request *q;

	if (c->s.syscall == TY_NONE)
		return false;
	if (ty_explain_row(v->h->x, c->s.syscall)->says & TY_CONNECTS)
		return true;
	q = c->waker.kind == TY_WAKER_TIMER && c->waker.net
		    ? ty_requests_awaited(v->h->o.requests, c->s.thread, c->s.start_ns, c->end_ns,
					  false)
		    : NULL;
	return q && q->flags & TY_REQ_CONNECT;
}

/* The other side waited for a CPU itself: a busy machine, as long as that is short, and no piece of
 * a sum. */
static bool waker_runnable(const struct view *v)
{
	const struct ty_candidate *c = v->c;

	return c->s.waits <= 1 && c->root.thread != c->s.thread &&
	       c->root.what_ns[TY_SEG_RUNNABLE] > c->s.duration_ns / 2 &&
	       c->s.duration_ns < v->h->o.min_ns * TY_STALL_RUNNABLE_TIMES;
}

static enum ty_stack_role role(const struct view *v)
{
	const struct ty_explain *x = v->h->x;
	const struct ty_candidate *c = v->c;

	return x->role ? x->role(x->ctx, ty_model_tid(x->m, c->s.thread, c->s.start_ns),
				 c->s.start_ns, c->end_ns)
		       : TY_ROLE_NONE;
}

/* A kernel thread hands over what was typed. */
static bool reads_terminal(const struct view *v)
{
	const struct ty_candidate *c = v->c;

	return c->w.class == TY_WAIT_PEER &&
	       (c->waker.kind == TY_WAKER_NONE ||
		(c->waker.kind == TY_WAKER_THREAD &&
		 ty_model_thread(v->h->x->m, c->waker.thread)->kernel)) &&
	       ty_wait_terminal(v->h->x, c->s.thread, c->s.start_ns, &c->w);
}

/* What the call and the kernel say. */
static bool of_channel(struct view *v, enum ty_relation r)
{
	const struct ty_candidate *c = v->c;

	switch (r) {
	case TY_R_DEFINITE: return c->w.class == TY_WAIT_DEFINITE;
	case TY_R_PEER: return c->w.class == TY_WAIT_PEER;
	case TY_R_END: return c->w.class == TY_WAIT_END;
	case TY_R_IDLE: return c->w.class == TY_WAIT_IDLE;
	case TY_R_EVENTS: return c->w.kind == TY_STALL_EVENTS;
	case TY_R_SLEEP: return ty_stall_only_sleeps(c);
	case TY_R_WORD: return c->w.word;
	case TY_R_LOCK_BY_STACK: return role(v) == TY_ROLE_LOCK;
	case TY_R_SLEEP_BY_STACK: return role(v) == TY_ROLE_SLEEP;
	case TY_R_CHANNEL_KNOWN:
		return (c->w.class == TY_WAIT_PEER && c->w.fd >= 0 && !c->w.guessed) ||
		       (c->w.class == TY_WAIT_IDLE && holds(v, TY_R_SIGNALLED));
	case TY_R_UNCALLED:
		/* Frozen by its cgroup, stopped by a supervisor of its calls, closing its last
		 * socket on its way out of a call. */
		return c->w.kind == TY_STALL_FAULT && c->s.state != TY_ST_BLOCKED &&
		       !ty_wait_page_served(v->h->x, &c->waker);
	case TY_R_BY_THREAD: return c->waker.kind == TY_WAKER_THREAD;
	case TY_R_BY_TIMER: return c->waker.kind == TY_WAKER_TIMER;
	case TY_R_TIMED_OUT: return ty_wait_timed_out(v->h->x, c->s.syscall);
	case TY_R_STILL_WAITING: return c->s.flags & TY_SF_OPEN && c->waker.kind == TY_WAKER_NONE;
	case TY_R_BEGAN_BEFORE: return c->s.flags & TY_SF_BEFORE;
	case TY_R_END_LOST: return end_lost(v->h->x->m, c);
	case TY_R_WORK_LOST: return work_lost(v);
	case TY_R_ACCEPTS: return ty_stall_accepts(v->h->x, c->s.thread, c->s.syscall, &c->w);
	case TY_R_CONNECTING: return connecting(v);
	case TY_R_TERMINAL: return reads_terminal(v);
	case TY_R_WAKER_RUNNABLE: return waker_runnable(v);
	default: return false;
	}
}

/* Messages: sender and receiver. */
static bool of_messages(struct view *v, enum ty_relation r)
{
	const struct ty_stall_search *h = v->h;
	const struct ty_candidate *c = v->c;
	uint32_t first = v->p->seg.v[0].thread, to;

	switch (r) {
	case TY_R_SENT: return ty_stall_sent(h, c->s.thread, ty_stall_first_call(h, c), -1);
	case TY_R_SENT_LAST: return side(v)->is_client && side(v)->sent_last;
	case TY_R_NO_REPLY_YET: return holds(v, TY_R_SENT_LAST) || ty_stall_no_reply(h, c, &to);
	case TY_R_REPLY_CERTAIN:
		return side(v) && !v->guessed && (!v->side.inferred || holds(v, TY_R_SENT_REQUEST));
	case TY_R_SENT_REQUEST:
		return !side(v)->is_server && ty_stall_sent_request(h, c, first, v->fd);
	case TY_R_SENT_OR_WOKE:
		return (c->w.kind == TY_STALL_FUTEX && just_woke_another(h, c)) ||
		       holds(v, TY_R_SENT);
	case TY_R_SERVED: return side(v)->is_server && v->side.sent;
	case TY_R_SERVES_FD: return side(v)->is_server;
	case TY_R_NEXT_FD: return side(v) && v->fd >= 0;
	case TY_R_ENDED_BY_REQUEST: return ty_stall_ended_by_request(h, c, first);
	case TY_R_IN_REQUEST: return is_request(v);
	case TY_R_MAYBE_IN_REQUEST:
		return holds(v, TY_R_TIMED_OUT) ? ty_requests_pending(h->o.requests, c->s.thread,
								      c->s.start_ns, c->end_ns)
						: is_request(v);
	case TY_R_AWAITS_REPLY: return awaits_reply(v);
	case TY_R_SIGNALLED: return ty_stall_signalled(h, c);
	case TY_R_REPLY_PENDING: return ty_stall_has_open_request(h, c);
	case TY_R_REPLY_PENDING_UNSEEN: return ty_stall_has_unseen_request(h, c);
	default: return of_channel(v, r);
	}
}

/* What waiter and waker do at other times. */
static bool of_habits(struct view *v, enum ty_relation r)
{
	struct ty_stall_search *h = v->h;
	const struct ty_candidate *c = v->c;
	uint64_t half = (v->shown_ns + 1) / 2;
	bool futex = c->w.kind == TY_STALL_FUTEX;

	switch (r) {
	case TY_R_PASSED_ON: return ty_stall_is_passed_on(h, c, v->p);
	case TY_R_WORLD_STOPPED: return ty_stall_stops_world(h, c, v->p);
	case TY_R_PEER_IDLE: return peer_idle(v);
	case TY_R_KILLED: return killed(v);
	case TY_R_WORK_SHARED: return work_shared(v);
	case TY_R_FOR_PROGRAM: return ty_stall_is_for_program(h, c, v->p);
	case TY_R_AWAITED_HELD_UP: return ty_stall_is_end(h, c, v->p);
	case TY_R_ON_PATH: return ty_stall_on_path(h, c, true) >= half;
	case TY_R_NEEDED_ONCE: return needed_once(v);
	case TY_R_RECURS: return ty_stall_waits_again(h, c, true);
	case TY_R_RECURS_SAME_WAKER: return ty_stall_waits_again(h, c, false);
	case TY_R_COMPUTED_AFTER: return ty_stall_computes_after(h->x, c->s.thread, c->end_ns);
	case TY_R_RELATED: return ty_stall_is_related(h, c->s.thread, c->waker.thread);
	case TY_R_RUNTIME_SLEEP: return futex && holds(v, TY_R_RECURS);
	case TY_R_WAKE_EXPECTED:
		return !futex || ty_stall_ever_woken(h->x, c->s.thread, c->s.syscall) ||
		       just_woke_another(h, c);
	case TY_R_HAD_WORK: return ty_stall_had_work(h, c);
	default: return of_messages(v, r);
	}
}

static bool find(void *ctx, enum ty_relation r)
{
	struct view *v = ctx;
	const struct ty_candidate *c = v->c;

	switch (r) {
	case TY_R_NO_CPU: return c->s.state == TY_ST_RUNNABLE;
	case TY_R_CPU_EXPLAINED: return v->cpu_explained;
	case TY_R_COMPUTED: return c->computed_ns;
	case TY_R_ON_CPU: return c->s.state == TY_ST_RUNNING && !c->busy_waited && !c->computed_ns;
	case TY_R_POLLED: return c->polls;
	case TY_R_HOLDER_IDLE:
		return c->holder_idle || (v->p && c->w.class == TY_WAIT_PEER && c->w.word &&
					  ty_stall_holder_idle(v->h, c, v->p));
	default: break;
	}
	if (v->p)
		return of_habits(v, r);
	/* Where the state is lost, only the call shows that it was no wait. */
	return (c->s.state == TY_ST_UNKNOWN || c->holder_idle) && of_channel(v, r);
}

/* What the rule makes of the stall. Which process stands for a command, where one was attached
 * to, is inferred, and so is all that follows from it; the path itself may be. */
static void apply(struct view *v, const struct ty_rule *rule)
{
	struct ty_candidate *c = v->c;

	switch ((enum ty_rule_kind)rule->kind) {
	case TY_KIND_LOST: c->s.kind = TY_STALL_LOST; break;
	case TY_KIND_TIMER: c->s.kind = TY_STALL_TIMER; break;
	case TY_KIND_LOCK: c->s.kind = TY_STALL_LOCK; break;
	case TY_KIND_OTHER: c->w.kind = c->s.kind = TY_STALL_OTHER; break;
	case TY_KIND_REQUEST:
		c->s.in_request = true;
		if (c->waker.kind == TY_WAKER_TIMER)
			c->s.kind = TY_STALL_TIMER;
		break;
	case TY_KIND_OF_CALL:
		if (v->p && holds(v, TY_R_BY_THREAD) && holds(v, TY_R_IDLE) &&
		    holds(v, TY_R_SIGNALLED))
			c->s.kind = TY_STALL_SIGNAL;
		break;
	}
	if (rule->proof == TY_PROOF_NEVER)
		c->s.proven = false;
	if (rule->proof == TY_PROOF_PATH)
		c->s.proven = c->s.proven && v->h->x->command_tid && !v->h->path.inferred;
	if (c->s.proven && rule->proven_if)
		c->s.proven = holds(v, (enum ty_relation)rule->proven_if);
}

static bool rests_on(const struct ty_rule *rule, enum ty_relation r)
{
	for (unsigned i = 0; i < TY_RULE_TERMS && rule->when[i]; i++)
		if (rule->when[i] == (int)r)
			return true;
	return false;
}

/* Where the window cuts the one wait off, all of it. */
static void widen(const struct ty_stall_search *h, struct ty_candidate *c)
{
	struct ty_span s;

	if (!ty_stall_is_wait(c->s.state) || c->s.waits > 1 || c->tries || c->polls ||
	    c->busy_waited)
		return;
	s = ty_model_span_brief(h->x->m, c->s.thread, c->s.span);
	if (c->s.start_ns == h->w.from_ns && s.start_ns < c->s.start_ns)
		c->s.start_ns = s.start_ns;
	if (c->end_ns == h->w.to_ns && s.end_ns > c->end_ns)
		c->end_ns = c->s.last_end_ns = s.end_ns;
	c->s.duration_ns = c->end_ns - c->s.start_ns;
}

bool ty_stall_judge(struct ty_stall_search *h, struct ty_candidate *c, const struct ty_path *p,
		    int cpu_explained)
{
	struct view v = {.h = h,
			 .c = c,
			 .p = p,
			 .cpu_explained = cpu_explained,
			 .shown_ns = c->s.duration_ns};
	const uint64_t start_ns = c->s.start_ns, end_ns = c->end_ns, last_end_ns = c->s.last_end_ns;

	/* What a wait is does not depend on how much of it the window has. */
	widen(h, c);
	v.of.find = find;
	v.of.ctx = &v;
	c->s.rule = ty_rules_judge(&v.of);
	if (c->s.rule->verdict == TY_STALL || c->s.rule->kind == TY_KIND_LOST)
		apply(&v, c->s.rule);
	c->s.start_ns = start_ns;
	c->s.duration_ns = v.shown_ns;
	c->end_ns = end_ns;
	c->s.last_end_ns = last_end_ns;
	return c->s.rule->verdict == TY_STALL || h->o.all;
}

/* The last call before the wait that sent something to a peer; TY_NONE. */
static uint32_t last_sent(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	struct ty_calls_back w =
		ty_calls_before(h->x->m, c->s.thread, ty_stall_first_call(h, c), 32);

	while (ty_call_back(&w))
		if (w.s.ret >= 0 && ty_syscall_ipc(h->x, &w.s).says & TY_GIVES)
			return w.call;
	return TY_NONE;
}

/* Whose reply the thread had not yet. Behind the call's pointer may have been another descriptor.
 */
static void find_peer(const struct ty_stall_search *h, struct ty_candidate *c)
{
	const struct ty_span s = ty_model_span_brief(h->x->m, c->s.thread, c->s.span);
	int32_t fd = ty_wait_peer(h->x, h->o.requests, c->s.thread, c->s.syscall, c->s.start_ns,
				  c->end_ns, &c->w, c->s.peer, &c->connecting);

	/* Of several waits, each for another one, that of the main wait. */
	if (fd < 0 && c->s.waits > 1)
		fd = ty_wait_peer(h->x, h->o.requests, c->s.thread, c->s.syscall, s.start_ns,
				  s.end_ns, &c->w, c->s.peer, &c->connecting);
	c->s.proven = c->s.proven && (fd < 0 || fd == c->w.fd);
}

/* Is it a stall because the thread had sent something, and the end of its wait is lost? */
static bool lost_request(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	return rests_on(c->s.rule, TY_R_WORK_LOST) && c->w.class == TY_WAIT_PEER &&
	       ty_stall_sent(h, c->s.thread, ty_stall_first_call(h, c), -1);
}

void ty_stall_find_evidence(const struct ty_stall_search *h, struct ty_candidate *c)
{
	const struct ty_rule *rule = c->s.rule;
	uint32_t call, to = c->waker.thread;

	c->s.request_to = TY_NONE;
	if (!rule || !ty_stall_is_wait(c->s.state))
		return;
	find_peer(h, c);
	if (rule->kind == TY_KIND_REQUEST) {
		const struct ty_request *q = ty_requests_around(h->o.requests, c->s.thread,
								c->s.start_ns, c->s.start_ns);

		c->s.request_ns = q ? q->start_ns : 0;
	}
	if (rests_on(rule, TY_R_NO_REPLY_YET))
		c->s.sent_request_ns = ty_stall_no_reply(h, c, &to);
	else if (!rests_on(rule, TY_R_SENT_REQUEST) && !rests_on(rule, TY_R_SENT_LAST) &&
		 !rests_on(rule, TY_R_SENT_OR_WOKE) && !lost_request(h, c))
		return;
	else if (c->waker.kind == TY_WAKER_THREAD)
		c->s.sent_request_ns = ty_stall_last_woke(h->x, to, c->s.thread, c->s.start_ns);
	if (c->s.sent_request_ns) {
		c->s.request_to = to;
		return;
	}
	call = last_sent(h, c);
	if (call != TY_NONE)
		c->s.sent_request_ns = ty_model_syscall_brief(h->x->m, c->s.thread, call).start_ns;
}
