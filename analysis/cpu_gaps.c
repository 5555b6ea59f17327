/* SPDX-License-Identifier: MIT */
/* See cpu_gaps.h. Gaps of several buffers may overlap, and are not sorted. */
#include "cpu_gaps.h"

#include "compare.h"
#include "partition.h"

ORDER(by_cpu_and_begin, struct ty_cpu_gap,
      compare(a->cpu, b->cpu) ?: compare(a->from_ns, b->from_ns))

int ty_cpu_gaps_find(const struct ty_model *m, uint64_t from_ns, uint64_t to_ns,
		     struct ty_cpu_gaps *g)
{
	uint32_t n;
	const struct ty_gap_span *all = ty_model_gaps(m, &n);
	size_t w = 0;

	for (uint32_t i = 0; i < n; i++)
		if (all[i].from_ns < to_ns && all[i].to_ns > from_ns &&
		    vec_push(&g->gap, (struct ty_cpu_gap){.from_ns = all[i].from_ns,
							  .to_ns = all[i].to_ns,
							  .cpu = all[i].cpu}))
			return -TY_ENOMEM;
	if (!g->gap.n)
		return 0;
	vec_sort(&g->gap, by_cpu_and_begin);
	vec_each (i, &g->gap) {
		struct ty_cpu_gap *last = &g->gap.v[w ? w - 1 : 0];

		if (w && last->cpu == i->cpu && i->from_ns <= last->to_ns)
			last->to_ns = i->to_ns > last->to_ns ? i->to_ns : last->to_ns;
		else
			g->gap.v[w++] = *i;
	}
	g->gap.n = w;
	return 0;
}

const struct ty_cpu_gap *ty_cpu_gap_after(const struct ty_cpu_gaps *g, uint32_t cpu, uint64_t t)
{
	const struct ty_cpu_gap *v = g->gap.v;
	size_t i = partition_point(k, 0, g->gap.n,
				   v[k].cpu < cpu || (v[k].cpu == cpu && v[k].to_ns <= t));

	return i < g->gap.n && v[i].cpu == cpu ? &v[i] : NULL;
}

void ty_cpu_gaps_fini(struct ty_cpu_gaps *g)
{
	vec_fini(&g->gap);
}
