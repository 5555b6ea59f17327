/* SPDX-License-Identifier: MIT */
/*
 * Trace time to wall-clock time while events stream by: from the recorder's clock markers
 * (section.h, TY_CLOCK_MARKER). A time is converted by the last marker before it (the first one for
 * times before that), so that steps of the system's clock are followed as they happened. Or the
 * time is shown in another clock (--clock).
 */
#ifndef TY_WALL_CLOCK_H
#define TY_WALL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "buf.h"
#include "clock_time.h"
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
	uint64_t start_ns;   /* first event, for TY_CLOCK_START */
	unsigned decimals;   /* at most 9 */
	int64_t sec;	     /* the second that hms stands for; INT64_MIN: none yet */
	char hms[9];
};

/* Wall clock and microseconds, until the members say otherwise. */
void ty_wall_init(struct ty_wall *w);
void ty_wall_fini(struct ty_wall *w);

/*
 * Find what w->clock counts from: reads on from the source's first event, to the end when there is
 * no marker, then rewinds it. The recorder writes one at the start; only where that was lost is
 * this long; files of others have none and are not searched. 0 or -TY_E...; points.n tells whether
 * there is a marker.
 */
int ty_wall_find(struct ty_wall *w, const struct ty_trace *t, struct ty_events *es,
		 struct ty_err *err);

/* Learn from the MACHINE section (NULL: none): a file that was cut out of another one has the
 * marker before its window there. 0 or -TY_ENOMEM. */
int ty_wall_machine(struct ty_wall *w, const char *text);

/* Learn from an event. 0 or -TY_ENOMEM. */
int ty_wall_feed(struct ty_wall *w, const struct ty_event *ev);

/* false without any marker. */
bool ty_wall_realtime(const struct ty_wall *w, uint64_t ts_ns, uint64_t *realtime_ns);

/* "14:03:22.512345" in local time; "1234.567890" in the other clocks, and in the trace clock
 * without any marker. */
void ty_wall_fmt(struct ty_wall *w, uint64_t ts_ns, struct ty_buf *out);

#endif
