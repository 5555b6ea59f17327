/* SPDX-License-Identifier: MIT */
/*
 * What the hypervisor took of each CPU, by the kernel's own count (/proc/stat, "steal"), sampled
 * while the recording runs (section.h, TY_SEC_STEAL). On a machine without a hypervisor, and on
 * one whose hypervisor does not tell, the count stays 0.
 */
#ifndef TY_STEAL_SAMPLES_H
#define TY_STEAL_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"

struct ty_steal_samples {
	int fd;		      /* of /proc/stat; -1: none */
	uint64_t *counted_ns; /* by CPU, as last read */
	unsigned cpus;	      /* those that there is room for */
	struct ty_buf text;   /* of the last look */
	uint64_t last_ns;     /* CLOCK_MONOTONIC of the last look; 0: none yet */
	uint64_t spent_ns;    /* what it took */
	uint64_t bytes;	      /* of lines written */
	bool any;	      /* some CPU has a count at all */
};

/* path: NULL for /proc/stat. Where it cannot be read, looks find nothing. */
void ty_steal_open(struct ty_steal_samples *s, const char *path);
void ty_steal_close(struct ty_steal_samples *s);
/*
 * Append a line for each CPU whose count grew since the last look (the first look has none).
 * trace_ns: the trace clock's time now, asked for when there is a line to write. All lines
 * together are 16 MB at most; what is behind them is left out.
 */
void ty_steal_look(struct ty_steal_samples *s, uint64_t (*trace_ns)(void *ctx), void *ctx,
		   struct ty_buf *out);
/* When to look next (CLOCK_MONOTONIC): ten times a second, or as often as 0.5% of a CPU allows;
 * every three seconds while nothing was ever counted. */
uint64_t ty_steal_next_ns(const struct ty_steal_samples *s);

#endif
