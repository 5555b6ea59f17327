/* SPDX-License-Identifier: MIT */
/* See counter_stats.h. */
#include "counter_stats.h"

#include <stdlib.h>

#include "compare.h"

enum { CPUS = UINT16_MAX + 1 };

struct gather {
	const struct ty_counts *c;
	const struct ty_model *m;
	const struct ty_window *w;
	VEC(struct ty_count_row) threads, cpus;
	struct ty_count_sum all;
	uint32_t cpu_row[CPUS]; /* from 1 */
	uint32_t thread;	/* whether it is chosen is known: */
	bool chosen;
};

/* Adds a reading to a row. */
static void add_to(const struct gather *g, size_t i, struct ty_count_sum *to)
{
	ty_counts_sum(g->c, i, i + 1, g->w->from_ns, g->w->to_ns, to);
}

/* The row of a CPU; NULL: out of memory. */
static struct ty_count_row *row_of_cpu(struct gather *g, uint16_t cpu)
{
	if (!g->cpu_row[cpu]) {
		if (vec_push(&g->cpus, (struct ty_count_row){.thread = TY_NONE, .cpu = cpu}))
			return NULL;
		g->cpu_row[cpu] = (uint32_t)g->cpus.n;
	}
	return &g->cpus.v[g->cpu_row[cpu] - 1];
}

static int add(struct gather *g, size_t i)
{
	const struct ty_count_reading *r = &g->c->readings.v[i];
	const uint32_t thread = r->tid < 0 ? TY_NONE : ty_model_thread_find(g->m, r->tid, r->to_ns);
	struct ty_count_row *last = g->threads.n ? &g->threads.v[g->threads.n - 1] : NULL, *cpu;
	const bool any_cpu = r->cpu == TY_COUNT_NO_CPU;

	if (thread != g->thread) {
		g->thread = thread;
		/* The model may lack it where no switches are recorded. */
		g->chosen = thread == TY_NONE ? !g->w->tids_n && !g->w->comms_n
					      : ty_window_thread(g->w, g->m, thread);
	}
	if (!g->chosen || (any_cpu ? g->w->cpus_n != 0 : !ty_window_cpu(g->w, r->cpu)))
		return 0;
	add_to(g, i, &g->all);
	/* Readings are by thread number and time: so the lives of a number follow each other. */
	if (r->tid >= 0 && (!last || last->tid != r->tid || last->thread != thread)) {
		if (vec_push(&g->threads, (struct ty_count_row){
						  .thread = thread, .cpu = TY_NONE, .tid = r->tid}))
			return -TY_ENOMEM;
		last = &g->threads.v[g->threads.n - 1];
	}
	if (r->tid >= 0)
		add_to(g, i, &last->sum);
	if (any_cpu)
		return 0;
	cpu = row_of_cpu(g, r->cpu);
	if (!cpu)
		return -TY_ENOMEM;
	add_to(g, i, &cpu->sum);
	return 0;
}

static int add_range(struct gather *g, size_t first, size_t end)
{
	const struct ty_count_reading *v = g->c->readings.v;
	int e = 0;

	for (size_t i = first; !e && i < end; i++)
		if (v[i].to_ns > g->w->from_ns && v[i].from_ns < g->w->to_ns)
			e = add(g, i);
	return e;
}

ORDER(by_time, struct ty_count_row, compare(b->sum.on_ns, a->sum.on_ns) ?: compare(a->tid, b->tid))

ORDER(by_cpu, struct ty_count_row, compare(a->cpu, b->cpu))

int ty_count_stats_find(const struct ty_counts *c, const struct ty_model *m,
			const struct ty_window *w, struct ty_count_stats *out)
{
	struct gather *g = calloc(1, sizeof(*g));
	int e = g ? 0 : -TY_ENOMEM;

	*out = (struct ty_count_stats){0};
	if (e)
		return e;
	*g = (struct gather){.c = c, .m = m, .w = w, .thread = TY_NONE - 1};
	if (!w->tids_n)
		e = add_range(g, 0, c->readings.n);
	for (uint32_t i = 0; !e && i < w->tids_n; i++) {
		size_t first, end, k = 0;

		while (w->tids[k] != w->tids[i])
			k++;
		if (k < i) /* named twice */
			continue;
		ty_counts_of(c, w->tids[i], &first, &end);
		e = add_range(g, first, end);
	}
	out->threads = g->threads.v;
	out->threads_n = (uint32_t)g->threads.n;
	out->cpus = g->cpus.v;
	out->cpus_n = (uint32_t)g->cpus.n;
	out->all = g->all;
	free(g);
	if (out->threads_n)
		qsort(out->threads, out->threads_n, sizeof(*out->threads), by_time);
	if (out->cpus_n)
		qsort(out->cpus, out->cpus_n, sizeof(*out->cpus), by_cpu);
	return e;
}

void ty_count_stats_fini(struct ty_count_stats *s)
{
	free(s->threads);
	free(s->cpus);
	*s = (struct ty_count_stats){0};
}
