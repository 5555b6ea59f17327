/* SPDX-License-Identifier: MIT */
/*
 * Points and block requests: collected from the events during the build, read through model.h. For
 * priorities only changes are kept.
 */
#ifndef TY_POINTS_H
#define TY_POINTS_H

#include "model.h"
#include "vec.h"

struct ty_builder;
struct ty_event;

/*
 * Requests in flight, by device and first sector, in sets of a few ways: requests with a lost
 * completion neither grow without bound nor cost a search. Indices into io.
 */
#define TY_IO_SETS 512u
#define TY_IO_WAYS 8u

struct ty_io_log {
	VEC(struct ty_io) io;
	struct ty_io_open {
		uint64_t sector; /* the next one to complete */
		uint32_t io;	 /* index + 1; 0: free */
		uint32_t left;	 /* sectors */
	} * open;		 /* TY_IO_SETS * TY_IO_WAYS, allocated for the first request */
	/* Bios without a request so far, in sets as above; the oldest of a set is evicted. */
	struct ty_bio {
		uint64_t sector, ts_ns; /* ts_ns 0: free */
		uint32_t major, minor, sectors, thread;
	} * bio;
	uint64_t gap_ns; /* end of the last loss in the buffer of block events */
};

/* Adds an event of a kind that is kept, after the scheduler's state machine has processed it.
 * thread: the current one. Failures are sticky in b. */
void ty_points_event(struct ty_builder *b, const struct ty_event *ev, uint64_t ts);
/* Records the thread's priority on cpu when it differs from the last one. */
void ty_points_prio(struct ty_builder *b, uint32_t cpu, uint32_t thread, int32_t prio, uint64_t ts);
/* Events of the buffer of block events were lost up to `to`. */
void ty_points_gap(struct ty_builder *b, uint64_t to);
/* End of the events: requests in flight become open. */
void ty_points_finish(struct ty_builder *b, uint64_t end);

#endif
