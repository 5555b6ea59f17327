/* SPDX-License-Identifier: MIT */
/*
 * Execs, forks, exits and executable mappings of all processes, from perf's side band (a ring per
 * CPU, of an event that does nothing else, so that nothing else can fill it), in the order of time,
 * although events of different CPUs may arrive out of order.
 *
 * Not thread-safe. Times: the trace clock.
 */
#ifndef TY_MAP_EVENTS_H
#define TY_MAP_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stack_record.h"

struct ty_map_events;

struct ty_map_event {
	enum { TY_MAP_EV_MAP, TY_MAP_EV_EXEC, TY_MAP_EV_FORK, TY_MAP_EV_EXIT, TY_MAP_EV_LOST } kind;
	uint32_t pid; /* LOST: none */
	uint64_t ns;
	struct ty_stk_map map;	     /* MAP */
	const char *text;	     /* text_n bytes, no NUL: MAP: the path; EXEC: the new name */
	size_t text_n;		     /* less than PATH_MAX */
	uint32_t parent, parent_tid; /* FORK, of a process */
	uint64_t since_ns; /* LOST: from then to ns, events are missing; 0: from the first */
};
typedef void ty_map_event_fn(void *ctx, const struct ty_map_event *e);

/* They begin now. NULL: errno says why not. */
struct ty_map_events *ty_map_events_open(const unsigned *cpus, unsigned n, ty_map_event_fn *fn,
					 void *ctx);
/* Of the i-th ring, for POLLIN; -1: there are no more. */
int ty_map_events_fd(const struct ty_map_events *e, unsigned i);
/* Empty the rings. Now and then, or one is full: that is noticed (LOST). The time of the newest
 * event so far. What happened before the last call lies here now, whatever CPU it was on. */
uint64_t ty_map_events_take(struct ty_map_events *e);
/* Give those up to ns to fn. */
void ty_map_events_give(struct ty_map_events *e, uint64_t ns);
void ty_map_events_free(struct ty_map_events *e);

#endif
