/* SPDX-License-Identifier: MIT */
/*
 * Latencies of many samples to exact percentiles: values are kept, or counted where counts take
 * less room, and what is kept is counted in the end. Budget: a dozen instructions per sample and
 * part.
 */
#ifndef TY_MEMORY_LATENCY_H
#define TY_MEMORY_LATENCY_H

#include "memory.h"

#define TY_LATENCIES	  4u /* total, issue, exec, xlat */
#define TY_LATENCY_VALUES 65536u
/* A histogram: TY_LATENCY_VALUES for each latency. */
#define TY_LATENCY_HIST_BYTES (TY_LATENCIES * TY_LATENCY_VALUES * sizeof(uint32_t))

struct ty_latency_value {
	uint16_t total, issue, xlat, flags; /* TY_MP_* */
};

static inline struct ty_latency *ty_latency_of(struct ty_memory_row *w, unsigned which)
{
	return which == 0 ? &w->total : which == 1 ? &w->issue : which == 2 ? &w->exec : &w->xlat;
}

static inline void ty_latency_take(struct ty_latency *l, uint32_t v, uint32_t *hist)
{
	l->n++;
	l->sum += v;
	l->max = v > l->max ? v : l->max;
	hist[v]++;
}

/* Count one sample's. */
static inline void ty_latency_count(struct ty_memory_row *w, struct ty_latency_value o,
				    uint32_t *hist)
{
	if (o.flags & TY_MP_HAS_LAT)
		ty_latency_take(&w->total, o.total, hist);
	if (o.flags & TY_MP_HAS_SPLIT) {
		ty_latency_take(&w->issue, o.issue, hist + TY_LATENCY_VALUES);
		if (o.flags & TY_MP_HAS_LAT && o.total >= o.issue)
			ty_latency_take(&w->exec, (uint32_t)(o.total - o.issue),
					hist + 2 * TY_LATENCY_VALUES);
	}
	if (o.flags & TY_MP_HAS_XLAT)
		ty_latency_take(&w->xlat, o.xlat, hist + 3 * TY_LATENCY_VALUES);
}

/* Nearest rank; the counts are cleared. */
static inline void ty_latency_percentiles(struct ty_latency *l, uint32_t *hist)
{
	const uint64_t at[] = {(l->n * 50 + 99) / 100, (l->n * 90 + 99) / 100,
			       (l->n * 99 + 99) / 100};
	uint32_t *const to[] = {&l->p50, &l->p90, &l->p99};
	unsigned k = 0;
	uint64_t seen = 0;

	for (uint32_t v = 0; l->n && v <= l->max; v++) {
		if (!hist[v])
			continue;
		seen += hist[v];
		while (k < 3 && seen >= at[k])
			*to[k++] = v;
		hist[v] = 0;
	}
}

#endif
