/* SPDX-License-Identifier: MIT */
/* One pass over a recording's events that finds the object each system call acts on: its first
 * descriptor, path or futex word (ty_sysrow.object), by the name that it has when the call begins
 * (fd_track.h). */
#ifndef TY_OBJECT_WALK_H
#define TY_OBJECT_WALK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "session.h"
#include "syscall_pair.h"

enum ty_object_kind {
	TY_OBJECT_FILE,
	TY_OBJECT_PIPE,
	TY_OBJECT_SOCKET,
	TY_OBJECT_DEVICE,
	TY_OBJECT_LOCK,
	TY_OBJECT_FUTEX,
	TY_OBJECT_OTHER,
	TY_OBJECT_UNKNOWN /* a descriptor without a name */
};

struct ty_thread_names;

#define TY_OBJECT_NONE INT64_MIN

struct ty_object_walk {
	void *ctx;
	uint64_t to_ns;		       /* calls that begin later are not wanted */
	const atomic_bool *stop;       /* set by another thread: -TY_EINTR; NULL: never */
	atomic_uint *permille;	       /* how far it is, of the recording's events; NULL */
	uint64_t first_ns, last_ns;    /* for that: of the recording */
	struct ty_thread_names *comms; /* made by the walk: names of threads at the current event */
	/* The number of an object, from 0; -1: it is not wanted; -TY_ENOMEM. own: its name
	 * identifies it only within the process. */
	int64_t (*object)(void *ctx, enum ty_object_kind kind, const char *name, int32_t tid,
			  int32_t pid, bool own);
	/* A call on an object (-1: not wanted) is over, or was still open at end_ns. 0 or
	 * -TY_E... */
	int (*over)(void *ctx, int64_t object, const struct ty_call *c, uint64_t end_ns,
		    int32_t pid);
	int32_t polled_fd; /* during `over`: the object's descriptor, of a poll or select; else -1
			    */
};

/* 0 or -TY_E... with err. */
int ty_object_walk(struct ty_session *s, struct ty_object_walk *w, struct ty_err *err);

#endif
