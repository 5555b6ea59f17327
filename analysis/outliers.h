/* SPDX-License-Identifier: MIT */
/*
 * Outliers: per thread and system call the slowest instance beside a median one, and the
 * differences between their ledgers. Uses calls with recorded start and end.
 */
#ifndef TY_OUTLIERS_H
#define TY_OUTLIERS_H

#include <stdint.h>

#include "counter_readings.h"
#include "err.h"
#include "explain.h"
#include "ledger.h"
#include "window.h"

struct ty_outlier_row {
	char row[TY_LEDGER_ROW_TEXT]; /* as in ledger.h */
	uint64_t slow_ns, median_ns;
	uint32_t span; /* of only one of the two, and in one piece: that; else TY_NONE */
};

/* System calls, or CPU samples in a function: how many. */
struct ty_outlier_part {
	char what[64];
	bool sample;
	uint64_t slow, median;
};

struct ty_outlier {
	uint32_t thread;
	int32_t nr;
	uint8_t abi;
	uint64_t count;	       /* calls of this name in the window */
	uint32_t slow, median; /* ty_model_syscall; median: the first whose length is within 3% of
				  the median's (nearest rank) */
	uint64_t slow_start_ns, slow_ns;
	uint64_t median_start_ns, median_ns;
	struct ty_outlier_row *rows; /* larger difference first; each column sums to its call's
				      * length */
	uint32_t n;
	/* Of regions and requests (outlier_parts.h): calls, then samples, larger difference first;
	 * counters of the slow one, of the median one. */
	struct ty_outlier_part *parts;
	uint32_t parts_n;
	struct ty_count_sum counted[2];
	bool elsewhere; /* one of them ended in another thread than it began in: not counted */
};

struct ty_outliers {
	struct ty_outlier *v; /* most lost time first */
	uint32_t n;
	uint64_t more;	   /* number of further ones */
	uint64_t left_out; /* calls of threads with too many different calls */
};

#define TY_OUTLIER_CALLS 3 /* a median of fewer is meaningless */

/*
 * Finds those of at least twice their median, in w (begun and ended in it; selected threads, names
 * and CPUs); at most `max`. Cost: two steps per call. Memory: 8 KB per different call of one
 * thread. 0 or -TY_E... with err; call fini in any case.
 */
int ty_outliers_find(const struct ty_explain *x, const struct ty_window *w, uint32_t max,
		     struct ty_outliers *out, struct ty_err *err);
/* The rows of o, whose times are set: its thread's ledger of the slow one beside median_thread's of
 * the median one. 0 or -TY_ENOMEM; ty_outlier_fini in any case. */
int ty_outlier_ledgers(const struct ty_explain *x, struct ty_outlier *o, uint32_t median_thread);
void ty_outlier_fini(struct ty_outlier *o);
void ty_outliers_fini(struct ty_outliers *o);

#endif
