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

struct ty_quota_group {
	char *path;	    /* below the mount; heap */
	struct ty_buf tids; /* as of the last look, each with a blank before it */
	uint64_t throttled_ns, quota_us, period_us;
	uint32_t look;
};

struct ty_quotas {
	int root; /* the hierarchy with the CPU controller; -1: none */
	bool v2;
	VEC(struct ty_quota_group) groups; /* those with a quota */
	uint32_t looks;
	size_t next;	   /* group that is looked for first: they come in one order */
	uint64_t last_ns;  /* of the last look, CLOCK_MONOTONIC */
	uint64_t spent_ns; /* what the last look took */
};

/* Find the hierarchy. Where there is none, or it cannot be read, looks find nothing. */
void ty_quotas_open(struct ty_quotas *q);
void ty_quotas_close(struct ty_quotas *q);
/*
 * Look at all groups (4096 directories at most); append a line for each that was held back since
 * the last look (the first look has no line), or is gone. trace_ns: the trace clock's time now,
 * asked for when there is a line to write. Without memory less is written.
 */
void ty_quotas_look(struct ty_quotas *q, uint64_t (*trace_ns)(void *ctx), void *ctx,
		    struct ty_buf *out);
/* When to look next (CLOCK_MONOTONIC): looks take 0.5% of a CPU at most. */
uint64_t ty_quotas_next_ns(const struct ty_quotas *q);

#endif
