/* SPDX-License-Identifier: MIT */
/* A perf.data file while it is read as a trace: what its reader (trace_perf.c) and what makes
 * events of perf's own records (perf_thread_events.c) share. */
#ifndef TY_PERF_READING_H
#define TY_PERF_READING_H

#include "perf_data.h"
#include "perf_queue.h"
#include "trace_file.h"

/* perf's own records of threads, as events. */
enum {
	TY_PERF_KIND_COMM,
	TY_PERF_KIND_FORK,
	TY_PERF_KIND_EXIT,
	TY_PERF_KIND_SWITCH,
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
	uint16_t id[TY_PERF_KINDS]; /* of the events made here; 0: none */
	struct ty_buf threads;	    /* the section's lines */
	int32_t leader, ppid;	    /* of the process that the table is at */
	int32_t fork_tid, fork_ppid;
	uint64_t first_ns;
	uint32_t cpus;
	bool idle_seen;			/* an event of an idle CPU: of the whole machine then */
	bool index, index_tids;		/* ID_INDEX: there, and it names threads */
	VEC(struct ty_perf_id_cpu) ids; /* of ID_INDEX */
	VEC(struct ty_perf_id_count) at_end; /* what perf counted as lost when it ended, by event */
	uint64_t told[TY_DAT_CPUS_MAX];	     /* lost events that have a place, by CPU */
	uint64_t counted[TY_DAT_CPUS_MAX];   /* all lost events, as perf says */
	uint64_t lost_nowhere;		     /* that have none */
	int32_t on[TY_DAT_CPUS_MAX];	     /* who is on a CPU, by SWITCH records; -1: unknown */
};

bool ty_perf_is_tracepoint(const struct ty_perf_attr *a);
/* Does it tell of switches in records of their own? */
bool ty_perf_has_switches(const struct ty_perf_attr *a);

/* Formats of the events made here, under ids that the file does not use. 0, -TY_EFORMAT,
 * -TY_ENOMEM. */
int ty_perf_kinds_add(struct ty_perf_reading *rd);
/* The event, or the line of the table of threads, that a record is (COMM; FORK or EXIT; SWITCH);
 * id->time 0: perf found it when it began. 0, or as ty_perf_queue_add. */
int ty_perf_made_comm(struct ty_perf_reading *rd, const struct ty_perf_rec *r,
		      const struct ty_perf_id *id, struct ty_err *err);
int ty_perf_made_task(struct ty_perf_reading *rd, const struct ty_perf_rec *r,
		      const struct ty_perf_id *id, struct ty_err *err);
int ty_perf_made_switch(struct ty_perf_reading *rd, const struct ty_perf_rec *r,
			const struct ty_perf_id *id, struct ty_err *err);

#endif
