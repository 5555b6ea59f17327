/* SPDX-License-Identifier: MIT */
/*
 * Recognises locks by the operations on their words: a thread that waited for a lock later releases
 * it, by waking the word that it had waited on; a thread that waited for work or a reply does not.
 * Budget: the calls of three blocks of TY_STALL_BACK of a thread, each read once and cached with
 * all its words; and BACK spans before the wait.
 */
#include "stalls_priv.h"
#include "thread_walk.h"

#define BACK 16

static const struct ty_words *words_of(const struct ty_stall_search *h, uint32_t thread,
				       uint32_t block)
{
	const struct ty_thread *th = ty_model_thread(h->x->m, thread);
	uint32_t first = block * TY_STALL_BACK;
	struct ty_words *v = &h->words[(thread * 31 + block) % TY_STALL_BLOCKS];

	if (v->thread == thread && v->id == block + 1)
		return v;
	v->thread = thread;
	v->id = block + 1;
	v->n = 0;
	for (uint32_t i = first; i < th->syscalls_n && i - first < TY_STALL_BACK; i++) {
		uint64_t word;
		unsigned use = ty_wait_futex_use(h->x, th->syscalls_first + i, &word);
		uint32_t k = 0;

		if (use == TY_FUTEX_NONE || word & TY_FUTEX_USE)
			continue; /* of other words the kernel knows nothing */
		while (k < v->n && v->use[k] != (word | use))
			k++;
		if (k == v->n)
			v->use[v->n++] = word | use;
	}
	return v;
}

struct ty_waits_on ty_stall_on_word(const struct ty_stall_search *h, uint32_t thread, uint64_t word,
				    uint64_t t)
{
	const struct ty_thread *th = ty_model_thread(h->x->m, thread);
	uint32_t end = th->syscalls_first + th->syscalls_n,
		 i = ty_model_syscall_after(h->x->m, thread, t),
		 block = ((i < end ? i : end) - th->syscalls_first) / TY_STALL_BACK;
	bool waits = false, pair = false, wakes = false, wakes_near = false;

	for (uint32_t b = block ? block - 1 : 0; b <= block + 1; b++) {
		const struct ty_words *v = words_of(h, thread, b);

		for (uint32_t k = 0; k < v->n; k++) {
			uint64_t at = v->use[k] & ~TY_FUTEX_USE;

			switch (v->use[k] & TY_FUTEX_USE) {
			case TY_FUTEX_WAITS: waits = waits || at == word; break;
			case TY_FUTEX_WAITS_PAIR: pair = pair || at == word; break;
			default:
				wakes = wakes || at == word;
				wakes_near = wakes_near || (at & ~UINT64_C(7)) == word;
			}
		}
	}
	return (struct ty_waits_on){.waits = waits || pair, .wakes = wakes || (pair && wakes_near)};
}

static bool passes(const struct ty_stall_search *h, uint32_t thread, uint64_t word, uint64_t t)
{
	struct ty_waits_on v = ty_stall_on_word(h, thread, word, t);

	return v.waits && v.wakes;
}

/* From what the thread came to its wait on the word in this span: a wait for something else, of
 * some length, so that it was about to go on; work; or neither is known (another try). */
enum came { FROM_WAIT, FROM_WORK, FROM_ELSE };

static enum came came_from(const struct ty_stall_search *h, uint32_t thread, uint32_t span,
			   uint64_t word)
{
	uint32_t first = ty_model_thread(h->x->m, thread)->spans_first;
	uint64_t ran = 0;

	for (unsigned n = 0; n < BACK && span > first; n++) {
		struct ty_span s = ty_model_span(h->x->m, --span);

		if (s.state == TY_ST_RUNNING)
			ran += s.end_ns - s.start_ns;
		if (ran >= TY_STALL_LITTLE_NS)
			return FROM_WORK;
		if (s.state == TY_ST_SLEEPING && s.end_ns - s.start_ns >= TY_STALL_LITTLE_NS)
			return s.syscall != TY_NONE && ty_wait_word(h->x, s.syscall) != word
				       ? FROM_WAIT
				       : FROM_ELSE;
	}
	return FROM_ELSE;
}

