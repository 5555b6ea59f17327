/* SPDX-License-Identifier: MIT */
/*
 * Block requests of a wait: those that the waiting thread submitted or issued, except readahead,
 * and the one whose completion ended the wait. A device explains a wait only while one of them was
 * in flight; before that they were queued, if block:block_bio_queue is recorded. A request
 * throttled by the block layer for a cgroup is resubmitted by a kernel thread when its time has
 * come (Linux block/blk-throttle.c since 5.18): the waiting thread then has no request of its own.
 */
#ifndef TY_BLOCK_REQUESTS_H
#define TY_BLOCK_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"
#include "wakeup.h"

#define TY_FLIGHTS 64
/* Said of a wait for a device while no request of it was there. */
#define TY_NOT_IN_FLIGHT "no I/O request was in flight (I/O was throttled, or waited for other I/O)"

struct ty_flight {
	uint64_t from_ns, to_ns;
	uint32_t io; /* the longest one in that time */
	bool queued; /* before its issue; otherwise at the device */
};

/* True when the request belongs to this thread. */
bool ty_block_is_of(const struct ty_model *m, const struct ty_io *io, uint32_t thread);
/*
 * For a wait of the thread in [from, to) that k ended: the times in which requests of the wait were
 * in flight, ascending, adjacent ones of a kind merged; at most TY_FLIGHTS, the last ones. Returns
 * their number. Cost: the requests issued meanwhile, and earlier ones back to the last moment with
 * none in flight, at most 512.
 */
unsigned ty_block_flights(const struct ty_model *m, uint32_t thread, const struct ty_waker *k,
			  uint64_t from_ns, uint64_t to_ns, struct ty_flight out[TY_FLIGHTS]);

#endif
