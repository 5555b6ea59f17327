/* SPDX-License-Identifier: MIT */
/*
 * Locks by what is done with their words: who waits for a lock lets it go later, by waking the word
 * that it had waited on; who waits for work or an answer does not. Budget: the calls of three
 * blocks of TY_STALL_BACK of a thread, remembered by word; BACK spans of one.
 */
#include "stalls_priv.h"

#define BACK 16

struct ty_waits_on ty_stall_on_word(const struct ty_hunt *h, uint32_t thread, uint64_t word,
				    uint64_t t)
{
	const struct ty_thread *th = ty_model_thread(h->x->m, thread);
	uint32_t end = th->syscalls_first + th->syscalls_n,
		 i = ty_model_syscall_after(h->x->m, thread, t),
		 block = ((i < end ? i : end) - th->syscalls_first) / TY_STALL_BACK;
	struct ty_waits_on *v = &h->waits_on[(word / 4 + thread * 31 + block) % TY_STALL_WAITS_ON];

	if (v->word != word || v->thread != thread || v->block != block) {
		*v = (struct ty_waits_on){.word = word, .thread = thread, .block = block};
		i = th->syscalls_first + (block ? block - 1 : 0) * TY_STALL_BACK;
		for (unsigned n = 0; i < end && n < 3 * TY_STALL_BACK; n++, i++) {
			v->waits = v->waits || ty_wait_word(h->x, i) == word;
			v->wakes = v->wakes || ty_wake_word(h->x, i) == (word & ~UINT64_C(7));
		}
	}
	return *v;
}

static bool passes(const struct ty_hunt *h, uint32_t thread, uint64_t word, uint64_t t)
{
	struct ty_waits_on v = ty_stall_on_word(h, thread, word, t);

	return v.waits && v.wakes;
}

/* Did the thread come to this wait straight from one for something else, of some length? So it was
 * about to go on, while who has no work comes from work. */
static bool is_on_its_way(const struct ty_hunt *h, const struct ty_cand *c, uint64_t word)
{
	uint32_t k = c->tries ? c->first_span : c->s.span,
		 first = ty_model_thread(h->x->m, c->s.thread)->spans_first;
	uint64_t ran = 0;

	for (unsigned n = 0; n < BACK && k > first && ran < TY_STALL_LITTLE_NS; n++) {
		struct ty_span s = ty_model_span(h->x->m, --k);

		if (s.state == TY_ST_RUNNING)
			ran += s.end_ns - s.start_ns;
		else if (s.state == TY_ST_SLEEPING && s.end_ns - s.start_ns >= TY_STALL_LITTLE_NS)
			return s.syscall != TY_NONE && ty_wait_word(h->x, s.syscall) != word;
	}
	return false;
}

bool ty_stall_is_passed_on(const struct ty_hunt *h, const struct ty_cand *c,
			   const struct ty_path *p)
{
	const struct ty_seg *s = &p->seg.v[c->root.seg];
	uint64_t word = ty_wait_word_of(h->x, &c->w, c->s.syscall);

	if (!word || c->waker.kind != TY_WAKER_THREAD || c->root.thread == c->s.thread ||
	    !passes(h, c->s.thread, word, c->end_ns) ||
	    (ty_model_thread(h->x->m, c->waker.thread)->traced &&
	     !passes(h, c->waker.thread, word, c->end_ns)))
		return false;
	/* Who had it did not wait for it, too. */
	if (s->what != TY_SEG_RUNS && s->what != TY_SEG_READY && s->span != TY_NONE) {
		struct ty_span held = ty_model_span(h->x->m, s->span);

		if (held.syscall != TY_NONE && ty_wait_word(h->x, held.syscall) == word)
			return false;
	}
	if (c->tries)
		return is_on_its_way(h, c, word);
	return !ty_stall_comes_back(h, c->s.thread, &c->w, c->end_ns - 1) &&
	       !ty_stall_waits_again(h, c, true) &&
	       (!ty_stall_ends_then(h->x->m, c) || ty_stall_goes_on(h->x, c->s.thread, c->end_ns));
}
