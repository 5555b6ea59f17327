/* SPDX-License-Identifier: MIT */
/*
 * Parses the time in a line of a log, or one typed by the user. Bytes are untrusted.
 *
 * A time stamp is within the first TY_LOG_HEAD bytes of a line, at its start or after a blank,
 * bracket, quote or colon:
 *   ISO 8601 / RFC 3339   2024-05-06T07:08:09[.,frac][Z|+hh[:]mm], also a blank instead of T and
 *                         slashes instead of dashes
 *   RFC 3164 (syslog)     May  6 07:08:09[.frac]: the year is that of the recording
 *   day/month/year        06/May/2024:07:08:09 +0000 (web servers), 06 May 2024 07:08:09[.frac]
 *                         (Redis, mail)
 *   glog                  I0506 07:08:09.frac: at the line's start only; the year as of syslog
 *   epoch                 1715000000[.frac], 13 digits ms, 16 us, 19 ns: at the line's start, or
 *                         behind a key: "ts":, "time":, "timestamp":, "@timestamp":, or ts= ...
 *   dmesg                 [12345.678901]: the monotonic clock; at the line's start only, with
 *                         bracket
 * A time of day without a zone is taken as local time.
 */
#ifndef TY_LOG_TIMESTAMP_H
#define TY_LOG_TIMESTAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TY_LOG_HEAD 64 /* part of a line that is searched for a time */

enum ty_log_clock { TY_LOG_NONE, TY_LOG_REALTIME, TY_LOG_MONOTONIC };
enum ty_log_format {
	TY_LOG_ISO,
	TY_LOG_SYSLOG,
	TY_LOG_DAY_FIRST,
	TY_LOG_GLOG,
	TY_LOG_EPOCH,
	TY_LOG_DMESG,
	TY_LOG_FORMATS
};
const char *ty_log_format_name(enum ty_log_format f);

struct ty_log_stamp {
	uint64_t ns;   /* of its clock */
	uint8_t clock; /* enum ty_log_clock */
	uint8_t format;
	bool local;    /* without a zone: local time */
	bool doubtful; /* ambiguous or nonexistent local time */
	uint16_t end;  /* offset of the time's end in the line */
	bool first;    /* only a bracket precedes it */
};

/* Parses the time stamp of a line of n bytes; near_ns: wall clock of the recording, for the year.
 * False without one. */
bool ty_log_stamp(const char *line, size_t n, uint64_t near_ns, struct ty_log_stamp *out);

/*
 * Parses a typed time: "HH:MM[:SS[.frac]]" in local time (on the day on which a recording of
 * length_ns began, at start_real_ns of the wall clock, or on the next day if only that is inside
 * it), or any of the forms above except dmesg's; as wall clock. 0; 1: ambiguous or nonexistent
 * local time; -TY_EUSAGE: not a time.
 */
int ty_wall_time(const char *s, uint64_t start_real_ns, uint64_t length_ns, uint64_t *real_ns);
/* True when it looks like one: with a colon, or ten or more digits (with a fraction) and nothing
 * else. */
bool ty_wall_time_like(const char *s);

#endif
