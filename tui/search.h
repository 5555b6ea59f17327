/* SPDX-License-Identifier: MIT */
/*
 * The next (or last) thing that a query means, across the whole recording, in slices: a search is
 * begun, then stepped until it is done, so that input is looked at in between. It goes round the
 * end once and says so. Cost: threads x log(spans) where the zoom forest answers (states, lengths,
 * one system call, errors); what has no forest (events, several calls) is walked from the start
 * point on, and no further than the nearest hit found so far.
 */
#ifndef TY_SEARCH_H
#define TY_SEARCH_H

#include "query.h"

enum ty_hit_what { TY_HIT_SPAN, TY_HIT_CALL, TY_HIT_POINT, TY_HIT_GAP, TY_HIT_IRQ };

/* A hit; also where a search starts: behind it (in front of it, backward). Hits of one instant are
 * in the order of `ord`. */
struct ty_hit {
	uint64_t at_ns;
	uint64_t ord;
	uint8_t what;	 /* enum ty_hit_what */
	uint32_t thread; /* TY_NONE: of no thread (an event of an idle CPU, lost events) */
	uint32_t cpu;	 /* of points, gaps and interrupts, else TY_NONE */
	uint32_t idx;	 /* span, call, point or interrupt of the CPU, gap */
};

struct ty_search {
	struct ty_query *q;
	const struct ty_model *m;
	bool backward;
	bool wrapped; /* it went round the end (or the start) */
	bool found;
	struct ty_hit hit;
	/* inside: */
	struct ty_hit from;
	uint64_t ord, scan_ns, scan_i;
	bool scanning, done;
	uint32_t gaps_n;
};

/* Everything borrowed. A start with ord UINT64_MAX lies behind everything of its instant, with 0
 * in front of it. */
void ty_search_begin(struct ty_search *s, const struct ty_model *m, struct ty_query *q,
		     struct ty_hit from, bool backward);
/* Some work (about `budget` candidates or tracks); true when done. */
bool ty_search_step(struct ty_search *s, uint32_t budget);
/* 0..1000: how far it is. */
unsigned ty_search_progress(const struct ty_search *s);

/* Does the thread itself match, or anything it did, in the whole recording? Stepped: *at_ns holds
 * the state between two calls, 0 at first; returns -1 while it is not known yet, else 0 or 1. */
int ty_query_thread_has(const struct ty_model *m, const struct ty_query *q, uint32_t thread,
			uint64_t *at_ns, uint32_t budget);

#endif
