/* SPDX-License-Identifier: MIT */
/*
 * Records a hardware tracer with an AUX buffer (Intel PT, Arm SPE) by perf events: one on every
 * CPU, for the requested threads or for all, and one for all threads' mappings, names and switches,
 * which identify what was running. Stored as a perf.data file in pipe form (section.h,
 * TY_SEC_PERF). Times are those of perf's clock, which is the trace clock. Specific to each tracer:
 * pt_record.h, mem_record.h.
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

/* A CPU without such hardware. */
#define TY_AUX_NONE 0xff
/* sample_type of all events: identifies CPU, thread, event and time. */
#define TY_AUX_SAMPLE                                                                              \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* Valid until ty_aux_rec_open returns; takes ownership of ctx and frees it at the end. */
struct ty_aux_events {
	const char *option, *what;	     /* "--flow" and "Intel PT", for messages */
	const struct perf_event_attr *attrs; /* one per PMU; sample_type TY_AUX_SAMPLE */
	const char *const *names;	     /* of the PMUs */
	unsigned attrs_n;
	const unsigned *cpus; /* online CPUs */
	unsigned cpus_n;
	const uint8_t *pmu_of; /* PMU of each CPU, or TY_AUX_NONE; NULL: the first for all */
	const pid_t *tids;     /* threads; their later threads and children are included */
	size_t tids_n;	       /* 0: all */
	const char *filter;    /* in the syntax of PERF_EVENT_IOC_SET_FILTER; NULL: no filter */
	bool snapshot;	       /* keep only the newest bytes, saved on request and at the end */
	bool data_maps;	       /* mappings of data, too */
	/* Appends the AUXTRACE_INFO; page: the clock's conversion. */
	void (*put_info)(void *ctx, struct ty_buf *b, const struct perf_event_mmap_page *page);
	void *ctx;
};

struct ty_aux_result {
	uint64_t bytes;	    /* of the hardware */
	uint64_t truncated; /* times that a buffer was full: gaps */
	uint64_t collided;  /* AUX records that report samples lost to collisions */
	uint64_t lost;	    /* sideband records */
	uint64_t snapshots;
	bool no_time; /* the kernel does not provide the conversion from counter to clock */
	bool failed;  /* a write failed; the stream ends there */
};

struct ty_aux_rec;

/* Opens all events. 0 or -TY_E..., err says what to do; ctx is freed on failure. */
int ty_aux_rec_open(struct ty_aux_rec **out, const struct ty_aux_events *ev, struct ty_err *err);
/* Writes the head and starts a thread that moves the data into the spool. Enables events that do
 * not wait for an exec. `before`: records of existing state; NULL: none. */
int ty_aux_rec_start(struct ty_aux_rec *a, struct ty_spool *spool, const struct ty_buf *before,
		     struct ty_err *err);
/* Saves what the buffers hold now; returns at once. */
void ty_aux_rec_snapshot(struct ty_aux_rec *a);
/* Stops and frees; everything is in the spool. NULL has no effect. */
void ty_aux_rec_finish(struct ty_aux_rec *a, struct ty_aux_result *res);

#endif
