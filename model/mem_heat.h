/* SPDX-License-Identifier: MIT */
/*
 * Memory samples by thread or by CPU, with aggregates for zooming out: a row of cells over any
 * window costs time proportional to its cells and the sample groups in it, and the longest latency
 * is always kept. Samples without a time are excluded. Built once, then const.
 */
#ifndef TY_MEM_HEAT_H
#define TY_MEM_HEAT_H

#include "mem_points.h"

enum ty_mem_heat_by { TY_MEM_HEAT_THREAD, TY_MEM_HEAT_CPU };

struct ty_mem_heat_cell {
	uint32_t n;	/* samples */
	uint16_t worst; /* longest latency in cycles, saturated at 65535 */
	uint8_t far;	/* enum ty_mem_far: the farthest */
	bool timed;	/* at least one sample has a latency */
};

struct ty_mem_heat;

/* points: borrowed. 0, -TY_ENOMEM, -TY_EINTR. */
int ty_mem_heat_new(const struct ty_mem_points *points, enum ty_mem_heat_by by,
		    const struct ty_mem_work *work, struct ty_mem_heat **out);
void ty_mem_heat_free(struct ty_mem_heat *h);

/* Strips are numbered like the threads of the points, or like CPUs. */
uint32_t ty_mem_heat_strips(const struct ty_mem_heat *h);
/* Number of samples of a strip, and of those in [from, to). */
uint64_t ty_mem_heat_count(const struct ty_mem_heat *h, uint32_t strip, uint64_t from_ns,
			   uint64_t to_ns);
/* Time of a strip's first sample; UINT64_MAX when it is empty. */
uint64_t ty_mem_heat_first_ns(const struct ty_mem_heat *h, uint32_t strip);
/* n cells of equal width over [from, to). */
void ty_mem_heat_cells(const struct ty_mem_heat *h, uint32_t strip, uint64_t from_ns,
		       uint64_t to_ns, uint32_t n, struct ty_mem_heat_cell *out);

#endif
