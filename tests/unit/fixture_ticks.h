/* SPDX-License-Identifier: MIT */
/* A CPU with a timer tick that a hypervisor takes away for a while. Included behind cmocka.h. */
#ifndef TY_FIXTURE_TICKS_H
#define TY_FIXTURE_TICKS_H

#include "fixture_given.h"
#include "ledger.h"
#include "steal.h"

#define MS   UINT64_C(1000000)
#define US   UINT64_C(1000)
#define TICK (4 * MS)

enum { NR_READ = 0, NR_SYNC = 162, NR_FUTEX = 202 };

enum { BY_IRQ, BY_EXPIRY, NONE };

/* The tick of CPU 0, on a grid of 4 ms; the thread that runs then. */
static struct {
	uint64_t next_ns, away_from, away_to;
	int how, tid;
} tick;

static inline void tick_at(uint64_t ts)
{
	struct ty_event ev = {.ts_ns = ts, .tid = tick.tid, .flags = TY_EVF_HARDIRQ};

	if (tick.how == NONE)
		return;
	if (tick.how == BY_EXPIRY) {
		ev.kind = TY_EV_HRTIMER_EXPIRE;
		ty_mx_feed(ev);
		return;
	}
	ev.kind = TY_EV_IRQ_ENTRY;
	ev.u.irq.irq = 10;
	ev.u.irq.name = "arch_timer";
	ty_mx_feed(ev);
	ev.kind = TY_EV_IRQ_EXIT;
	ev.ts_ns += 5 * US;
	ty_mx_feed(ev);
}

/* The CPU was not there in [from, to): the tick that was due comes late, others are left out. */
static inline void away(uint64_t from, uint64_t to)
{
	tick.away_from = from;
	tick.away_to = to;
}

static inline void until(uint64_t t)
{
	for (; tick.next_ns < t; tick.next_ns += TICK) {
		uint64_t at = tick.next_ns;

		if (at >= tick.away_from && at < tick.away_to) {
			if (at - tick.away_from >= TICK)
				continue;
			at = tick.away_to;
		}
		if (at >= t) { /* the event comes first, and the tick right behind it */
			tick.next_ns = at;
			return;
		}
		tick_at(at);
		if (at != tick.next_ns)
			tick.next_ns = at / TICK * TICK;
	}
}

static inline void begin(int how)
{
	ty_mx_begin("mode=all\n", NULL);
	memset(&tick, 0, sizeof(tick));
	tick.next_ns = TICK;
	tick.how = how;
	givens = 0;
}

static inline void switch_to(uint64_t ts, int prev, uint64_t state, int next)
{
	until(ts);
	ty_mx_switch(0, ts, prev, state, next);
	tick.tid = next;
}

static inline struct ty_explain seen_by(const struct ty_model *m, uint64_t tick_ns,
					const char *nohz_full, struct ty_ticks *t)
{
	struct ty_explain x = explain(m, 0);

	assert_int_equal(ty_ticks_find(m, tick_ns, nohz_full, t), 0);
	x.ticks = t;
	return x;
}

/* 11 runs from 1 ms on, in a call from 200 ms to 300 ms; its CPU is away for [from, to). */
static inline const struct ty_model *long_call(int how, uint64_t from, uint64_t to)
{
	begin(how);
	away(from, to);
	switch_to(1 * MS, 0, R, 11);
	until(200 * MS);
	ty_mx_enter(0, 200 * MS, 11, NR_SYNC);
	until(300 * MS);
	ty_mx_exit(0, 300 * MS, 11, NR_SYNC, 0);
	switch_to(310 * MS, 11, S, 0);
	return ty_mx_end();
}

static inline uint64_t row_ns(const struct ty_explain *x, int tid, const char *row)
{
	uint32_t i = ty_model_thread_find(x->m, tid, ty_model_summary(x->m)->end_ns);
	uint64_t sum = 0, ns = 0;
	struct ty_ledger l;

	assert_int_equal(ty_ledger_thread(x, i, 0, UINT64_MAX, &l), 0);
	for (uint32_t k = 0; k < l.n; k++) {
		sum += l.rows[k].ns;
		ns += strcmp(l.rows[k].row, row) ? 0 : l.rows[k].ns;
	}
	assert_int_equal(sum, l.end_ns - l.start_ns);
	ty_ledger_fini(&l);
	return ns;
}

#define STOLEN "lost to the hypervisor (steal time, inferred: no timer tick)"

#endif
