/* SPDX-License-Identifier: MIT */
/* The answer for attached or selected threads: the sum of their ledgers. */
#include "answer_priv.h"

#include <stdio.h>
#include <stdlib.h>

#include "cpu_gaps.h"
#include "process_of_thread.h"
#include "units.h"
#include "window.h"
#include "process_titles.h"

/* Which: the chosen ones, else those whose calls are recorded. */
static uint32_t choose(const struct ty_model *m, const struct ty_window *w,
		       struct ty_ledger_group *group_of)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);

		if (t->start_ns >= w->to_ns || t->end_ns <= w->from_ns ||
		    !(w->tids_n || w->comms_n ? ty_window_thread(w, m, i) : t->traced))
			continue;
		group_of[i].n = 1;
		n++;
	}
	return n;
}

/* "java/12 (34 threads)", "java/12 and 3 more processes (40 threads)". 0 or -TY_ENOMEM. */
static int name(const struct ty_model *m, const struct ty_ledger_group *group_of, uint32_t threads,
		char *out, size_t size)
{
	uint32_t processes = 0, one = TY_NONE, all = ty_model_summary(m)->threads;
	uint8_t *seen = calloc((size_t)all + 1, sizeof(*seen));
	char who[TY_WHO_MAX];

	if (!seen)
		return -TY_ENOMEM;
	for (uint32_t i = 0; i < all; i++) {
		uint32_t p = ty_process_of(m, i);

		if (!group_of[i].n || seen[p])
			continue;
		seen[p] = 1;
		one = one == TY_NONE ? p : one;
		processes++;
	}
	free(seen);
	ty_model_who_last(m, one, who);
	if (processes > 1)
		snprintf(out, size, "%s and %u more process%s (%u threads)", who, processes - 1,
			 processes > 2 ? "es" : "", threads);
	else if (threads > 1)
		snprintf(out, size, "%s (%u threads)", who, threads);
	else
		snprintf(out, size, "%s", who);
	return 0;
}

int ty_answer_threads(const struct ty_explain *of, const struct ty_window *w,
		      const struct ty_requests *requests, struct ty_answer *out)
{
	const struct ty_model *m = of->m;
	uint32_t threads = ty_model_summary(m)->threads, n;
	struct ty_ledger_group *group_of = calloc((size_t)threads + 1, sizeof(*group_of));
	struct ty_cpu_gaps gaps = {0};
	struct ty_explain x = *of;
	struct ty_book book = {.x = &x};
	uint64_t window = w->to_ns > w->from_ns ? w->to_ns - w->from_ns : 0, ns;
	char d[TY_DURATION_MAX], who[160] = "";
	int r = group_of ? 0 : -TY_ENOMEM;

	n = r ? 0 : choose(m, w, group_of);
	if (!r && !n)
		r = -TY_ENOTFOUND;
	if (!r) {
		const struct ty_answer_work k = {.requests = requests,
						 .x = &x,
						 .book = &book,
						 .group_of = group_of,
						 .fold = true};

		r = name(m, group_of, n, who, sizeof(who));
		r = r ? r : ty_cpu_gaps_find(m, w->from_ns, w->to_ns, &gaps);
		x.gaps = &gaps;
		r = r ? r : ty_ledger_groups(m, NULL, group_of);
		for (uint32_t i = 0; i < threads && !r; i++) {
			if (!group_of[i].n)
				continue;
			r = ty_ledger_add(&x, i, w->from_ns, w->to_ns, group_of, &book, &ns);
			out->total_ns += ns;
		}
		if (!r)
			r = ty_answer_items(&k, out);
	}
	if (!r) {
		out->of = TY_ANSWER_THREADS;
		/* Of what is not known it is not said that it was nothing. */
		if (out->total_ns && out->part_ns[TY_PART_UNKNOWN] >= out->total_ns / 100 * 99)
			snprintf(out->head, sizeof(out->head),
				 "what %s%s did in these %s is unknown", n == 1 ? "thread " : "",
				 who, ty_fmt_duration(window, d));
		else
			snprintf(out->head, sizeof(out->head),
				 "%s%s used %s%.1f%% of a CPU over %s", n == 1 ? "thread " : "",
				 who,
				 out->part_ns[TY_PART_UNKNOWN] >= out->total_ns / 20 ? "at least "
										     : "",
				 window ? 100.0 * (double)out->part_ns[TY_PART_CPU] / (double)window
					: 0.0,
				 ty_fmt_duration(window, d));
		if (n > 1)
			snprintf(out->sum_of, sizeof(out->sum_of), "all threads together: ");
		else if (out->total_ns < window - window / 1000)
			snprintf(out->sum_of, sizeof(out->sum_of), "existed for ");
	}
	ty_cpu_gaps_fini(&gaps);
	ty_book_fini(&book);
	free(group_of);
	return r;
}
