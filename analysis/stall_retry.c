/* SPDX-License-Identifier: MIT */
/*
 * Waits with a time-out that are taken up again: who waits for 350 ms in steps of 50, and is woken
 * in the end, waited once for that one. Budget: for each candidate of a thread its call and
 * arguments, once; the spans up to the next wait.
 */
#include "stalls_priv.h"
#include "talk.h"

/* The next wait of the thread that begins within a little while of t; TY_NONE. */
static uint32_t next_wait(const struct ty_model *m, uint32_t thread, uint32_t span, uint64_t t)
{
	const struct ty_thread *th = ty_model_thread(m, thread);
	uint64_t ran = 0;

	for (uint32_t k = span + 1; k < th->spans_first + th->spans_n; k++) {
		struct ty_span s = ty_model_span_brief(m, thread, k);

		if (s.start_ns >= t && ty_stall_is_wait(s.state))
			return s.state == TY_ST_SLEEPING ? k : TY_NONE;
		ran += s.state == TY_ST_RUNNING ? s.end_ns - s.start_ns : 0;
		if (ran > TY_STALL_LITTLE_NS ||
		    (s.state != TY_ST_RUNNING && s.state != TY_ST_RUNNABLE && s.start_ns >= t))
			return TY_NONE;
	}
	return TY_NONE;
}

struct step {
	struct ty_wait_for w;
	uint32_t call;
	int32_t nr;
	bool timed_out;
};

static struct step look(const struct ty_hunt *h, uint32_t span)
{
	struct ty_span s = ty_model_span(h->x->m, span);
	struct step t = {.call = s.syscall};

	if (s.syscall == TY_NONE)
		return t;
	t.w = ty_wait_for(h->x, &s, s.syscall);
	t.nr = ty_model_syscall_brief(h->x->m, s.thread, s.syscall).nr;
	t.timed_out = ty_wait_timed_out(h->x, s.syscall);
	return t;
}

static bool again(const struct ty_hunt *h, uint32_t thread, const struct step *a,
		  const struct step *b)
{
	/* Who asks anew in between waits for another answer. */
	for (uint32_t i = a->call + 1; b->call != TY_NONE && i < b->call; i++) {
		struct ty_syscall s = ty_model_syscall_brief(h->x->m, thread, i);

		if (ty_talk(h->x, &s).says & TY_GIVES || (s.nr == a->nr && s.ret > 0))
			return false;
	}
	return b->call != TY_NONE && a->nr == b->nr && a->w.class == b->w.class &&
	       a->w.class != TY_WAIT_END && ty_wait_same(h->x->m, thread, &a->w, thread, &b->w);
}

void ty_stall_join_tries(struct ty_hunt *h, size_t from)
{
	const struct ty_model *m = h->x->m;
	size_t out = from;

	for (size_t i = from; i < h->cand.n;) {
		struct ty_cand *c = &h->cand.v[i++], first = *c;
		struct step a, b;

		if (c->s.state == TY_ST_SLEEPING && (a = look(h, c->s.span)).call != TY_NONE)
			while (a.timed_out) {
				uint32_t k = next_wait(m, c->s.thread, c->s.span, c->end_ns);
				struct ty_span s;

				if (k == TY_NONE ||
				    (b = look(h, k), !again(h, c->s.thread, &a, &b)))
					break;
				s = ty_model_span_brief(m, c->s.thread, k);
				c->s.span = k;
				c->end_ns = s.end_ns < h->w.to_ns ? s.end_ns : h->w.to_ns;
				c->s.flags |= s.flags;
				c->tries++;
				a = b;
			}
		if (c->tries && !a.timed_out) {
			c->first_span = first.s.span;
			c->tries++;
			c->s.duration_ns = c->end_ns - c->s.start_ns;
			c->s.last_end_ns = c->end_ns;
			/* Those in between are parts of this one. */
			while (i < h->cand.n && h->cand.v[i].s.start_ns < c->end_ns)
				i++;
		} else {
			*c = first;
		}
		h->cand.v[out++] = *c;
	}
	h->cand.n = out;
}
