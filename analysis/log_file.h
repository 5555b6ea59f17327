/* SPDX-License-Identifier: MIT */
/*
 * Places the lines of a log file on the recording's time axis, by their own time stamps. Files are
 * untrusted: any bytes, any length; only lines within the recording are kept.
 *
 * Forms of time stamps: log_timestamp.h. A line without one belongs to the previous line. A time of
 * day without a zone is taken as local time; if that is ambiguous or does not exist (daylight
 * saving) it is counted in `doubtful`.
 */
#ifndef TY_LOG_FILE_H
#define TY_LOG_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "log_timestamp.h"
#include "model.h"
#include "vec.h"

#define TY_LOG_LINE  1000	/* bytes kept of a line */
#define TY_LOG_LINES 100000	/* lines kept */
#define TY_LOG_BYTES (64 << 20) /* of text kept */

struct ty_log_line {
	uint64_t ts_ns;	 /* trace clock */
	uint64_t number; /* in the file, from 1 */
	char *text;	 /* the line, at most TY_LOG_LINE bytes, no control characters; followed by
			  * lines without a time, each after a newline */
	uint32_t file;	 /* as given to ty_log_read */
	uint16_t body;	 /* offset of the message in text; 0 when the time is not at its start */
	bool doubtful;
};

struct ty_log {
	VEC(struct ty_log_line) line; /* by time after ty_log_sort */
	uint64_t outside;	      /* lines with a time outside the recording */
	uint64_t untimed;	      /* lines without a time before the first with one */
	uint64_t local, doubtful;     /* of those kept */
	uint64_t cut;		      /* lines shortened to TY_LOG_LINE */
	bool full;		      /* a limit was reached: the rest was not kept */
	uint64_t bytes;
	uint64_t formats[TY_LOG_FORMATS]; /* lines kept, by format of their time */
};

/* Adds the lines of the file (a FILE opened for reading) that are within the recording. 0;
 * -TY_ENOTFOUND when the recording has no clock correlation points; -TY_EIO, -TY_ENOMEM. */
int ty_log_read(struct ty_log *l, const struct ty_model *m, const char *path, uint32_t file,
		struct ty_err *err);
/* The same from memory. */
int ty_log_add(struct ty_log *l, const struct ty_model *m, const char *p, size_t n, uint32_t file);
/* Sorts by time; equal times in reading order. Call once, before queries. */
void ty_log_sort(struct ty_log *l);
/* Index of the first line with ts_ns >= t; line.n when there is none. */
size_t ty_log_after(const struct ty_log *l, uint64_t t_ns);
/* The lines around [from, to): *first and their number; within half its length (10 ms to 1 s). */
size_t ty_log_near(const struct ty_log *l, uint64_t from_ns, uint64_t to_ns, size_t *first);
void ty_log_fini(struct ty_log *l);

/* Converts a wall-clock or monotonic time to trace time by the nearest correlation points; false
 * when there are none, or the time is out of range. */
bool ty_log_trace_time(const struct ty_model *m, enum ty_log_clock clock, uint64_t ns,
		       uint64_t *ts_ns);

#endif
