/* SPDX-License-Identifier: MIT */
/* One perf event on each CPU, each with a ring. A zeroed one is empty. */
#ifndef TY_CPU_RINGS_H
#define TY_CPU_RINGS_H

#include "aux_ring.h"

struct ty_cpu_rings {
	struct ty_aux_ring *v;
	unsigned n;
};

/* Opens attr on each CPU, disabled if attr says so. Rings of 1 MB (256 KB each on more than 32
 * CPUs) that wake up poll when a quarter is full. false: none is open, and errno says why. */
bool ty_cpu_rings_open(struct ty_cpu_rings *r, struct perf_event_attr *attr, const unsigned *cpus,
		       unsigned n);
/* The same of what a BPF program writes by this map (bpf_perf_event_output). attr: what else a
 * sample has beside that. false: some may be open. */
bool ty_cpu_rings_open_output(struct ty_cpu_rings *r, struct perf_event_attr *attr, int map_fd,
			      const unsigned *cpus, unsigned n);
void ty_cpu_rings_drain(struct ty_cpu_rings *r, const struct ty_aux_sink *sink);
void ty_cpu_rings_close(struct ty_cpu_rings *r);

#endif
