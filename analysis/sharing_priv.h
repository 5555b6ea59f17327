/* SPDX-License-Identifier: MIT */
/*
 * Gathers facts about cache lines that threads share, for the results (sharing.c). Only part of
 * the lines is held in memory: those whose hash is in a range, which shrinks when there are too
 * many; further passes over the points process further ranges. The result does not depend on the
 * ranges.
 */
#ifndef TY_SHARING_PRIV_H
#define TY_SHARING_PRIV_H

#include "sharing.h"
#include "sharing_pages.h"

#define TY_LINE_MANY (UINT32_MAX - 1)
#define TY_LINE_NONE UINT32_MAX
#define TY_LINE_CPUS 0xfffeu /* several CPUs, or unknown ones */

struct ty_gather_line {
	struct ty_sharing_line line; /* its sites are gather.sites[sites_first...] */
	uint32_t hash;
	uint32_t last;	  /* thread of the previous access */
	uint32_t toucher; /* the only thread so far, or several */
	uint16_t last_cpu;
	bool last_wrote;
	bool untimed; /* an access has no time: the order is unreliable */
	bool dropped; /* belongs to a later range */
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
	uint64_t accesses, no_thread, one_cpu;
	unsigned want;	     /* fields of a point needed for its line and CPU */
	uint32_t width_most; /* maximum width of the instructions' accesses */
	/* Lines of hashes [lo, hi): */
	uint64_t lo, hi;
	VEC(struct ty_gather_line) lines;
	VEC(struct ty_gather_site) sites; /* by line, offset, thread, pc */
	uint32_t *access;		  /* of the single requested line: points */
	uint64_t access_n, access_cap;
	/* Its own: */
	uint64_t max_bytes; /* of slots; lines with their sites have half of it */
	struct ty_line_slot *slot;
	uint64_t slots, used;
	bool full;	     /* the table has its maximum size */
	uint32_t *site_slot; /* site + 1; 0: free */
	uint64_t site_mask;
	bool collect;
	struct ty_line_pages pages;
};

/* 0, -TY_ENOMEM, -TY_EINTR, -TY_ELIMIT: too many pages (sharing_pages.h). Call fini in any
 * state. */
int ty_gather_begin(struct ty_gather *g, const struct ty_mem_points *p, uint32_t line_bytes,
		    const struct ty_mem_work *work);
/* Gathers the shared lines of the next range (sharing.h): 1; 0: no further range; -TY_E...;
 * -TY_ELIMIT: one line has too many sites. */
int ty_gather_next(struct ty_gather *g);
/* Gathers a single line, with its accesses. 0 or as above. */
int ty_gather_one(struct ty_gather *g, struct ty_line_key key);
void ty_gather_fini(struct ty_gather *g);

/* Shared by its files: ------------------------------------------------------------------------- */

#define TY_GATHER_SLOTS 1024u /* initial size of a table */
/* Leaves half of the range to a later pass: 0 or -TY_ELIMIT. */
static inline int ty_gather_halve(struct ty_gather *g)
{
	if (g->hi - g->lo < 2)
		return -TY_ELIMIT;
	g->hi = g->lo + (g->hi - g->lo) / 2;
	return 0;
}
/* Gathers the access sites of g->lines (sharing_sites.c); their range may shrink. 0 or -TY_E.... */
int ty_gather_sites(struct ty_gather *g);

#endif
