/* SPDX-License-Identifier: MIT */
/*
 * What a thread waits for, known from arguments of calls and by what it does next: descriptors of
 * poll, words of futexes and whose they are; and what is reported as inferred where a process was
 * attached.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_given.h"
#include "fixture_model.h"
#include "stalls.h"
#include "waits.h"
#include "window_all.h"

#define MS UINT64_C(1000000)

enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_POLL = 7,
	NR_FUTEX = 202,
	WAIT = 0,
	PRIVATE = 128,
};

static bool polled_for_room(void *ctx, uint32_t thread, uint32_t call, int32_t *fd, bool *room)
{
	(void)ctx, (void)thread, (void)call;
	*fd = 9;
	*room = true;
	return true;
}

/* 11 polls one descriptor for room to write, for 100 ms, which a timer ends: a write that blocked.
 */
static void a_poll_for_room_is_a_write(void **state)
{
	struct ty_event ev = {
		.ts_ns = 102 * MS, .kind = TY_EV_HRTIMER_EXPIRE, .flags = TY_EVF_HARDIRQ, .id = 31};
	struct ty_explain x;
	struct ty_stalls s;

	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	give(2 * MS, 0x7000, 1, UINT64_MAX);
	ty_mx_enter(0, 2 * MS, 11, NR_POLL);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	ev.tid = 12;
	ty_mx_feed(ev);
	ty_mx_waking_irq(0, 102 * MS + 50, 12, 11, 0);
	ty_mx_switch(0, 105 * MS, 12, S, 11);
	ty_mx_exit(0, 106 * MS, 11, NR_POLL, 1);
	call(106 * MS + 5000, 11, NR_READ, 1, 5);
	ty_mx_switch(0, 120 * MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 0); /* woken by a timer: a poll for what is to come */
	ty_stalls_fini(&s);
	x.polled = polled_for_room;
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 1);
	assert_string_equal(s.v[0].object, "fd 9");
	assert_true(s.v[0].proven);
	assert_non_null(strstr(s.v[0].sentence, "poll(fd 9) for room to write at "));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* 12 releases the semaphore that 11 waits for. */
