/* SPDX-License-Identifier: MIT */
/*
 * Block requests of a wait: those that the thread that waits submitted or issued, but for what was
 * read ahead, and the one whose completion ended the wait. A device explains a wait only for the
 * time in which one of them was in flight; before that they were queued, as far as
 * block:block_bio_queue is recorded. What the block layer throttles by cgroup is submitted to it
 * again, by a kernel thread, when its time has come (Linux block/blk-throttle.c since 5.18): of
 * that the thread's wait has no request.
 */
#ifndef TY_BLOCK_REQUESTS_H
#define TY_BLOCK_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"
#include "wakeup.h"

#define TY_FLIGHTS 64

struct ty_flight {
	uint64_t from_ns, to_ns;
	uint32_t io; /* the one that lasted longest in it */
	bool queued; /* before its issue; else at the device */
};

/* Is the request of this thread? */
bool ty_block_is_of(const struct ty_model *m, const struct ty_io *io, uint32_t thread);
/*
 * In [from, to), in which the thread waited and k ended that: the times in which requests of the
 * wait were under way, in order, none touching another of its kind; at most TY_FLIGHTS, the last
 * ones. How many. Cost: requests that were issued meanwhile, and before back to when none of them
 * was under way any more, 512 at most.
 */
unsigned ty_block_flights(const struct ty_model *m, uint32_t thread, const struct ty_waker *k,
			  uint64_t from_ns, uint64_t to_ns, struct ty_flight out[TY_FLIGHTS]);

#endif
