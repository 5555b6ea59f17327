/* SPDX-License-Identifier: MIT */
/*
 * Cgroups with a CPU quota: when the kernel held their threads back. It writes no event of that; it
 * counts, per group, so the counts are looked at every now and then (section.h, TY_SEC_QUOTA).
 */
#ifndef TY_CGROUP_QUOTA_H
#define TY_CGROUP_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "vec.h"

/* Thread ids in order, each once. */
struct ty_tid_set {
	int32_t *v;
	size_t n, cap;
};

struct ty_quota_group {
	char *path;		/* below the mount; heap */
	struct ty_tid_set tids; /* as last read */
	uint64_t throttled_ns, quota_us, period_us;
	uint64_t seen_ns; /* CLOCK_MONOTONIC of that count */
	bool told;	  /* its last line has these tids */
	bool fresh;	  /* no line tells of its quota yet */
};

struct ty_quotas {
	int root; /* the hierarchy with the CPU controller; -1: none */
	bool v2;
	VEC(struct ty_quota_group) groups; /* those with a quota */
	size_t next;			   /* that is looked for first: they come in one order */
	uint64_t count;			   /* of all groups, when last looked at */
	unsigned rescans;		   /* that are due because it changed */
	uint64_t last_ns, scanned_ns;	   /* last look and scan, CLOCK_MONOTONIC; 0: none yet */
	uint64_t spent_ns, scan_spent_ns;  /* what they took */
	uint64_t bytes;			   /* of lines written */
	uint64_t left_out;		   /* lines that were not: too many, or no memory */
	bool cut;			   /* some groups or threads were not looked at: too many */
};

/* Find the hierarchy. Where there is none, or it cannot be read, looks find nothing. */
void ty_quotas_open(struct ty_quotas *q);
void ty_quotas_close(struct ty_quotas *q);
/*
 * Look at the groups that have a quota; append a line for each that is new, that was held back
 * since the last look, whose quota or threads are seen to have changed, or that or whose quota is
 * gone. They are found by a walk over all groups (4096 directories at most), every three seconds
 * and soon after groups were made. `out` begins empty when its lines were taken: lines refer to
 * earlier ones in it. trace_ns: the trace clock's time now, asked for when there is a line to
 * write. All lines together are 64 MB at most.
 */
void ty_quotas_look(struct ty_quotas *q, uint64_t (*trace_ns)(void *ctx), void *ctx,
		    struct ty_buf *out);
/* When to look next (CLOCK_MONOTONIC): looks take 0.5% of a CPU at most, and walks as much. */
uint64_t ty_quotas_next_ns(const struct ty_quotas *q);

#endif
