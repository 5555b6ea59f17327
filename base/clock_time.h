/* SPDX-License-Identifier: MIT */
/* A time of day as people type it, against the wall clock of a recording. */
#ifndef TY_CLOCK_TIME_H
#define TY_CLOCK_TIME_H

#include <stdint.h>

/* "12.5": seconds with at most nanoseconds, no sign, nothing behind. 0 or -TY_EUSAGE. */
int ty_parse_seconds(const char *s, uint64_t *ns);

/*
 * "HH:MM[:SS[.frac]]" in local time as nanoseconds from the start of a recording that began at
 * start_real_ns (wall clock) and is length_ns long: on the day of its start, or on the next day
 * where only that lies inside it. A time before the start is the start: 0. 0 or -TY_EUSAGE.
 */
int ty_parse_clock(const char *s, uint64_t start_real_ns, uint64_t length_ns, uint64_t *offset_ns);

#endif
