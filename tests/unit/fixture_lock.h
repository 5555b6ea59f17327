/* SPDX-License-Identifier: MIT */
/* A holder sleeps with a lock, a victim waits for it, and a clerk for the victim. Included behind
 * cmocka.h. */
#ifndef TY_FIXTURE_LOCK_H
#define TY_FIXTURE_LOCK_H

#include "fixture_given.h"
#include "fixture_model.h"
#include "model_priv.h"
#include "window_all.h"

#define MS UINT64_C(1000000)

enum {
	NR_READ = 0,
	NR_FLOCK = 73,
	NR_EPOLL_WAIT = 232,
	NR_NANOSLEEP = 35,
	NR_EXECVE = 59,
	NR_WAIT4 = 61
};

static inline uint32_t thread(const struct ty_model *m, int tid)
{
	return ty_model_thread_find(m, tid, ty_model_summary(m)->end_ns);
}

/* holder takes the lock and sleeps 100 ms by a timer; victim waits for it, a clerk for the victim.
 */
static inline const struct ty_model *lock_and_sleep(void)
{
	struct ty_event ev = {.kind = TY_EV_VECTOR_ENTRY, .id = 30, .flags = TY_EVF_HARDIRQ};

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11); /* the clerk */
	ty_mx_enter(0, 2 * MS, 11, NR_READ);
	ty_mx_switch(0, 3 * MS, 11, S, 12); /* the victim */
	ty_mx_enter(0, 4 * MS, 12, NR_FLOCK);
	ty_mx_switch(0, 5 * MS, 12, S, 13); /* the holder */
	ty_mx_enter(0, 6 * MS, 13, NR_NANOSLEEP);
	ty_mx_switch(0, 7 * MS, 13, S, 0);
	ev.ts_ns = 107 * MS;
	ty_mx_feed(ev);
	ev.kind = TY_EV_HRTIMER_EXPIRE;
	ty_mx_feed(ev);
	ty_mx_waking_irq(0, 107 * MS + 1000, 0, 13, 0);
	ty_mx_switch(0, 107 * MS + 2000, 0, R, 13);
	ty_mx_exit(0, 107 * MS + 3000, 13, NR_NANOSLEEP, 0);
	ty_mx_waking(0, 108 * MS, 13, 12, 0);
	ty_mx_switch(0, 109 * MS, 13, S, 12);
	ty_mx_exit(0, 110 * MS, 12, NR_FLOCK, 0);
	ty_mx_waking(0, 111 * MS, 12, 11, 0);
	ty_mx_switch(0, 112 * MS, 12, S, 11);
	ty_mx_exit(0, 113 * MS, 11, NR_READ, 1);
	ty_mx_switch(0, 120 * MS, 11, S, 0);
	return ty_mx_end();
}

#endif
