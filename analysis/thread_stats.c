/* SPDX-License-Identifier: MIT */
/* Time per state and thread: a walk over the spans in the window. */
#include "thread_stats.h"

#include <stdlib.h>

#include "vec.h"

uint64_t ty_thread_blocked_ns(const struct ty_thread_stats *s)
{
	return s->ns[TY_ST_SLEEPING] + s->ns[TY_ST_BLOCKED] + s->ns[TY_ST_STOPPED];
}

static int by_running(const void *pa, const void *pb)
{
	const struct ty_thread_stats *a = pa, *b = pb;

	if (a->ns[TY_ST_RUNNING] != b->ns[TY_ST_RUNNING])
		return a->ns[TY_ST_RUNNING] > b->ns[TY_ST_RUNNING] ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static bool measure(const struct ty_model *m, const struct ty_window *w, uint32_t thread,
		    struct ty_thread_stats *s)
{
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t to = t->spans_first + t->spans_n;
	bool on_cpu = false;

	*s = (struct ty_thread_stats){.thread = thread};
	for (uint32_t k = ty_model_span_find(m, thread, w->from_ns); k < to; k++) {
		struct ty_span p = ty_model_span_brief(m, thread, k);
		uint64_t a = p.start_ns, b = p.end_ns;

		if (a >= w->to_ns)
			break;
		if (!ty_window_clip(w, &a, &b))
			continue;
		if (p.state == TY_ST_RUNNING || p.state == TY_ST_RUNNABLE) {
			if (p.cpu != TY_NONE && !ty_window_cpu(w, p.cpu))
				continue;
			on_cpu = true;
		}
		s->ns[p.state] += b - a;
		if (p.state == TY_ST_RUNNING) {
			s->runs++;
			s->inferred_ns += p.flags & TY_SF_INFERRED ? b - a : 0;
		}
	}
	s->migrations = ty_model_migrations(m, thread, w->from_ns, w->to_ns);
	s->wakeups = ty_model_wakeups(m, thread, w->from_ns, w->to_ns);
	return on_cpu || !w->cpus_n;
}

int ty_thread_stats(const struct ty_model *m, const struct ty_window *w,
		    struct ty_thread_stats **out, uint32_t *n)
{
	VEC(struct ty_thread_stats) v = {0};
	uint32_t threads = ty_model_summary(m)->threads;

	*out = NULL;
	*n = 0;
	for (uint32_t i = 0; i < threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);
		struct ty_thread_stats s;

		if (t->start_ns >= w->to_ns || t->end_ns <= w->from_ns ||
		    !ty_window_thread(w, m, i) || !measure(m, w, i, &s))
			continue;
		if (vec_push(&v, s)) {
			vec_fini(&v);
			return -TY_ENOMEM;
		}
	}
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), by_running);
	*out = v.v;
	*n = (uint32_t)v.n;
	return 0;
}
