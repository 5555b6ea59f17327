/* SPDX-License-Identifier: MIT */
/*
 * One perf event with its two rings: the data ring (records: sideband, status of the AUX bytes) and
 * the AUX ring (output of the hardware: Intel PT, Arm SPE). Drained into a sink; losses are counted
 * and remain visible in the records (AUX with TRUNCATED, LOST).
 *
 * Invariants: `taken` is the offset in the AUX stream up to which the sink has received everything;
 * the tail visible to the kernel never exceeds it. Pieces are multiples of 8 bytes at multiples of
 * 8; only the last one of a recording or snapshot is padded with zeros (PAD in PT and SPE), so that
 * padding never splits a packet. Rings: perf_event_open(2), "MMAP layout", "AUX area".
 */
#ifndef TY_AUX_RING_H
#define TY_AUX_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "build_id.h"
#include "err.h"

struct ty_aux_ring {
	int fd; /* poll it for POLLIN */
	int cpu;
	pid_t tid;
	struct perf_event_mmap_page *page; /* clock conversion: cap_user_time* */
	uint8_t *aux;
	size_t page_bytes, data_bytes, aux_bytes; /* aux_bytes 0: a data ring only */
	bool snapshot;
	uint64_t taken; /* offset in the AUX stream up to which the sink has received everything */
	uint64_t since; /* snapshot: position in the ring when it was last empty */
	uint64_t bytes; /* AUX bytes delivered to the sink */
	uint64_t lost;	/* records lost because the data ring was full */
	uint64_t truncated; /* times that the AUX ring was full or had a hole */
	uint64_t collided;  /* AUX records that report samples lost to collisions */
	int *more;	    /* further events that write to these rings; the caller's array */
	size_t more_n;
	struct ty_build_ids
		*ids; /* where mappings get theirs from; NULL: records stay as they are */
	bool stopped; /* by the kernel, because the AUX ring was full */
};

struct ty_aux_sink {
	/* Whole records, in sequence, as stored in the ring. */
	int (*records)(void *ctx, const struct ty_aux_ring *r, const void *p, size_t n);
	/* A piece of the AUX stream at offset `off`; n is a multiple of 8. NULL: no ring has one.
	 */
	int (*aux)(void *ctx, const struct ty_aux_ring *r, uint64_t off, const void *p, size_t n);
	void *ctx;
};

/* The records that a sink gets, one by one: the bytes behind the next one's head, h->size -
 * sizeof(*h) of them, of whatever alignment; NULL: there are no more. */
static inline const char *ty_aux_next(const void **p, size_t *n, struct perf_event_header *h)
{
	const char *body = (const char *)*p + sizeof(*h);

	if (*n < sizeof(*h))
		return NULL;
	memcpy(h, *p, sizeof(*h));
	if (h->size < sizeof(*h) || h->size > *n)
		return NULL;
	*p = (const char *)*p + h->size;
	*n -= h->size;
	return body;
}

/*
 * Opens the event, disabled unless attr says otherwise. tid -1: all threads on the CPU; cpu -1: the
 * thread on any CPU. Sizes: powers of two, at least a page; aux_bytes 0: none. snapshot: the AUX
 * ring is overwritten until ty_aux_snapshot(). Sets attr's size. 0 or -TY_ESYS / -TY_EPERM, err
 * says what to do; nothing is open on failure.
 */
int ty_aux_open(struct ty_aux_ring *r, struct perf_event_attr *attr, pid_t tid, int cpu,
		size_t data_bytes, size_t aux_bytes, bool snapshot, struct ty_err *err);
/* The side band of all processes (mappings, names, forks, exits), disabled: an event that does
 * nothing else. Wakes up poll when `wakeup` bytes wait. */
struct perf_event_attr ty_aux_side_attr(uint64_t sample_type, uint32_t wakeup);
/* Opens it on a CPU. Its mappings get build ids (see there), which are shared by all rings of one
 * thread and live as long. As ty_aux_open. */
int ty_aux_open_side(struct ty_aux_ring *r, struct perf_event_attr *attr, int cpu, size_t bytes,
		     struct ty_build_ids *ids, struct ty_err *err);
/* Opens a further event with output to r's rings, for another thread on the same CPU: *fd, to be
 * stored in r->more and closed with r; -1 without an error for a thread that has exited. */
int ty_aux_join(const struct ty_aux_ring *r, struct perf_event_attr *attr, pid_t tid, int *fd,
		struct ty_err *err);
/* In any state, also zeroed with fd = -1. */
void ty_aux_close(struct ty_aux_ring *r);
int ty_aux_on(struct ty_aux_ring *r, bool on, struct ty_err *err);

/*
 * Delivers new data to the sink: AUX bytes (not of a snapshot ring), then records. Restarts an
 * event that the kernel stopped because its AUX ring was full: it is disabled first, because
 * enabling alone has no effect on kernels up to at least 6.12. 0 or the sink's error.
 */
int ty_aux_drain(struct ty_aux_ring *r, const struct ty_aux_sink *sink);
/* Stops the event, delivers the newest bytes of a snapshot ring and all records, and restarts with
 * an empty ring; nothing is recorded meanwhile. */
int ty_aux_snapshot(struct ty_aux_ring *r, const struct ty_aux_sink *sink, struct ty_err *err);
/* Stops the event and delivers all remaining data, for either kind of ring. */
int ty_aux_finish(struct ty_aux_ring *r, const struct ty_aux_sink *sink);

#endif
