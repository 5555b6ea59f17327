/* SPDX-License-Identifier: MIT */
/*
 * Finds the next (or previous) match of a query in the whole recording, in slices, so that input
 * stays responsive. It wraps around once and reports that. Cost: threads x log(spans) where the
 * zoom forest applies (states, lengths, one system call, errors); anything else (events, several
 * calls) is scanned from the starting point on, no further than the nearest match found so far.
 */
#ifndef TY_SEARCH_H
#define TY_SEARCH_H

#include "search_query.h"

enum ty_hit_what { TY_HIT_SPAN, TY_HIT_CALL, TY_HIT_POINT, TY_HIT_GAP, TY_HIT_IRQ, TY_HIT_REGION };

/* A match; also the starting point of a search: after it (backward: before it). Matches at one time
 * are sorted by `ord`. */
struct ty_hit {
	uint64_t at_ns;
	uint64_t ord;
	uint8_t what;	 /* enum ty_hit_what */
	uint32_t thread; /* TY_NONE: none (an event of an idle CPU, lost events) */
	uint32_t cpu;	 /* for points, gaps and interrupts, else TY_NONE */
	uint32_t idx;	 /* span, call, region, point or interrupt of the CPU, gap */
	bool other;	 /* traced threads first: of none of these */
	uint64_t ns;	 /* how long it is; 0: an event */
};

/* The longest hits: those of traced threads first, then the longest. */
#define TY_HITS_MAX 100u
struct ty_hits {
	struct ty_hit v[TY_HITS_MAX];
	uint32_t n;
};

struct ty_search {
	struct ty_query *q;
	const struct ty_model *m;
	bool backward;
	bool wrapped; /* it wrapped around the end (or the start) */
	bool found;
	struct ty_hit hit;
	/* What ty_search_count counts: all hits, and those up to `from`, it included. */
	uint64_t n, upto;
	bool many; /* there are more than TY_SEARCH_MOST: it gave up */
	struct ty_hits *longest;
	/* internal: */
	struct ty_hit from;
	uint64_t ord, scan_ns, scan_i, last_ns, last_ord;
	bool scanning, done, grouped, fresh, other, counting;
	unsigned round;
	uint32_t gaps_n;
};

#define TY_SEARCH_MOST 100000u

/* Everything is borrowed. A starting point with ord UINT64_MAX is after all matches at its time,
 * with 0 before them. Hits of threads whose
 * calls were recorded, where there are such and others, come before all others, whatever their
 * time. `from` says of which group it is; fresh: it is no hit, and the whole first group is
 * examined before the other. */
void ty_search_begin(struct ty_search *s, const struct ty_model *m, struct ty_query *q,
		     struct ty_hit from, bool backward, bool fresh);
/* Instead: count all hits in that order; `at` is one of them. longest (NULL): collects the longest
 * of the counted ones. */
void ty_search_count(struct ty_search *s, const struct ty_model *m, struct ty_query *q,
		     struct ty_hit at, struct ty_hits *longest);
/* Does some work (about `budget` candidates or tracks); true when done. */
bool ty_search_step(struct ty_search *s, uint32_t budget);
/* Progress, 0..1000. */
unsigned ty_search_progress(const struct ty_search *s);

/* Whether the thread itself, or anything in it, matches in the whole recording. Resumable: *at_ns
 * is the state, 0 at first; returns -1 while undecided, else 0 or 1. */
int ty_query_thread_has(const struct ty_model *m, struct ty_query *q, uint32_t thread,
			uint64_t *at_ns, uint32_t budget);

#endif
