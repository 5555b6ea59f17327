/* SPDX-License-Identifier: MIT */
/* Selection by a window, one rule each, shared by readers of the model and by the dumps. */
#ifndef TY_WINDOW_FILTER_H
#define TY_WINDOW_FILTER_H

#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>

#include "event.h"
#include "window.h"

static inline bool ty_window_has_tid(const struct ty_window *w, int32_t tid)
{
	for (uint32_t i = 0; i < w->tids_n; i++)
		if (w->tids[i] == tid)
			return true;
	return !w->tids_n;
}

static inline bool ty_window_has_cpu(const struct ty_window *w, uint32_t cpu)
{
	for (uint32_t i = 0; i < w->cpus_n; i++)
		if (w->cpus[i] == cpu)
			return true;
	return !w->cpus_n;
}

static inline bool ty_window_has_comm(const struct ty_window *w, const char *comm)
{
	for (uint32_t i = 0; i < w->comms_n; i++)
		if (!fnmatch(w->comms[i], comm, 0))
			return true;
	return !w->comms_n;
}

/* Does a loss, or any part of it, lie in the window? */
static inline bool ty_window_has_gap(const struct ty_window *w, const struct ty_event *gap)
{
	return gap->u.gap.from_ns < w->to_ns && (gap->u.gap.to_end || gap->ts_ns >= w->from_ns);
}

#endif
