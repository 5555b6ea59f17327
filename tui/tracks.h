/* SPDX-License-Identifier: MIT */
/*
 * The rows of the timeline: CPUs, then processes with their threads: first those traced with the
 * longest waits, then those that ran most. When only some were traced (a command, pids), the others
 * follow folded under one head, except those that a stall names; last, folded, those that did not
 * run. Of a process with many threads the less relevant ones are folded, too. Rows fold: all CPUs,
 * a CPU's interrupts and memory samples, a process, a thread's system calls. Only visible rows cost
 * drawing time.
 */
#ifndef TY_TRACKS_H
#define TY_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "stall_list.h"
#include "model.h"
#include "vec.h"
#include "window.h"

enum ty_row_kind {
	TY_ROW_CPUS,	    /* head of the CPUs (only when there are many) */
	TY_ROW_CPU,	    /* id: CPU */
	TY_ROW_IRQS,	    /* id: CPU whose interrupts these are */
	TY_ROW_CPU_MEMORY,  /* id: CPU whose memory samples these are */
	TY_ROW_PROCESS,	    /* head of a process of several threads; id: index into processes */
	TY_ROW_THREAD,	    /* id: thread index */
	TY_ROW_REGIONS,	    /* id: thread index; sub: which of its lanes (ty_tracks_lane) */
	TY_ROW_FLOW,	    /* id: thread index whose executed calls these are */
	TY_ROW_MEMORY,	    /* id: thread index whose memory samples these are */
	TY_ROW_SYSCALLS,    /* id: thread index */
	TY_ROW_QUIET,	    /* head of the processes that did not run */
	TY_ROW_OTHERS,	    /* head of the processes that were not traced, while some were */
	TY_ROW_MORE,	    /* head of a process' less relevant threads; id: index into processes */
	TY_ROW_SAMPLES,	    /* id: thread index whose CPU samples these are */
	TY_ROW_CPU_SAMPLES, /* id: CPU whose samples these are */
	TY_ROW_COUNTER,	    /* id: thread index; sub: which measure of counters */
	TY_ROW_CPU_COUNTER  /* id: CPU; sub: the same */
};

struct ty_row {
	uint8_t kind;
	uint8_t depth; /* indentation */
	bool foldable, folded;
	uint8_t sub; /* number among several of one kind and id */
	uint32_t id;
};

static inline bool ty_row_is_memory(const struct ty_row *r)
{
	return r->kind == TY_ROW_MEMORY || r->kind == TY_ROW_CPU_MEMORY;
}

/* A lane of measurements (timeline_lanes.c). */
static inline bool ty_row_is_lane(const struct ty_row *r)
{
	return r->kind >= TY_ROW_SAMPLES && r->kind <= TY_ROW_CPU_COUNTER;
}

struct ty_process {
	uint32_t leader; /* thread index; another thread of the process if the leader is unknown */
	int32_t tgid;	 /* -1: unknown */
	uint32_t first, n; /* members */
	bool folded, quiet;
	bool more;	 /* the threads under TY_ROW_MORE are shown */
	uint32_t more_n; /* so many of them are under it, and not hidden */
	bool other;	 /* under TY_ROW_OTHERS */
	bool up;	 /* it would be, but was jumped to */
};

/* Lanes of regions under a thread: nesting depths, then those that overlap (with an id). */
#define TY_TRACKS_NESTED 8u
#define TY_TRACKS_ASYNC	 4u
static inline uint32_t ty_tracks_lane(const struct ty_row *r)
{
	return r->sub < TY_TRACKS_NESTED ? r->sub : TY_LANE_ASYNC + r->sub - TY_TRACKS_NESTED;
}

#define TY_TRACKS_FLOW 8u /* threads whose executed calls are shown at a time */

struct ty_tracks {
	const struct ty_model *m;
	VEC(struct ty_row) rows;
	VEC(struct ty_process) processes;
	uint32_t *members;   /* thread indices by process, most relevant first */
	uint32_t *more;	     /* at the places of a process' members: those under TY_ROW_MORE */
	uint32_t threads;    /* selected ones */
	uint8_t *calls_open; /* per thread index: its system calls are shown */
	uint8_t *up;	     /* the same: shown beside TY_ROW_MORE, because it was jumped to */
	uint32_t *cpus;	     /* selected ones */
	uint8_t *irqs_open;  /* per CPU: its interrupts and samples are shown */
	uint32_t cpus_n;
	uint32_t quiet_n;  /* processes that did not run and are not hidden: at the end of rows */
	uint32_t others_n; /* processes under TY_ROW_OTHERS that are not hidden, */
	uint32_t *others, others_threads; /* and all their threads */
	bool cpus_folded, quiet_folded, others_folded;
	uint8_t *samples;	    /* per thread index: has memory samples; NULL: none has */
	const uint8_t *cpu_samples; /* the same per CPU below UINT16_MAX; borrowed */
	uint8_t *lanes;		    /* per thread index: TY_LANE_*; NULL: none has any */
	uint8_t *cpu_lanes;	    /* the same per CPU */
	uint32_t counters;	    /* lanes of a thread or CPU with TY_LANE_COUNTERS */
	/* Threads whose executed calls are shown (TY_NONE: none), and their number of rows. */
	struct {
		uint32_t thread, rows;
	} flow[TY_TRACKS_FLOW];
	uint8_t *hidden;   /* per thread index: by the filter */
	uint8_t *next;	   /* the same while a filter is being computed */
	uint32_t hidden_n; /* selected threads that the filter hides */
};

