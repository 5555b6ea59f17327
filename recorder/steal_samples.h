/* SPDX-License-Identifier: MIT */
/*
 * Steal time of each CPU by the kernel's own count (/proc/stat, "steal"), sampled while the
 * recording runs (section.h, TY_SEC_STEAL). The count stays 0 without a hypervisor, and with one
 * that does not report it.
 */
#ifndef TY_STEAL_SAMPLES_H
#define TY_STEAL_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"

struct ty_steal_samples {
	int fd;		      /* of /proc/stat; -1: none */
	uint64_t *counted_ns; /* by CPU, as last read */
	unsigned cpus;	      /* capacity */
	struct ty_buf text;   /* content at the last sample */
	uint64_t last_ns;     /* CLOCK_MONOTONIC of the last sample; 0: none yet */
	uint64_t spent_ns;    /* cost of the samples */
	uint64_t bytes;	      /* of lines written */
	bool any;	      /* some CPU has a nonzero count */
};

/* path: NULL for /proc/stat. If it is unreadable, sampling finds nothing. */
void ty_steal_open(struct ty_steal_samples *s, const char *path);
void ty_steal_close(struct ty_steal_samples *s);
/*
 * Appends a line for each CPU whose count grew since the last sample (none for the first one).
 * trace_ns: returns the current trace clock; called only when a line is written. All lines together
 * are at most 16 MB; further ones are left out.
 */
void ty_steal_sample(struct ty_steal_samples *s, uint64_t (*trace_ns)(void *ctx), void *ctx,
		     struct ty_buf *out);
/* Time of the next sample (CLOCK_MONOTONIC): ten times a second, or as often as 0.5% of a CPU
 * allows; every three seconds while the count is zero. */
uint64_t ty_steal_next_ns(const struct ty_steal_samples *s);

#endif
