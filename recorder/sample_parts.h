/* SPDX-License-Identifier: MIT */
/* The parts of a sample that the sampler's event makes: id, address, pid and tid, time, CPU,
 * period, callchain; and with `user` registers and a copy of the stack. Source: perf_event_open(2).
 */
#ifndef TY_SAMPLE_PARTS_H
#define TY_SAMPLE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TY_SAMPLE_TIME = 24 }; /* where the time is, behind the head */

struct ty_sample_parts {
	uint32_t pid;
	uint64_t ns;
	uint64_t ips;	 /* addresses of the callchain */
	size_t chain_at; /* all places: behind the head */
	/* With `user`. */
	size_t regs_at;	     /* 0: it has none, as it was of the kernel */
	size_t stack_at;     /* the u64 before the copy */
	uint64_t size, used; /* bytes of the copy; of these, filled */
};

/* p[0..n): what follows the head. regs: how many registers are copied. false: it is malformed. */
bool ty_sample_parts(const char *p, size_t n, bool user, unsigned regs,
		     struct ty_sample_parts *out);

#endif
