/* SPDX-License-Identifier: MIT */
/*
 * Samples of what the traced threads execute, taken by perf events at a fixed rate while they are
 * on a CPU, with kernel and user stacks, into the file as TY_SEC_SAMPLES and TY_SEC_SAMPLING.
 */
#ifndef TY_SAMPLER_H
#define TY_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "call_data.h"
#include "spooled_section.h"

struct ty_sampler;

enum { TY_SAMPLE_HZ = 99, TY_SAMPLE_HZ_MAX = 10000 };

enum ty_sample_stacks {
	TY_SAMPLE_STACKS_AUTO,	/* DWARF, where the unwinder knows the registers; else FP */
	TY_SAMPLE_STACKS_DWARF, /* a copy of registers and stack, unwound by the reader of the file
				 */
	TY_SAMPLE_STACKS_FP,	/* the kernel follows frame pointers */
	TY_SAMPLE_STACKS_LBR,	/* the CPU's record of calls that have not returned */
};

struct ty_sampler_opts {
	unsigned hz;		      /* samples a second and CPU; 0: none */
	enum ty_sample_stacks stacks; /* of user code; kernel stacks are always there */
};

/*
 * Opens an event per CPU; nothing is sampled yet. Samples the threads that `e` traces and their
 * descendants; e NULL: all but this process. NULL: not available here; `why` is a clause.
 */
struct ty_sampler *ty_sampler_open(const struct ty_call_data *e, const struct ty_sampler_opts *o,
				   const unsigned *cpus, unsigned cpus_n,
				   char why[TY_CALL_DATA_WHY]);
/* These processes are traced. Call before or after the start; not needed where all are traced. */
void ty_sampler_know(struct ty_sampler *s, const int *pids, size_t n);
/* Sample from now on, into the spool, by a thread of its own; mappings only at the end where parts
 * of the file may be dropped meanwhile. CPUs: as with open. false: the same. */
bool ty_sampler_start(struct ty_sampler *s, struct ty_spool *spool, const unsigned *cpus,
		      unsigned cpus_n, bool maps_last, char why[TY_CALL_DATA_WHY]);
/* "cpu-clock" or "cycles". */
const char *ty_sampler_event(const struct ty_sampler *s);
/* The kernel's current maximum rate of hardware events; 0: unknown. Above it they are refused, and
 * cpu-clock is sampled instead. */
unsigned ty_sampler_rate_max(void);
/* "fp", "dwarf" or "lbr". */
const char *ty_sampler_stacks(const struct ty_sampler *s);
/* The section that it writes, for its counters; NULL: there is none. */
struct ty_spooled_section *ty_sampler_section(struct ty_sampler *s);

struct ty_sampler_result {
	uint64_t samples, lost; /* lost: no room, no memory, malformed, or not written */
	uint64_t shortened;	/* samples whose stack copy was cut, because the section was full */
	uint64_t throttled;	/* times that the kernel paused an event: it took too long */
	bool maps_full;		/* mappings were left out: there were too many */
	size_t maps_unread;	/* processes whose mappings could not be read in time */
	bool failed;		/* the rest could not be put */
	struct ty_buf names;	/* of the kernel's functions that samples met, and of those behind
				   them, as lines of /proc/kallsyms; the caller's */
};
/* Put all that is left and free. NULL: the result is empty. */
void ty_sampler_finish(struct ty_sampler *s, struct ty_sampler_result *res);

#endif
