/* SPDX-License-Identifier: MIT */
/* Index of the gaps of each CPU, for scans over its activity. */
#ifndef TY_CPU_GAPS_H
#define TY_CPU_GAPS_H

#include <stdint.h>

#include "model.h"
#include "vec.h"

struct ty_cpu_gap {
	uint64_t from_ns, to_ns;
	uint32_t cpu;
};

struct ty_cpu_gaps {
	VEC(struct ty_cpu_gap) gap; /* by CPU, then time; adjacent ones are merged */
};

/* Finds those that overlap [from, to), over all buffers; *g must be empty. 0 or -TY_ENOMEM; call
 * fini in any case. Cost: one step per gap of the recording. */
int ty_cpu_gaps_find(const struct ty_model *m, uint64_t from_ns, uint64_t to_ns,
		     struct ty_cpu_gaps *g);
/* The first of the CPU that ends after t; NULL: none. */
const struct ty_cpu_gap *ty_cpu_gap_after(const struct ty_cpu_gaps *g, uint32_t cpu, uint64_t t);
void ty_cpu_gaps_fini(struct ty_cpu_gaps *g);

#endif
