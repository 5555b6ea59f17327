/* SPDX-License-Identifier: MIT */
/* Performance counters of a window, by thread and by CPU. */
#ifndef TY_COUNTER_STATS_H
#define TY_COUNTER_STATS_H

#include "counter_readings.h"
#include "window.h"

struct ty_count_row {
	uint32_t thread; /* TY_NONE: one that the model does not know (tid); or of a CPU */
	uint32_t cpu;	 /* TY_NONE: of a thread */
	int32_t tid;
	struct ty_count_sum sum;
};

struct ty_count_stats {
	struct ty_count_row *threads, *cpus; /* by time on a CPU; by number */
	uint32_t threads_n, cpus_n;
	struct ty_count_sum all; /* of what the rows have */
};

/* Of the threads and CPUs that w chooses. Cost: a pass over the
 * readings, or those of the chosen tids. 0 or -TY_ENOMEM; fini in
 * any case. */
int ty_count_stats_find(const struct ty_counts *c, const struct ty_model *m,
			const struct ty_window *w, struct ty_count_stats *out);
void ty_count_stats_fini(struct ty_count_stats *s);

#endif
