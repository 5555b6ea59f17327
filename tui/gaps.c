/* SPDX-License-Identifier: MIT */
/*
 * Gaps sorted by end; see gaps.h. Gaps of several buffers may overlap, so starts are not sorted:
 * each mark stores the earliest start from itself on, so that one comparison after a binary search
 * suffices.
 */
#include "gaps.h"

#include "compare.h"
#include "partition.h"

#include <stdlib.h>

ORDER(by_end, struct ty_gap_mark, compare(a->to_ns, b->to_ns))

ORDER(by_cpu_and_end, struct ty_gap_mark, compare(a->cpu, b->cpu) ?: by_end(a, b))

static void earliest(struct ty_gap_mark *v, uint32_t n, bool groups)
{
	for (uint32_t i = n; i-- > 1;)
		if ((!groups || v[i - 1].cpu == v[i].cpu) && v[i].from_ns < v[i - 1].from_ns)
			v[i - 1].from_ns = v[i].from_ns;
}

int ty_gaps_init(struct ty_gaps *g, const struct ty_model *m, struct ty_err *err)
{
	uint32_t n;
	const struct ty_gap_span *v = ty_model_gaps(m, &n);

	*g = (struct ty_gaps){.n = n};
	g->all = calloc((size_t)n + 1, sizeof(*g->all));
	g->by_cpu = calloc((size_t)n + 1, sizeof(*g->by_cpu));
	if (!g->all || !g->by_cpu) {
		ty_gaps_fini(g);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for %u gaps", n);
	}
	for (uint32_t i = 0; i < n; i++)
		g->all[i] = g->by_cpu[i] = (struct ty_gap_mark){
			.to_ns = v[i].to_ns, .from_ns = v[i].from_ns, .cpu = v[i].cpu};
	qsort(g->all, n, sizeof(*g->all), by_end);
	qsort(g->by_cpu, n, sizeof(*g->by_cpu), by_cpu_and_end);
	earliest(g->all, n, false);
	earliest(g->by_cpu, n, true);
	return 0;
}

void ty_gaps_fini(struct ty_gaps *g)
{
	free(g->all);
	free(g->by_cpu);
	*g = (struct ty_gaps){0};
}

bool ty_gaps_touch(const struct ty_gaps *g, uint64_t from_ns, uint64_t to_ns, uint32_t cpu)
{
	const struct ty_gap_mark *v = cpu == TY_NONE ? g->all : g->by_cpu;
	struct ty_gap_mark key = {.to_ns = from_ns, .cpu = cpu};
	uint32_t lo = partition_point(
		i, 0, g->n,
		(cpu == TY_NONE ? by_end(&v[i], &key) : by_cpu_and_end(&v[i], &key)) < 0);

	return lo < g->n && (cpu == TY_NONE || v[lo].cpu == cpu) && v[lo].from_ns <= to_ns;
}
