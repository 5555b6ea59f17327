/* SPDX-License-Identifier: MIT */
/*
 * Performance counters of the traced threads: read whenever one is switched in or out, and while it
 * runs a hundred times a second, into the file as TY_SEC_COUNTERS.
 */
#ifndef TY_COUNTERS_REC_H
#define TY_COUNTERS_REC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"
#include "call_data.h"
#include "spooled_section.h"

struct ty_counters_rec;

/*
 * Opens the counters of n groups ("EVENT,EVENT...", a list that is counted together) on each CPU.
 * e: as with ty_sampler_open. 0 or -TY_E...: err says which event or group cannot be counted, and
 * why.
 */
int ty_counters_open(struct ty_counters_rec **out, const char *const *groups, size_t n,
		     const struct ty_call_data *e, const char *tracefs, const unsigned *cpus,
		     unsigned cpus_n, struct ty_err *err);
/* Descriptors that it needs, at most. */
unsigned ty_counters_fds(const char *const *groups, size_t n, unsigned cpus_n);
/* The facts of TY_SEC_MACHINE: a line "counter=GROUP UNIT NAME" each. */
void ty_counters_facts(const struct ty_counters_rec *c, struct ty_buf *out);
/* Count from now on, into the spool, by a thread of its own. */
int ty_counters_start(struct ty_counters_rec *c, struct ty_spool *spool, struct ty_err *err);
/* The section that it writes, for its counters; NULL: there is none. */
struct ty_spooled_section *ty_counters_section(struct ty_counters_rec *c);

struct ty_counters_result {
	uint64_t readings, lost; /* lost: no room in a ring, or in the section */
	bool failed;		 /* the rest could not be put */
};
/* Put all that is left and free. NULL: the result is empty. */
void ty_counters_finish(struct ty_counters_rec *c, struct ty_counters_result *res);

#endif
