/* SPDX-License-Identifier: MIT */
/* Index of lost events, so that a cell can be tested in O(log gaps). */
#ifndef TY_GAPS_H
#define TY_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "model.h"

struct ty_gap_mark {
	uint64_t to_ns;
	uint64_t from_ns; /* earliest start of this gap and of later ones in its group */
	uint32_t cpu;
};

struct ty_gaps {
	struct ty_gap_mark *all, *by_cpu; /* by end; by CPU, then end */
	uint32_t n;
};

/* 0 or -TY_ENOMEM with err; fini in any state. */
int ty_gaps_init(struct ty_gaps *g, const struct ty_model *m, struct ty_err *err);
void ty_gaps_fini(struct ty_gaps *g);
/* True when a gap of that CPU (TY_NONE: any) overlaps [from, to], both ends included. */
bool ty_gaps_touch(const struct ty_gaps *g, uint64_t from_ns, uint64_t to_ns, uint32_t cpu);

#endif
