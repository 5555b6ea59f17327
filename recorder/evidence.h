/* SPDX-License-Identifier: MIT */
/*
 * What lies behind the pointers of system calls, read by a BPF program while they are made and
 * put into the file as TY_SEC_EVIDENCE. Nothing of it outlives the process: no program is pinned.
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
 * Load the programs and hook the calls; to be called before the ring's own events are on, so that
 * what is read at either end of a call is read before the ring has that end. everybody: all
 * threads are traced but those of this process; else those that ty_evidence_follow names, with
 * what they make. NULL: not to be had here; `why` is a clause, with what to do.
 */
struct ty_evidence *ty_evidence_open(const char *root, bool everybody, char why[TY_EVIDENCE_WHY]);
/* Trace these, too. How many were not traced before. */
size_t ty_evidence_follow(struct ty_evidence *e, const int *tids, size_t n);
/* Put what comes from now on into the spool, from a thread of its own. false: as with open. */
bool ty_evidence_start(struct ty_evidence *e, struct ty_spool *spool, const unsigned *cpus,
		       unsigned cpus_n, char why[TY_EVIDENCE_WHY]);
/* The number of the next piece of the section. Thread-safe. */
uint64_t ty_evidence_piece(const struct ty_evidence *e);
/* Forget what pieces before that number held of the section's limit: they are no longer there. */
void ty_evidence_dropped(struct ty_evidence *e, uint64_t bytes);
/* Bytes put so far. Thread-safe. */
uint64_t ty_evidence_bytes(const struct ty_evidence *e);
/* The names of the calls, as in the file's machine facts: "openat,execve,...". */
const char *ty_evidence_names(const struct ty_evidence *e);

/* The BPF map of who is traced (evidence_bpf.h, struct ty_ev_tids); borrowed. */
int ty_evidence_tids_fd(const struct ty_evidence *e);

struct ty_evidence_result {
	uint64_t records, lost; /* lost: there was no room in a ring, or in the section */
	bool failed;		/* the rest could not be put */
};
/*
 * Put all that is left and free. The hooks are removed by a child process that the caller does not
 * wait for: the kernel takes 70 ms for each. It begins when the descriptor that is returned is
 * closed (-1: nothing to do), until which they do nothing; best after all trace instances are gone,
 * because these would have to wait for it. NULL does nothing.
 */
int ty_evidence_finish(struct ty_evidence *e, struct ty_evidence_result *res);

/* Would ty_evidence_open work? The programs are loaded, not hooked. */
bool ty_evidence_available(char why[TY_EVIDENCE_WHY]);

#endif
