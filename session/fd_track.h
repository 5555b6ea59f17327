/* SPDX-License-Identifier: MIT */
/*
 * Names of descriptors per process while a stream of calls is processed: those open before the
 * recording (section.h, TY_SEC_FDS), and those that recorded calls create, copy and close; and the
 * working directory. Nothing is inferred: a descriptor not created by a known call has no name.
 */
#ifndef TY_FD_TRACK_H
#define TY_FD_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "event.h"
#include "call_data_index.h"
#include "syscall_pair.h"
#include "trace.h"

struct ty_fd_track;

/* With what is known where the recording begins. arch, strings (NULL: none were recorded) are
 * borrowed. NULL: out of memory. */
struct ty_fd_track *ty_fd_track_new(const struct ty_trace *t, const struct ty_sysarch *arch,
				    const struct ty_call_data_index *strings);
void ty_fd_track_free(struct ty_fd_track *t);

/*
 * Calls to feed, in event order: those for which ty_fd_track_follows is true. At a call's begin: a
 * descriptor that it closes or replaces has no name for calls that begin later. At its end, before
 * ty_call_data_over: 0 or -TY_ENOMEM.
 */
bool ty_fd_track_follows(const struct ty_fd_track *t, const struct ty_call *c);
void ty_fd_track_begin(struct ty_fd_track *t, int32_t pid, const struct ty_call *c);
int ty_fd_track_end(struct ty_fd_track *t, int32_t pid, const struct ty_call *c);
/* Forks and exits of processes. pid: the process of the event; since_ns: start of the call that
 * creates the child (0: unknown). 0 or -TY_ENOMEM. */
int ty_fd_track_event(struct ty_fd_track *t, const struct ty_event *ev, int32_t pid,
		      uint64_t since_ns);
/* After lost events: all names become unknown. */
void ty_fd_track_lost(struct ty_fd_track *t);

/*
 * Id of the name of descriptor fd of the process at ts_ns (current time); for AT_FDCWD its working
 * directory. As in /proc/PID/fd, except that paths are those passed to the call that opened them,
 * made absolute when the starting directory is known. 0: unknown.
 */
uint32_t ty_fd_track_name(const struct ty_fd_track *t, int32_t pid, int32_t fd, uint64_t ts_ns);
/* Id of the path that argument arg of a call pointed to, as above (of an empty one the name of the
 * descriptor before it); 0: unknown. Call it at the
 * call's end, before ty_fd_track_end and ty_call_data_over. */
uint32_t ty_fd_track_path(struct ty_fd_track *t, int32_t pid, const struct ty_call *c,
			  unsigned arg);
/* How a pipe's descriptor is used: 'r', 'w'; 0: unknown. */
char ty_fd_track_access(const struct ty_fd_track *t, int32_t pid, int32_t fd);
/* Calls fn for each descriptor with a name that is open now, and for pipes and unix sockets closed
 * since since_ns (of the last TY_FD_TRACK_GONE), until it returns false. */
enum { TY_FD_TRACK_GONE = 4096 };
void ty_fd_track_each(const struct ty_fd_track *t, uint64_t since_ns,
		      bool (*fn)(void *ctx, int32_t pid, uint32_t name, char access), void *ctx);
/* The text of a name; NULL for 0. Borrowed until the next ty_fd_track_end. */
const char *ty_fd_track_text(const struct ty_fd_track *t, uint32_t name);

/* Appends the lines of a TY_SEC_FDS section for a recording that begins now, at from_ns (trace
 * clock). before: the section that this one began with (NULL: none), whose incomplete lists stay
 * incomplete. lost: events were lost since then: no list is complete. */
void ty_fd_track_list(const struct ty_fd_track *t, uint64_t from_ns, const char *before, bool lost,
		      struct ty_buf *out);

#endif
