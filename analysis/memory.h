/* SPDX-License-Identifier: MIT */
/*
 * Counts memory samples by instruction, function, data source, page or thread: number, latency
 * (exact percentiles of every part), misses, and confidence. A share is an estimate, with its 95%
 * interval (Wilson).
 */
#ifndef TY_MEMORY_H
#define TY_MEMORY_H

#include "mem_points.h"

enum ty_memory_by {
	TY_MEMORY_BY_PC,
	TY_MEMORY_BY_FUNCTION, /* numbers are the caller's */
	TY_MEMORY_BY_SOURCE,   /* loads and stores: level << 8 | src_flags */
	TY_MEMORY_BY_PAGE,     /* of 4 KiB, by process */
	TY_MEMORY_BY_THREAD,
	TY_MEMORY_BY_BRANCH, /* instructions that branch */
};

struct ty_latency { /* cycles; n 0: none recorded */
	uint64_t n, sum;
	uint32_t p50, p90, p99, max;
};

struct ty_memory_row {
	uint64_t key;	/* pc id, function number, level << 8 | src_flags, page address, thread */
	int32_t pid;	/* BY_PAGE; -1: kernel or unknown */
	uint64_t ts_ns; /* of its first sample */
	uint64_t count, loads, stores;
	double share, low, high; /* relative to the samples of the table */
	struct ty_latency total, issue, exec, xlat;
	struct ty_latency insn; /* of instructions, of perf samples */
	uint64_t tlb, walks;	/* samples with TLB information; of these with a walk */
	uint64_t l1, l1_miss;
	uint64_t mispredicts, not_taken, targets; /* branches; targets: number of different ones */
};

struct ty_memory_table {
	struct ty_memory_row *rows; /* most cycles first, then most samples */
	uint32_t rows_n;
	uint64_t keys;	  /* number of different keys */
	uint64_t samples; /* samples of the table */
};

/* function_of_pc: BY_FUNCTION only, by pc id. At most `top` rows. 0, -TY_ENOMEM, -TY_EINTR;
 * -TY_ELIMIT: more colliding keys than work->bytes can hold (crafted input). */
int ty_memory_count(const struct ty_mem_points *p, enum ty_memory_by by,
		    const uint32_t *function_of_pc, uint32_t top, const struct ty_mem_work *work,
		    struct ty_memory_table *out);
/* Several tables of different kinds, all `table` 0 before, on this many threads (each may use
 * work->bytes). 0 or as above, with incomplete tables. The caller calls fini in either case. */
struct ty_memory_request {
	enum ty_memory_by by;
	uint32_t top;
	const uint32_t *function_of_pc;
	struct ty_memory_table table;
};
int ty_memory_count_all(const struct ty_mem_points *p, struct ty_memory_request *requests,
			unsigned n, unsigned threads, const struct ty_mem_work *work);
void ty_memory_fini(struct ty_memory_table *t);

#endif
