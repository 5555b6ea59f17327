/* SPDX-License-Identifier: MIT */
/*
 * One perf event with its two rings: the data ring (records: sideband, what became of the AUX
 * bytes) and the AUX ring (what the hardware wrote: Intel PT, Arm SPE). Emptied into a sink; what
 * was lost is counted and stays in the records (AUX with TRUNCATED, LOST).
 *
 * Invariants: `taken` is the place in the AUX stream up to which the sink has got everything; the
 * tail that the kernel sees is never beyond it. Pieces are multiples of 8 bytes at
 * multiples of 8; only the last one of a recording or snapshot is filled up with zeros (PAD to PT
 * and SPE), so that no packet is padded in its middle. Rings: perf_event_open(2), "MMAP layout",
 * "AUX area".
 */
#ifndef TY_AUX_RING_H
#define TY_AUX_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"

struct ty_aux_ring {
	int fd; /* poll it for POLLIN */
	int cpu;
	pid_t tid;
	struct perf_event_mmap_page *page; /* clock conversion: cap_user_time* */
	uint8_t *aux;
	size_t page_bytes, data_bytes, aux_bytes; /* aux_bytes 0: a data ring only */
	bool snapshot;
	uint64_t taken; /* bytes of the AUX stream that the sink has got */
	uint64_t since; /* snapshot: the place in the ring at which it stood when it was empty */
	uint64_t bytes; /* that the sink has got of AUX */
	uint64_t lost;	/* records that the data ring had no room for */
	uint64_t truncated; /* times that the AUX ring was full, or had a hole */
	uint64_t collided;  /* AUX records that tell of samples lost to collisions */
	int *more;	    /* further events that write into these rings; the caller's array */
	size_t more_n;
	bool stopped; /* by the kernel, for a full AUX ring */
};

struct ty_aux_sink {
	/* Whole records, one after the other, as they lay in the ring. */
	int (*records)(void *ctx, const struct ty_aux_ring *r, const void *p, size_t n);
	/* A piece of the AUX stream at `off` of it; n is a multiple of 8. */
	int (*aux)(void *ctx, const struct ty_aux_ring *r, uint64_t off, const void *p, size_t n);
	void *ctx;
};

/*
 * Open, disabled unless attr says otherwise. tid -1: everybody on the CPU; cpu -1: the thread
 * wherever it runs. Sizes: powers of two, at least a page; aux_bytes 0: none. snapshot: the AUX
 * ring is overwritten until ty_aux_snapshot(). attr's size is filled in. 0 or -TY_ESYS /
 * -TY_EPERM, err says what to do; then nothing is open.
 */
int ty_aux_open(struct ty_aux_ring *r, struct perf_event_attr *attr, pid_t tid, int cpu,
		size_t data_bytes, size_t aux_bytes, bool snapshot, struct ty_err *err);
/* One more event into r's rings, for another thread on the same CPU: *fd, which goes into r->more
 * and is then closed with r; -1 and no error for a thread that has ended. */
int ty_aux_join(const struct ty_aux_ring *r, struct perf_event_attr *attr, pid_t tid, int *fd,
		struct ty_err *err);
/* Any state, also zeroed with fd = -1. */
void ty_aux_close(struct ty_aux_ring *r);
int ty_aux_on(struct ty_aux_ring *r, bool on, struct ty_err *err);

/*
 * Give the sink what has come since: AUX bytes (not of a snapshot ring) and then records. An event
 * that the kernel has stopped because its AUX ring was full is started again: disabled first, since
 * enabling alone does nothing on kernels to 6.12 at least. 0 or what the sink said.
 */
int ty_aux_drain(struct ty_aux_ring *r, const struct ty_aux_sink *sink);
/* Stop, give the sink the newest bytes of a snapshot ring and all records, go on with an empty
 * ring; what is not kept in between is the time this takes. */
int ty_aux_snapshot(struct ty_aux_ring *r, const struct ty_aux_sink *sink, struct ty_err *err);
/* Stop and give the sink all that is left, of either kind of ring. */
int ty_aux_finish(struct ty_aux_ring *r, const struct ty_aux_sink *sink);

#endif
