/* SPDX-License-Identifier: MIT */
/*
 * The language of search and filter. A query is a list of words; all of them must match.
 *
 *   REGEX            the name of a thread, process, system call, state, event, error, interrupt
 *                    or region of user code
 *   thread:REGEX     the thread's name (any it bore)      tid:N[,N...]
 *   process:REGEX    its process' name                    pid:N[,N...]
 *   call:REGEX       a system call by name
 *   file:REGEX       a system call on a file, pipe, socket or device of that name, a peer's address
 *                    included; path: is the same
 *   error:REGEX      a system call that returned that error ("error:." any)
 *   state:REGEX      running, runnable, sleeping, uninterruptible, stopped, unknown; or R S D T
 *   event:REGEX      a signal (by name, too), softirq_raise, hrtimer, exec, lost...
 *   irq:REGEX        an interrupt handler, softirq or vector by name
 *   region:REGEX     a region of user code by name, an instant or a counter's value
 *   >DURATION        at least that long: >10ms
 *
 * Regular expressions are POSIX extended ones, found anywhere in the name; without a capital letter
 * in them case does not matter. A query that speaks only of threads means their runs. A word
 * without a key that is part of no name above is looked for in names of files, too.
 */
#ifndef TY_SEARCH_QUERY_H
#define TY_SEARCH_QUERY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "call_objects.h"
#include "err.h"
#include "model.h"
#include "syscalls.h"

struct ty_query;

/* 0, or -TY_EUSAGE with a sentence (a bad expression, an unknown key, too many words), -TY_ENOMEM.
 * model and arch are borrowed. Cost: threads + system call numbers + names of regions, times words;
 * and a pass over the regions. */
int ty_query_new(const struct ty_model *m, const struct ty_sysarch *arch, const char *text,
		 struct ty_query **out, struct ty_err *err);
void ty_query_free(struct ty_query *q);
const char *ty_query_text(const struct ty_query *q);
/* A reason for finding nothing, as the end of a sentence: a word that resembles a key and is none.
 * "" where there is no such word. */
const char *ty_query_hint(const struct ty_query *q);

/* True when names of files are needed and not known yet: until ty_query_objects no call matches
 * by them. */
bool ty_query_needs_objects(const struct ty_query *q);
/* Looks at their names; o is borrowed and of the query's model. stop (NULL): set by another thread.
 * 0, -TY_ENOMEM or -TY_EINTR. */
int ty_query_objects(struct ty_query *q, const struct ty_call_objects *o, const atomic_bool *stop);

/* What can match in one thread. */
struct ty_query_part {
	bool named;	  /* the thread's own names satisfy every word */
	uint32_t states;  /* spans in these states (bits 1 << TY_ST_*); 0: none */
	bool calls;	  /* some system calls */
	bool errors_only; /* of them only failed ones */
	bool regions;	  /* some regions of user code */
	int32_t nr;	  /* only this number; -1: several */
	uint64_t
		nrs[TY_SEEK_NRS / 64]; /* the numbers that occur, in the format of struct ty_seek */
	uint64_t min_ns;	       /* spans, calls and regions: at least this long */
};
struct ty_query_part ty_query_part(const struct ty_query *q, uint32_t thread);

/* True when it matches and is of the kinds in its thread's part (including the length). call: its
 * index in the model. */
bool ty_query_call(const struct ty_query *q, const struct ty_syscall *c, uint32_t call);
bool ty_query_point(const struct ty_query *q, const struct ty_point *p);
bool ty_query_irq(struct ty_query *q, const struct ty_irq_span *s);
bool ty_query_region(struct ty_query *q, const struct ty_region *r);
/* True when regions can match at all. */
bool ty_query_regions(const struct ty_query *q);
/* True when interrupts can match at all. */
bool ty_query_irqs(const struct ty_query *q);
/* Minimum length (0: any). */
uint64_t ty_query_min_ns(const struct ty_query *q);
/* True when events (points of the model) can match at all. */
bool ty_query_points(const struct ty_query *q);
/* True when the query matches lost events. */
bool ty_query_gaps(const struct ty_query *q);
/* True when all words about threads match this one. */
bool ty_query_thread(const struct ty_query *q, uint32_t thread);

/* Kind of a point: "signal", "exec"... */
const char *ty_point_name(uint8_t kind);

#endif
