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

#include <stdlib.h>

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

/* The wakeups of a block of its spans that threads caused, in order. Made once, since many waits
 * lead to the same ones. */
struct ty_woken {
	uint32_t thread, id; /* id: the block's number + 1; 0: none was read */
	uint32_t n;
	struct wakeup {
		uint64_t ts_ns;
		uint32_t who;
		uint16_t row;	 /* of the span that it began, in the block */
		uint8_t message; /* by futex or not: 0: not examined yet */
	} v[TY_ROWS];
};
enum { NO_MESSAGE = 1, MESSAGE = 2, OF_FUTEX = 2 /* bits to the left */ };

struct ty_woken *ty_stall_woken_new(void)
{
	return calloc(TY_STALL_BLOCKS, sizeof(struct ty_woken));
}

static void read_wakeups(const struct ty_model *m, uint32_t first, struct ty_woken *b)
{
	struct ty_span_rows rows;
	uint32_t n = ty_model_span_rows(m, b->thread, first, &rows);

	b->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct ty_span s = {.thread = b->thread,
				    .start_ns = rows.start_ns[i],
				    .state = rows.state[i],
				    .flags = rows.flags[i]};
		struct ty_waker k;

		if (s.state != TY_ST_RUNNABLE ||
		    s.flags & (TY_SF_PREEMPT | TY_SF_YIELD | TY_SF_BEFORE | TY_SF_NEW))
			continue;
		k = ty_waker_find(m, ty_model_span_edge(m, &s, first + i));
		if (k.kind == TY_WAKER_THREAD)
			b->v[b->n++] = (struct wakeup){k.ts_ns, k.thread, (uint16_t)i, 0};
	}
}

/* Was it no birth, lock of the kernel (that of their memory map) that is let go, or room that was
 * made for waiting writers? */
static bool says(const struct ty_explain *x, uint32_t thread, uint32_t span, struct wakeup *w,
		 bool futex)
{
	unsigned shift = futex ? OF_FUTEX : 0;

	if (!(w->message >> shift & (MESSAGE | NO_MESSAGE))) {
		struct ty_span s = ty_model_span_brief(x->m, thread, span);
		struct ty_waker k = ty_waker_find(x->m, ty_model_span_edge(x->m, &s, span));
		bool yes = !ty_stall_made_room(x, &k) &&
			   is_message(x, thread, span, w->who, w->ts_ns, futex);

		w->message |= (uint8_t)((yes ? MESSAGE : NO_MESSAGE) << shift);
	}
	return w->message >> shift & MESSAGE;
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

/* The wakeup of the thread by `who` in [from_ns, to_ns], among these of its spans, the last or the
 * first; where h is given, not by passing something around. When; 0: none. *span: which it began.
 */
static uint64_t find_wakeup(const struct ty_explain *x, const struct ty_stall_search *h,
			    uint32_t thread, uint32_t who, struct ty_rows in, uint64_t from_ns,
			    uint64_t to_ns, bool futex, bool last, uint32_t *span)
{
	const uint32_t first = ty_model_thread(x->m, thread)->spans_first;
	struct ty_woken own;

	for (uint32_t from = in.from, to = in.to; from < to;) {
		uint32_t block = ((last ? to - 1 : from) - first) / TY_ROWS,
			 row = first + block * TY_ROWS;
		struct ty_woken *b =
			x->woken ? &x->woken[(thread * 31 + block) % TY_STALL_BLOCKS] : &own;

		if (!x->woken || b->thread != thread || b->id != block + 1) {
			b->thread = thread;
			b->id = block + 1;
			read_wakeups(x->m, row, b);
		}
		for (uint32_t i = 0; i < b->n; i++) {
			struct wakeup *w = &b->v[last ? b->n - 1 - i : i];
			uint32_t at = row + w->row;

			if (w->who == who && at >= from && at < to && w->ts_ns >= from_ns &&
			    w->ts_ns <= to_ns && says(x, thread, at, w, futex) &&
			    (!h || !passed_around(h, who, thread, at))) {
				*span = at;
				return w->ts_ns;
			}
		}
		if (last)
			to = row > from ? row : from;
		else
			from = row + TY_ROWS;
	}
	return 0;
}

/* The last TY_STALL_BACK spans of the thread that begin by t. */
static struct ty_rows spans_up_to(const struct ty_model *m, uint32_t thread, uint64_t t)
{
	uint32_t k = ty_model_span_find(m, thread, t);

	return k == TY_NONE ? (struct ty_rows){0}
			    : ty_rows_near((struct ty_rows){ty_thread_spans(m, thread).from, k + 1},
					   k + 1, k + 1, TY_STALL_BACK);
}

/* When did `who` last wake thread up to t, and, where h is given, not by passing something around?
 * 0: not seen. *span: the one that this began. */
static uint64_t last_wakeup(const struct ty_explain *x, const struct ty_stall_search *h,
			    uint32_t thread, uint32_t who, uint64_t t, bool futex, uint32_t *span)
{
	return find_wakeup(x, h, thread, who, spans_up_to(x->m, thread, t), 0, t, futex, true,
			   span);
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
	uint64_t born = ty_model_thread(x->m, who)->start_ns;
	struct ty_rows in = ty_thread_spans(x->m, thread);
	uint32_t k = ty_model_span_find(x->m, thread, born), span;

	if (k != TY_NONE && born > ty_model_thread(x->m, thread)->start_ns)
		in.from = k;
	if (in.to - in.from > TY_STALL_BACK)
		in.to = in.from + TY_STALL_BACK;
	return find_wakeup(x, h, thread, who, in, 0, UINT64_MAX, futex, false, &span) ?: UINT64_MAX;
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
	uint32_t span;

	return ty_model_wakeups(x->m, thread, from, to + 1) &&
	       find_wakeup(x, NULL, thread, who, spans_up_to(x->m, thread, to), from, to, true,
			   true, &span);
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
