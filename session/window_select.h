/* SPDX-License-Identifier: MIT */
/* Selection of the part of a file to show: times, threads and CPUs from the command line, resolved
 * against an opened recording. */
#ifndef TY_WINDOW_SELECT_H
#define TY_WINDOW_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "time_format.h"
#include "err.h"
#include "session.h"
#include "texts.h"
#include "vec.h"
#include "window.h"

/* Common options of all readers. */
struct ty_select {
	const char *from,
		*to; /* as typed: seconds from the start, +N / -N, clock time HH:MM:SS[.frac] */
	VEC(int32_t) tids;
	struct ty_texts comms;
	VEC(uint32_t) cpus;
	uint64_t memory_bytes; /* --memory; 0: the default */
	bool no_index;
	bool json;
	bool clock_chosen; /* --clock, for commands that support it */
	enum ty_clock clock;
};

void ty_select_fini(struct ty_select *s);

/*
 * Resolves from/to against the trace into w (borrowing from sel). Without a model the start is that
 * of the first event. 0, or -TY_EUSAGE with a sentence (not a time; from after to; outside the
 * trace). With a model, prints a note on stderr when the selection of threads or CPUs is empty.
 */
int ty_select_window(const struct ty_select *sel, const struct ty_session *s, struct ty_window *w,
		     struct ty_err *err);

/* --at: a point in time of the recording, which must have its model. 0, or -TY_EUSAGE with a
 * sentence. */
int ty_select_instant(const struct ty_session *s, const char *opt, const char *arg, uint64_t *ts_ns,
		      struct ty_err *err);

/* Sets the requested clock in s, which must have its model. 0, or -TY_EUSAGE with a sentence when
 * it is the wall clock and the file has none. JSON always keeps its own clocks. */
int ty_select_clock(const struct ty_select *sel, struct ty_session *s, struct ty_err *err);
/* Sets that error. */
int ty_select_no_wall(const char *path, struct ty_err *err);

/* ty_select_window against known bounds of a file without a wall clock; end_ns is the last instant.
 */
int ty_select_range(const struct ty_select *sel, const char *path, uint64_t start_ns,
		    uint64_t end_ns, struct ty_window *w, struct ty_err *err);

/* For readers without a model, which only know at the last event where the trace ends: -TY_EUSAGE
 * with the sentence when --from is after it, else 0. */
int ty_select_inside(const struct ty_select *sel, const struct ty_window *w, uint64_t last_ns,
		     struct ty_err *err);

#endif
