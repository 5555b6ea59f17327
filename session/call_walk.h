/* SPDX-License-Identifier: MIT */
/*
 * What calls mean while a stream of events is processed: start and end of each (syscall_pair.h),
 * the process of a thread, the names of its descriptors, and the data behind its pointers. The
 * owner feeds all events in order, and reads the calls of each step between these functions.
 */
#ifndef TY_CALL_WALK_H
#define TY_CALL_WALK_H

#include "call_data_index.h"
#include "fd_track.h"
#include "session.h"
#include "syscall_pair.h"
#include "tgid_map.h"

struct ty_call_walk {
	struct ty_pairs *pairs;
	struct ty_tgid_map *tgids;
	struct ty_fd_track *fds;
	struct ty_call_data_index *strings; /* NULL: none are recorded */
};

/* 0 or -TY_ENOMEM; fini in either case. */
int ty_call_walk_init(struct ty_call_walk *w, struct ty_session *s);
void ty_call_walk_fini(struct ty_call_walk *w);
/* lost: it is a gap in which calls may be missing. Fills *step. 0 or -TY_E... */
int ty_call_walk_feed(struct ty_call_walk *w, const struct ty_event *ev, bool lost,
		      struct ty_pair_step *step, struct ty_err *err);
/* For each call of step->done: its descriptors and data are as they are after it. 0 or
 * -TY_ENOMEM. */
int ty_call_walk_end(struct ty_call_walk *w, const struct ty_call *c);
/* For the call that a step started, after it was looked at. */
void ty_call_walk_begin(struct ty_call_walk *w, const struct ty_call *c);

#endif
