/* SPDX-License-Identifier: MIT */
/*
 * Which of two threads woke the other, and when: only wakeups that can be a message, not those of
 * locks that are released and of new threads.
 *
 * Budget: TY_STALL_BACK spans or calls of one thread for each question; ty_stall_woke_another: of
 * each thread that was woken meanwhile.
 */
#include "stall_woken.h"

#include "syscall_ipc.h"
#include "thread_walk.h"

#define BEGUN_NS UINT64_C(500000) /* a new thread that has run no longer has only begun */

bool ty_stall_just_born(const struct ty_model *m, uint32_t thread, uint64_t t)
{
	const struct ty_thread *th = ty_model_thread(m, thread);
	uint32_t k = ty_sleep_after(m, thread, th->start_ns, TY_STALL_LITTLE_NS);

	return th->born && (k == TY_NONE || ty_model_span_brief(m, thread, k).start_ns >= t);
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
	    ty_stall_just_born(x->m, who, ts) &&
	    (!futex ||
	     ty_thread_time(x->m, who, ty_model_thread(x->m, who)->start_ns, ts).ns[TY_ST_RUNNING] <
		     BEGUN_NS))
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
	uint32_t call = ty_waker_call(x->m, k);
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
	/* Making room wakes waiting writers: that is no message. */
	if (ty_stall_made_room(x, &k))
		return false;
	return is_message(x, thread, span, who, *ts, futex);
}

/* Did the wakeup that began this span of peer come from a word on which the thread waits, too, as
 * of a lock that is passed around (an interpreter's)? */
static bool passed_around(const struct ty_stall_search *h, uint32_t thread, uint32_t peer,
			  uint32_t span)
{
	const struct ty_model *m = h->x->m;
	uint64_t t = ty_model_span_brief(m, peer, span).start_ns, word;
	uint32_t call = ty_model_syscall_at(m, peer, t - 1);

	word = call == TY_NONE ? 0 : ty_wait_word(h->x, call);
	return word && ty_stall_on_word(h, thread, word, t).waits;
}

/* When did `who` last wake thread up to t, and, where h is given, not by passing something around?
 * 0: not seen. *span: the one that this began. */
static uint64_t last_wakeup(const struct ty_explain *x, const struct ty_stall_search *h,
			    uint32_t thread, uint32_t who, uint64_t t, bool futex, uint32_t *span)
{
	const struct ty_model *m = x->m;
	const struct ty_thread *th = ty_model_thread(m, thread);
	uint32_t k = ty_model_span_find(m, thread, t);
	uint64_t ts;

	for (unsigned n = 0; k != TY_NONE && n < TY_STALL_BACK; n++, k--) {
		*span = k;
		if (woken_by(x, thread, k, who, futex, &ts) && ts <= t &&
		    (!h || !passed_around(h, who, thread, k)))
			return ts;
		if (k == th->spans_first)
			break;
	}
	return 0;
}

uint64_t ty_stall_last_woken_at(const struct ty_explain *x, uint32_t thread, uint32_t who,
				uint64_t t, bool futex, uint32_t *span)
{
	return last_wakeup(x, NULL, thread, who, t, futex, span);
}

uint64_t ty_stall_last_woken(const struct ty_explain *x, uint32_t thread, uint32_t who, uint64_t t,
			     bool futex)
{
	uint32_t span;

	return ty_stall_last_woken_at(x, thread, who, t, futex, &span);
}

uint64_t ty_stall_last_woke(const struct ty_explain *x, uint32_t thread, uint32_t who, uint64_t t)
{
	return ty_stall_last_woken(x, thread, who, t, true);
}

/* When did `who` first wake thread, and, where h is given, not by passing something around?
 * UINT64_MAX: not among its first spans since both are there. */
static uint64_t first_wakeup(const struct ty_explain *x, const struct ty_stall_search *h,
			     uint32_t thread, uint32_t who, bool futex)
{
	const struct ty_thread *th = ty_model_thread(x->m, thread);
	uint64_t born = ty_model_thread(x->m, who)->start_ns, ts;
	uint32_t k = born > th->start_ns ? ty_model_span_find(x->m, thread, born) : TY_NONE,
		 first = k == TY_NONE ? th->spans_first : k, end = th->spans_first + th->spans_n;

	for (k = first; k < end && k - first < TY_STALL_BACK; k++)
		if (woken_by(x, thread, k, who, futex, &ts) &&
		    (!h || !passed_around(h, who, thread, k)))
			return ts;
	return UINT64_MAX;
}

uint64_t ty_stall_first_woken(const struct ty_explain *x, uint32_t thread, uint32_t who, bool futex)
{
	return first_wakeup(x, NULL, thread, who, futex);
}

uint64_t ty_stall_last_message(const struct ty_stall_search *h, uint32_t thread, uint32_t who,
			       uint64_t t, bool futex, uint32_t *span)
{
	return last_wakeup(h->x, h, thread, who, t, futex, span);
}

bool ty_stall_has_request(const struct ty_stall_search *h, uint32_t thread, uint32_t peer,
			  uint64_t t, bool futex)
{
	uint32_t span, other;
	uint64_t request_ns = last_wakeup(h->x, h, peer, thread, t, futex, &span);

	return request_ns && request_ns > last_wakeup(h->x, h, thread, peer, t, futex, &other) &&
	       first_wakeup(h->x, h, peer, thread, futex) <=
		       first_wakeup(h->x, h, thread, peer, futex);
}

bool ty_stall_woke_within(const struct ty_explain *x, uint32_t thread, uint32_t who, uint64_t from,
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
		    ty_stall_woke_within(x, i, thread, from, to))
			return true;
	return false;
}
