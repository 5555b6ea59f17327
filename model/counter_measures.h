/* SPDX-License-Identifier: MIT */
/*
 * What is shown of performance counters: each counter, then each ratio of two counters of a group
 * (IPC; misses per 1,000 instructions). Counters of a group count at the same times, so a ratio of
 * them needs no scaling; it is of the part of the time in which the group counted.
 */
#ifndef TY_COUNTER_MEASURES_H
#define TY_COUNTER_MEASURES_H

#include "counter_readings.h"

static inline uint32_t ty_count_measures(const struct ty_counts *c)
{
	return c->n + c->ratios;
}
static inline const char *ty_count_measure_name(const struct ty_counts *c, uint32_t i)
{
	return i < c->n ? c->def[i].name : c->ratio[i - c->n].name;
}
/* The group that a counter, or both of a ratio, are in. */
uint32_t ty_count_measure_group(const struct ty_counts *c, uint32_t i);
/* Finds the ratios: when all counters are known. */
void ty_count_ratios(struct ty_counts *c);

/* Estimates are scaled, or come from readings that were divided by time. false: nothing counted, or
 * what the ratio divides by did not happen. */
bool ty_count_measure(const struct ty_counts *c, const struct ty_count_sum *s, uint32_t i,
		      double *value, bool *estimated);
/* "1,234", "1.2 ms", "0.85"; "~" before it marks an estimate; "not counted", "-". */
enum { TY_COUNT_TEXT = 64 };
const char *ty_count_measure_text(const struct ty_counts *c, const struct ty_count_sum *s,
				  uint32_t i, char out[TY_COUNT_TEXT]);

/* The readings by CPU instead of thread: a table whose thread numbers are CPUs. NULL: out of
 * memory. */
struct ty_counts *ty_counts_of_cpus(const struct ty_counts *c);

#endif
