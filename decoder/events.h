/* SPDX-License-Identifier: MIT */
/*
 * All events of a trace in time order: ring pages of every (buffer, cpu) stream, merged. Every
 * event is given once; equal times keep the order buffer, then cpu (as trace-cmd report). Lost
 * events are given as TY_EV_GAP in place. Nothing before the trace's kept_from_ns is given. Memory:
 * one decompressed chunk and its items per stream, and what ty_events_workers allows.
 */
#ifndef TY_EVENTS_H
#define TY_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "event.h"
#include "formats.h"

struct ty_trace;
struct ty_events;

/* Trace and formats are borrowed and must outlive the source. formats may be NULL: heads only. */
int ty_events_open(const struct ty_trace *trace, const struct ty_formats *formats,
		   struct ty_events **out, struct ty_err *err);
void ty_events_close(struct ty_events *es);

/* The next event into *ev: 1, or 0 at the end. A damaged chunk or page is a GAP, never a failure;
 * negative only for out of memory and I/O errors. */
int ty_events_next(struct ty_events *es, struct ty_event *ev, struct ty_err *err);

/*
 * The same in parts, for the hot path: the head of the next event, and all of it but the arguments
 * where it is a system call, all of it where it is a switch or waking that is packed; then, where
 * wanted, the whole of it. GAP: ts_ns, cpu, buffer and kind only. TY_IT_WHOLE: ask for the whole
 * event, the rest of *br does not count.
 */
int ty_events_next_brief(struct ty_events *es, struct ty_brief *br, struct ty_err *err);
/* Right after ty_events_next_brief returned 1 with end_ns: that SYS_EXIT is taken, too. */
void ty_events_take_end(struct ty_events *es);

/*
 * Items that follow a call that was taken with its end, in the order of its stream: none after
 * `end`, and nothing of the same CPU and no loss of any lies before before_ns. Whoever knows that
 * other CPUs' events have no say in them may take some at once, before the merge comes to them.
 */
struct ty_run {
	const struct ty_item *item, *end;
	uint64_t offset; /* to be added to the items' times */
	uint64_t last_ns, before_ns;
	ty_loc loc_base;
};
/* Right after ty_events_take_end; the run may be empty. */
void ty_events_run(const struct ty_events *es, struct ty_run *run);
/* Everything before `end`, pairs of SYS_ENTER and SYS_EXIT in time order only, is taken. */
void ty_events_take_run(struct ty_events *es, const struct ty_item *end);
static inline ty_loc ty_run_loc(const struct ty_run *r, const struct ty_item *i)
{
	return ty_loc_at(r->loc_base, i->at);
}

/* Right after ty_events_next_brief returned 1. */
void ty_events_whole(const struct ty_events *es, struct ty_event *ev);

/* Let so many threads decompress and decode ahead, in so much memory at most (none unless this is
 * called). The events are the same. To be called before the first event. */
void ty_events_workers(struct ty_events *es, unsigned workers, uint64_t memory_bytes);
/* End the threads, free what was read ahead, and stand before the first event again. */
void ty_events_rest(struct ty_events *es);

/* Start again at the first event with ts_ns >= t (uses chunk times where the file has them). */
int ty_events_seek(struct ty_events *es, uint64_t t_ns, struct ty_err *err);

/* Is all known that lies before t: has every stream given what it has of that time, losses that
 * began before t and end behind it included? (A loss is given right before the record that follows
 * it, so that reading must go on behind t for it.) */
bool ty_events_past(const struct ty_events *es, uint64_t t_ns);

/* The one record at loc (as given by an earlier event of the same file), decoded. Used to read
 * system call arguments again. 0, or -TY_ENOTFOUND. */
int ty_events_read_at(struct ty_events *es, ty_loc loc, struct ty_event *ev, struct ty_err *err);

/* Raw bytes consumed of all bytes, for progress: both may be 0 before the first event. */
void ty_events_progress(const struct ty_events *es, uint64_t *done_bytes, uint64_t *all_bytes);

#endif
