/* SPDX-License-Identifier: MIT */
/*
 * Converts trace time to wall-clock time while events stream by, from the recorder's clock markers
 * (section.h, TY_CLOCK_MARKER). A time is converted by the last marker before it (the first one for
 * earlier times), so that steps of the system's clock appear when they happened. Alternatively
 * times are shown in another clock (--clock).
 */
#ifndef TY_WALL_CLOCK_H
#define TY_WALL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "buf.h"
#include "time_format.h"
#include "err.h"
#include "event.h"
#include "events.h"
#include "trace.h"
#include "vec.h"

struct ty_wall_point {
	uint64_t ts_ns, realtime_ns;
};

struct ty_wall {
	VEC(struct ty_wall_point) points;
	enum ty_clock clock; /* shown */
	uint64_t start_ns;   /* first event (of a cut, the original's), for TY_CLOCK_START */
	unsigned decimals;   /* at most 9 */
	int64_t sec;	     /* second cached in hms; INT64_MIN: none */
	char hms[9];
};

/* Wall clock and microseconds, unless the members are changed. */
void ty_wall_init(struct ty_wall *w);
void ty_wall_fini(struct ty_wall *w);

/*
 * Finds the origin of w->clock: reads from the source's first event, to the end when there is no
 * marker, then rewinds. The recorder writes one at the start, so this is slow only when that was
 * lost; files of other programs have none and are not searched. 0 or -TY_E...; points.n is 0 when
 * there is no marker.
 */
int ty_wall_find(struct ty_wall *w, const struct ty_trace *t, struct ty_events *es,
		 struct ty_err *err);

/* Reads the MACHINE section (NULL: none): in a file cut out of another one it has the last marker
 * before its window. 0 or -TY_ENOMEM. */
int ty_wall_machine(struct ty_wall *w, const char *text);

/* Learns from an event. 0 or -TY_ENOMEM. */
int ty_wall_feed(struct ty_wall *w, const struct ty_event *ev);

/* false without any marker. */
bool ty_wall_realtime(const struct ty_wall *w, uint64_t ts_ns, uint64_t *realtime_ns);

/* "14:03:22.512345" in local time; "1234.567890" in the other clocks, and in the trace clock
 * without any marker. */
void ty_wall_fmt(struct ty_wall *w, uint64_t ts_ns, struct ty_buf *out);

#endif
