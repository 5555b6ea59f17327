/* SPDX-License-Identifier: MIT */
/* Time, calls and bytes of system calls by the object that they act on: file, pipe, socket, device,
 * file lock, futex. */
#ifndef TY_OBJECT_TOTALS_H
#define TY_OBJECT_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#include "fd_peer.h"
#include "session.h"
#include "window.h"

struct ty_object {
	uint64_t total_ns, max_ns; /* within the window */
	uint64_t calls, failed;
	uint64_t received, sent; /* bytes */
	const char *kind;	 /* "file", "pipe", "socket", "device", "lock", "futex", "other",
				  * "unknown": a descriptor without a name */
	const char *name; /* as in ty_fd_track_name; without a name, the number with its process:
			     "fd 7 of sh/12" */
	const char *peer; /* of a pipe or socket, in the longest call: "to nginx/12", "from
			   * gzip/7", "with .."; NULL: unknown, or beyond the first 100 objects */
	int32_t pid;	  /* of the first call */
	int32_t max_tid, max_fd; /* of the longest call; -1: it has no descriptor */
	uint64_t max_at_ns;
	bool several; /* other processes use it, too */
};
struct ty_object_totals {
	struct ty_object *v; /* by total_ns */
	size_t n;
	uint64_t left_out_ns, left_out; /* time and calls beyond the maximum number of objects */
	struct ty_strtab *texts;
	char (*peers)[TY_FD_PEER + 8]; /* of the first ones */
};

/* One pass over the session's events. A call counts with its part in the window, also one that had
 * not ended. 0 or -TY_E... with err; call fini in any case. */
int ty_object_totals_find(struct ty_session *s, const struct ty_window *w,
			  struct ty_object_totals *out, struct ty_err *err);
void ty_object_totals_fini(struct ty_object_totals *o);

#endif
