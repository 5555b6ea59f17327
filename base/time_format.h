/* SPDX-License-Identifier: MIT */
/* Times as users type them, and the clocks in which times are shown (--clock). */
#ifndef TY_TIME_FORMAT_H
#define TY_TIME_FORMAT_H

#include <stdint.h>

/* Origin of a displayed time. */
enum ty_clock {
	TY_CLOCK_START, /* seconds from the start of the recording */
	TY_CLOCK_WALL,	/* local time of day */
	TY_CLOCK_TRACE	/* seconds of the trace clock, as in the file */
};

/* "start", "wall", "trace". 0 or -TY_EUSAGE. */
int ty_parse_clock_name(const char *s, enum ty_clock *clock);

/* "12.345678": seconds, with the number of decimals that res_ns needs (at most 9); returns out. */
#define TY_TIME_MAX 40
const char *ty_fmt_seconds(uint64_t ns, uint64_t res_ns, char out[TY_TIME_MAX]);
/* The last decimal shown, in ns: later ones are cut; half of it added, they are rounded. */
uint64_t ty_fmt_unit(uint64_t res_ns);
/* The same for a time since start_ns; of an earlier one 0. */
const char *ty_fmt_since(uint64_t t_ns, uint64_t start_ns, uint64_t res_ns, char out[TY_TIME_MAX]);
/* "14:03:22.512345": local time of day, with decimals as above. */
const char *ty_fmt_clock(uint64_t realtime_ns, uint64_t res_ns, char out[TY_TIME_MAX]);

/* "12.5": unsigned seconds with at most nine decimals and no trailing text. 0 or -TY_EUSAGE. */
int ty_parse_seconds(const char *s, uint64_t *ns);

#endif
