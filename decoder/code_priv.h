/* SPDX-License-Identifier: MIT */
/*
 * Inside of a code map. code_map.c is told what is mapped; code_index.c makes an index of each
 * address space when all is known; code_find.c asks it.
 */
#ifndef TY_CODE_PRIV_H
#define TY_CODE_PRIV_H

#include <pthread.h>

#include "code_map.h"
#include "interval_tree.h"
#include "pair_map.h"
#include "strtab.h"
#include "vec.h"

enum { TY_CODE_PAGE = 4096 };

struct ty_code_file {
	char *name;
	uint8_t build_id[TY_BUILD_ID_MAX];
	uint8_t build_id_n;
	bool tried, function;
	struct ty_bytes bytes;
	const struct ty_code_line *lines; /* of a function */
	size_t lines_n;
};

struct ty_code_mapping {
	uint64_t t_ns, lo, hi, off;
	uint32_t order; /* of equal times, the later one wins */
	int file;
};

struct ty_code_image_of {
	uint64_t t_ns, lo, hi;
	const uint8_t *p;
	int32_t pid;
	uint32_t order;
};

/* What holds in [lo, hi) from..until: a mapping, or none. Those of one index tile addresses and
 * time without overlap. */
struct ty_code_piece {
	uint64_t lo, hi, from_ns, until_ns;
	uint32_t map; /* TY_CODE_HOLE: none */
};
#define TY_CODE_HOLE UINT32_MAX

/*
 * Pieces found by address and time in log(pieces)^2: a segment tree over the stretches between
 * neighbouring ends of mappings. Each piece is listed at the nodes that make up its addresses; at a
 * node they follow each other in time.
 */
struct ty_code_index {
	uint64_t *edge; /* stretch i begins there */
	uint32_t n;	/* stretches; 0: there is no mapping, all is one hole */
	VEC(struct ty_code_piece) pieces;
	struct ty_interval_tree lists; /* of pieces */
};

/* An address space from an exec, a fork or its first mapping on. */
struct ty_code_life {
	int64_t space;
	uint32_t order; /* of equal space and time, the later one wins */
	uint64_t from_ns;
	uint32_t parent; /* what it was forked from at from_ns, by order, then by place; or NONE */
	VEC(struct ty_code_mapping) maps;
	struct ty_code_index index;
};

struct ty_code {
	ty_code_load *load;
	void *ctx;
	VEC(struct ty_code_file) files;
	struct ty_strtab *keys; /* of files by name and build id */
	VEC(int) file_of_key;
	VEC(void *) owned;
	VEC(struct ty_code_life) lives;	     /* by space and time, once ready */
	struct ty_pair_map newest;	     /* of a space: its life that was begun last */
	VEC(struct ty_code_image_of) images; /* by pid, address, time */
	size_t maps_n;
	pthread_mutex_t lock; /* of loading */
};

/* What is mapped in a process, and over it, what its JIT compiler told. */
static inline int64_t ty_code_mapped(int32_t pid)
{
	return pid;
}
static inline int64_t ty_code_jitted(int32_t pid)
{
	return (int64_t)pid | 1ll << 32;
}

/* ---- code_index.c ---- */

/* Of a life's mappings, which it puts in order. 0 or -TY_ENOMEM. */
int ty_code_index_make(struct ty_code_life *l);
void ty_code_index_fini(struct ty_code_index *x);
/* The piece that holds addr at a time. */
struct ty_code_piece ty_code_index_at(const struct ty_code_index *x, uint64_t t_ns, uint64_t addr);

#endif
