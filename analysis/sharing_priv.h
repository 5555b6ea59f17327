/* SPDX-License-Identifier: MIT */
/*
 * Gathering what is known of cache lines that threads share, for the findings (sharing.c). However
 * many lines there are, no more than a part of them is held: the lines whose hash lies in a range,
 * which is made smaller when they turn out to be too many; further passes over the points are made
 * of further ranges. Whatever the ranges, the lines are the same.
 */
#ifndef TY_SHARING_PRIV_H
#define TY_SHARING_PRIV_H

#include "sharing.h"

/* A line: address / bytes of a line; pid of a virtual one. */
struct ty_line_key {
	uint64_t line;
	int32_t pid;
};
#define TY_LINE_PHYSICAL INT32_MIN

struct ty_gather_line {
	struct ty_sharing_line line; /* its sites are gather.sites[sites_first...] */
	uint32_t hash, last;
	bool dropped; /* it belongs to a later range */
};

struct ty_gather_site {
	struct ty_sharing_site site;
	uint32_t line; /* in lines */
};

struct ty_line_slot; /* a hash table's */

struct ty_gather {
	const struct ty_mem_points *p;
	const struct ty_mem_work *work;
	unsigned shift; /* log2 of the line's bytes */
	uint64_t accesses, no_thread;
	/* Lines of hashes [lo, hi): */
	uint64_t lo, hi;
	VEC(struct ty_gather_line) lines;
	VEC(struct ty_gather_site) sites; /* by line, offset, thread, pc */
	uint32_t *access;		  /* of the one line that was asked for: points */
	uint64_t access_n, access_cap;
	/* Its own: */
	uint64_t max_bytes; /* of slots; lines with their sites have half of it */
	struct ty_line_slot *slot;
	uint64_t slots, used;
	bool full;	     /* the table is as large as it may be */
	uint32_t *site_slot; /* site + 1; 0: free */
	uint64_t site_mask;
	bool mixed; /* samples with and without physical addresses */
	bool collect;
	struct ty_mem_ids pages; /* of mixed ones: where they lie */
	VEC(uint64_t) page_pa;
};

/* 0, -TY_ENOMEM, -TY_EINTR, -TY_ELIMIT: pages of samples with and without physical addresses are
 * too many. To be ended by fini in any state. */
int ty_gather_begin(struct ty_gather *g, const struct ty_mem_points *p, uint32_t line_bytes,
		    const struct ty_mem_work *work);
/* The lines of the next range that two threads touched and one wrote: 1; 0: there are no more
 * ranges; -TY_E...; -TY_ELIMIT: one line has too many sites. */
int ty_gather_next(struct ty_gather *g);
/* That one line, with its accesses. 0 or as above. */
int ty_gather_one(struct ty_gather *g, struct ty_line_key key);
void ty_gather_fini(struct ty_gather *g);

#endif
