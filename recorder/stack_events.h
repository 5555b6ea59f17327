/* SPDX-License-Identifier: MIT */
/*
 * Execs, forks, exits and mappings of everybody, from perf's side band (a ring per CPU), given to
 * stack_maps.h in the order of time: what happened on one CPU may come later than what followed on
 * another one, so nothing is given before each ring was emptied once more.
 */
#ifndef TY_STACK_EVENTS_H
#define TY_STACK_EVENTS_H

#include <stdbool.h>

#include "stack_maps.h"

struct ty_stack_events;

/* They begin now. maps: borrowed. NULL: errno says why not. */
struct ty_stack_events *ty_stack_events_open(struct ty_stack_maps *maps, const unsigned *cpus,
					     unsigned n);
/* Of the i-th ring, for POLLIN; -1: there are no more. */
int ty_stack_events_fd(const struct ty_stack_events *e, unsigned i);
/* Empty the rings and give what is in order, or (all) everything. Now and then, or a ring is full:
 * that is noticed (ty_stack_maps_lost). */
void ty_stack_events_drain(struct ty_stack_events *e, bool all);
void ty_stack_events_free(struct ty_stack_events *e);

#endif
