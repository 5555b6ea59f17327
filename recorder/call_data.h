/* SPDX-License-Identifier: MIT */
/*
 * Data behind the pointers of system calls, read by a BPF program during the call and written to
 * the file as TY_SEC_CALL_DATA. Nothing outlives the process: no program is pinned.
 */
#ifndef TY_CALL_DATA_H
#define TY_CALL_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spooled_section.h"

struct ty_call_data;

enum { TY_CALL_DATA_WHY = 200 };

/*
 * Loads the programs and attaches them to the calls. Call before the ring's own events are enabled,
 * so that data is read before the ring has the corresponding sys_enter or sys_exit. trace_all: all
 * threads are traced except those of this process; otherwise those named by ty_call_data_follow,
 * and their descendants. data_bytes: of each buffer that is read or written, at most TY_EV_BYTES
 * are recorded. cpus: ascending. NULL: unavailable; `why` is a clause with the remedy.
 */
struct ty_call_data *ty_call_data_open(const char *root, bool trace_all, unsigned data_bytes,
				       const unsigned *cpus, unsigned cpus_n,
				       char why[TY_CALL_DATA_WHY]);
/* Traces these, too. Returns how many were not traced before. */
size_t ty_call_data_follow(struct ty_call_data *e, const int *tids, size_t n);
/* Starts a thread that moves the data to the spool. False: as for open. */
bool ty_call_data_start(struct ty_call_data *e, struct ty_spool *spool, char why[TY_CALL_DATA_WHY]);
/* The section that it writes, for its counters; NULL: there is none. */
struct ty_spooled_section *ty_call_data_section(struct ty_call_data *e);
/* The names of the calls for the file's machine facts: "openat,execve,...". */
const char *ty_call_data_names(const struct ty_call_data *e);

/* The BPF map of traced threads (call_data_bpf.h, struct ty_ev_tids); borrowed. */
int ty_call_data_tids_fd(const struct ty_call_data *e);

struct ty_call_data_result {
	uint64_t records, lost; /* lost: a ring, or the section, was full, or not written */
	uint64_t left_out;	/* structures beyond TY_EV_RATE */
	bool failed;		/* some could not be written */
};
/*
 * Writes all remaining data and frees. A child process, for which the caller does not wait,
 * detaches the programs: the kernel takes 70 ms for each. It starts when the returned descriptor is
 * closed (-1: nothing to do); until then the programs have no effect. Close it after all trace
 * instances are removed, which would otherwise have to wait for it. NULL has no effect.
 */
int ty_call_data_finish(struct ty_call_data *e, struct ty_call_data_result *res);

/* True when ty_call_data_open would work. Loads the programs without attaching them. */
bool ty_call_data_available(char why[TY_CALL_DATA_WHY]);

#endif
