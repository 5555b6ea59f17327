/* SPDX-License-Identifier: MIT */
/* The selected part of a trace: a time window, threads and CPUs. */
#ifndef TY_WINDOW_H
#define TY_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"

struct ty_window {
	uint64_t from_ns, to_ns; /* trace clock, [from, to) */
	const int32_t *tids;	 /* empty: all */
	uint32_t tids_n;
	/* Shell patterns (fnmatch); empty: all. A call or wait is selected by its thread's name
	 * when it began, a thread by any name within the window. */
	const char *const *comms;
	uint32_t comms_n;
	const uint32_t *cpus; /* empty: all */
	uint32_t cpus_n;
	bool traced_only; /* only threads whose system calls are recorded */
};

/* True when the thread is selected, by tid and by a name within the window. */
bool ty_window_thread(const struct ty_window *w, const struct ty_model *m, uint32_t thread);
/* True when the thread's name at t is selected. memo: {0} at first, then of the previous call;
 * avoids matching while the name is unchanged. */
struct ty_comm_memo {
	const char *comm;
	bool chosen;
};
bool ty_window_comm(const struct ty_window *w, const struct ty_model *m, uint32_t thread,
		    uint64_t t_ns, struct ty_comm_memo *memo);
bool ty_window_cpu(const struct ty_window *w, uint32_t cpu);
/* Clips [start,end) to the window; false when nothing is left. */
bool ty_window_clip(const struct ty_window *w, uint64_t *start_ns, uint64_t *end_ns);

#endif
