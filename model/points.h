/* SPDX-License-Identifier: MIT */
/*
 * Points and block requests: kept from the events while the model is built, read through model.h.
 * Of priorities only changes are kept.
 */
#ifndef TY_POINTS_H
#define TY_POINTS_H

#include "model.h"
#include "vec.h"

struct ty_builder;
struct ty_event;

/*
 * Requests under way, by device and first sector: sets of a few ways, so that requests whose
 * completion was lost neither grow without bound nor cost a search. Indices into io.
 */
#define TY_IO_SETS 512u
#define TY_IO_WAYS 8u

struct ty_io_log {
	VEC(struct ty_io) io;
	struct ty_io_open {
		uint64_t sector; /* the next to be completed */
		uint32_t io;	 /* index + 1; 0: free */
		uint32_t left;	 /* sectors */
	} * open;		 /* TY_IO_SETS * TY_IO_WAYS, at the first request */
	/* Bios without a request yet, in sets as above: the oldest of a set gives way. */
	struct ty_bio {
		uint64_t sector, ts_ns; /* ts_ns 0: free */
		uint32_t major, minor, sectors, thread;
	} * bio;
	uint64_t gap_ns; /* end of the last loss in the buffer of block events */
};

/* An event of a kind that is kept, after the scheduler's state machine has seen it. thread: who was
 * current. Failures are sticky in b. */
void ty_points_event(struct ty_builder *b, const struct ty_event *ev, uint64_t ts);
/* The thread is seen with this priority on cpu: kept when it is another one than before. */
void ty_points_prio(struct ty_builder *b, uint32_t cpu, uint32_t thread, int32_t prio, uint64_t ts);
/* Events of the buffer of block events were lost up to `to`. */
void ty_points_gap(struct ty_builder *b, uint64_t to);
/* No more events: what is still under way is open. */
void ty_points_finish(struct ty_builder *b, uint64_t end);

#endif
