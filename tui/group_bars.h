/* SPDX-License-Identifier: MIT */
/*
 * Bars of group heads: running time of all members (a process's threads, all CPUs) by cell. A group
 * may have thousands of members, so sums are cached while the window is unchanged, and a frame adds
 * a limited number of members; the rest follows in slices. Until a sum is complete no bar is drawn,
 * because a partial sum would be wrong.
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
	uint8_t row_kind; /* group: enum ty_row_kind and id */
	uint32_t row_id;
	uint8_t kind; /* of the members' tracks: enum ty_track_kind */
	const uint32_t *ids;
	uint32_t n, done; /* number of members, and of those added */
	uint64_t from_ns, to_ns;
	uint32_t cells;
	uint64_t *ran_ns; /* per cell, all members together */
	uint8_t *lost;	  /* per cell: lost events affect a member's state */
	uint64_t frame;	  /* last frame that showed it */
};

struct ty_group_bars {
	VEC(struct ty_head) v;
	struct ty_cell *cell; /* one member's */
	uint32_t cells;
	uint64_t frame;
	uint32_t budget; /* members that this frame may still add */
};

void ty_group_bars_fini(struct ty_group_bars *h);
/* Discards all sums: the rows have changed. */
void ty_group_bars_forget(struct ty_group_bars *h);
/* Call before the rows of a frame are drawn. */
void ty_group_bars_frame(struct ty_group_bars *h);
/* The row's sums over the window's n cells; NULL: out of memory. ids are borrowed. Complete when
 * done == n. */
const struct ty_head *ty_group_bars_get(struct ty_group_bars *h, const struct ty_model *m,
					const struct ty_gaps *gaps, const struct ty_viewport *v,
					uint32_t cells, const struct ty_head *row);
/* True when a sum of the last frame is incomplete. */
bool ty_group_bars_due(const struct ty_group_bars *h);
/* Adds a few members to such sums; true when one became complete. */
bool ty_group_bars_step(struct ty_group_bars *h, const struct ty_model *m,
			const struct ty_gaps *gaps);

#endif
