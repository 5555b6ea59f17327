/* SPDX-License-Identifier: MIT */
/*
 * Who woke, chains, stalls and ledgers of small hand-written machines; and of random events with
 * loss, damage and missing switches: a path covers its time exactly, a ledger's rows sum to its
 * window.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "answer.h"
#include "fixture_given.h"
#include "fixture_model.h"
#include "ledger.h"
#include "model_priv.h"
#include "stalls.h"
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

static uint32_t thread(const struct ty_model *m, int tid)
{
	return ty_model_thread_find(m, tid, ty_model_summary(m)->end_ns);
}

/* holder takes the lock and sleeps 100 ms by a timer; victim waits for it, a clerk for the victim.
 */
static const struct ty_model *lock_and_sleep(void)
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

static void chain_to_the_sleep(void **state)
{
	const struct ty_model *m = lock_and_sleep();
	struct ty_explain x = explain(m, 0);
	struct ty_link l[8];
	struct ty_path p = {0};
	struct ty_root r;
	char what[TY_LINK_TEXT];

	assert_int_equal(ty_path_find(&x, thread(m, 11), 3 * MS, 111 * MS, &p), 0);
	r = ty_path_root(&p);
	assert_int_equal(r.thread, thread(m, 13));
	assert_int_equal(p.seg.v[r.seg].what, TY_SEG_TIMER);
	assert_int_equal(ty_path_links(&p, r.seg, l, 8), 3);
	assert_int_equal(l[0].thread, thread(m, 11));
	assert_int_equal(l[1].thread, thread(m, 12));
	assert_int_equal(l[2].thread, thread(m, 13));
	ty_link_text(&x, &l[2], what, sizeof(what));
	assert_non_null(strstr(what, "nanosleep"));
	/* A run is in a call when it is for more than half of it. */
	l[2].what = TY_SEG_RUNS;
	for (unsigned before = 0; before <= 1; before++) {
		l[2].start_ns = (6 - before) * MS;
		l[2].end_ns = 7 * MS;
		ty_link_text(&x, &l[2], what, sizeof(what));
		assert_string_equal(what, before ? "ran" : "ran in nanosleep");
	}
	/* Fewer links than there are: the outer ones are kept. */
	assert_int_equal(ty_path_links(&p, r.seg, l, 2), 2);
	assert_int_equal(l[0].thread, thread(m, 11));
	ty_path_fini(&p);
	ty_mx_drop();
}

static const char *lock_file(void *ctx, int32_t pid, int32_t fd, bool *cloexec)
{
	(void)ctx;
	(void)pid;
	*cloexec = false;
	return fd == 3 ? "/site.lock" : NULL;
}

static bool none_left_out(void *ctx, int32_t pid)
{
	(void)ctx;
	(void)pid;
	return false;
}

/* Who waits for the one that waits for a lock is told of the file, and who held its lock. */
static void lock_in_a_chain_has_its_file(void **state)
{
	const struct ty_model *m = lock_and_sleep();
	struct ty_explain x = explain(m, 11);
	struct ty_link l = {.thread = thread(m, 12),
			    .span = ty_model_span_find(m, thread(m, 12), 50 * MS),
			    .start_ns = 5 * MS,
			    .end_ns = 108 * MS,
			    .what = TY_SEG_WHATS,
			    .waker = {.thread = thread(m, 13), .io = TY_NONE}};
	char what[TY_LINK_TEXT];

	(void)state;
	givens = 0;
	give(4 * MS, 3, 2, 0);
	x.args = args_of;
	assert_false(ty_link_text(&x, &l, what, sizeof(what)));
	assert_string_equal(what, "slept in flock");
	x.fd_before = lock_file;
	x.fds_left_out = none_left_out;
	x.fds_since_ns = 1;
	x.fds_ns = 2;
	assert_true(ty_link_text(&x, &l, what, sizeof(what)));
	assert_string_equal(what, "waited for the lock on fd 3 </site.lock> (flock)");
	givens = 0;
	ty_mx_drop();
}

