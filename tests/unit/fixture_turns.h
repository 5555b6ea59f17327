/* SPDX-License-Identifier: MIT */
/* What threads that take turns on CPU 0 do, one step after the other, with a clock that advances by
 * itself. Included behind cmocka.h. */
#ifndef TY_FIXTURE_TURNS_H
#define TY_FIXTURE_TURNS_H

#include "fixture_given.h"

#define MS UINT64_C(1000000)

static uint64_t t;

/* The thread, which has CPU 0, enters a call and sleeps there; `next` gets the CPU. */
static inline void sleeps(int tid, int nr, uint64_t a, uint64_t b, int next)
{
	give(t += MS / 10, a, b, 0);
	ty_mx_enter(0, t, tid, nr);
	ty_mx_switch(0, t += 1000, tid, S, next);
}

/* `by`, which has CPU 0, wakes the thread inside a call, if `nr` is one. */
static inline void wakes(int by, int nr, uint64_t a, uint64_t b, int tid)
{
	give(t += 1000, a, b, 1);
	ty_mx_enter(0, t, by, nr);
	ty_mx_waking(0, t += 1000, by, tid, 0);
	ty_mx_exit(0, t += 1000, by, nr, 1);
}

/* The thread gets CPU 0 from another one, which is left in this state, and its call ends. */
static inline void goes_on(int from, uint64_t state, int tid, int nr, int64_t ret)
{
	ty_mx_switch(0, t += 1000, from, state, tid);
	ty_mx_exit(0, t += 1000, tid, nr, ret);
}

/* A timer wakes the thread, `ms` later, while CPU 0 is idle. */
static inline void timer_wakes(int tid, unsigned ms)
{
	struct ty_event ev = {.kind = TY_EV_VECTOR_ENTRY, .id = 30, .flags = TY_EVF_HARDIRQ};

	ev.ts_ns = t += ms * MS;
	ty_mx_feed(ev);
	ev.kind = TY_EV_HRTIMER_EXPIRE;
	ty_mx_feed(ev);
	ty_mx_waking_irq(0, t += 1000, 0, tid, 0);
	ty_mx_switch(0, t += 1000, 0, R, tid);
}

/* And its call ends. */
static inline void time_is_up(int tid, int nr, int64_t ret, unsigned ms)
{
	timer_wakes(tid, ms);
	ty_mx_exit(0, t += 1000, tid, nr, ret);
}

static inline void begin(const char *machine, const char *threads)
{
	givens = 0;
	t = 1 * MS;
	ty_mx_begin(machine, threads);
}

static inline void ends(uint64_t at, int tid)
{
	struct ty_event ev = {.ts_ns = at, .tid = tid, .kind = TY_EV_EXIT, .id = 9};

	ev.u.tex.tid = tid;
	ty_mx_feed(ev);
}

#endif
