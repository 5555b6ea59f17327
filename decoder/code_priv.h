/* SPDX-License-Identifier: MIT */
/*
 * Internals of the code map: code_map.c collects the mappings; code_index.c builds an index of each
 * address space when all are known; code_find.c queries it.
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
	uint32_t order; /* with equal times, the later one wins */
	int file;
};

struct ty_code_image_of {
	uint64_t t_ns, lo, hi;
	const uint8_t *p;
	int32_t pid;
	uint32_t order;
};

/* Content of [lo, hi) for from..until: a mapping, or none. The pieces of one index tile addresses
 * and time without overlap. */
struct ty_code_piece {
	uint64_t lo, hi, from_ns, until_ns;
	uint32_t map; /* TY_CODE_HOLE: none */
};
#define TY_CODE_HOLE UINT32_MAX

/*
 * Finds pieces by address and time in log(pieces)^2: a segment tree over the stretches between
 * neighbouring boundaries of mappings. Each piece is listed at the nodes that make up its
 * addresses; the pieces of one node are sorted by time.
 */
struct ty_code_index {
	uint64_t *edge; /* start of stretch i */
	uint32_t n;	/* number of stretches; 0: no mapping, all is one hole */
	VEC(struct ty_code_piece) pieces;
	struct ty_interval_tree lists; /* of pieces */
};

/* An address space, starting with an exec, a fork or its first mapping. */
struct ty_code_life {
	int64_t space;
	uint32_t order; /* with equal space and time, the later one wins */
	uint64_t from_ns;
	uint32_t parent; /* life that it was forked from at from_ns: by order, later by index; or
			  * NONE */
	VEC(struct ty_code_mapping) maps;
	struct ty_code_index index; /* once made: most are never searched */
	uint8_t made;
};

struct ty_code {
	ty_code_load *load;
	void *ctx;
	VEC(struct ty_code_file) files;
	struct ty_strtab *keys; /* of files by name and build id */
	VEC(int) file_of_key;
	VEC(void *) owned;
	VEC(struct ty_code_life) lives;	     /* by space and time, once ready */
	struct ty_pair_map newest;	     /* newest life of a space */
	VEC(struct ty_code_image_of) images; /* by pid, address, time */
	size_t maps_n;
	pthread_mutex_t lock;	    /* serialises loading */
	pthread_mutex_t index_lock; /* serialises making an index */
};

/* Mappings of a process; its JIT functions are an address space above it. */
static inline int64_t ty_code_mapped(int32_t pid)
{
	return pid;
}
static inline int64_t ty_code_jitted(int32_t pid)
{
	return (int64_t)pid | 1ll << 32;
}

/* ---- code_index.c ---- */

/* The life's index, made when it is first searched; without memory for it, it holds nothing. */
const struct ty_code_index *ty_code_index_of(struct ty_code *c, struct ty_code_life *l);
void ty_code_index_fini(struct ty_code_index *x);
/* The piece that holds addr at a time. */
struct ty_code_piece ty_code_index_at(const struct ty_code_index *x, uint64_t t_ns, uint64_t addr);

#endif