static void a_semaphore_set_is_named(void **state)
{
	enum { NR_SEMOP = 65 };
	struct ty_stalls s;

	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	give(2 * MS, 32810, 0x7000, 1);
	ty_mx_enter(0, 2 * MS, 11, NR_SEMOP);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	ty_mx_enter(0, 102 * MS, 12, NR_SEMOP);
	ty_mx_waking(0, 103 * MS, 12, 11, 0);
	ty_mx_exit(0, 104 * MS, 12, NR_SEMOP, 0);
	ty_mx_switch(0, 105 * MS, 12, S, 11);
	ty_mx_exit(0, 106 * MS, 11, NR_SEMOP, 0);
	ty_mx_switch(0, 120 * MS, 11, S, 0);
	s = stalls_of(ty_mx_end(), 0, true);
	assert_int_equal(s.n, 1);
	assert_non_null(strstr(s.v[0].sentence, "in semop(semaphore set 32810) at"));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* 11 writes to 5, polls and reads 5. What ends the poll: the network's softirq, which 12 raised; or
 * a timer. */
static struct ty_stalls asker(bool timer, bool all)
{
	struct ty_event ev = {.ts_ns = 102 * MS, .tid = 12, .id = 31};

	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	call(1 * MS + 5000, 11, NR_WRITE, 1, 5);
	give(2 * MS, 0x7000, timer ? 1 : 2, timer ? 100 : UINT64_MAX);
	ty_mx_enter(0, 2 * MS, 11, NR_POLL);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	if (timer) {
		ev.kind = TY_EV_HRTIMER_EXPIRE;
		ev.flags = TY_EVF_HARDIRQ;
		ty_mx_feed(ev);
		ty_mx_waking_irq(0, 102 * MS + 50, 12, 11, 0);
	} else {
		ev.kind = TY_EV_SOFTIRQ_RAISE;
		ev.u.softirq.vec = 3;
		ty_mx_feed(ev);
		ev.ts_ns += 10;
		ev.flags = TY_EVF_SOFTIRQ;
		ev.kind = TY_EV_SOFTIRQ_ENTRY;
		ty_mx_feed(ev);
		ev.ts_ns += 10;
		ev.kind = TY_EV_WAKING;
		memset(&ev.u, 0, sizeof(ev.u));
		ev.u.wake.tid = 11;
		ty_mx_feed(ev);
		ev.ts_ns += 10;
		ev.kind = TY_EV_SOFTIRQ_EXIT;
		ev.u.softirq.vec = 3;
		ty_mx_feed(ev);
	}
	ty_mx_switch(0, 105 * MS, 12, S, 11);
	ty_mx_exit(0, 106 * MS, 11, NR_POLL, !timer);
	call(106 * MS + 5000, 11, NR_READ, 1, 5);
	ty_mx_switch(0, 120 * MS, 11, S, 0);
	return stalls_of(ty_mx_end(), 0, all);
}

/* 11 writes requests to fd 4 and reads answers from fd 5; 12 reads them from fd 3. When it writes
 * the second one, if it does, 12 is still busy, so that no thread is woken. */
static struct ty_stalls asker_twice(bool again)
{
	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(1, 1 * MS, 0, R, 12);
	give(1 * MS + 10, 3, 0, 1);
	ty_mx_enter(1, 1 * MS + 10, 12, NR_READ);
	ty_mx_switch(1, 1 * MS + 20, 12, S, 0);
	ty_mx_switch(0, 2 * MS, 0, R, 11);
	give(2 * MS + 10, 4, 0, 1);
	ty_mx_enter(0, 2 * MS + 10, 11, NR_WRITE);
	ty_mx_waking(0, 2 * MS + 20, 11, 12, 1);
	ty_mx_exit(0, 2 * MS + 30, 11, NR_WRITE, 1);
	give(2 * MS + 40, 5, 0, 1);
	ty_mx_enter(0, 2 * MS + 40, 11, NR_READ);
	ty_mx_switch(1, 2 * MS + 50, 0, R, 12);
	ty_mx_switch(0, 2 * MS + 60, 11, S, 0);
	ty_mx_exit(1, 2 * MS + 70, 12, NR_READ, 1);
	give(2 * MS + 80, 6, 0, 1);
	ty_mx_enter(1, 2 * MS + 80, 12, NR_WRITE);
	ty_mx_waking(1, 2 * MS + 90, 12, 11, 0);
	ty_mx_exit(1, 2 * MS + 100, 12, NR_WRITE, 1);
	ty_mx_switch(0, 2 * MS + 110, 0, R, 11);
	ty_mx_exit(0, 2 * MS + 120, 11, NR_READ, 1);
	if (again) {
		give(3 * MS, 4, 0, 1);
		ty_mx_enter(0, 3 * MS, 11, NR_WRITE);
		ty_mx_exit(0, 3 * MS + 10, 11, NR_WRITE, 1);
	}
	give(3 * MS + 20, 5, 0, 1);
	ty_mx_enter(0, 3 * MS + 20, 11, NR_READ);
	ty_mx_switch(0, 3 * MS + 30, 11, S, 0);
	give(103 * MS, 6, 0, 1);
	ty_mx_enter(1, 103 * MS, 12, NR_WRITE);
	ty_mx_waking(1, 103 * MS + 10, 12, 11, 0);
	ty_mx_exit(1, 103 * MS + 20, 12, NR_WRITE, 1);
	ty_mx_switch(0, 103 * MS + 30, 0, R, 11);
	ty_mx_exit(0, 103 * MS + 40, 11, NR_READ, 1);
	ty_mx_switch(0, 104 * MS, 11, S, 0);
	ty_mx_switch(1, 105 * MS, 12, S, 0);
	return stalls_of(ty_mx_end(), 0, false);
}

static void asked_while_nobody_waited(void **state)
{
	struct ty_stalls s = asker_twice(true);

	(void)state;
	assert_int_equal(s.n, 1);
	assert_non_null(strstr(s.v[0].sentence, "t11/11 waited in read(fd 5) at 0.002 s, woken by "
						"t12/12, which ran 100 ms"));
	ty_stalls_fini(&s);
	ty_mx_drop();
	s = asker_twice(false);
	assert_int_equal(s.n, 0);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* That it waited for the reply is known by what it read next; but what is read after a timeout was
 * not ready then. */
static void asked_by_a_guess(void **state)
{
	struct ty_stalls s = asker(false, false);

	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_SOCKET);
	assert_false(s.v[0].proven);
	ty_stalls_fini(&s);
	for (int all = 0; all < 2; all++) {
		s = asker(true, all);
		assert_int_equal(s.n, 1);
		assert_string_equal(s.v[0].object, "");
		assert_true(s.v[0].proven);
		ty_stalls_fini(&s);
	}
	ty_mx_drop();
}

/* 11 waits for a word with the value `val`; 12 is another process, 13 of its own. */
static struct ty_wait_for futex(unsigned op, uint32_t val)
{
	const struct ty_model *m;
	struct ty_wait_for w;
	struct ty_explain x;
	struct ty_span s;
	uint32_t t;

	givens = 0;
	ty_mx_begin("mode=all\n", "taken 1 2\n" ROW("11", "11", "1", "one") ROW(
					  "12", "12", "1", "other") ROW("13", "11", "1", "own"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	give(2 * MS, 0x1000, op, val);
	ty_mx_enter(0, 2 * MS, 11, NR_FUTEX);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	ty_mx_switch(0, 4 * MS, 12, S, 13);
	ty_mx_switch(0, 90 * MS, 13, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	t = ty_model_thread_find(m, 11, 10 * MS);
	s = ty_model_span(m, ty_model_span_find(m, t, 10 * MS));
	w = ty_wait_for(&x, &s, s.syscall);
	ty_mx_drop();
	return w;
}

static void words_are_of_their_process(void **state)
{
	const uint32_t waiters = 0x80000000;
	struct ty_wait_for w = futex(WAIT | PRIVATE, waiters | 13);

	assert_int_equal(w.kind, TY_STALL_LOCK);
	assert_int_equal(w.holder, 13);
	/* Another process' thread cannot keep a private lock, but a shared one. */
	w = futex(WAIT | PRIVATE, waiters | 12);
	assert_int_equal(w.kind, TY_STALL_FUTEX);
	assert_int_equal(w.holder, 0);
	w = futex(WAIT, waiters | 12);
	assert_int_equal(w.kind, TY_STALL_LOCK);
	assert_int_equal(w.holder, 12);
}

static void the_same_thing(void **state)
{
	const struct ty_model *m;
	struct ty_wait_for a = {.fd = -1, .word = 0x1000}, b = {.fd = -1, .word = 0x1004},
			   f = {.fd = 3};
	uint32_t one, child, stranger;

	ty_mx_begin("mode=all\n",
		    "taken 1 2\n" ROW("11", "11", "1", "one") ROW("12", "12", "11", "child")
			    ROW("13", "13", "1", "stranger"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_switch(0, 2 * MS, 11, S, 12);
	ty_mx_switch(0, 3 * MS, 12, S, 13);
	m = ty_mx_end();
	one = ty_model_thread_find(m, 11, MS);
	child = ty_model_thread_find(m, 12, MS);
	stranger = ty_model_thread_find(m, 13, MS);
	assert_true(ty_wait_same(m, one, &a, one, &b));
	assert_false(ty_wait_same(m, one, &a, child, &b));
	a.shared = b.shared = true;
	assert_true(ty_wait_same(m, one, &a, child, &b));
	assert_false(ty_wait_same(m, one, &a, stranger, &b));
	assert_true(ty_wait_same(m, one, &f, child, &f));
	assert_false(ty_wait_same(m, one, &f, stranger, &f));
	assert_false(ty_wait_same(m, one, &f, one, &a));
	ty_mx_drop();
}

/* Attached to 11: that it is the job trace_all works for is inferred, and so is the stall. */
static void the_job_is_inferred(void **state)
{
	struct ty_event ev = {.ts_ns = 130 * MS, .tid = 11, .kind = TY_EV_EXIT, .id = 9};
	const struct ty_model *m;

	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n",
		    "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "other"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_enter(0, 2 * MS, 11, NR_READ);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	ty_mx_waking(0, 103 * MS, 12, 11, 0);
	ty_mx_switch(0, 104 * MS, 12, S, 11);
	ty_mx_exit(0, 105 * MS, 11, NR_READ, 1);
	ev.u.tex.tid = 11;
	ty_mx_feed(ev);
	ty_mx_switch(0, 131 * MS, 11, TY_TASK_DEAD, 12);
	ty_mx_switch(0, 132 * MS, 12, S, 0);
	m = ty_mx_end();
	for (int command = 0; command < 12; command += 11) {
		struct ty_stalls s = stalls_of(m, command, false);

		assert_int_equal(s.n, 1);
		assert_int_equal(s.v[0].proven, command != 0);
		ty_stalls_fini(&s);
	}
	ty_mx_drop();
}

struct asked {
	uint64_t at[8][2],
		else_at; /* begins of calls and their first argument; that of all others */
	unsigned times;
};

static int list_of(void *ctx, const struct ty_syscall *c, uint64_t args[6])
{
	struct asked *a = ctx;

	a->times++;
	memcpy(args, (uint64_t[6]){a->else_at, 1}, 6 * sizeof(*args));
	for (unsigned i = 0; i < 8; i++)
		if (a->at[i][0] == c->start_ns)
			args[0] = a->at[i][1];
	return 0;
}

static void expire(uint64_t at)
{
	struct ty_event ev = {
		.ts_ns = at, .kind = TY_EV_VECTOR_ENTRY, .id = 30, .flags = TY_EVF_HARDIRQ};

	ty_mx_feed(ev);
	ev.kind = TY_EV_HRTIMER_EXPIRE;
	ty_mx_feed(ev);
	ty_mx_waking_irq(0, at + 1000, 0, 11, 0);
}

/* From t on, 11 polls n times for 50 ms in vain; it gets no CPU for `kept` after each. Then, if
 * answered, once more, until 12 ends it. Returns when all is over. */
static uint64_t polls(uint64_t t, unsigned n, uint64_t kept, bool answered)
{
	for (unsigned i = 0; i < n; i++) {
		ty_mx_enter(0, t, 11, NR_POLL);
		ty_mx_switch(0, t + 1000, 11, S, 0);
		expire(t + 50 * MS);
		t += 50 * MS + 2000;
		if (kept)
			ty_mx_switch(0, t, 0, R, 13);
		t += kept;
		ty_mx_switch(0, t + 1000, kept ? 13 : 0, kept ? S : R, 11);
		ty_mx_exit(0, t + 2000, 11, NR_POLL, 0);
		t += 3000;
	}
	if (!answered)
		return t;
	ty_mx_enter(0, t, 11, NR_POLL);
	ty_mx_switch(0, t + 1000, 11, S, 12);
	ty_mx_waking(0, t + 30 * MS, 12, 11, 0);
	ty_mx_switch(0, t + 31 * MS, 12, S, 11);
	ty_mx_exit(0, t + 31 * MS + 1000, 11, NR_POLL, 1);
	return t + 32 * MS;
}

static struct ty_stalls tries(struct asked *asked, unsigned n, uint64_t kept, bool answered)
{
	struct ty_stalls_opts o = {.all = true};
	struct ty_stalls s;
	struct ty_explain x;
	struct ty_window w;
	uint64_t end;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	end = polls(2 * MS, n, kept, answered);
	ty_mx_switch(0, end, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	x.args = list_of;
	x.ctx = asked;
	w = window_all(x.m);
	assert_int_equal(ty_stalls_find(&x, &w, &o, 1000, &s, NULL), 0);
	ty_mx_drop();
	return s;
}

static void tries_are_one_wait(void **state)
{
	struct asked same = {.else_at = 0x7000};
	struct ty_stalls s = tries(&same, 4, 0, true);

	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].waits, 5);
	assert_true(s.v[0].duration_ns > 229 * MS);
	assert_false(s.v[0].proven); /* what the list said is not recorded */
	ty_stalls_fini(&s);
}

static void a_poll_for_others_is_no_try(void **state)
{
	struct asked first = {.at = {{2 * MS, 0x8000}}, .else_at = 0x7000};
	struct ty_stalls s = tries(&first, 4, 0, true);

	assert_int_equal(s.n, 2);
	assert_int_equal(s.v[0].waits, 4);
	assert_true(s.v[0].duration_ns < 190 * MS);
	ty_stalls_fini(&s);
}

static void no_cpu_between_tries_is_told(void **state)
{
	struct asked same = {.else_at = 0x7000};
	struct ty_stalls s = tries(&same, 1, 200 * MS, true);
	bool told = false;

	for (size_t i = 0; i < s.n; i++) {
		told |= s.v[i].kind == TY_STALL_RUNQUEUE;
		assert_true(s.v[i].duration_ns < 210 * MS);
	}
	assert_true(told);
	ty_stalls_fini(&s);
}

static void tries_in_vain_are_walked_once(void **state)
{
	struct asked same = {.else_at = 0x7000};
	struct ty_stalls s = tries(&same, 400, 0, false);

	/* They are alike. */
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].waits, 400);
	assert_true(same.times < 10 * 400);
	ty_stalls_fini(&s);
}

static int word_of(void *ctx, const struct ty_syscall *c, uint64_t args[6])
{
	(void)c;
	++*(unsigned *)ctx;
	memcpy(args, (uint64_t[6]){0x5000, WAIT | PRIVATE, 1}, 6 * sizeof(*args));
	return 0;
}

/* An interpreter's thread wants its lock: tries of 5 ms, after each a call that wakes `woken`; 12,
 * which computes, lets go of it in the end, or does not. */
static struct ty_stalls short_tries(unsigned n, int64_t woken, bool answered, unsigned *times)
{
	struct ty_stalls_opts o = {.all = true};
	uint64_t t = 2 * MS;
	struct ty_explain x;
	struct ty_stalls s;
	struct ty_window w;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(1, 1 * MS, 0, R, 12);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	for (unsigned i = 0; i < n; i++) {
		ty_mx_enter(0, t, 11, NR_FUTEX);
		ty_mx_switch(0, t += 1000, 11, S, 0);
		expire(t += 5 * MS);
		ty_mx_switch(0, t += 2000, 0, R, 11);
		ty_mx_exit(0, t += 1000, 11, NR_FUTEX, -110);
		ty_mx_enter(0, t += 1000, 11, NR_FUTEX);
		ty_mx_exit(0, t += 1000, 11, NR_FUTEX, woken);
		t += 1000;
	}
	if (answered) {
		ty_mx_enter(0, t, 11, NR_FUTEX);
		ty_mx_switch(0, t += 1000, 11, S, 0);
		ty_mx_waking(1, t += MS, 12, 11, 0);
		ty_mx_switch(0, t += 1000, 0, R, 11);
		ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	}
	ty_mx_switch(0, t += 5 * MS, 11, S, 0);
	ty_mx_switch(1, t + 1000, 12, S, 0);
	x = explain(ty_mx_end(), 0);
	x.args = word_of;
	x.ctx = times;
	*times = 0;
	w = window_all(x.m);
	assert_int_equal(ty_stalls_find(&x, &w, &o, 1000, &s, NULL), 0);
	ty_mx_drop();
	return s;
}

static void short_tries_are_one_wait(void **state)
{
	unsigned times;
	struct ty_stalls s = short_tries(200, 0, true, &times);

	(void)state;
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].waits, 201);
	assert_true(s.v[0].duration_ns > 1000 * MS);
	assert_non_null(strstr(s.v[0].sentence, "t11/11 waited in futex(0x5000) at 0.001 s "
						"(201 waits), woken by t12/12, which ran 1.0"));
	assert_true(times < 100); /* arguments are read from the file */
	ty_stalls_fini(&s);
	s = short_tries(200, 0, false, &times);
	assert_int_equal(s.n, 0);
	ty_stalls_fini(&s);
	s = short_tries(3, 0, true, &times);
	assert_int_equal(s.n, 0); /* 16 ms */
	ty_stalls_fini(&s);
	s = short_tries(200, 1, true, &times);
	assert_int_equal(s.n, 0); /* each sends a new request */
	ty_stalls_fini(&s);
}

/* The command, 11, waits in `nr` until the time is up, computes; waits so for 10 ms, which 12 ends,
 * returns `then`, computes and ends. */
static struct ty_stalls timed_out(int nr, unsigned op, int64_t then)
{
	struct ty_event ev = {.kind = TY_EV_HRTIMER_EXPIRE, .flags = TY_EVF_HARDIRQ};
	uint64_t t = 1 * MS;

	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n",
		    "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "other"));
	ty_mx_switch(0, t, 0, R, 11);
	for (int k = 0; k < 2; k++) {
		give(t += MS, 0x1000, op, 1);
		ty_mx_enter(0, t, 11, nr);
		ty_mx_switch(0, t += MS, 11, S, 12);
		ev.ts_ns = t += k ? 10 * MS : 100 * MS;
		if (!k) {
			ev.tid = 12;
			ty_mx_feed(ev);
			ty_mx_waking_irq(0, t += 50, 12, 11, 0);
		} else {
			ty_mx_waking(0, t += 50, 12, 11, 0);
		}
		ty_mx_switch(0, t += 1000, 12, S, 11);
		ty_mx_exit(0, t += 1000, 11, nr, k ? then : -110);
		t += 5 * MS;
	}
	ev = (struct ty_event){.ts_ns = t += MS, .tid = 11, .kind = TY_EV_EXIT, .id = 9};
	ev.u.tex.tid = 11;
	ty_mx_feed(ev);
	ty_mx_switch(0, t += 1000, 11, TY_TASK_DEAD, 12);
	ty_mx_switch(0, t += 1000, 12, S, 0);
	return stalls_of(ty_mx_end(), 11, false);
}

/* A wait by futex that ends by its time-out: a runtime's sleep looks the same, unless the word is
 * woken at another time. What says nothing of its word was not. */
static void times_out_by_futex(void **state)
{
	enum { NR_WAITV = 449, NR_FUTEX_WAIT = 455 };
	static const struct {
		int nr;
		unsigned op;
		int64_t then;
		bool proven;
	} v[] = {{NR_FUTEX, WAIT | PRIVATE, 0, true},
		 {NR_FUTEX, WAIT | PRIVATE, -110, false},
		 {NR_FUTEX_WAIT, 9, 0, true},
		 {NR_WAITV, 9, 0, false}};

	for (unsigned i = 0; i < sizeof(v) / sizeof(*v); i++) {
		struct ty_stalls s = timed_out(v[i].nr, v[i].op, v[i].then);

		assert_int_equal(s.n, 1);
		assert_int_equal(s.v[0].kind, TY_STALL_TIMER);
		if (s.v[0].proven != v[i].proven)
			fail_msg("%u: %s", i, s.v[0].sentence);
		ty_stalls_fini(&s);
	}
	ty_mx_drop();
}

/* Start and end of 11's call are lost; 12 wakes it by a call on a futex word, or by a write. Again:
 * then it waits so once more, as an idle worker does.
 */
static struct ty_stalls woken_by_call(int nr, uint64_t op, bool again)
{
	struct ty_stalls s;

	givens = 0;
	ty_mx_begin("mode=command\npid=11\n", "taken 1 2\n" ROW("11", "11", "1", "job"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	call(1 * MS + 10, 11, NR_WRITE, 1, 9);
	ty_mx_fork(0, 2 * MS, 11, 12, 0x10000);
	ty_mx_gap(0, 2 * MS + 10, 2 * MS + 20, 5);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	give(103 * MS, 0x7700, op, 1);
	ty_mx_enter(0, 103 * MS, 12, nr);
	ty_mx_waking(0, 103 * MS + 10, 12, 11, 0);
	ty_mx_exit(0, 103 * MS + 20, 12, nr, 1);
	ty_mx_switch(0, 104 * MS, 12, S, 11);
	ty_mx_gap(0, 104 * MS + 10, 104 * MS + 20, 5);
	call(108 * MS, 11, NR_WRITE, 1, 9);
	if (again) {
		give(109 * MS, 0x7700, WAIT | PRIVATE, 1);
		ty_mx_enter(0, 109 * MS, 11, NR_FUTEX);
		ty_mx_switch(0, 110 * MS, 11, S, 12);
		give(210 * MS, 0x7700, op, 1);
		ty_mx_enter(0, 210 * MS, 12, nr);
		ty_mx_waking(0, 210 * MS + 10, 12, 11, 0);
		ty_mx_exit(0, 210 * MS + 20, 12, nr, 1);
		ty_mx_switch(0, 211 * MS, 12, S, 11);
		ty_mx_exit(0, 211 * MS + 10, 11, NR_FUTEX, 0);
	}
	ty_mx_switch(0, (again ? 212 : 109) * MS, 11, R, 0);
	s = stalls_of(ty_mx_end(), 11, false);
	return s;
}

static void who_is_woken_by_futex_waits_for_one(void **state)
{
	struct ty_stalls s = woken_by_call(NR_FUTEX, 0x81, false);

	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_FUTEX);
	assert_string_equal(s.v[0].object, "futex 0x7700");
	assert_non_null(strstr(s.v[0].sentence, " waited in futex(0x7700, from the waker's call)"));
	assert_false(s.v[0].proven);
	ty_stalls_fini(&s);
	ty_mx_drop();
	s = woken_by_call(NR_FUTEX, 0x81, true);
	assert_int_equal(s.n, 0);
	ty_stalls_fini(&s);
	ty_mx_drop();
	s = woken_by_call(NR_FUTEX, 0x87, false); /* FUTEX_UNLOCK_PI */
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_LOCK);
	ty_stalls_fini(&s);
	ty_mx_drop();
	s = woken_by_call(NR_WRITE, 0, false);
	assert_int_equal(s.n, 0);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_poll_for_room_is_a_write),
		cmocka_unit_test(a_semaphore_set_is_named),
		cmocka_unit_test(asked_by_a_guess),
		cmocka_unit_test(asked_while_nobody_waited),
		cmocka_unit_test(words_are_of_their_process),
		cmocka_unit_test(the_same_thing),
		cmocka_unit_test(the_job_is_inferred),
		cmocka_unit_test(tries_are_one_wait),
		cmocka_unit_test(a_poll_for_others_is_no_try),
		cmocka_unit_test(no_cpu_between_tries_is_told),
		cmocka_unit_test(tries_in_vain_are_walked_once),
		cmocka_unit_test(short_tries_are_one_wait),
		cmocka_unit_test(times_out_by_futex),
		cmocka_unit_test(who_is_woken_by_futex_waits_for_one),
	};

	return cmocka_run_group_tests_name("waits", tests, NULL, NULL);
}