int ty_tracks_init(struct ty_tracks *t, const struct ty_model *m, const struct ty_window *choice,
		   const struct ty_findings *f, struct ty_err *err);
void ty_tracks_fini(struct ty_tracks *t);
/* Reorders the rows for other findings; folded and hidden ones stay so, except system calls that
 * are shown initially. m: the same model, or one of more of the recording with the same thread
 * indices. On failure nothing has changed. */
int ty_tracks_reorder(struct ty_tracks *t, const struct ty_model *m, const struct ty_window *choice,
		      const struct ty_findings *f, struct ty_err *err);

/* These threads (strip[i] not TY_NONE) have memory samples; the first few show their strip, CPUs
 * (cpus[i], borrowed) when unfolded. No such rows when out of memory. */
void ty_tracks_sampled(struct ty_tracks *t, const uint32_t *strip, uint32_t open,
		       const uint8_t *cpus);

/* Which threads and CPUs have lanes of measurements (owned from now on; NULL: none). Such a thread
 * ran. open: there is nothing but lanes, so that they are shown at first. */
enum { TY_LANE_SAMPLES = 1, TY_LANE_COUNTERS = 2 };
void ty_tracks_lanes(struct ty_tracks *t, uint8_t *threads, uint8_t *cpus, uint32_t counters,
		     bool open);

/* Shows executed calls under this thread, in this many rows (0: hides them). False: no space for a
 * further thread. */
bool ty_tracks_calls(struct ty_tracks *t, uint32_t thread, uint32_t rows);
/* Index of the thread in `flow`; TY_NONE: its calls are not shown. */
uint32_t ty_tracks_calls_at(const struct ty_tracks *t, uint32_t thread);

/* Folds or unfolds the row (or its head). Returns the row's new position (the head's, when the row
 * is folded away); TY_NONE: nothing to fold. */
uint32_t ty_tracks_fold(struct ty_tracks *t, uint32_t row);
/* Filter: begin hides all, show exempts one thread, end applies it and unfolds the processes that
 * were not traced. */
void ty_tracks_filter_begin(struct ty_tracks *t);
void ty_tracks_filter_show(struct ty_tracks *t, uint32_t thread);
void ty_tracks_filter_end(struct ty_tracks *t);
void ty_tracks_show_all(struct ty_tracks *t);

/* The row of a thread, unfolded as needed (its process alone of those not traced), and shown
 * regardless of the filter; TY_NONE when it is not selected. */
uint32_t ty_tracks_reveal(struct ty_tracks *t, uint32_t thread);
/* The same for its system calls (for the thread itself, when it made none) and for a CPU. */
uint32_t ty_tracks_reveal_calls(struct ty_tracks *t, uint32_t thread);
/* For a lane of its regions: the thread itself, where that lane has no row. */
uint32_t ty_tracks_reveal_region(struct ty_tracks *t, uint32_t thread, uint32_t lane);
uint32_t ty_tracks_reveal_cpu(struct ty_tracks *t, uint32_t cpu);
uint32_t ty_tracks_reveal_irqs(struct ty_tracks *t, uint32_t cpu); /* with interrupts only */
/* The same for a row of any kind, or the row it is folded into. */
uint32_t ty_tracks_reveal_row(struct ty_tracks *t, uint8_t kind, uint32_t id);
/* Position of a row of this kind and id; TY_NONE when it is not shown. */
uint32_t ty_tracks_find(const struct ty_tracks *t, uint8_t kind, uint32_t id);

/* Source of a row's cells in the model: false for QUIET and IRQS. For CPUS, PROCESS,
 * MORE and OTHERS: *n members from ids. */
bool ty_tracks_members(const struct ty_tracks *t, const struct ty_row *r, uint8_t *kind,
		       const uint32_t **ids, uint32_t *n);

#endif
