/* SPDX-License-Identifier: MIT */
/* Time per state and thread: a walk over the spans in the window. */
#include "thread_stats.h"

#include <stdlib.h>

#include "compare.h"
#include "vec.h"

uint64_t ty_thread_blocked_ns(const struct ty_thread_stats *s)
{
	return s->ns[TY_ST_SLEEPING] + s->ns[TY_ST_BLOCKED] + s->ns[TY_ST_STOPPED];
}

ORDER(by_running, struct ty_thread_stats,
      compare(b->ns[TY_ST_RUNNING], a->ns[TY_ST_RUNNING]) ?: compare(a->thread, b->thread))

static bool measure(const struct ty_model *m, const struct ty_window *w, uint32_t thread,
		    struct ty_thread_stats *s, struct ty_span_rows *rows)
{
	bool on_cpu = false, over = false;
	uint32_t ran_on = TY_NONE; /* the CPU, in the span before */
	uint32_t n, at = ty_model_span_find(m, thread, w->from_ns);

	*s = (struct ty_thread_stats){.thread = thread};
	for (; !over && (n = ty_model_span_rows(m, thread, at, rows)) > 0; at += n)
		for (uint32_t k = 0; k < n; k++) {
			uint64_t a = rows->start_ns[k], b = rows->start_ns[k + 1];
			unsigned state = rows->state[k];

			uint32_t before = ran_on;

			over = a >= w->to_ns;
			if (over)
				break;
			ran_on = TY_NONE;
			if (!ty_window_clip(w, &a, &b))
				continue;
			if (state == TY_ST_RUNNING || state == TY_ST_RUNNABLE) {
				if (rows->cpu[k] != TY_NONE && !ty_window_cpu(w, rows->cpu[k]))
					continue;
				on_cpu = true;
			}
			s->ns[state] += b - a;
			if (state == TY_ST_RUNNING) {
				/* A run whose begin is inferred is two spans. */
				s->runs += before == TY_NONE || before != rows->cpu[k];
				ran_on = rows->cpu[k];
				s->inferred_ns += rows->flags[k] & TY_SF_INFERRED ? b - a : 0;
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
	struct ty_span_rows rows;

	*out = NULL;
	*n = 0;
	for (uint32_t i = 0; i < threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);
		struct ty_thread_stats s;

		if (t->start_ns >= w->to_ns || t->end_ns <= w->from_ns ||
		    !ty_window_thread(w, m, i) || !measure(m, w, i, &s, &rows))
			continue;
		if (vec_push(&v, s)) {
			vec_fini(&v);
			return -TY_ENOMEM;
		}
	}
	vec_sort(&v, by_running);
	*out = v.v;
	*n = (uint32_t)v.n;
	return 0;
}
