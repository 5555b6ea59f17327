/* SPDX-License-Identifier: MIT */
/*
 * Counts of performance counters by thread and time: readings, each what the counters grew by while
 * a thread ran on a CPU. Filled once, then constant. Memory: 24 bytes and 8 per value of a reading.
 *
 * Where a group had to share the CPU's counters with others, it counted during a part of the time
 * only: `running` of `enabled`. Raw counts are what was counted; a scaled one is an estimate.
 */
#ifndef TY_COUNTER_READINGS_H
#define TY_COUNTER_READINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vec.h"

enum { TY_COUNTS_MAX = 32, TY_COUNT_GROUPS_MAX = 32, TY_COUNT_NAME = 96 };
/* tid and cpu of readings of all threads of a CPU, and of a thread on all CPUs. */
#define TY_COUNT_OF_CPU(cpu) (-1 - (int32_t)(cpu))
enum { TY_COUNT_NO_CPU = UINT16_MAX };

struct ty_count_def {
	char name[TY_COUNT_NAME];
	uint32_t group;
	bool is_time; /* nanoseconds */
};

/* Of two counters of one group (counter_measures.h). */
struct ty_count_ratio {
	char name[TY_COUNT_NAME + 16];
	uint32_t over, under; /* in def */
	uint32_t per;
};

struct ty_count_reading {
	uint64_t from_ns, to_ns;
	int32_t tid;
	uint16_t cpu;
};

/* Sums over readings. */
struct ty_count_sum {
	uint64_t v[TY_COUNTS_MAX];
	uint64_t enabled[TY_COUNT_GROUPS_MAX], running[TY_COUNT_GROUPS_MAX];
	uint64_t on_ns;	   /* time of these readings: on a CPU */
	uint64_t readings; /* that touch the window */
	uint64_t cut;	   /* of them: reach beyond it, and count by their share of time */
};

struct ty_counts {
	struct ty_count_def def[TY_COUNTS_MAX];
	struct ty_count_ratio ratio[TY_COUNTS_MAX];
	uint32_t n, groups, ratios;
	VEC(struct ty_count_reading) readings; /* by thread, then time; they do not overlap */
	VEC(uint64_t)
	values; /* n + 2 * groups and the length, of each: sums of its thread so far */
	/* Of intervals, in which a thread waited, too (perf stat): on a CPU for as long as its
	 * counters were enabled. */
	bool intervals;
	uint64_t lost;	 /* readings: all sums are too low */
	uint64_t unread; /* readings with a counter that could not be read, left out: the same */
	bool damaged;	 /* some could not be read from the file */
};

struct ty_counts *ty_counts_new(void); /* NULL: out of memory */
void ty_counts_free(struct ty_counts *c);
/*
 * A reading of a thread, in any order; v: n counts, then enabled and running of each group. false:
 * it cannot be (it is left out, damaged is set), or out of memory.
 */
bool ty_counts_add(struct ty_counts *c, struct ty_count_reading r, const uint64_t *v);
/* All are in. 0 or -TY_ENOMEM. */
int ty_counts_finish(struct ty_counts *c);

/* Readings [*first, *end) of a thread number, whatever life of it. */
void ty_counts_of(const struct ty_counts *c, int32_t tid, size_t *first, size_t *end);
/* Adds those of [first, end), of one thread, in a window. Cost: log(readings). */
void ty_counts_sum(const struct ty_counts *c, size_t first, size_t end, uint64_t from_ns,
		   uint64_t to_ns, struct ty_count_sum *sum);

/* Sets the window to the one of them at its middle, if that is longer: so a small part has the rate
 * of the whole, not what rounds to 0. */
void ty_counts_widen(const struct ty_counts *c, size_t first, size_t end, uint64_t *from_ns,
		     uint64_t *to_ns);

void ty_count_sum_add(struct ty_count_sum *to, const struct ty_count_sum *s);

/* An estimate of what all of the time would have had; equal to the raw value where the group
 * counted all the time. false: it never counted, so nothing is known. */
bool ty_count_scaled(uint64_t raw, uint64_t enabled, uint64_t running, uint64_t *scaled);

#endif
