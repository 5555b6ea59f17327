/* SPDX-License-Identifier: MIT */
/* State of reading a perf.data file as a trace, shared by the reader (trace_perf.c) and by
 * perf_thread_events.c, which turns perf's own records into events. */
#ifndef TY_PERF_READING_H
#define TY_PERF_READING_H

#include "perf_data.h"
#include "perf_queue.h"
#include "trace_file.h"

/* perf's own records of threads that become events. */
enum {
	TY_PERF_KIND_COMM,
	TY_PERF_KIND_FORK,
	TY_PERF_KIND_EXIT,
	TY_PERF_KIND_SWITCH,
	TY_PERF_KIND_ROUND,
	TY_PERF_KINDS
};

struct ty_perf_id_cpu {
	uint64_t id;
	int64_t cpu; /* -1: not of one CPU */
};
struct ty_perf_id_count {
	uint64_t id, count;
};

/* A file that is being read (trace_perf.c). */
struct ty_perf_reading {
	struct ty_trace *t;
	struct ty_perf *p;
	struct ty_perf_queue *queue;
	uint16_t id[TY_PERF_KINDS]; /* ids of the synthesized events; 0: none */
	struct ty_buf threads;	    /* the section's lines */
	int32_t leader, ppid;	    /* process of the current line of the table */
	int32_t fork_tid, fork_ppid;
	uint64_t first_ns;
	uint32_t cpus;
	bool idle_seen;		/* an idle CPU had an event: the whole machine was recorded */
	bool index, index_tids; /* ID_INDEX: present; names threads */
	VEC(struct ty_perf_id_cpu) ids;	       /* of ID_INDEX */
	VEC(struct ty_perf_id_count) at_end;   /* losses that perf counted at its end, by event */
	uint64_t lost_placed[TY_DAT_CPUS_MAX]; /* lost events with a known time, by CPU */
	uint64_t counted[TY_DAT_CPUS_MAX];     /* all lost events according to perf, by CPU */
	uint64_t lost_nowhere;		       /* lost events without CPU and time */
	int32_t on[TY_DAT_CPUS_MAX];   /* thread on each CPU, from SWITCH records; -1: unknown */
	struct ty_perf_rounds *rounds; /* of perf stat record; NULL: it is none */
};

bool ty_perf_is_tracepoint(const struct ty_perf_attr *a);
/* True when the event records switches as separate records (context_switch). */
bool ty_perf_has_switches(const struct ty_perf_attr *a);

/* Adds formats of the synthesized events, under ids unused in the file. 0, -TY_EFORMAT,
 * -TY_ENOMEM. */
int ty_perf_kinds_add(struct ty_perf_reading *rd);
/* Converts a COMM, FORK/EXIT or SWITCH record to an event or to a line of the thread table.
 * id->time 0: perf synthesized it at its start. 0, or as ty_perf_queue_add. */
int ty_perf_made_comm(struct ty_perf_reading *rd, const struct ty_perf_rec *r,
		      const struct ty_perf_id *id, struct ty_err *err);
int ty_perf_made_task(struct ty_perf_reading *rd, const struct ty_perf_rec *r,
		      const struct ty_perf_id *id, struct ty_err *err);
int ty_perf_made_switch(struct ty_perf_reading *rd, const struct ty_perf_rec *r,
			const struct ty_perf_id *id, struct ty_err *err);
/* perf stat read its counters at this time. */
int ty_perf_made_round(struct ty_perf_reading *rd, uint64_t ns, struct ty_err *err);
/* Adds a line to the thread table: a thread that existed when perf started. pid -1: unknown. */
void ty_perf_add_thread(struct ty_perf_reading *rd, const struct ty_perf_comm *c);

/* perf_stat_rounds.c: STAT_CONFIG, THREAD_MAP, STAT and STAT_ROUND records; and after the last. 0
 * or -TY_E... */
int ty_perf_rounds_add(struct ty_perf_reading *rd, const struct ty_perf_rec *r, struct ty_err *err);
int ty_perf_rounds_end(struct ty_perf_reading *rd, struct ty_err *err);
void ty_perf_rounds_free(struct ty_perf_rounds *c);

#endif
