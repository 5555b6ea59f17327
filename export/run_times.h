/* SPDX-License-Identifier: MIT */
/*
 * How long threads ran, by switches, as the event from which perf sched adds up run times
 * (sched:sched_stat_runtime, which is not recorded by default). Only runs whose start and end were
 * recorded count.
 */
#ifndef TY_RUN_TIMES_H
#define TY_RUN_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "event.h"

struct ty_run_times;

/* An id of 65536 that is not taken; 0: there is none. */
uint16_t ty_run_times_id(const bool taken[65536]);
/* NULL: out of memory. */
struct ty_run_times *ty_run_times_new(void);
void ty_run_times_free(struct ty_run_times *r);
/* All events in order. Nanoseconds that the thread before a switch had run since its own switch or
 * from_ns; 0: no run has ended, or its start is unknown. */
uint64_t ty_run_times_feed(struct ty_run_times *r, const struct ty_event *ev, uint64_t from_ns);
/* The event's format, and its record: run_ns of the thread that ended with the switch. */
void ty_run_times_format(uint16_t id, struct ty_buf *out);
void ty_run_times_record(uint16_t id, const struct ty_event *ev, const char *comm, uint64_t run_ns,
			 struct ty_buf *out);

#endif
