/* SPDX-License-Identifier: MIT */
/*
 * Zoom forest over one column of spans: an implicit segment forest (Hume's "iforests"; Perfetto's
 * implicit_segment_forest) whose nodes keep time per state and the longest span. Levels of fan-out
 * TY_FOREST_FAN over the spans of a track; a range query touches O(fan x log n) nodes.
 */
#ifndef TY_FOREST_H
#define TY_FOREST_H

#include <stdint.h>

#include "model.h"

struct ty_forest;

/* Spans as columns: start[i], the end of span i is end(i); state[i], flags[i]. Borrowed. */
struct ty_forest_column {
	const uint64_t *start_ns;
	const uint64_t *
		end_ns; /* NULL: contiguous spans, end = next start; the last ends at last_end_ns */
	uint64_t last_end_ns;
	const uint8_t *state, *flags; /* NULL: all RUNNING; no flags */
	uint32_t n;
};

struct ty_forest *ty_forest_new(const struct ty_forest_column *col); /* NULL: out of memory */
void ty_forest_free(struct ty_forest *f);
/* Aggregate of [from, to) into *out (indices relative to the column). */
void ty_forest_query(const struct ty_forest *f, uint64_t from_ns, uint64_t to_ns,
		     struct ty_cell *out);
/* The same by walking the spans: for columns too small to deserve a forest. */
void ty_forest_scan(const struct ty_forest_column *col, uint64_t from_ns, uint64_t to_ns,
		    struct ty_cell *out);
/* Memory in use. */
uint64_t ty_forest_bytes(const struct ty_forest *f);

#endif
