/* SPDX-License-Identifier: MIT */
/* Findings beside stalls: each is told of a model that has it, and not of one that has a little
 * less. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "summed_findings.h"
#include "fixture_given.h"
#include "window_all.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)

enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_CLOSE = 3,
	NR_NANOSLEEP = 35,
	NR_ACCEPT = 43,
	NR_EXIT = 60,
	NR_FLOCK = 73,
	NR_FSYNC = 74,
	NR_GETPPID = 110,
	NR_OPENAT = 257,
	NR_UNLINKAT = 263
};

static uint64_t at;

/* A call of this length, then time outside of calls. */
static void one(int tid, int nr, int64_t ret, uint64_t in_ns, uint64_t out_ns)
{
	ty_mx_enter(0, at, tid, nr);
	at += in_ns;
	ty_mx_exit(0, at, tid, nr, ret);
	at += out_ns;
}

static int on_fd_5(void *ctx, const struct ty_syscall *c, uint64_t args[6])
{
	(void)ctx;
	memcpy(args,
	       (uint64_t[6]){c->nr == NR_OPENAT	  ? 0
			     : c->nr == NR_ACCEPT ? 3
						  : 5,
			     0, 10},
	       6 * sizeof(*args));
	return 0;
}

static const char *path(void *ctx, uint32_t thread, uint32_t call, unsigned arg)
{
	(void)ctx, (void)thread, (void)call;
	return arg == 1 ? "/etc/absent" : NULL;
}

