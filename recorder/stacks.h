/* SPDX-License-Identifier: MIT */
/*
 * Records the user stacks of long waits (copied during the wait) and of their wakers as
 * TY_SEC_STACKS, and the mappings of the processes as TY_SEC_MAPS. Nothing remains after the
 * process ends: no BPF program is pinned.
 */
#ifndef TY_STACKS_H
#define TY_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "command_lines.h"
#include "call_data.h"
#include "python_stacks.h"
#include "spooled_section.h"
#include "tracefs.h"

struct ty_stacks;

#define TY_STACKS_MIN_NS     2000000ull
#define TY_STACKS_DEFAULT_NS 20000000ull

/*
 * Loads and attaches the programs; they do nothing yet. Traces the threads that `e` traces; e must
 * outlive the stacks. NULL: not available here; `why` is a clause.
 */
struct ty_stacks *ty_stacks_open(const struct ty_call_data *e, bool trace_all, uint64_t min_ns,
				 char why[TY_CALL_DATA_WHY]);
/* Before the start: these processes and what they make are traced; where all are, this is not
 * needed. */
void ty_stacks_know(struct ty_stacks *s, const int *pids, size_t n);
/* Before the start: the command lines of processes whose waits are copied are read. NULL does
 * nothing. */
void ty_stacks_name(struct ty_stacks *s, struct ty_command_lines *commands);
/* Starts threads that write new data to the spool, with times by `clock`. Mappings are written only
 * at the end if parts of the file may be dropped meanwhile. false: as with open. */
bool ty_stacks_start(struct ty_stacks *s, struct ty_spool *spool, const struct ty_instance *clock,
		     const unsigned *cpus, unsigned cpus_n, bool maps_last,
		     char why[TY_CALL_DATA_WHY]);
/* The section that it writes, for its counters; NULL: there is none. */
struct ty_spooled_section *ty_stacks_section(struct ty_stacks *s);

struct ty_stacks_result {
	uint64_t stacks, limited, lost; /* limited: too many; lost: no room, or not
					 * written */
	uint64_t late_ns; /* time without a scan that was due: there are many threads, or the CPUs
			     are busy */
	uint64_t maps_unread; /* processes whose mappings could not be read before the end */
	uint64_t locks_left;  /* reads of locks that were left out: too many at a time */
	struct ty_python_result python;
	bool maps_full;	       /* mappings were left out: there were too many */
	bool too_many_threads; /* more threads than there are slots */
	bool failed;	       /* the rest could not be put */
};
/* Put all that is left and free. NULL does nothing. */
void ty_stacks_finish(struct ty_stacks *s, struct ty_stacks_result *res);

#endif
