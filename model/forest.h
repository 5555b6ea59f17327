/* SPDX-License-Identifier: MIT */
/*
 * Zoom forest: aggregates over ranges of a table's rows, computed from the nodes that the table
 * keeps: an implicit segment forest (Hume's "iforests"; Perfetto's implicit_segment_forest) whose
 * nodes hold time per state and the longest row. 32 rows are a group, 16 groups a block, 16 blocks
 * a node and so on; a range touches at most 2 x 32 rows, 2 x 16 groups and 2 x 16 nodes per level.
 */
#ifndef TY_FOREST_H
#define TY_FOREST_H

#include <stdint.h>

#include "model.h"
#include "table.h"

/* n cells of equal width over [from, to), as ty_model_cells; indices are rows of the track. */
void ty_forest_cells(const struct ty_table *t, uint32_t track, uint64_t from_ns, uint64_t to_ns,
		     uint32_t n, struct ty_cell *out);
/* The same for nested rows, where an outer row comes after the rows inside it: rows of state
 * RUNNING do not overlap, all others are inside one of these; only RUNNING is counted. */
void ty_forest_nested_cells(const struct ty_table *t, uint32_t track, uint64_t from_ns,
			    uint64_t to_ns, uint32_t n, struct ty_cell *out);
/* Searches a row of the track, as ty_model_seek; TY_NONE. */
uint32_t ty_forest_seek(const struct ty_table *t, uint32_t track, const struct ty_seek *q,
			uint64_t t_ns, bool backward);

#endif
