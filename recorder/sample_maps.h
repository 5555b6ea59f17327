/* SPDX-License-Identifier: MIT */
/*
 * What sampled processes have mapped to be executed: in memory, to know what of a stack's copy
 * points to code, and in the file as TY_SEC_SAMPLING, to name what was sampled. A process is known
 * from its exec, from a fork of a known one, or from /proc/PID/maps, which may take long
 * (read_pool.h). What may have been missed is never used: after lost events a process is read
 * again.
 *
 * The owner's lock protects all of it. Times: the trace clock.
 */
#ifndef TY_SAMPLE_MAPS_H
#define TY_SAMPLE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "map_events.h"
#include "spooled_section.h"
#include "vec.h"

struct ty_sample_maps;

/* The id of the records' event. */
#define TY_SAMPLE_MAPS_ID UINT64_MAX

/* Code that a process ever mapped: in order, without overlaps. */
struct ty_code_range {
	uint64_t from, to;
};
typedef VEC(struct ty_code_range) ty_code_ranges;

/* trace_all: any process that maps code is known. NULL: out of memory. */
struct ty_sample_maps *ty_sample_maps_new(bool trace_all);
void ty_sample_maps_free(struct ty_sample_maps *m);
/* The section: its owner adds what goes before the mappings, starts it, and writes it. */
struct ty_spooled_section *ty_sample_maps_section(struct ty_sample_maps *m);

/* What the process has mapped, from ns on: known at once, unless it takes too long. */
void ty_sample_maps_know(struct ty_sample_maps *m, uint32_t pid, uint64_t ns);
/* What was read meanwhile. */
void ty_sample_maps_take(struct ty_sample_maps *m);
/* A ty_map_event_fn. */
void ty_sample_maps_event(void *maps, const struct ty_map_event *e);
/* Valid until the next call; NULL: unknown. */
const ty_code_ranges *ty_sample_maps_code(const struct ty_sample_maps *m, uint32_t pid);
/* NULL: nothing is. */
bool ty_is_code(const ty_code_ranges *r, uint64_t addr);

/* Wait for what is being read, at the end; how many processes it could not be read of. *full:
 * mappings were left out. */
size_t ty_sample_maps_end(struct ty_sample_maps *m, bool *full);

#endif