static void lock_stall_is_found_once(void **state)
{
	const struct ty_model *m = lock_and_sleep();
	struct ty_explain x = explain(m, 0);
	struct ty_window w = window_all(m);
	struct ty_stalls_opts o = {0};
	struct ty_stalls s;

	s = stalls_by(&x, o.all);
	/* The clerk's read is nobody's debt; the sleep is wanted. */
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].thread, thread(m, 12));
	assert_int_equal(s.v[0].kind, TY_STALL_LOCK);
	assert_int_equal(s.v[0].culprit, thread(m, 13));
	assert_int_equal(s.v[0].duration_ns, 103 * MS);
	assert_non_null(strstr(s.v[0].sentence, "t12/12 waited in flock"));
	assert_non_null(strstr(s.v[0].sentence, "t13/13"));
	ty_stalls_fini(&s);
	/* A command that is the clerk could not go on without the read: its chain tells all. */
	x = explain(m, 11);
	s = stalls_by(&x, o.all);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].thread, thread(m, 11));
	assert_int_equal(s.v[0].culprit, thread(m, 13));
	assert_int_equal(s.v[0].links, 3);
	ty_stalls_fini(&s);
	o.all = true;
	x = explain(m, 0);
	assert_int_equal(ty_stalls_find(&x, &w, &o, 1, &s, NULL), 0);
	assert_int_equal(s.n, 1); /* no more than asked for */
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* A program waits for a shell that waits for what it started: one stall, the program's; where it
 * was no program that was started, that one's. */
static void by_way_of_a_shell(void **state)
{
	for (int shell = 0; shell < 2; shell++) {
		struct ty_event ev = {
			.kind = TY_EV_VECTOR_ENTRY, .id = 30, .flags = TY_EVF_HARDIRQ};
		const struct ty_model *m;
		struct ty_explain x;
		struct ty_stalls s;

		ty_mx_begin("mode=all\n", NULL);
		ty_mx_switch(0, 1 * MS, 0, R, 11);
		ty_mx_enter(0, 2 * MS, 11, NR_WAIT4);
		ty_mx_switch(0, 2 * MS + 9, 11, S, 12);
		if (shell) {
			ty_mx_enter(0, 3 * MS, 12, NR_EXECVE);
			ty_mx_exit(0, 3 * MS + 9, 12, NR_EXECVE, 0);
		}
		ty_mx_enter(0, 4 * MS, 12, NR_WAIT4);
		ty_mx_switch(0, 4 * MS + 9, 12, S, 13);
		ty_mx_enter(0, 5 * MS, 13, NR_NANOSLEEP);
		ty_mx_switch(0, 5 * MS + 9, 13, S, 0);
		ev.ts_ns = 107 * MS;
		ty_mx_feed(ev);
		ev.kind = TY_EV_HRTIMER_EXPIRE;
		ty_mx_feed(ev);
		ty_mx_waking_irq(0, 107 * MS + 1000, 0, 13, 0);
		ty_mx_switch(0, 107 * MS + 2000, 0, R, 13);
		ty_mx_exit(0, 107 * MS + 3000, 13, NR_NANOSLEEP, 0);
		ty_mx_waking(0, 107 * MS + 4000, 13, 12, 0);
		ty_mx_switch(0, 107 * MS + 5000, 13, TY_TASK_ZOMBIE, 12);
		ty_mx_exit(0, 107 * MS + 6000, 12, NR_WAIT4, 13);
		ty_mx_waking(0, 107 * MS + 7000, 12, 11, 0);
		ty_mx_switch(0, 107 * MS + 8000, 12, TY_TASK_ZOMBIE, 11);
		ty_mx_exit(0, 107 * MS + 9000, 11, NR_WAIT4, 12);
		ty_mx_switch(0, 110 * MS, 11, S, 0);
		m = ty_mx_end();
		x = explain(m, 0);
		s = stalls_by(&x, false);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.v[0].thread, thread(m, shell ? 11 : 12));
		assert_int_equal(s.v[0].kind, TY_STALL_CHILD);
		assert_int_equal(s.v[0].culprit, thread(m, 13));
		assert_non_null(
			strstr(s.v[0].sentence,
			       shell ? "t11/11 waited in wait4 from 0.001 s, woken by t12/12, "
				       "which slept in wait4 for 103 ms, woken by t13/13, which "
				       "slept in nanosleep, waiting for a timer for 102 ms"
				     : "t12/12 waited in wait4 from 0.003 s, woken by t13/13"));
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
	(void)state;
}

