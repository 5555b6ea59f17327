/* SPDX-License-Identifier: MIT */
/* Memory points under construction: shared by mem_points_fill.c, mem_points.c (reading) and
 * mem_index.c. */
#ifndef TY_MEM_BUILD_H
#define TY_MEM_BUILD_H

#include "index_file.h"
#include "mem_code.h"
#include "mem_points.h"

struct ty_block_coder;

/* A sample whose instruction and thread are not numbered yet. */
struct ty_mem_pending {
	struct ty_mem_point o;
	uint64_t pc;
	const char *comm;
	int32_t pid, tid;
	bool has_pc, has_thread;
};
#define TY_MEM_PENDING 16u /* a power of 2 */

struct ty_mem_build {
	struct ty_table_fill fill;
	struct ty_block_coder *coder;
	struct ty_mem_codes *codes;
	struct ty_mem_ids threads;
	struct ty_mem_pending pending[TY_MEM_PENDING]; /* a ring */
	uint32_t taken, given;			       /* ring positions: removed, added */
	uint64_t key_ns, va, pa;		       /* of the previous row */
	uint64_t whats[256];			       /* samples by the low byte of `what` */
	uint64_t max_bytes; /* of memory outside the store; 0: no limit */
	bool part;
	struct ty_mem_point any; /* OR of what and events over all rows */
	uint8_t no_pa;		 /* OR of the flags of rows without a physical address */
	struct ty_index_write *index;
	uint64_t midr;
};

/* A row of the table, as coded. */
struct ty_mem_row {
	uint64_t key, back, va, pa;
	uint32_t pc1, thread1, events, what;
	uint16_t total, issue, xlat, cpu1;
} __attribute__((packed));

extern const struct ty_table_kind ty_mem_kind;

void ty_mem_build_free(struct ty_mem_points *p);

/* Writes codes, threads, groups and gaps to the store, and names the index file. A failure leaves
 * no index file. */
void ty_mem_index_save(struct ty_mem_points *p, uint64_t table_off, uint64_t table_bytes);

#endif
