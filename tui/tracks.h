/* SPDX-License-Identifier: MIT */
/*
 * The rows of the timeline: CPUs, then processes with their threads, those first that were traced
 * and waited longest, then those that ran most; last, folded away, who did not run at all. Rows
 * fold: all CPUs, a CPU's interrupts and memory samples, a process, a thread's system calls. Only
 * visible rows are ever looked at to draw.
 */
#ifndef TY_TRACKS_H
#define TY_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "findings.h"
#include "model.h"
#include "vec.h"
#include "window.h"

enum ty_row_kind {
	TY_ROW_CPUS,	   /* head of the CPUs (only when there are many) */
	TY_ROW_CPU,	   /* id: CPU */
	TY_ROW_IRQS,	   /* id: CPU whose interrupts these are */
	TY_ROW_CPU_MEMORY, /* id: CPU whose memory samples these are */
	TY_ROW_PROCESS,	   /* head of a process of several threads; id: index into processes */
	TY_ROW_THREAD,	   /* id: thread index */
	TY_ROW_FLOW,	   /* id: thread index whose executed calls these are */
	TY_ROW_MEMORY,	   /* id: thread index whose memory samples these are */
	TY_ROW_SYSCALLS,   /* id: thread index */
	TY_ROW_QUIET	   /* head of the processes that did not run */
};

struct ty_row {
	uint8_t kind;
	uint8_t depth; /* indentation */
	bool foldable, folded;
	uint8_t sub; /* of several of one kind and id: which */
	uint32_t id;
};

static inline bool ty_row_is_memory(const struct ty_row *r)
{
	return r->kind == TY_ROW_MEMORY || r->kind == TY_ROW_CPU_MEMORY;
}

struct ty_process {
	uint32_t leader; /* thread index; a thread that stands for it when the leader is unknown */
	int32_t tgid;	 /* -1: not known */
	uint32_t first, n; /* members */
	bool folded, quiet;
};

#define TY_TRACKS_FLOW 8u /* threads whose executed calls are shown at a time */

struct ty_tracks {
	const struct ty_model *m;
	VEC(struct ty_row) rows;
	VEC(struct ty_process) processes;
	uint32_t *members;   /* thread indices by process, most relevant first */
	uint32_t threads;    /* of them: those chosen */
	uint8_t *calls_open; /* per thread index: its system calls are shown */
	uint32_t *cpus;	     /* those chosen */
	uint8_t *irqs_open;  /* per CPU: its interrupts and samples are shown */
	uint32_t cpus_n;
	uint32_t quiet_n; /* processes that did not run and are not hidden: at the end of rows */
	bool cpus_folded, quiet_folded;
	uint8_t *samples;	    /* per thread index: it has memory samples; NULL: none has */
	const uint8_t *cpu_samples; /* the same per CPU below UINT16_MAX; borrowed */
	/* Whose executed calls are shown (TY_NONE: nobody's), in so many rows. */
	struct {
		uint32_t thread, rows;
	} flow[TY_TRACKS_FLOW];
	uint8_t *hidden;   /* per thread index: by the filter */
	uint8_t *next;	   /* the same while a filter is being made */
	uint32_t hidden_n; /* threads among those chosen that the filter hides */
};

int ty_tracks_init(struct ty_tracks *t, const struct ty_model *m, const struct ty_window *choice,
		   const struct ty_findings *f, struct ty_err *err);
void ty_tracks_fini(struct ty_tracks *t);
/* The same rows in the order that other findings give; what is folded or hidden stays so, but for
 * the system calls that are shown at first. m: the same model, or one of more of the recording, in
 * which the threads have the same indices. On failure nothing has changed. */
int ty_tracks_reorder(struct ty_tracks *t, const struct ty_model *m, const struct ty_window *choice,
		      const struct ty_findings *f, struct ty_err *err);

/* These threads (strip[i] not TY_NONE) have memory samples; the first few of them show their strip,
 * CPUs (cpus[i], borrowed) when they are unfolded. Rows without, where memory runs out. */
void ty_tracks_sampled(struct ty_tracks *t, const uint32_t *strip, uint32_t open,
		       const uint8_t *cpus);

/* Show executed calls under this thread, in so many rows (0: no longer). False: there is no room
 * for another thread's. */
bool ty_tracks_calls(struct ty_tracks *t, uint32_t thread, uint32_t rows);
/* Which place in `flow` the thread has; TY_NONE: its calls are not shown. */
uint32_t ty_tracks_calls_at(const struct ty_tracks *t, uint32_t thread);

/* Fold or unfold the row (or the head it belongs to). Returns the row's place afterwards (the
 * head's, when the row itself is folded away); TY_NONE: there is nothing to fold. */
uint32_t ty_tracks_fold(struct ty_tracks *t, uint32_t row);
/* A filter: begin hides all, show takes one thread out of that, end makes it count. */
void ty_tracks_filter_begin(struct ty_tracks *t);
void ty_tracks_filter_show(struct ty_tracks *t, uint32_t thread);
void ty_tracks_filter_end(struct ty_tracks *t);
void ty_tracks_show_all(struct ty_tracks *t);

/* The row of a thread, unfolded as needed, and shown whatever the filter says; TY_NONE when it is
 * not among the chosen. */
uint32_t ty_tracks_reveal(struct ty_tracks *t, uint32_t thread);
/* The same of its system calls (of the thread itself, when it made none) and of a CPU. */
uint32_t ty_tracks_reveal_calls(struct ty_tracks *t, uint32_t thread);
uint32_t ty_tracks_reveal_cpu(struct ty_tracks *t, uint32_t cpu);
uint32_t ty_tracks_reveal_irqs(struct ty_tracks *t, uint32_t cpu); /* with interrupts only */
/* The same of a row of whatever kind, or of what it is folded into. */
uint32_t ty_tracks_reveal_row(struct ty_tracks *t, uint8_t kind, uint32_t id);
/* The place of a row of this kind and id; TY_NONE when it is not shown. */
uint32_t ty_tracks_find(const struct ty_tracks *t, uint8_t kind, uint32_t id);

/* What the model has cells of for a row: false for QUIET and IRQS. For CPUS and PROCESS: *n members
 * from ids. */
bool ty_tracks_members(const struct ty_tracks *t, const struct ty_row *r, uint8_t *kind,
		       const uint32_t **ids, uint32_t *n);

#endif
