/* SPDX-License-Identifier: MIT */
/*
 * The event of a performance counter by its name, as perf stat takes it: software, hardware and
 * cache events, rNNN, PMU/TERM=VALUE,.../, tracepoints (SYSTEM:EVENT), each with the modifiers u
 * and k. Sources: perf-list(1), perf_event_open(2), /sys/bus/event_source/devices/PMU/format.
 */
#ifndef TY_COUNTER_EVENT_H
#define TY_COUNTER_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "err.h"

#define TY_COUNTER_DEVICES "/sys/bus/event_source/devices"
enum { TY_COUNTER_NAME = 96 };

struct ty_counter_event {
	struct perf_event_attr attr;
	char name[TY_COUNTER_NAME]; /* as given */
	bool is_time;		    /* it counts nanoseconds */
};

/*
 * The event of a name p[0..n). tracefs: its root, for tracepoints. 0; -TY_EUSAGE or -TY_ENOTFOUND:
 * err says what is wrong with the name, or what this machine lacks; -TY_EUNSUPPORTED: it is not
 * counted per CPU, so that no thread can be given its share.
 */
int ty_counter_event(const char *p, size_t n, const char *devices, const char *tracefs,
		     struct ty_counter_event *out, struct ty_err *err);
/* The length of the first name of a list separated by commas, which terms of a PMU have, too. */
size_t ty_counter_name_length(const char *list);

#endif
