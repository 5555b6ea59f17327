/* SPDX-License-Identifier: MIT */
/*
 * Is a futex word a lock, judged by the values that waits expect? A lock's waiters expect the same
 * value each time ("locked, with waiters"); a counter's value changes with every wakeup.
 *
 * Budget: each word of a process once: THREADS threads of the process, CALLS calls of each on
 * either side of the wait.
 */
#include "stalls_priv.h"
#include "thread_walk.h"

#define THREADS 64
#define CALLS	64

/* Does the thread wait on the word with a value that is no lock's, in these calls? */
static bool counts(const struct ty_stall_search *h, uint32_t thread, int32_t nr, uint64_t word,
		   uint32_t from, uint32_t to)
{
	uint32_t value;

	for (uint32_t i = from; i < to; i++)
		if (ty_model_syscall_brief(h->x->m, thread, i).nr == nr &&
		    ty_wait_value(h->x, i, word, &value) && !TY_WAIT_IS_LOCKED(value))
			return true;
	return false;
}

static bool look(const struct ty_stall_search *h, const struct ty_candidate *c, int32_t tgid)
{
	const struct ty_model *m = h->x->m;
	int32_t nr = ty_model_syscall_brief(m, c->s.thread, c->s.syscall).nr;
	uint32_t threads = ty_model_summary(m)->threads, seen = 0;

	for (uint32_t i = 0; i < threads && seen < THREADS; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);
		struct ty_rows near;

		if ((tgid < 0 ? i != c->s.thread : t->tgid != tgid) || !t->syscalls_n)
			continue;
		seen++;
		near = ty_calls_near(m, i, c->s.start_ns, CALLS);
		if (counts(h, i, nr, c->w.word, near.from, near.to))
			return true;
	}
	return false;
}

int ty_stall_counts(struct ty_stall_search *h, const struct ty_candidate *c)
{
	struct ty_word_is is = {.word = c->w.word,
				.tgid = ty_model_thread(h->x->m, c->s.thread)->tgid};

	if (is.tgid < 0) /* its other threads are not known */
		return look(h, c, is.tgid);
	vec_each (w, &h->word)
		if (w->word == is.word && w->tgid == is.tgid)
			return w->counts;
	is.counts = look(h, c, is.tgid);
	return vec_push(&h->word, is) ? -TY_ENOMEM : is.counts;
}
