/* SPDX-License-Identifier: MIT */
/*
 * The events that a recording enables: tarry's defaults, if this kernel has them, and those added
 * by the user. Each goes to the top buffer or to the buffer of system calls (which a pid filter may
 * restrict).
 */
#ifndef TY_EVENT_SET_H
#define TY_EVENT_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "tracefs.h"
#include "vec.h"

struct ty_event_set_item {
	char *system, *event;
	char *filter;	/* NULL: none */
	bool syscalls;	/* belongs to the buffer of system calls */
	bool requested; /* requested by the user: a failure is an error, not a skip */
};

struct ty_event_set {
	VEC(struct ty_event_set_item) items;
	VEC(char *) skipped; /* "SYSTEM:EVENT reason" */
	VEC(char *) notes;   /* sentences about filters without effect */
};

/*
 * Selects from the events in `root`/events. specs: SYSTEM:EVENT[:FILTER], EVENT may be a shell
 * pattern. A spec only adds: an event that is recorded without filter stays so (a note says so),
 * and two filters on one event are or-ed. 0, -TY_EUSAGE (bad syntax), -TY_ENOTFOUND (no such
 * event), -TY_ENOMEM. Free it in any case.
 */
int ty_event_set_build(struct ty_event_set *set, const char *root, bool syscalls, bool sched,
		       const char *const *specs, size_t specs_n, struct ty_err *err);
/* Adds an event of tarry's own probes to the buffer of system calls, since it is recorded of traced
 * threads only. requested: as in struct ty_event_item. 0 or -TY_ENOMEM. */
int ty_event_set_add(struct ty_event_set *set, const char *system, const char *event,
		     bool requested);
void ty_event_set_fini(struct ty_event_set *set);
bool ty_event_set_has_syscalls(const struct ty_event_set *set);

/*
 * Enables the items of one buffer (or both, `everything`) in an instance. A default event that the
 * kernel refuses moves to skipped; a requested one is an error with the kernel's own text.
 */
int ty_event_set_enable(struct ty_event_set *set, const struct ty_instance *inst, bool syscalls,
			bool everything, struct ty_err *err);

#endif
