/* SPDX-License-Identifier: MIT */
/*
 * The bars of heads: running time of all members (a process's threads, all CPUs) by cell. A head
 * may have thousands of members, so sums are kept while the window stays, and a frame adds up only
 * so many members: the rest follows in slices, and until then there is no bar, because a part of
 * the sum would be a wrong one.
 */
#ifndef TY_GROUP_BARS_H
#define TY_GROUP_BARS_H

#include <stdbool.h>
#include <stdint.h>

#include "gaps.h"
#include "model.h"
#include "vec.h"
#include "viewport.h"

struct ty_head {
	uint8_t row_kind; /* whose sum this is: enum ty_row_kind and id */
	uint32_t row_id;
	uint8_t kind; /* of the members' tracks: enum ty_track_kind */
	const uint32_t *ids;
	uint32_t n, done; /* members, those added up */
	uint64_t from_ns, to_ns;
	uint32_t cells;
	uint64_t *ran_ns; /* per cell, all members together */
	uint8_t *lost;	  /* per cell: events were lost that a member's state hung on */
	uint64_t frame;	  /* the last one that showed it */
};

struct ty_group_bars {
	VEC(struct ty_head) v;
	struct ty_cell *cell; /* one member's */
	uint32_t cells;
	uint64_t frame;
	uint32_t budget; /* members that this frame may still add up */
};

void ty_group_bars_fini(struct ty_group_bars *h);
/* The rows are not what they were. */
void ty_group_bars_forget(struct ty_group_bars *h);
/* Before the rows of a frame are drawn. */
void ty_group_bars_frame(struct ty_group_bars *h);
/* The row's sums over the window's n cells; NULL: out of memory. ids are borrowed. They are whole
 * when done == n. */
const struct ty_head *ty_group_bars_get(struct ty_group_bars *h, const struct ty_model *m,
					const struct ty_gaps *gaps, const struct ty_viewport *v,
					uint32_t cells, const struct ty_head *row);
/* Is a sum of the last frame not whole? */
bool ty_group_bars_due(const struct ty_group_bars *h);
/* Add up a few members of such sums; true: one is whole now. */
bool ty_group_bars_step(struct ty_group_bars *h, const struct ty_model *m,
			const struct ty_gaps *gaps);

#endif