/* Did the thread let the word go right before this call, with next to no work in between? */
static bool just_let_go(const struct ty_stall_search *h, uint32_t thread, uint32_t call,
			uint64_t word)
{
	struct ty_calls_back w = ty_calls_before(h->x->m, thread, call, BACK);
	uint64_t next = ty_model_syscall_brief(h->x->m, thread, call).start_ns, worked = 0, at;

	for (; ty_call_back(&w); next = w.s.start_ns) {
		worked += next > w.s.end_ns ? next - w.s.end_ns : 0;
		if (worked >= TY_STALL_LITTLE_NS)
			return false;
		if (ty_wait_futex_use(h->x, w.call, &at) == TY_FUTEX_WAKES &&
		    (at & ~UINT64_C(7)) == (word & ~UINT64_C(7)))
			return true;
	}
	return false;
}

/* Does the thread wake the word after its wait, before it waits there again, and not at once again?
 * So it had the lock then. In between another one may have been faster: then it waits again at
 * once. With a condition it is the other word of the pair. */
static bool releases(const struct ty_stall_search *h, const struct ty_candidate *c, uint64_t word)
{
	const struct ty_model *m = h->x->m;
	const uint32_t end = ty_thread_calls(m, c->s.thread).to;
	uint64_t from = c->end_ns, at, args[6];
	struct ty_syscall s;
	bool woken = false;

	if (c->s.syscall == TY_NONE)
		return false;
	s = ty_model_syscall(m, c->s.syscall);
	if (ty_explain_args(h->x, &s, 1, args))
		return false;
	for (uint32_t i = c->s.syscall + 1; i < end && i - c->s.syscall < TY_STALL_BACK; i++) {
		const unsigned use = ty_wait_futex_use(h->x, i, &at);

		if (use == TY_FUTEX_NONE || (at & ~UINT64_C(7)) != (word & ~UINT64_C(7)))
			continue;
		s = ty_model_syscall_brief(m, c->s.thread, i);
		if (use == TY_FUTEX_WAKES) {
			if (at != args[0])
				return false;
			woken = true;
			continue;
		}
		if (s.start_ns - from >= TY_STALL_LITTLE_NS &&
		    s.start_ns - from - TY_STALL_LITTLE_NS >=
			    ty_thread_time(m, c->s.thread, from, s.start_ns).ns[TY_ST_RUNNABLE])
			return woken;
		if (woken)
			return false;
		from = s.end_ns;
	}
	return woken;
}

/* Does the thread at other times come from work to wait on the word, which it has not just let go?
 * Then it waits there for more work. */
static bool comes_from_work(const struct ty_stall_search *h, const struct ty_candidate *c,
			    uint64_t word)
{
	uint32_t thread = c->s.thread;
	struct ty_rows near = ty_rows_near(ty_thread_spans(h->x->m, thread), c->first_span,
					   c->s.span, TY_STALL_BACK);

	for (uint32_t k = near.from; k < near.to; k++) {
		struct ty_span s = ty_model_span_brief(h->x->m, thread, k);

		if (s.state != TY_ST_SLEEPING || s.end_ns - s.start_ns < TY_STALL_LITTLE_NS)
			continue;
		s = ty_model_span(h->x->m, k);
		if (s.syscall != TY_NONE && ty_wait_word(h->x, s.syscall) == word &&
		    came_from(h, thread, k, word) == FROM_WORK &&
		    !just_let_go(h, thread, s.syscall, word))
			return true;
	}
	return false;
}

bool ty_stall_is_passed_on(const struct ty_stall_search *h, const struct ty_candidate *c,
			   const struct ty_path *p)
{
	uint64_t word = ty_wait_word_of(h->x, &c->w, c->s.syscall);
	bool once;

	if (!word || c->waker.kind != TY_WAKER_THREAD || c->root.thread == c->s.thread)
		return false;
	/* Cheap tests first: an idle worker returns to its wait at once, and does not wake the
	 * word. */
	once = !c->tries && !ty_stall_returns_to(h, c->s.thread, &c->w, c->end_ns - 1) &&
	       !ty_stall_waits_again(h, c, true);
	if (c->tries && came_from(h, c->s.thread, c->first_span, word) != FROM_WAIT)
		return false;
	if (!passes(h, c->s.thread, word, c->end_ns) ||
	    (ty_model_thread(h->x->m, c->waker.thread)->traced &&
	     !passes(h, c->waker.thread, word, c->end_ns)))
		return false;
	if (!once && !c->tries && !releases(h, c, word))
		return false;
	if (ty_stall_ends_then(h->x->m, c) &&
	    !ty_stall_computes_after(h->x, c->s.thread, c->end_ns))
		return false;
	return once || !comes_from_work(h, c, word);
}
