/* SPDX-License-Identifier: MIT */
/*
 * Throttling of cgroups with a CPU quota. The kernel has no event for it, only a count per group,
 * so the counts are sampled (section.h, TY_SEC_QUOTA).
 */
#ifndef TY_CGROUP_QUOTA_H
#define TY_CGROUP_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "vec.h"

/* Thread ids, ascending, without duplicates. */
struct ty_tid_set {
	int32_t *v;
	size_t n, cap;
};

struct ty_quota_group {
	char *path;		/* relative to the mount; heap */
	struct ty_tid_set tids; /* as last read */
	uint64_t throttled_ns, quota_us, period_us;
	uint64_t seen_ns; /* CLOCK_MONOTONIC of that count */
	uint64_t read_ns; /* and of that quota */
	bool stated;	  /* its last line states these tids */
	bool fresh;	  /* it needs a line: none has stated its quota yet, or its last one
			   * states threads that had left */
};

struct ty_quotas {
	int root; /* the hierarchy with the CPU controller; -1: none */
	bool v2;
	VEC(struct ty_quota_group) groups; /* groups with a quota */
	size_t next;			   /* expected next: groups are read in the same order each
					    * time */
	uint64_t count;			   /* number of all groups at the last sample */
	unsigned rescans;		   /* rescans due because it changed */
	uint64_t last_ns, scanned_ns;	   /* last sample and scan, CLOCK_MONOTONIC; 0: none yet */
	uint64_t spent_ns, scan_spent_ns;  /* their cost */
	uint64_t bytes;			   /* of lines written */
	uint64_t left_out;		   /* lines not written: too many, or out of memory */
	bool cut;			   /* some groups or threads were skipped: too many */
};

/* Finds the hierarchy. If there is none, or it is unreadable, sampling finds nothing. */
void ty_quotas_open(struct ty_quotas *q);
void ty_quotas_close(struct ty_quotas *q);
/*
 * Samples the groups that have a quota. Appends a line for each group that is new, was throttled
 * since the last sample, changed its quota or threads, or was removed or lost its quota. Groups are
 * found by a walk over all groups (at most 4096 directories), twice a second and soon after
 * groups were created. `out` must be empty again after its lines were written: lines refer to
 * earlier ones in it. trace_ns: returns the current trace clock; called only when a line is
 * written. All lines together are at most 64 MB.
 */
void ty_quotas_sample(struct ty_quotas *q, uint64_t (*trace_ns)(void *ctx), void *ctx,
		      struct ty_buf *out);
/* Time of the next sample (CLOCK_MONOTONIC): sampling takes at most 0.5% of a CPU, and walks as
 * much. */
uint64_t ty_quotas_next_ns(const struct ty_quotas *q);

#endif
