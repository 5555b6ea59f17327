/* SPDX-License-Identifier: MIT */
/*
 * A hardware tracer with an AUX buffer (Intel PT, Arm SPE) by the kernel's perf events: on every
 * CPU its event, for the threads asked for or for everybody, and one of all threads' mappings,
 * names and switches, from which the reader knows what ran. Stored as a perf.data file in pipe form
 * (section.h, TY_SEC_PERF). Its times are those of perf's clock, which is the trace clock. What the
 * tracers differ in: pt_record.h, mem_record.h.
 */
#ifndef TY_AUX_RECORD_H
#define TY_AUX_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "buf.h"
#include "err.h"
#include "spool.h"

/* A CPU that has no such hardware. */
#define TY_AUX_NONE 0xff
/* Of the events' records; what they all are told apart by. */
#define TY_AUX_SAMPLE                                                                              \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* Lives until ty_aux_rec_open has returned; ctx is taken, and freed at the end. */
struct ty_aux_events {
	const char *option, *what;	     /* "--flow" and "Intel PT", for messages */
	const struct perf_event_attr *attrs; /* of each PMU; sample_type TY_AUX_SAMPLE */
	const char *const *names;	     /* of the PMUs */
	unsigned attrs_n;
	const unsigned *cpus; /* that are online */
	unsigned cpus_n;
	const uint8_t *pmu_of; /* of each CPU, or TY_AUX_NONE; NULL: the first of all */
	const pid_t *tids;     /* threads, whose later threads and children follow */
	size_t tids_n;	       /* 0: everybody */
	const char *filter;    /* as PERF_EVENT_IOC_SET_FILTER wants it; NULL: all */
	bool snapshot;	       /* keep the newest bytes only, taken when asked for and at the end */
	bool data_maps;	       /* mappings of data, too */
	/* Append the AUXTRACE_INFO; page: the clock's conversion. */
	void (*put_info)(void *ctx, struct ty_buf *b, const struct perf_event_mmap_page *page);
	void *ctx;
};

struct ty_aux_result {
	uint64_t bytes;	    /* of the hardware */
	uint64_t truncated; /* times that a buffer was full: gaps */
	uint64_t collided;  /* AUX records that tell of samples lost to collisions */
	uint64_t lost;	    /* sideband records */
	uint64_t snapshots;
	bool no_time; /* the kernel does not tell how the counter and its clock belong together */
	bool failed;  /* something could not be written; the stream ends there */
};

struct ty_aux_rec;

/* Open all events. 0 or -TY_E..., err says what to do; then ctx is freed. */
int ty_aux_rec_open(struct ty_aux_rec **out, const struct ty_aux_events *ev, struct ty_err *err);
/* Write the head and begin to move what comes into the spool, in a thread of its own. Events that
 * do not wait for an exec are switched on. `before`: records of what there is already; NULL: none.
 */
int ty_aux_rec_start(struct ty_aux_rec *a, struct ty_spool *spool, const struct ty_buf *before,
		     struct ty_err *err);
/* Keep what the buffers hold now; returns at once. */
void ty_aux_rec_snapshot(struct ty_aux_rec *a);
/* End and free; all is in the spool. NULL is fine. */
void ty_aux_rec_finish(struct ty_aux_rec *a, struct ty_aux_result *res);

#endif
