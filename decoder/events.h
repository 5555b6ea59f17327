/* SPDX-License-Identifier: MIT */
/*
 * All events of a trace in time order: ring pages of every (buffer, cpu) stream, merged. Every
 * event is returned once; equal times keep the order buffer, then cpu (as trace-cmd report). Lost
 * events are returned as TY_EV_GAP in place. Events before the trace's kept_from_ns are skipped.
 * Memory: one decompressed chunk and its items per stream, plus the limit of ty_events_workers.
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

/* Reads the next event into *ev: 1, or 0 at the end. A damaged chunk or page is a GAP, never a
 * failure; negative only for out of memory and I/O errors. */
int ty_events_next(struct ty_events *es, struct ty_event *ev, struct ty_err *err);

/*
 * The same in two steps, for the hot path. This call returns the head of the next event, all of a
 * system call except the arguments, and all of a packed switch or wakeup; ty_events_whole returns
 * the rest when needed. GAP: ts_ns, cpu, buffer and kind only. TY_IT_WHOLE: call ty_events_whole,
 * the rest of *br is undefined.
 */
int ty_events_next_brief(struct ty_events *es, struct ty_brief *br, struct ty_err *err);
/* Right after ty_events_next_brief returned 1 with end_ns: consumes that SYS_EXIT, too. */
void ty_events_take_end(struct ty_events *es);

/*
 * The items after a call that was consumed with its end, in the order of its stream: none after
 * `end`, and no event of the same CPU and no loss of any CPU precedes before_ns. A caller for which
 * other CPUs' events do not matter may consume some of them at once, ahead of the merge.
 */
struct ty_run {
	const struct ty_item *item, *end;
	uint64_t offset; /* to be added to the items' times */
	uint64_t last_ns, before_ns;
	ty_loc loc_base;
};
/* Right after ty_events_take_end; the run may be empty. */
void ty_events_run(const struct ty_events *es, struct ty_run *run);
/* Marks everything before `end` as consumed, which must be pairs of SYS_ENTER and SYS_EXIT in time
 * order. */
void ty_events_take_run(struct ty_events *es, const struct ty_item *end);
static inline ty_loc ty_run_loc(const struct ty_run *r, const struct ty_item *i)
{
	return ty_loc_at(r->loc_base, i->at);
}

/* Right after ty_events_next_brief returned 1 with a SYS_ENTER: its arguments alone; false: only
 * ty_events_whole has them. */
bool ty_events_args(const struct ty_events *es, uint64_t args[6]);
/* Right after ty_events_next_brief returned 1. */
void ty_events_whole(const struct ty_events *es, struct ty_event *ev);

/* Lets this many threads decompress and decode ahead, within the memory limit (by default none).
 * The events are the same. Call before the first event. */
void ty_events_workers(struct ty_events *es, unsigned workers, uint64_t memory_bytes);
/* Ends the threads, frees prefetched data, and rewinds to the first event. */
void ty_events_rest(struct ty_events *es);

/* Start again at the first event with ts_ns >= t (uses chunk times where the file has them). */
int ty_events_seek(struct ty_events *es, uint64_t t_ns, struct ty_err *err);

/* True when everything before t is known: every stream has returned all its data of that time,
 * including losses that began before t and end after it. (A loss is returned right before the
 * record that follows it, so reading must continue past t to see it.) */
bool ty_events_past(const struct ty_events *es, uint64_t t_ns);

/* Reads and decodes the one record at loc (from an earlier event of the same file). Used to fetch
 * system call arguments. 0, or -TY_ENOTFOUND. */
int ty_events_read_at(struct ty_events *es, ty_loc loc, struct ty_event *ev, struct ty_err *err);

/* Lets it keep so many bytes of decompressed chunks for further look-ups (at least 16 MB). */
void ty_events_lookup_memory(struct ty_events *es, uint64_t memory_bytes);

/* Raw bytes consumed, and in total, for progress; both may be 0 before the first event. */
void ty_events_progress(const struct ty_events *es, uint64_t *done_bytes, uint64_t *all_bytes);

#endif
