/* SPDX-License-Identifier: MIT */
/*
 * The time that stands in a line of a log, or that somebody typed. Bytes are untrusted.
 *
 * A time stamp stands within the first TY_LOG_HEAD bytes of a line, at its start or behind a blank,
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
#ifndef TY_LOG_TIME_H
#define TY_LOG_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TY_LOG_HEAD 64 /* bytes of a line in which its time is looked for */

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
	bool local;    /* no zone in it: local time */
	bool doubtful; /* that local time is there twice, or not at all */
	uint16_t end;  /* bytes of the line up to the time's end */
	bool first;    /* nothing but a bracket is before it */
};

/* The time stamp of a line of n bytes; near_ns: wall clock of the recording, for the year. False
 * without one. */
bool ty_log_stamp(const char *line, size_t n, uint64_t near_ns, struct ty_log_stamp *out);

/*
 * What somebody typed, whole: "HH:MM[:SS[.frac]]" in local time (on the day on which a recording
 * began that is length_ns long, at start_real_ns of the wall clock, or on the next day where only
 * that lies inside it), or any of the forms above but dmesg's; as wall clock. 0; 1: a local time
 * that is there twice, or not at all; -TY_EUSAGE: no such time.
 */
int ty_wall_time(const char *s, uint64_t start_real_ns, uint64_t length_ns, uint64_t *real_ns);
/* Is it one by its looks: with a colon, or ten digits and more (and a fraction), nothing else? */
bool ty_wall_looks(const char *s);

#endif
