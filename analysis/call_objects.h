/* SPDX-License-Identifier: MIT */
/*
 * The file, pipe, socket or device that each system call of a model acts on, by name, for searching
 * in many calls (of one call: call_args.h). Filled by session/call_objects_load.h.
 *
 * Memory: 4 bytes per call of the model, and the names.
 */
#ifndef TY_CALL_OBJECTS_H
#define TY_CALL_OBJECTS_H

#include <stdint.h>

#include "strtab.h"

struct ty_call_objects {
	uint32_t *of; /* by call: an id in `names`; 0: it acts on none, or its name is unknown */
	uint32_t calls;
	struct ty_strtab *names;
};

/* The id of the call's object in `names`; 0: none. o may be NULL. */
static inline uint32_t ty_call_objects_of(const struct ty_call_objects *o, uint32_t call)
{
	return o && call < o->calls ? o->of[call] : 0;
}

#endif
