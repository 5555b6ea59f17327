/* SPDX-License-Identifier: MIT */
/* What one thread did around an instant: its rows, the calls before one, its next sleep, the time
 * in each state. Cost: log(rows) to find the first, then that of each row. */
#ifndef TY_THREAD_WALK_H
#define TY_THREAD_WALK_H

#include "model.h"

/* Calls or spans of a thread by index: [from, to). */
struct ty_rows {
	uint32_t from, to;
};

static inline struct ty_rows ty_thread_calls(const struct ty_model *m, uint32_t thread)
{
	const struct ty_thread *t = ty_model_thread(m, thread);

	return (struct ty_rows){t->syscalls_first, t->syscalls_first + t->syscalls_n};
}

static inline struct ty_rows ty_thread_spans(const struct ty_model *m, uint32_t thread)
{
	const struct ty_thread *t = ty_model_thread(m, thread);

	return (struct ty_rows){t->spans_first, t->spans_first + t->spans_n};
}

/* Of these, at most so many before `first` and from `last` on; both are among them, or behind. */
static inline struct ty_rows ty_rows_near(struct ty_rows r, uint32_t first, uint32_t last,
					  uint32_t most)
{
	return (struct ty_rows){first - r.from > most ? first - most : r.from,
				r.to - last > most ? last + most : r.to};
}

/* At most so many of the thread's calls that end by t, and of those after it. */
static inline struct ty_rows ty_calls_near(const struct ty_model *m, uint32_t thread, uint64_t t_ns,
					   uint32_t most)
{
	struct ty_rows r = ty_thread_calls(m, thread);
	uint32_t at = ty_model_syscall_after(m, thread, t_ns);

	at = at < r.to ? at : r.to;
	return ty_rows_near(r, at, at, most);
}

/* At most so many calls of the thread before `call` (TY_NONE: none), the latest first:
 *
 * 	struct ty_calls_back w = ty_calls_before(m, thread, call, 32);
 * 	while (ty_call_back(&w))
 * 		... w.s, w.call
 */
struct ty_calls_back {
	const struct ty_model *m;
	uint32_t call, first, left;
	struct ty_syscall s;
};

static inline struct ty_calls_back ty_calls_before(const struct ty_model *m, uint32_t thread,
						   uint32_t call, uint32_t most)
{
	return (struct ty_calls_back){.m = m,
				      .call = call,
				      .first = ty_model_thread(m, thread)->syscalls_first,
				      .left = call == TY_NONE ? 0 : most,
				      .s.thread = thread};
}

static inline bool ty_call_back(struct ty_calls_back *w)
{
	if (!w->left || w->call <= w->first)
		return false;
	w->left--;
	w->s = ty_model_syscall_brief(w->m, w->s.thread, --w->call);
	return true;
}

/* The thread's first sleep of that length that begins after t; TY_NONE. */
static inline uint32_t ty_sleep_after(const struct ty_model *m, uint32_t thread, uint64_t t_ns,
				      uint64_t min_ns)
{
	const struct ty_seek q = {.states = 1u << TY_ST_SLEEPING, .min_ns = min_ns, .nr = -1};

	return ty_model_seek(m, (struct ty_track){TY_TRACK_THREAD, thread}, &q, t_ns, false);
}

/* The row of a track behind one that begins at start_ns, which q accepts; TY_NONE. Unlike those of
 * ty_model_seek it is always a later one, also of a damaged index. */
static inline uint32_t ty_row_behind(const struct ty_model *m, struct ty_track track,
				     const struct ty_seek *q, uint32_t row, uint64_t start_ns)
{
	uint32_t next = ty_model_seek(m, track, q, start_ns, false);

	return next > row ? next : TY_NONE;
}

/* Are events lost right behind this span of the thread? */
static inline bool ty_lost_behind(const struct ty_model *m, uint32_t thread, uint32_t span)
{
	struct ty_span next;

	if (span + 1 >= ty_thread_spans(m, thread).to)
		return false;
	next = ty_model_span_brief(m, thread, span + 1);
	return next.state == TY_ST_UNKNOWN && next.flags & TY_SF_LOST;
}

/* Its first sleep in the call; TY_NONE: it did not wait. */
static inline uint32_t ty_sleep_in(const struct ty_model *m, const struct ty_syscall *c)
{
	uint32_t k = ty_sleep_after(m, c->thread, c->start_ns ? c->start_ns - 1 : 0, 1);

	return k != TY_NONE && ty_model_span_brief(m, c->thread, k).start_ns < c->end_ns ? k
											 : TY_NONE;
}

/* The thread's time in each state in [from, to); none unless from < to. */
static inline struct ty_cell ty_thread_time(const struct ty_model *m, uint32_t thread,
					    uint64_t from_ns, uint64_t to_ns)
{
	struct ty_cell c = {0};

	if (from_ns < to_ns)
		ty_model_cells(m, (struct ty_track){TY_TRACK_THREAD, thread}, from_ns, to_ns, 1,
			       &c);
	return c;
}

/* How long it worked in [from, to): ran, or waited for a CPU. */
static inline uint64_t ty_thread_worked(const struct ty_model *m, uint32_t thread, uint64_t from_ns,
					uint64_t to_ns)
{
	struct ty_cell c = ty_thread_time(m, thread, from_ns, to_ns);

	return c.ns[TY_ST_RUNNING] + c.ns[TY_ST_RUNNABLE];
}

#endif
