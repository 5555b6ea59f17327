/* SPDX-License-Identifier: MIT */
/* Findings about threads: many short-lived children, and total time spent runnable. */
#include "findings_priv.h"

#include <stdlib.h>

#include "pair_map.h"
#include "process_of_thread.h"
#include "units.h"
#include "vec.h"

#define CHILD_NS   UINT64_C(200000000) /* a longer life is work of its own */
#define CHILDREN   100
#define STARVED_NS UINT64_C(50000000)

/* Short processes of one name with parents of one name. */
struct group {
	uint64_t ns, n, at_ns;
	uint32_t name, one, parent;
};
typedef VEC(struct group) ty_groups;

static int count_children(const struct ty_finding_work *k, struct ty_pair_map *by_key, ty_groups *g)
{
	const struct ty_model *m = k->x->m;

	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);
		struct group *one;

		if (!t->born || !t->died || t->kernel || t->forked_by < 0 ||
		    t->end_ns - t->start_ns > CHILD_NS || t->start_ns < k->w->from_ns ||
		    t->end_ns > k->w->to_ns || ty_process_of(m, i) != i || !t->traced ||
		    !ty_window_thread(k->w, m, i))
			continue;
		one = pair_element(by_key, t->name,
				   ty_model_thread(m, (uint32_t)t->forked_by)->name, g,
				   (struct group){.name = t->name,
						  .one = i,
						  .at_ns = t->start_ns,
						  .parent = (uint32_t)t->forked_by});
		if (!one)
			return -TY_ENOMEM;
		one->n++;
		one->ns += t->end_ns - t->start_ns;
	}
	return 0;
}

int ty_findings_of_children(const struct ty_finding_work *k)
{
	const struct ty_model *m = k->x->m;
	ty_groups g = {0};
	struct ty_pair_map by_key = {0};
	int r = count_children(k, &by_key, &g);

	for (size_t i = 0; i < g.n && !r; i++) {
		struct ty_finding f = {.kind = TY_FINDING_CHILDREN,
				       .ns = g.v[i].ns,
				       .n = g.v[i].n,
				       .at_ns = g.v[i].at_ns,
				       .thread = g.v[i].parent,
				       .culprit = g.v[i].one};
		char who[TY_WHO_MAX], name[TY_WHO_MAX];
		struct ty_finding *to;

		if (f.n < CHILDREN || f.ns < k->wall_ns / 5)
			continue;
		to = ty_finding_add(k, &f);
		if (!to)
			continue;
		ty_finding_say(
			to, "%s started %s short-lived children (%s), %s on average, %s in total",
			ty_finding_thread_name(m, f.thread, false, who), ty_count(f.n),
			ty_finding_thread_name(m, f.culprit, true, name), ty_duration(f.ns / f.n),
			ty_duration(f.ns));
		ty_finding_next(to, "tarry report FILE ledger --process");
	}
	vec_fini(&g);
	ty_pair_map_fini(&by_key);
	return r;
}

void ty_findings_of_cpus(const struct ty_finding_work *k)
{
	const struct ty_answer *a = k->answer;
	uint64_t ns = a->part_ns[TY_PART_RUNNABLE], of = a->total_ns;
	struct ty_finding f = {.kind = TY_FINDING_STARVED,
			       .ns = ns,
			       .n = a->ready_pieces,
			       .at_ns = a->start_ns,
			       .thread = TY_NONE,
			       .culprit = TY_NONE,
			       .inferred = a->inferred};
	char d[1][TY_DURATION_MAX];
	struct ty_finding *to;

	if (a->of == TY_ANSWER_THREADS)
		of = ns + a->part_ns[TY_PART_CPU];
	else if (a->of != TY_ANSWER_COMMAND)
		return;
	if (ns < STARVED_NS || ns < of / 5 || ns < k->wall_ns / 20)
		return;
	to = ty_finding_add(k, &f);
	if (!to)
		return;
	ty_finding_say(to, "%s waits for a CPU took %.0f%% of the %s %s", ty_count(f.n),
		       100.0 * (double)ns / (double)of, ty_fmt_duration(of, d[0]),
		       a->of == TY_ANSWER_COMMAND ? "of the command's critical path"
						  : "in which the threads ran or waited for a CPU");
	for (unsigned i = 0; i < TY_ANSWER_RIVALS && a->rival[i].ns > ns / 20; i++)
		ty_finding_say(to, "%s %s ran %s", i ? "," : "; meanwhile on those CPUs",
			       ty_model_str(k->x->m, a->rival[i].name),
			       ty_fmt_duration(a->rival[i].ns, d[0]));
	ty_finding_next(to, "tarry report FILE ledger");
}