static void begin(void)
{
	at = 2 * MS;
	givens = 0;
	ty_mx_begin("mode=command\ncommand_tid=11\n", "taken 1 2\n" ROW("11", "11", "1", "tool"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	one(11, NR_GETPPID, 1, US, US);
}

static struct ty_findings find(int command)
{
	struct ty_explain x;
	struct ty_window w;
	struct ty_requests q;
	struct ty_findings f;
	struct ty_answer a;

	ty_mx_switch(0, at, 11, TY_TASK_DEAD, 0);
	x = explain(ty_mx_end(), command);
	x.args = on_fd_5;
	x.pointee = path;
	x.file = "my trace.dat";
	w = window_all(x.m);
	assert_int_equal(ty_requests_find(&x, &w, 1000, 0, &q, NULL), 0);
	assert_int_equal(ty_answer_find(&x, &w, &q, &a), 0);
	assert_int_equal(ty_findings_find(&x, &w, &a, &q, &f), 0);
	for (uint32_t i = 0; i < f.n; i++) {
		assert_true(f.v[i].text[0] && f.v[i].next[0] && f.v[i].ns && f.v[i].n);
		assert_true(!i || f.v[i].ns <= f.v[i - 1].ns);
		/* What is proposed can be typed as it stands. */
		assert_null(strstr(f.v[i].next, "FILE"));
		if (!strncmp(f.v[i].next, "tarry report ", 13) ||
		    !strncmp(f.v[i].next, "tarry dump ", 11))
			assert_non_null(strstr(f.v[i].next, " 'my trace.dat' "));
	}
	ty_requests_fini(&q);
	ty_mx_drop();
	return f;
}

static void calls_that_fail(void **state)
{
	(void)state;
	for (unsigned n = 999; n <= 1000; n++) {
		struct ty_findings f;

		begin();
		for (unsigned i = 0; i < n; i++)
			one(11, NR_OPENAT, -ENOENT, 2 * US, 8 * US);
		f = find(11);
		assert_int_equal(f.n, n >= 1000);
		if (!f.n)
			continue;
		assert_int_equal(f.v[0].kind, TY_FINDING_FAILING);
		assert_int_equal(f.v[0].ns, 2 * MS);
		assert_string_equal(f.v[0].text,
				    "t11/11: openat failed 1,000 times on \"/etc/absent\", "
				    "with ENOENT, 2.00 us each");
		assert_false(f.v[0].inferred);
	}
	/* So many, but a small part of the time. */
	begin();
	for (unsigned i = 0; i < 2000; i++)
		one(11, NR_OPENAT, -ENOENT, 2 * US, 50 * US);
	assert_int_equal(find(11).n, 0);
}

static void sleep_ms(uint64_t ms)
{
	ty_mx_enter(0, at, 11, NR_NANOSLEEP);
	ty_mx_switch(0, at, 11, S, 12);
	at += ms * MS;
	ty_mx_waking(0, at, 12, 11, 0);
	ty_mx_switch(0, at, 12, S, 11);
	ty_mx_exit(0, at, 11, NR_NANOSLEEP, 0);
	at += US;
}

/* Who removes the file is named; who closes a descriptor of which only the number is known is not.
 */
static void who_released(void **state)
{
	(void)state;
	for (unsigned file = 0; file < 2; file++) {
		struct ty_findings f;

		begin();
		for (unsigned i = 0; i < 4; i++) {
			one(11, file ? NR_OPENAT : NR_FLOCK, file ? -EEXIST : -EAGAIN, US, US);
			ty_mx_enter(0, at, 11, NR_NANOSLEEP);
			ty_mx_switch(0, at, 11, S, 12);
			at += 10 * MS;
			if (i == 3)
				one(12, file ? NR_UNLINKAT : NR_CLOSE, 0, US, US);
			ty_mx_waking(0, at, 12, 11, 0);
			ty_mx_switch(0, at, 12, S, 11);
			ty_mx_exit(0, at, 11, NR_NANOSLEEP, 0);
			at += US;
		}
		one(11, file ? NR_OPENAT : NR_FLOCK, 3, US, MS);
		f = find(11);
		assert_int_equal(f.n, 1);
		assert_int_equal(f.v[0].kind, TY_FINDING_POLLED);
		assert_int_equal(f.v[0].culprit != TY_NONE, file);
		assert_int_equal(f.v[0].inferred, file);
		assert_int_equal(!!strstr(f.v[0].text, "; released by t12/12 (inferred)"), file);
	}
}

/* With no sleep between, or with too short a time, it is not polled. */
static void lock_that_is_polled(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct ty_findings f;

		begin();
		for (unsigned i = 0; i < 4; i++) {
			one(11, NR_FLOCK, -EAGAIN, US, US);
			if (k == 1)
				at += 10 * MS;
			else
				sleep_ms(k ? 4 : 10);
		}
		one(11, NR_FLOCK, 0, US, MS);
		f = find(11);
		assert_int_equal(f.n, k == 0);
		if (k)
			continue;
		assert_int_equal(f.v[0].kind, TY_FINDING_POLLED);
		assert_int_equal(f.v[0].n, 4);
		assert_true(f.v[0].ns >= 40 * MS && f.v[0].ns < 41 * MS);
		assert_string_equal(
			f.v[0].text,
			"t11/11 polled for fd 5: flock failed 4 times with EAGAIN, and it slept "
			"40.0 ms in between; who released it is not recorded");
	}
}

static void tiny_reads(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct ty_findings f;

		begin();
		for (unsigned i = 0; i < 3000; i++)
			one(11, NR_READ, k ? 4096 : 1, US, US);
		f = find(11);
		assert_int_equal(f.n, !k);
		if (k)
			continue;
		assert_int_equal(f.v[0].kind, TY_FINDING_SMALL_IO);
		assert_string_equal(
			f.v[0].text,
			"t11/11 made 3,000 calls of read with 1 byte each on fd 5, 1.00 us each");
	}
}

static void storms(void **state)
{
	struct ty_findings f;

	(void)state;
	begin();
	for (unsigned i = 0; i < 6000; i++)
		one(11, NR_GETPPID, 1, US, 2 * US);
	f = find(11);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.v[0].kind, TY_FINDING_STORM);
	assert_string_equal(f.v[0].text, "t11/11 made 6,001 calls of getppid, 1.00 us each");
	begin();
	for (unsigned i = 0; i < 30; i++)
		one(11, NR_FSYNC, 0, MS, MS);
	f = find(11);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.v[0].kind, TY_FINDING_STORM);
	assert_string_equal(f.v[0].text, "t11/11 made 30 calls of fsync on fd 5, 1.00 ms each");
	/* What a program does that works. */
	begin();
	for (unsigned i = 0; i < 3000; i++) {
		one(11, NR_OPENAT, 5, US, 20 * US);
		one(11, NR_READ, 500, US, 50 * US);
		one(11, NR_CLOSE, 0, US, US);
	}
	assert_int_equal(find(11).n, 0);
}

