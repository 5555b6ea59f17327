/* SPDX-License-Identifier: MIT */
/* Which part of a file a reader shows: times, threads, CPUs as the command line gave them, resolved
 * against an opened recording. */
#ifndef TY_WINDOW_SELECT_H
#define TY_WINDOW_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "clock_time.h"
#include "err.h"
#include "session.h"
#include "texts.h"
#include "vec.h"
#include "window.h"

/* What options of readers say. */
struct ty_select {
	const char *from,
		*to; /* as typed: seconds from start, +N / -N, clock time HH:MM:SS[.frac] */
	VEC(int32_t) tids;
	struct ty_texts comms;
	VEC(uint32_t) cpus;
	uint64_t memory_bytes; /* --memory; 0: the default */
	bool no_index;
	bool json;
	bool clock_chosen; /* --clock, where the command takes it */
	enum ty_clock clock;
};

void ty_select_fini(struct ty_select *s);

/*
 * Resolve from/to against the trace: into w (borrowing from sel). Without a model the start is that
 * of the first event. 0, or -TY_EUSAGE with a sentence (not a time; from after to; outside the
 * trace). With a model, a choice of threads or CPUs that chooses none is told on stderr.
 */
int ty_select_window(const struct ty_select *sel, const struct ty_session *s, struct ty_window *w,
		     struct ty_err *err);

/* --at: an instant of the recording, whose model is there. 0, or -TY_EUSAGE with a sentence. */
int ty_select_instant(const struct ty_session *s, const char *opt, const char *arg, uint64_t *ts_ns,
		      struct ty_err *err);

/* The clock asked for, into s, whose model is there. 0, or -TY_EUSAGE with a sentence when it is
 * the wall clock and the file does not tell it. JSON keeps the clocks it always has. */
int ty_select_clock(const struct ty_select *sel, struct ty_session *s, struct ty_err *err);
/* That sentence. */
int ty_select_no_wall(const char *path, struct ty_err *err);

/* ty_select_window against known bounds of a file without a wall clock; end_ns is the last instant.
 */
int ty_select_range(const struct ty_select *sel, const char *path, uint64_t start_ns,
		    uint64_t end_ns, struct ty_window *w, struct ty_err *err);

/* Readers without a model learn only at the last event where the trace ends: -TY_EUSAGE with the
 * sentence when --from lies behind it, else 0. */
int ty_select_inside(const struct ty_select *sel, const struct ty_window *w, uint64_t last_ns,
		     struct ty_err *err);

#endif