/* A parent waits for the keeper of the lock, for longer than the victim does: that is told behind.
 */
static void an_end_stands_behind_what_it_explains(void **state)
{
	struct ty_event ev = {.kind = TY_EV_VECTOR_ENTRY, .id = 30, .flags = TY_EVF_HARDIRQ};
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_stalls s;

	/* Its children, as far as is known. */
	ty_mx_begin("mode=all\n", "11\t11\t1\t5\tR\t0\t0\t0\t-\t-\t-\t-\tt11\n"
				  "12\t12\t11\t5\tR\t0\t0\t0\t-\t-\t-\t-\tt12\n"
				  "13\t13\t11\t5\tR\t0\t0\t0\t-\t-\t-\t-\tt13\n");
	ty_mx_switch(0, 1 * MS, 0, R, 11); /* the parent */
	ty_mx_enter(0, 2 * MS, 11, NR_WAIT4);
	ty_mx_switch(0, 3 * MS, 11, S, 12); /* the victim */
	ty_mx_enter(0, 4 * MS, 12, NR_FLOCK);
	ty_mx_switch(0, 5 * MS, 12, S, 13); /* the keeper */
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
	ty_mx_waking(0, 109 * MS, 13, 11, 0);
	ty_mx_switch(0, 110 * MS, 13, S, 12);
	ty_mx_exit(0, 111 * MS, 12, NR_FLOCK, 0);
	ty_mx_switch(0, 112 * MS, 12, S, 11);
	ty_mx_exit(0, 113 * MS, 11, NR_WAIT4, 13);
	ty_mx_switch(0, 120 * MS, 11, S, 0);
	m = ty_mx_end();
	x = explain(m, 11);
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.v[0].thread, thread(m, 12));
	assert_int_equal(s.v[0].kind, TY_STALL_LOCK);
	assert_int_equal(s.v[1].thread, thread(m, 11));
	assert_int_equal(s.v[1].kind, TY_STALL_CHILD);
	assert_true(s.v[1].duration_ns > s.v[0].duration_ns);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static void idle_waits_are_no_stalls(void **state)
{
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_stalls s;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_enter(0, 2 * MS, 11, NR_EPOLL_WAIT);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	ty_mx_waking(0, 203 * MS, 12, 11, 0);
	ty_mx_switch(0, 204 * MS, 12, S, 11);
	ty_mx_exit(0, 205 * MS, 11, NR_EPOLL_WAIT, 1);
	ty_mx_switch(0, 206 * MS, 11, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 0);
	ty_stalls_fini(&s);
	s = stalls_by(&x, true);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_EVENTS);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static void who_had_the_cpu(void **state)
{
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_stalls s;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_enter(0, 2 * MS, 11, 39);
	ty_mx_exit(0, 2 * MS + 100, 11, 39, 1);
	ty_mx_switch(0, 5 * MS, 11, RP, 12);
	ty_mx_switch(0, 205 * MS, 12, S, 11);
	ty_mx_switch(0, 210 * MS, 11, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_RUNQUEUE);
	assert_int_equal(s.v[0].culprit, thread(m, 12));
	assert_true(s.v[0].proven);
	assert_int_equal(s.v[0].duration_ns, 200 * MS);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* Four of them: nobody is to blame, but the foremost are named, most first. */
static void who_shared_the_cpu(void **state)
{
	static const unsigned ms[] = {40, 70, 60, 50};
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_stalls s;
	uint64_t t = 5 * MS;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_enter(0, 2 * MS, 11, 39);
	ty_mx_exit(0, 2 * MS + 100, 11, 39, 1);
	ty_mx_switch(0, t, 11, RP, 12);
	for (int i = 0; i < 4; i++)
		ty_mx_switch(0, t += ms[i] * MS, 12 + i, S, i < 3 ? 13 + i : 11);
	ty_mx_switch(0, t + 5 * MS, 11, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].culprit, TY_NONE);
	assert_non_null(strstr(s.v[0].text, "shared CPU 0, 220 ms in total: t13/13 70.0 ms"));
	assert_non_null(strstr(s.v[0].text, ", t14/14 60.0 ms"));
	assert_non_null(strstr(s.v[0].text, ", t15/15 50.0 ms"));
	assert_null(strstr(s.v[0].text, "t12/12"));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* A switch between two threads whose priority is told. */
static void switch_prio(uint64_t ts, int prev, uint64_t state, int next, int next_prio)
{
	struct ty_event ev = {.ts_ns = ts, .tid = prev, .kind = TY_EV_SWITCH, .id = 1};

	ev.u.sw.prev_tid = prev;
	ev.u.sw.next_tid = next;
	ev.u.sw.prev_state = state;
	ev.u.sw.prev_prio = 120;
	ev.u.sw.next_prio = next_prio;
	snprintf(ev.u.sw.next_comm, sizeof(ev.u.sw.next_comm), "t%d", next);
	ty_mx_feed(ev);
}

/* The same with a quota: counted, or, where that is not known, as far as it was used up; but a
 * thread of real-time priority is to blame whatever the quota. */
static struct ty_throttled group;

static bool throttled(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns,
		      struct ty_throttled *out)
{
	(void)ctx;
	assert_true(from_ns < to_ns);
	*out = group;
	return tid == 11;
}

static void a_quota_held_it_back(void **state)
{
	static const int32_t tids[] = {5, 11};
	static const struct {
		uint64_t ns, quota_us;
		bool unknown;
		int prio;	  /* of who ran */
		const char *text; /* NULL: it is not the quota */
	} cases[] = {
		{150 * MS, 4000, false, 120,
		 "may use 4.00 ms of CPU time every 100 ms, and was throttled for 150 ms"},
		{0, 4000, true, 120,
		 "may use 4.00 ms of CPU time every 100 ms, and had used 4.00 ms"},
		{0, 4000, false, 120, NULL},
		{90 * MS, 4000, false, 120, NULL},
		{0, 10000, true, 120, NULL},
		{150 * MS, 4000, false, 50, NULL},
		{0, 4000, true, 50, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct ty_model *m;
		struct ty_explain x;
		struct ty_stalls s;

		ty_mx_begin("mode=all\n", NULL);
		switch_prio(1 * MS, 0, R, 11, 120);
		switch_prio(5 * MS, 11, RP, 12, cases[i].prio);
		ty_mx_switch(0, 205 * MS, 12, S, 11);
		ty_mx_switch(0, 210 * MS, 11, S, 0);
		m = ty_mx_end();
		x = explain(m, 0);
		x.throttled = throttled;
		group = (struct ty_throttled){.ns = cases[i].ns,
					      .unknown = cases[i].unknown,
					      .quota_us = cases[i].quota_us,
					      .period_us = 100000,
					      .path = "/group",
					      .tids = tids,
					      .tids_n = 2};
		s = stalls_by(&x, false);
		assert_int_equal(s.n, 1);
		if (cases[i].text) {
			assert_int_equal(s.v[0].kind, TY_STALL_THROTTLED);
			assert_int_equal(s.v[0].culprit, TY_NONE);
			assert_false(s.v[0].proven);
			assert_non_null(strstr(s.v[0].sentence, "its cgroup /group "));
			assert_non_null(strstr(s.v[0].sentence, cases[i].text));
		} else {
			assert_int_equal(s.v[0].kind, TY_STALL_RUNQUEUE);
			assert_int_equal(s.v[0].culprit, thread(m, 12));
			assert_non_null(
				strstr(s.v[0].sentence, "ran for 200 ms of that time on CPU 0"));
		}
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
	(void)state;
}

/* A long run of which softirqs of a device take most; those inside its own calls are its own. */
static void interrupts_steal(void **state)
{
	struct ty_event e = {.id = 32, .tid = 11, .flags = TY_EVF_SOFTIRQ};
	struct ty_stalls s;

	e.u.softirq.vec = 3;
	for (int in_call = 0; in_call < 2; in_call++) {
		const struct ty_model *m;
		struct ty_explain x;

		ty_mx_begin("mode=all\n", NULL);
		ty_mx_switch(0, 1 * MS, 0, R, 11);
		if (in_call)
			ty_mx_enter(0, 2 * MS, 11, NR_READ);
		for (unsigned i = 0; i < 60; i++) {
			e.kind = TY_EV_SOFTIRQ_ENTRY;
			e.ts_ns = (5 + i * 3) * MS;
			ty_mx_feed(e);
			e.kind = TY_EV_SOFTIRQ_EXIT;
			e.ts_ns += 2 * MS;
			ty_mx_feed(e);
		}
		if (in_call)
			ty_mx_exit(0, 198 * MS, 11, NR_READ, 0);
		ty_mx_switch(0, 200 * MS, 11, S, 0);
		m = ty_mx_end();
		x = explain(m, 0);
		s = stalls_by(&x, false);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.v[0].kind, in_call ? TY_STALL_CPU : TY_STALL_IRQ);
		assert_int_equal(s.v[0].duration_ns, (in_call ? 196 : 120) * MS);
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
}

/* A softirq's wakeup is the thread's that raised it, or the device's. */
static void softirq_wakers(void **state)
{
	struct ty_event
		raise = {.kind = TY_EV_SOFTIRQ_RAISE, .id = 31, .tid = 12},
		entry = {.kind = TY_EV_SOFTIRQ_ENTRY, .id = 32, .tid = 12, .flags = TY_EVF_SOFTIRQ},
		waking = {.kind = TY_EV_WAKING, .id = 2, .tid = 12, .flags = TY_EVF_SOFTIRQ},
		irq = {.kind = TY_EV_IRQ_ENTRY, .id = 33, .tid = 12, .flags = TY_EVF_HARDIRQ};
	const struct ty_model *m;
	struct ty_waker w;
	uint64_t t = 10 * MS;

	raise.u.softirq.vec = entry.u.softirq.vec = 3;
	waking.u.wake.tid = 11;
	irq.u.irq.irq = 7;
	irq.u.irq.name = "eth0";
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_switch(0, 2 * MS, 11, S, 12);
	for (int by_device = 0; by_device < 2; by_device++) {
		if (by_device) {
			irq.ts_ns = t += 1000;
			irq.kind = TY_EV_IRQ_ENTRY;
			ty_mx_feed(irq);
			raise.flags = TY_EVF_HARDIRQ;
		}
		raise.ts_ns = t += 1000;
		ty_mx_feed(raise);
		if (by_device) {
			irq.ts_ns = t += 1000;
			irq.kind = TY_EV_IRQ_EXIT;
			ty_mx_feed(irq);
		}
		entry.kind = TY_EV_SOFTIRQ_ENTRY;
		entry.ts_ns = t += 1000;
		ty_mx_feed(entry);
		waking.ts_ns = t += 1000;
		ty_mx_feed(waking);
		entry.kind = TY_EV_SOFTIRQ_EXIT;
		entry.ts_ns = t += 1000;
		ty_mx_feed(entry);
		ty_mx_switch(0, t += 1000, 12, RP, 11);
		ty_mx_switch(0, t += 1000, 11, S, 12);
		t += MS;
	}
	m = ty_mx_end();
	assert_int_equal(m->t[TY_T_EDGES].rows, 2);
	w = ty_waker_find(m, 0);
	assert_int_equal(w.kind, TY_WAKER_THREAD);
	assert_int_equal(w.thread, thread(m, 12));
	assert_true(w.net);
	w = ty_waker_find(m, 1);
	assert_int_equal(w.kind, TY_WAKER_DEVICE);
	assert_string_equal(ty_model_str(m, w.name), "eth0");
	assert_int_equal(ty_waker_find(m, TY_NONE).kind, TY_WAKER_NONE);
	ty_mx_drop();
}

/* Woken behind two threads that take turns a thousand times: none of that time is unknown. */
static void ledger_of_a_wait_behind_a_crowd(void **state)
{
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_ledger l;
	uint64_t behind = 0;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_waking(0, 2 * MS, 11, 13, 0);
	for (unsigned i = 0; i < 1000; i++)
		ty_mx_switch(0, (3 + i) * MS, 11 + i % 2, R, 12 - i % 2);
	ty_mx_switch(0, 1003 * MS, 11, R, 13);
	ty_mx_switch(0, 1010 * MS, 13, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	assert_int_equal(ty_ledger_thread(&x, thread(m, 13), 2 * MS, 1003 * MS, &l), 0);
	for (size_t i = 0; i < l.n; i++) {
		assert_null(strstr(l.rows[i].row, "not recorded"));
		assert_non_null(strstr(l.rows[i].row, "ran on its CPU"));
		behind += l.rows[i].ns;
	}
	assert_int_equal(behind, 1001 * MS);
	ty_ledger_fini(&l);
	ty_mx_drop();
}

static void ledger_of_the_sleep(void **state)
{
	const struct ty_model *m = lock_and_sleep();
	struct ty_explain x = explain(m, 11);
	struct ty_ledger l;

	assert_int_equal(ty_ledger_thread(&x, thread(m, 12), 0, UINT64_MAX, &l), 0);
	assert_string_equal(l.rows[0].row, "sleeping in flock, woken by thread t13");
	assert_int_equal(l.rows[0].ns, 103 * MS);
	ty_ledger_fini(&l);
	assert_int_equal(ty_ledger_command(&x, 0, UINT64_MAX, &l), 0);
	assert_string_equal(l.rows[0].row, "t13/13: sleeping in nanosleep, woken by a timer");
	assert_int_equal(l.thread, TY_NONE);
	ty_ledger_fini(&l);
	x.command_tid = 0;
	assert_int_equal(ty_ledger_command(&x, 0, UINT64_MAX, &l), -TY_ENOTFOUND);
	ty_ledger_fini(&l);
	ty_mx_drop();
}

/* The root of a chain that is a device is told by name. */
static void link_of_a_device(void **state)
{
	const struct ty_model *m = lock_and_sleep();
	struct ty_explain x = explain(m, 0);
	uint32_t victim = thread(m, 12);
	struct ty_link l = {.thread = victim,
			    .span = ty_model_span_find(m, victim, 50 * MS),
			    .start_ns = 50 * MS,
			    .end_ns = 60 * MS,
			    .what = TY_SEG_DEVICE,
			    .waker = {.kind = TY_WAKER_DEVICE,
				      .thread = TY_NONE,
				      .name = ty_model_thread(m, victim)->name,
				      .io = TY_NONE}};
	char what[TY_LINK_TEXT];

	(void)state;
	ty_link_text(&x, &l, what, sizeof(what));
	assert_string_equal(what, "slept in flock, waiting for device t12");
	ty_mx_drop();
}

/* random ------------------------------------------------------------------------------------ */

static uint64_t seed;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static struct ty_event random_event(uint64_t t)
{
	struct ty_event ev = {.ts_ns = t,
			      .cpu = rnd() % 4,
			      .tid = (int)(rnd() % 8),
			      .buffer = (uint16_t)(rnd() % 2),
			      .flags = rnd() % 2 ? 0 : (uint8_t)rnd(),
			      .id = (uint16_t)(rnd() % 40),
			      .kind = (uint8_t)(rnd() % TY_EV_KINDS)};
	int32_t a = (int)(rnd() % 9) - 1, b = (int)(rnd() % 8);

	if (rnd() % 2)
		ev.kind = rnd() % 2 ? TY_EV_SWITCH : TY_EV_WAKING;
	switch (ev.kind) {
	case TY_EV_GAP:
		ev.u.gap.from_ns = t - rnd() % 200;
		ev.u.gap.count = rnd() % 3 ? rnd() : UINT64_MAX;
		ev.u.gap.to_end = rnd() % 50 == 0;
		break;
	case TY_EV_SWITCH:
		ev.buffer = 0;
		ev.u.sw.prev_tid = rnd() % 4 ? ev.tid : a;
		ev.u.sw.next_tid = b;
		ev.u.sw.prev_prio = (int)(rnd() % 140);
		ev.u.sw.prev_state = rnd() % 2 ? rnd() & 0x1ff : 1;
		break;
	case TY_EV_WAKING:
	case TY_EV_WAKEUP:
	case TY_EV_WAKEUP_NEW:
		ev.buffer = 0;
		ev.u.wake.tid = a;
		ev.u.wake.target_cpu = b;
		break;
	case TY_EV_FORK:
		ev.u.fork.parent_tid = b;
		ev.u.fork.child_tid = a;
		break;
	case TY_EV_NEWTASK:
		ev.u.newtask.tid = a;
		ev.u.newtask.clone_flags = rnd() % 2 ? 0x10000 : 0;
		break;
	case TY_EV_EXEC:
		ev.u.exec.tid = a;
		ev.u.exec.old_tid = b;
		ev.u.exec.filename = "";
		break;
	case TY_EV_EXIT: ev.u.tex.tid = a; break;
	case TY_EV_IRQ_ENTRY: ev.u.irq.name = "disk"; break;
	case TY_EV_SOFTIRQ_ENTRY:
	case TY_EV_SOFTIRQ_EXIT:
	case TY_EV_SOFTIRQ_RAISE:
	case TY_EV_VECTOR_ENTRY:
	case TY_EV_VECTOR_EXIT: ev.u.softirq.vec = (uint32_t)(rnd() % 10); break;
	case TY_EV_BLOCK_ISSUE:
	case TY_EV_BLOCK_COMPLETE:
		ev.u.block.sector = rnd() % 4 * 8;
		ev.u.block.nr_sector = (uint32_t)(rnd() % 17);
		break;
	case TY_EV_SIGNAL_GENERATE:
		ev.u.sig.sig = (int)(rnd() % 25);
		ev.u.sig.tid = a;
		break;
	case TY_EV_SYS_ENTER: ev.u.enter.nr = (int64_t)(rnd() % 300); break;
	case TY_EV_SYS_EXIT: ev.u.exit.nr = (int64_t)(rnd() % 300); break;
	default: break;
	}
	return ev;
}

static void check_ledger(const struct ty_ledger *l)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		sum += l->rows[i].ns;
		assert_true(l->rows[i].ns > 0 && l->rows[i].row[0]);
		assert_true(!i || l->rows[i].ns <= l->rows[i - 1].ns);
	}
	assert_int_equal(sum, l->end_ns - l->start_ns);
}

/* An answer's parts, and its items with the rest, sum to what it is about. */
static void check_answer(const struct ty_explain *x)
{
	struct ty_window w = window_all(x->m);
	uint64_t parts = 0, items = 0;
	struct ty_answer a;

	assert_int_equal(ty_answer_find(x, &w, NULL, &a), 0);
	for (unsigned p = 0; p < TY_ANSWER_PARTS_N; p++)
		parts += a.part_ns[p];
	for (uint32_t i = 0; i < a.items; i++) {
		items += a.item[i].ns;
		assert_true(a.item[i].text[0]);
		/* Threads' waits stand behind what those did that had work. */
		assert_true(a.of == TY_ANSWER_THREADS || !i || a.item[i].ns <= a.item[i - 1].ns);
	}
	assert_int_equal(parts, a.total_ns);
	/* Of a machine idle time is nobody's; when runs are inferred threads may have more than
	 * CPUs. */
	if (a.of == TY_ANSWER_MACHINE)
		assert_true(items + a.rest_ns >= a.part_ns[TY_PART_CPU]);
	else
		assert_int_equal(items + a.rest_ns, a.total_ns);
}

static int no_args(void *ctx, const struct ty_syscall *c, uint64_t args[6])
{
	for (unsigned i = 0; i < 6; i++)
		args[i] = rnd() % 8;
	return rnd() % 3 ? 0 : -TY_ENOTFOUND;
}

static void sums(void **state)
{
	uint64_t segs = 0, hops = 0, rows = 0, stalls = 0;

	for (uint64_t s = 1; s < 1200; s++) {
		const struct ty_model *m;
		struct ty_explain x;
		struct ty_window w;
		struct ty_stalls_opts o = {.min_ns = 50};
		struct ty_stalls st;
		struct ty_ledger l;

		seed = s * 77 + 5;
		ty_mx_begin(s % 2 ? "mode=all\nno_idle_switch=1\n" : NULL, NULL);
		for (uint64_t i = 0, t = 1000; i < 500; i++)
			ty_mx_feed(random_event(t += rnd() % 30));
		m = ty_mx_end();
		x = explain(m, (int)(s % 8));
		x.args = no_args;
		w = window_all(m);
		for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++) {
			uint64_t from = w.from_ns + rnd() % (w.to_ns - w.from_ns + 1),
				 to = from + rnd() % (w.to_ns - from + 1), at = from;
			struct ty_path p = {0};

			assert_int_equal(ty_ledger_thread(&x, i, 0, UINT64_MAX, &l), 0);
			check_ledger(&l);
			rows += l.n;
			ty_ledger_fini(&l);
			assert_int_equal(ty_ledger_thread(&x, i, from, to, &l), 0);
			check_ledger(&l);
			ty_ledger_fini(&l);
			assert_int_equal(ty_path_find(&x, i, from, to, &p), 0);
			for (size_t k = 0; k < p.seg.n; k++) {
				assert_int_equal(p.seg.v[k].start_ns, at);
				assert_true(p.seg.v[k].end_ns > at);
				at = p.seg.v[k].end_ns;
			}
			assert_int_equal(at, to);
			for (size_t k = 0; k < p.hop.n; k++) {
				uint32_t up = p.hop.v[k].parent;

				assert_true(up == TY_NONE || up < k);
				if (up != TY_NONE) {
					assert_true(p.hop.v[k].start_ns >= p.hop.v[up].start_ns);
					assert_true(p.hop.v[k].end_ns <= p.hop.v[up].end_ns);
				}
			}
			segs += p.seg.n;
			hops += p.hop.n;
			ty_path_fini(&p);
		}
		if (!ty_ledger_command(&x, 0, UINT64_MAX, &l))
			check_ledger(&l);
		ty_ledger_fini(&l);
		check_answer(&x);
		o.all = s % 3 == 0;
		assert_int_equal(ty_stalls_find(&x, &w, &o, 100, &st, NULL), 0);
		for (uint32_t i = 0; i < st.n; i++) {
			if (!(st.v[i].duration_ns > 0 && st.v[i].links > 0))
				fail_msg("seed %u: kind %u, %u links: %s", (unsigned)s,
					 st.v[i].kind, st.v[i].links, st.v[i].sentence);
			assert_true(st.v[i].sentence[0]);
		}
		stalls += st.n;
		ty_stalls_fini(&st);
	}
	assert_true(segs > 20000 && hops > 1000 && rows > 20000 && stalls > 1000);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain_to_the_sleep),
		cmocka_unit_test(lock_in_a_chain_has_its_file),
		cmocka_unit_test(lock_stall_is_found_once),
		cmocka_unit_test(by_way_of_a_shell),
		cmocka_unit_test(an_end_stands_behind_what_it_explains),
		cmocka_unit_test(idle_waits_are_no_stalls),
		cmocka_unit_test(who_had_the_cpu),
		cmocka_unit_test(who_shared_the_cpu),
		cmocka_unit_test(a_quota_held_it_back),
		cmocka_unit_test(interrupts_steal),
		cmocka_unit_test(softirq_wakers),
		cmocka_unit_test(link_of_a_device),
		cmocka_unit_test(ledger_of_the_sleep),
		cmocka_unit_test(ledger_of_a_wait_behind_a_crowd),
		cmocka_unit_test(sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