/* Of the one name, from 11 to it or back. */
static void sw(int prev, uint64_t state, int next)
{
	struct ty_event ev = {.ts_ns = at, .tid = prev, .kind = TY_EV_SWITCH, .id = 1};

	ev.u.sw.prev_tid = prev;
	ev.u.sw.next_tid = next;
	ev.u.sw.prev_state = state;
	snprintf(ev.u.sw.prev_comm, sizeof(ev.u.sw.prev_comm), prev == 11 ? "t11" : "child");
	snprintf(ev.u.sw.next_comm, sizeof(ev.u.sw.next_comm), next == 11 ? "t11" : "child");
	ty_mx_feed(ev);
}

static void short_children(void **state)
{
	(void)state;
	for (int n = 99; n <= 100; n++) {
		struct ty_findings f;

		begin();
		for (int i = 0; i < n; i++) {
			struct ty_event ev = {.tid = 100 + i, .kind = TY_EV_EXIT, .id = 9};

			ty_mx_fork(0, at, 11, 100 + i, 0);
			ty_mx_waking(0, at, 11, 100 + i, 0);
			at += US;
			sw(11, S, 100 + i);
			at += US;
			one(100 + i, NR_GETPPID, 1, US, MS);
			ev.ts_ns = at;
			ev.u.tex.tid = 100 + i;
			ty_mx_feed(ev);
			ty_mx_waking(0, at, 100 + i, 11, 0);
			at += US;
			sw(100 + i, TY_TASK_DEAD, 11);
			one(11, NR_GETPPID, 1, US, US);
		}
		f = find(11);
		assert_int_equal(f.n, n >= 100);
		if (!f.n)
			continue;
		assert_int_equal(f.v[0].kind, TY_FINDING_CHILDREN);
		assert_string_equal(f.v[0].text, "t11/11 started 100 short-lived children child, "
						 "1.00 ms each, 100 ms in total");
	}
}

static void cpu_starved(void **state)
{
	struct ty_findings f;

	(void)state;
	begin();
	for (unsigned i = 0; i < 1000; i++) {
		ty_mx_switch(0, at, 11, R, 20);
		at += 100 * US;
		ty_mx_switch(0, at, 20, R, 11);
		at += 200 * US;
	}
	f = find(11);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.v[0].kind, TY_FINDING_STARVED);
	assert_int_equal(f.v[0].n, 1000);
	assert_string_equal(f.v[0].text,
			    "the command's critical path waited 100 ms for a CPU in 1,000 pieces, "
			    "33% of 300 ms, while t20 ran for 100 ms");
}

/* Requests of a millisecond each; how much longer the i-th is. */
static struct ty_findings requests_with(uint64_t (*more)(unsigned i))
{
	begin();
	one(11, NR_ACCEPT, 5, US, US);
	for (unsigned i = 0; i < 60; i++) {
		one(11, NR_READ, 10, US, MS + more(i));
		one(11, NR_WRITE, 10, US, MS);
	}
	return find(0);
}

static uint64_t like_all(unsigned i)
{
	return i % 3 * 10 * US;
}

static uint64_t one_is_slow(unsigned i)
{
	return i == 40 ? 100 * MS : like_all(i);
}

static uint64_t longer_and_longer(unsigned i)
{
	return i * 60 * US;
}

/* By a step, which something else has made, not evenly. */
static uint64_t since_a_change(unsigned i)
{
	return i < 38 ? 2 * i * US : 4 * MS + i * US;
}

static void requests(void **state)
{
	struct ty_findings f;

	(void)state;
	assert_int_equal(requests_with(like_all).n, 0);
	assert_int_equal(requests_with(since_a_change).n, 0);
	f = requests_with(one_is_slow);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.v[0].kind, TY_FINDING_OUTLIERS);
	assert_int_equal(f.v[0].n, 1);
	assert_string_equal(
		f.v[0].text,
		"t11/11: 1 of 60 requests took up to 101 ms, while the median took 1.01 ms");
	f = requests_with(longer_and_longer);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.v[0].kind, TY_FINDING_GREW);
	assert_true(f.v[0].inferred);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_fail), cmocka_unit_test(lock_that_is_polled),
		cmocka_unit_test(who_released),	   cmocka_unit_test(tiny_reads),
		cmocka_unit_test(storms),	   cmocka_unit_test(short_children),
		cmocka_unit_test(cpu_starved),	   cmocka_unit_test(requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
