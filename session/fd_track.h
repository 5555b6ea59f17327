/* SPDX-License-Identifier: MIT */
/*
 * What each descriptor of each process is while a stream of calls goes by: those that were open
 * before the recording (section.h, TY_SEC_FDS), and those that recorded calls make, copy and close;
 * and the working directory. Nothing is concluded: what no call is known to have made has no name.
 */
#ifndef TY_FD_TRACK_H
#define TY_FD_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"
#include "evidence_index.h"
#include "syscall_pair.h"

struct ty_fd_track;

/* fds, machine: the texts of TY_SEC_FDS and TY_SEC_MACHINE; NULL: there are none. arch, strings
 * (NULL: none were recorded) are borrowed. NULL: out of memory. */
struct ty_fd_track *ty_fd_track_new(const struct ty_sysarch *arch, const char *fds,
				    const char *machine, const struct ty_evidence_index *strings);
void ty_fd_track_free(struct ty_fd_track *t);

/*
 * What is fed, in the order of the events: the calls that it follows. One of the process that
 * begins: what it closes or replaces has no name for the calls that begin from then on. One that is
 * over, before ty_evidence_over: 0 or -TY_ENOMEM.
 */
bool ty_fd_track_follows(const struct ty_fd_track *t, const struct ty_call *c);
void ty_fd_track_begin(struct ty_fd_track *t, int32_t pid, const struct ty_call *c);
int ty_fd_track_end(struct ty_fd_track *t, int32_t pid, const struct ty_call *c);
/* Births and ends of processes. pid: of the process in which the event happened; since_ns: when the
 * call that makes the child began (0: not known). 0 or -TY_ENOMEM. */
int ty_fd_track_event(struct ty_fd_track *t, const struct ty_event *ev, int32_t pid,
		      uint64_t since_ns);
/* Events were lost: what was open is no longer known. */
void ty_fd_track_lost(struct ty_fd_track *t);

/*
 * The name of descriptor fd of the process now, at ts_ns; of AT_FDCWD its working directory. As
 * /proc/PID/fd has it, but that paths are those that were given to the call that opened them, made
 * absolute where the folder they start from is known. 0: not known.
 */
uint32_t ty_fd_track_name(const struct ty_fd_track *t, int32_t pid, int32_t fd, uint64_t ts_ns);
/* The text of a name; NULL for 0. Borrowed until the next ty_fd_track_end. */
const char *ty_fd_track_text(const struct ty_fd_track *t, uint32_t name);

#endif
