/* SPDX-License-Identifier: MIT */
/*
 * Regions of user code by name: how many, how long they took, and the slowest beside a median one.
 * Lengths are whole (not cut to the window) and of regions only whose start and end are both
 * recorded; the others are counted apart.
 */
#ifndef TY_REGION_STATS_H
#define TY_REGION_STATS_H

#include <stdint.h>

#include "counter_readings.h"
#include "explain.h"
#include "outliers.h"
#include "window.h"

/* TY_REG_... (event.h) as a word. */
const char *ty_region_kind_name(unsigned kind);

struct ty_region_stats {
	uint32_t name;	  /* ty_model_str */
	uint32_t thread;  /* TY_NONE: of all threads */
	uint32_t threads; /* that began one */
	uint8_t kind;	  /* TY_REG_BEGIN, _CALL, _ASYNC_BEGIN, _INSTANT, _COUNTER */
	uint64_t count;	  /* that touch the window; with a length and without */
	uint64_t unended; /* of them: no end recorded (recording, thread or program ended) */
	uint64_t unbegun; /* of them: no start recorded */
	uint64_t lost;	  /* of them: events were lost */
	/* Of those with a length, UINT64_MAX where there is none; percentiles by nearest rank. */
	uint64_t timed, p50_ns, p90_ns, p99_ns, max_ns, total_ns, self_ns;
	uint32_t slow, median;	/* ty_model_region: the longest, and the first of the median's
				   length; TY_NONE */
	int64_t min, max, last; /* COUNTER: values in the window */
	/* Of those with a length: what their threads counted in them. Not of those that ended in
	 * another thread (elsewhere). */
	struct ty_count_sum counts;
	uint64_t elsewhere;
};

/* How many of the timed lengths have their highest bit there: [0] of 0 ns, [k] from 2^(k-1) ns to
 * below 2^k. */
#define TY_REGION_POWERS 65
struct ty_region_lengths {
	uint64_t count[TY_REGION_POWERS];
};

struct ty_region_report {
	struct ty_region_stats *v; /* by total time; counters and instants last */
	uint32_t n;
	struct ty_region_lengths *lengths; /* of one name: of each of v; else NULL */
	struct ty_region_stats *by_thread; /* of one name: by total time */
	uint32_t by_thread_n;
	/* Of one name: what differs between the slowest and the median; rows as in outliers.h. */
	struct ty_outlier beside;
	uint64_t left_out; /* regions that the model does not hold */
};

/* Does it touch the window, and is its thread chosen? memo: as in window.h, of one thread. */
bool ty_region_chosen(const struct ty_model *m, const struct ty_window *w,
		      const struct ty_region *r, struct ty_comm_memo *memo);
/* All that touch the window, of the threads chosen. name NULL: all names; else lengths,
 * by_thread and beside, too; -TY_ENOTFOUND when no region has that name. Cost: a sort of the
 * lengths. fini in any case. */
int ty_region_report_find(const struct ty_explain *x, const struct ty_window *w, const char *name,
			  struct ty_region_report *out);
void ty_region_report_fini(struct ty_region_report *r);

/* Of a name and kind: the longest of those with a length. */
struct ty_region_slowest {
	struct ty_region_stats all; /* its median is what they are compared with, */
	uint32_t other;		    /* but for the median itself: that beside it; TY_NONE */
	uint32_t *v, n;		    /* ty_model_region, the longest first */
	struct ty_region_stats *by_thread;
	uint32_t by_thread_n;
};
/* Of the name and kind of a region, `max` at most. As ty_region_report_find. */
int ty_region_slowest_find(const struct ty_explain *x, const struct ty_window *w, uint32_t region,
			   uint32_t max, struct ty_region_slowest *out);
void ty_region_slowest_fini(struct ty_region_slowest *s);

#endif
