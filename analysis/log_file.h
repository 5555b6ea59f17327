/* SPDX-License-Identifier: MIT */
/*
 * The lines of a log file on the recording's axis, by their own time stamps. A file is untrusted:
 * any bytes, any length; only lines within the recording are kept.
 *
 * Forms of time stamps: log_time.h.
 * A line without one belongs to the line before. A time of day without a zone is taken as local
 * time; where that is ambiguous or does not exist (daylight saving) it is counted in `doubtful`.
 */
#ifndef TY_LOG_FILE_H
#define TY_LOG_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "log_time.h"
#include "model.h"
#include "vec.h"

#define TY_LOG_LINE  1000	/* bytes of a line that are kept */
#define TY_LOG_LINES 100000	/* lines that are kept */
#define TY_LOG_BYTES (64 << 20) /* of kept text */

struct ty_log_line {
	uint64_t ts_ns;	 /* trace clock */
	uint64_t number; /* in the file, from 1 */
	char *text;    /* whole line, at most TY_LOG_LINE bytes, no control characters; of following
			  lines without a time, too, each behind a newline */
	uint32_t file; /* as given to ty_log_read */
	uint16_t body; /* where in text the message begins; 0 where the time is not at its start */
	bool doubtful;
};

struct ty_log {
	VEC(struct ty_log_line) line; /* by time after ty_log_sort */
	uint64_t outside;	      /* lines with a time outside the recording */
	uint64_t untimed;	      /* lines without a time before the first with one */
	uint64_t local, doubtful;     /* of those kept */
	uint64_t cut;		      /* lines shortened to TY_LOG_LINE */
	bool full;		      /* a limit is reached: the rest was not kept */
	uint64_t bytes;
	uint64_t formats[TY_LOG_FORMATS]; /* lines kept, by format of their time */
};

/* Add the lines of the file (a FILE opened for reading) that lie in the recording. 0; -TY_ENOTFOUND
 * when the recording has no clock correlation points; -TY_EIO, -TY_ENOMEM. */
int ty_log_read(struct ty_log *l, const struct ty_model *m, const char *path, uint32_t file,
		struct ty_err *err);
/* The same from memory. */
int ty_log_add(struct ty_log *l, const struct ty_model *m, const char *p, size_t n, uint32_t file);
/* By time; equal times as they were read. To be done once, before the lines are looked at. */
void ty_log_sort(struct ty_log *l);
/* Index of the first line with ts_ns >= t; line.n when there is none. */
size_t ty_log_after(const struct ty_log *l, uint64_t t_ns);
/* The lines around [from, to): *first and how many; within half its length (10 ms to 1 s). */
size_t ty_log_near(const struct ty_log *l, uint64_t from_ns, uint64_t to_ns, size_t *first);
void ty_log_fini(struct ty_log *l);

/* The trace time of a wall-clock or monotonic time by the nearest correlation points; false when
 * there are none, or where the time does not fit. */
bool ty_log_trace_time(const struct ty_model *m, enum ty_log_clock clock, uint64_t ns,
		       uint64_t *ts_ns);

#endif
