/* SPDX-License-Identifier: MIT */
/* Points being filled: shared by mem_points.c and mem_index.c. */
#ifndef TY_MEM_BUILD_H
#define TY_MEM_BUILD_H

#include "index_file.h"
#include "mem_code.h"
#include "mem_points.h"
#include "store.h"

struct ty_coder;

struct ty_mem_build {
	struct ty_table_fill fill;
	struct ty_coder *coder;
	struct ty_mem_codes *codes;
	struct ty_mem_ids threads;
	uint64_t key_ns, va, pa; /* of the row before */
	uint64_t max_bytes;	 /* of what lies outside the store; 0: no limit */
	bool part;
	struct ty_index_write *index;
	uint64_t midr;
};

extern const struct ty_table_kind ty_mem_kind;

/* Codes, threads, groups and gaps to the store, and the index file its name. 0 or -TY_ENOMEM. */
int ty_mem_index_save(struct ty_mem_points *p, uint64_t table_off, uint64_t table_bytes);

#endif
