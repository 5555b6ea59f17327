/* SPDX-License-Identifier: MIT */
/*
 * Exact percentiles of latencies of many samples: values are stored, or counted when that takes
 * less memory; stored ones are counted at the end. Budget: a dozen instructions per sample and
 * part.
 */
#ifndef TY_MEMORY_LATENCY_H
#define TY_MEMORY_LATENCY_H

#include "memory.h"

#define TY_LATENCIES	  5u /* total, issue, exec, xlat, insn */
#define TY_LATENCY_VALUES 65536u
/* A histogram: TY_LATENCY_VALUES for each latency. */
#define TY_LATENCY_HIST_BYTES (TY_LATENCIES * TY_LATENCY_VALUES * sizeof(uint32_t))

struct ty_latency_value {
	uint16_t total, issue, xlat, flags; /* as of a point; TY_MP_* */
};

static inline struct ty_latency *ty_latency_of(struct ty_memory_row *w, unsigned which)
{
	return which == 0   ? &w->total
	       : which == 1 ? &w->issue
	       : which == 2 ? &w->exec
	       : which == 3 ? &w->xlat
			    : &w->insn;
}

/* Calls a function, known at compile time, for each latency of a sample. */
static inline __attribute__((always_inline)) void ty_latency_each(
	struct ty_memory_row *w, struct ty_latency_value o,
	void (*to)(struct ty_latency *l, unsigned which, uint16_t v, void *ctx), void *ctx)
{
	if (o.flags & TY_MP_HAS_LAT)
		to(&w->total, 0, o.total, ctx);
	if (o.flags & TY_MP_HAS_SPLIT) {
		to(&w->issue, 1, o.issue, ctx);
		if (o.flags & TY_MP_HAS_LAT && o.total >= o.issue)
			to(&w->exec, 2, (uint16_t)(o.total - o.issue), ctx);
	} else if (o.issue) {
		to(&w->insn, 4, o.issue, ctx);
	}
	if (o.flags & TY_MP_HAS_XLAT)
		to(&w->xlat, 3, o.xlat, ctx);
}

/* Counters of all latencies are stored consecutively. */
static inline void ty_latency_count(struct ty_latency *l, unsigned which, uint16_t v, void *hist)
{
	l->n++;
	l->sum += v;
	l->max = v > l->max ? v : l->max;
	((uint32_t *)hist)[which * TY_LATENCY_VALUES + v]++;
}

/* Nearest rank: positions of the percentiles among the sorted values. */
static inline void ty_latency_ranks(const struct ty_latency *l, uint64_t at[3])
{
	at[0] = (l->n * 50 + 99) / 100;
	at[1] = (l->n * 90 + 99) / 100;
	at[2] = (l->n * 99 + 99) / 100;
}

/* From counters, which are cleared. */
static inline void ty_latency_percentiles(struct ty_latency *l, uint32_t *hist)
{
	uint32_t *const to[] = {&l->p50, &l->p90, &l->p99};
	unsigned k = 0;
	uint64_t seen = 0, at[3];

	ty_latency_ranks(l, at);
	for (uint32_t v = 0; l->n && v <= l->max; v++) {
		if (!hist[v])
			continue;
		seen += hist[v];
		while (k < 3 && seen >= at[k])
			*to[k++] = v;
		hist[v] = 0;
	}
}

/* Below this number sorting is cheaper than scanning all counters. */
#define TY_LATENCY_FEW 64u
struct ty_latency_few {
	uint16_t v[TY_LATENCIES][TY_LATENCY_FEW]; /* sorted */
};

static inline void ty_latency_insert(struct ty_latency *l, unsigned which, uint16_t v, void *few)
{
	uint16_t *to = ((struct ty_latency_few *)few)->v[which];
	uint64_t i = l->n++;

	l->sum += v;
	for (; i && to[i - 1] > v; i--)
		to[i] = to[i - 1];
	to[i] = v;
}

static inline void ty_latency_percentiles_few(struct ty_latency *l, const uint16_t *sorted)
{
	uint64_t at[3];

	if (!l->n)
		return;
	ty_latency_ranks(l, at);
	l->p50 = sorted[at[0] - 1];
	l->p90 = sorted[at[1] - 1];
	l->p99 = sorted[at[2] - 1];
	l->max = sorted[l->n - 1];
}

#endif
