/* SPDX-License-Identifier: MIT */
/*
 * Data behind the pointers of system calls, read by a BPF program during the call and written to
 * the file as TY_SEC_EVIDENCE. Nothing outlives the process: no program is pinned.
 */
#ifndef TY_EVIDENCE_H
#define TY_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool.h"

struct ty_evidence;

enum { TY_EVIDENCE_WHY = 200 };

/*
 * Loads the programs and attaches them to the calls. Call before the ring's own events are enabled,
 * so that data is read before the ring has the corresponding sys_enter or sys_exit. trace_all: all
 * threads are traced except those of this process; otherwise those named by ty_evidence_follow, and
 * their descendants. data_bytes: of each buffer that is read or written, at most TY_EV_BYTES are
 * recorded. NULL: unavailable; `why` is a clause with the remedy.
 */
struct ty_evidence *ty_evidence_open(const char *root, bool trace_all, unsigned data_bytes,
				     char why[TY_EVIDENCE_WHY]);
/* Traces these, too. Returns how many were not traced before. */
size_t ty_evidence_follow(struct ty_evidence *e, const int *tids, size_t n);
/* Starts a thread that moves the data to the spool. False: as for open. */
bool ty_evidence_start(struct ty_evidence *e, struct ty_spool *spool, const unsigned *cpus,
		       unsigned cpus_n, char why[TY_EVIDENCE_WHY]);
/* Number of the section's next piece. Thread-safe. */
uint64_t ty_evidence_piece(const struct ty_evidence *e);
/* Adjusts the section's size limit after pieces before that number were dropped. */
void ty_evidence_dropped(struct ty_evidence *e, uint64_t bytes);
/* Bytes written so far. Thread-safe. */
uint64_t ty_evidence_bytes(const struct ty_evidence *e);
/* The names of the calls for the file's machine facts: "openat,execve,...". */
const char *ty_evidence_names(const struct ty_evidence *e);

/* The BPF map of traced threads (evidence_bpf.h, struct ty_ev_tids); borrowed. */
int ty_evidence_tids_fd(const struct ty_evidence *e);

struct ty_evidence_result {
	uint64_t records, lost; /* lost: a ring, or the section, was full */
};
/*
 * Writes all remaining data and frees. A child process, for which the caller does not wait,
 * detaches the programs: the kernel takes 70 ms for each. It starts when the returned descriptor is
 * closed (-1: nothing to do); until then the programs have no effect. Close it after all trace
 * instances are removed, which would otherwise have to wait for it. NULL has no effect.
 */
int ty_evidence_finish(struct ty_evidence *e, struct ty_evidence_result *res);

/* True when ty_evidence_open would work. Loads the programs without attaching them. */
bool ty_evidence_available(char why[TY_EVIDENCE_WHY]);

#endif
