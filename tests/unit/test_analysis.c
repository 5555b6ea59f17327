/* SPDX-License-Identifier: MIT */
/* Findings on small models: windows, longest waits, time per thread, system call statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_model.h"
#include "longest.h"
#include "syscall_stats.h"
#include "thread_stats.h"
#include "window_all.h"

#define BLOCKED (1u << TY_ST_SLEEPING | 1u << TY_ST_BLOCKED | 1u << TY_ST_STOPPED)

static const struct ty_sysarch *arch;

static int setup(void **state)
{
	arch = ty_sysarch_find("x86_64");
	return 0;
}

static int drop(void **state)
{
	ty_mx_drop();
	return 0;
}

/* 5 and 6 take turns on CPU 0; 5 is woken by 7 on CPU 1. */
static const struct ty_model *turns(void)
{
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 0, 5, TY_EV_OTHER);
	ty_mx_event(1, 0, 7, TY_EV_OTHER);
	ty_mx_enter(0, 50, 5, 202); /* futex */
	ty_mx_switch(0, 100, 5, S, 6);
	ty_mx_waking(1, 1100, 7, 5, 0);
	ty_mx_switch(0, 1400, 6, RP, 5);
	ty_mx_exit(0, 1410, 5, 202, 0);
	ty_mx_switch(0, 1500, 5, D, 6);
	ty_mx_event(0, 2000, 6, TY_EV_OTHER);
	return ty_mx_end();
}

static void longest(void **state)
{
	const struct ty_model *m = turns();
	struct ty_window w = window_all(m);
	struct ty_wait out[10];
	int32_t tid = 6;

	assert_int_equal(ty_longest(m, &w, BLOCKED, out, 10), 2);
	assert_int_equal(out[0].duration_ns, 1000);
	assert_int_equal(out[0].start_ns, 100);
	assert_int_equal(ty_model_thread(m, out[0].thread)->tid, 5);
	assert_int_equal(ty_model_syscall(m, (uint32_t)out[0].syscall).nr, 202);
	assert_int_equal(ty_model_thread(m, (uint32_t)out[0].waker)->tid, 7);
	assert_true(out[0].woken);
	assert_int_equal(out[1].duration_ns, 500);
	assert_int_equal(out[1].waker, -1);
	assert_int_equal(out[1].syscall, -1);
	/* Only as many as there is room for, and those are the longest. */
	assert_int_equal(ty_longest(m, &w, BLOCKED, out, 1), 1);
	assert_int_equal(out[0].duration_ns, 1000);
	assert_int_equal(ty_longest(m, &w, 1u << TY_ST_RUNNABLE, out, 10), 2);
	assert_int_equal(out[0].duration_ns, 300);
	assert_int_equal(ty_model_thread(m, (uint32_t)out[0].ran)->tid, 6);
	assert_int_equal(ty_model_thread(m, (uint32_t)out[1].ran)->tid, 5);
	/* Cut to the window. */
	w.from_ns = 600;
	w.to_ns = 1200;
	assert_int_equal(ty_longest(m, &w, BLOCKED, out, 10), 1);
	assert_int_equal(out[0].duration_ns, 500);
	assert_int_equal(out[0].start_ns, 600);
	w.tids = &tid;
	w.tids_n = 1;
	assert_int_equal(ty_longest(m, &w, BLOCKED, out, 10), 0);
}

static void windows(void **state)
{
	const struct ty_model *m = turns();
	struct ty_window w = window_all(m);
	const char *pat = "t[56]";
	uint32_t cpu = 1;
	uint64_t a = 10, b = 5000;

	assert_int_equal(w.from_ns, 0);
	assert_int_equal(w.to_ns, 2000);
	assert_true(ty_window_clip(&w, &a, &b));
	assert_int_equal(b, 2000);
	a = b = 2000;
	assert_false(ty_window_clip(&w, &a, &b));
	w.comms = &pat;
	w.comms_n = 1;
	assert_true(ty_window_thread(&w, m, ty_model_thread_find(m, 5, 0)));
	assert_false(ty_window_thread(&w, m, ty_model_thread_find(m, 7, 0)));
	w.cpus = &cpu;
	w.cpus_n = 1;
	assert_true(ty_window_cpu(&w, 1));
	assert_false(ty_window_cpu(&w, 0));
}

static void threads(void **state)
{
	const struct ty_model *m = turns();
	struct ty_window w = window_all(m);
	struct ty_thread_stats *s;
	uint64_t sum = 0;
	uint32_t n, cpu = 1;

	assert_int_equal(ty_thread_stats(m, &w, &s, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(ty_model_thread(m, s[0].thread)->tid, 7);
	assert_int_equal(s[0].ns[TY_ST_RUNNING], 2000);
	assert_int_equal(s[1].ns[TY_ST_RUNNING], 1800); /* 6 */
	assert_int_equal(s[1].ns[TY_ST_RUNNABLE], 100);
	assert_int_equal(s[1].ns[TY_ST_UNKNOWN], 100);
	assert_int_equal(s[2].ns[TY_ST_RUNNING], 200); /* 5 */
	assert_int_equal(s[2].ns[TY_ST_RUNNABLE], 300);
	assert_int_equal(ty_thread_blocked_ns(&s[2]), 1500);
	assert_int_equal(s[2].wakeups, 1);
	/* Every nanosecond of the window is in one state. */
	for (unsigned k = 0; k < TY_ST_COUNT; k++)
		sum += s[2].ns[k];
	assert_int_equal(sum, 2000);
	free(s);
	w.cpus = &cpu;
	w.cpus_n = 1;
	assert_int_equal(ty_thread_stats(m, &w, &s, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(ty_model_thread(m, s[0].thread)->tid, 7);
	free(s);
	w.cpus_n = 0;
	w.from_ns = 1450;
	w.to_ns = 1600;
	assert_int_equal(ty_thread_stats(m, &w, &s, &n), 0);
	assert_int_equal(s[2].ns[TY_ST_RUNNING], 50);
	assert_int_equal(s[2].ns[TY_ST_BLOCKED], 100);
	assert_int_equal(s[2].wakeups, 0);
	free(s);
}

/* A run whose begin is inferred is one run. */
static void inferred_runs(void **state)
{
	const struct ty_model *m;
	struct ty_thread_stats *s;
	struct ty_window w;
	uint32_t n;

	ty_mx_begin("mode=all\nno_idle_switch=1\n", NULL);
	ty_mx_event(0, 0, 5, TY_EV_OTHER);
	ty_mx_event(1, 400, 7, TY_EV_OTHER);
	ty_mx_switch(1, 500, 7, RP, 6);
	ty_mx_switch(1, 700, 6, S, 7);
	ty_mx_event(0, 1000, 5, TY_EV_OTHER);
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_thread_stats(m, &w, &s, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(ty_model_thread(m, s[1].thread)->tid, 7);
	assert_int_equal(s[1].ns[TY_ST_RUNNING], 800);
	assert_int_equal(s[1].inferred_ns, 400);
	assert_int_equal(s[1].runs, 2);
	free(s);
}

static int cmp(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Durations up to 16 us times scale. */
static void syscalls_of(uint64_t scale)
{
	uint64_t t = 1000, len[1000], rnd = 12345, total = 0, wide = 0;
	struct ty_syscall_stats *s;
	const struct ty_model *m;
	struct ty_window w;
	uint32_t n;

	ty_mx_begin("mode=all\n", NULL);
	for (unsigned i = 0; i < 1000; i++) {
		rnd = rnd * 6364136223846793005u + 1442695040888963407u;
		len[i] = i % 3 ? (rnd >> 50) * scale : 77; /* many equal ones, too */
		total += len[i];
		ty_mx_enter(0, t, 5, 0);
		ty_mx_exit(0, t + len[i], 5, 0, i % 10 ? 1 : -4);
		if (i == 500)
			wide = t;
		t += len[i] + 10;
	}
	ty_mx_enter(0, t, 5, 35); /* nanosleep, never ends */
	ty_mx_event(0, t + 500, 5, TY_EV_OTHER);
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_syscall_stats(m, &w, arch, &s, &n), 0);
	assert_int_equal(n, 2);
	qsort(len, 1000, sizeof(*len), cmp);
	assert_string_equal(s[0].name, "read");
	assert_int_equal(s[0].count, 1000);
	assert_int_equal(s[0].errors, 100);
	assert_int_equal(s[0].total_ns, total);
	assert_int_equal(s[0].mean_ns, total / 1000);
	assert_int_equal(s[0].p50_ns, len[499]);
	assert_int_equal(s[0].p99_ns, len[989]);
	assert_int_equal(s[0].max_ns, len[999]);
	assert_int_equal(ty_model_syscall(m, s[0].max_call).start_ns, s[0].max_start_ns);
	assert_string_equal(s[1].name, "nanosleep");
	assert_int_equal(s[1].unfinished, 1);
	assert_int_equal(s[1].before, 0);
	assert_int_equal(s[1].errors, 0);
	assert_int_equal(s[1].total_ns, 500);
	free(s);
	/* A window takes the calls that touch it, whole. */
	w.from_ns = wide;
	w.to_ns = wide + 1;
	assert_int_equal(ty_syscall_stats(m, &w, arch, &s, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(s[0].count, 1);
	free(s);
	w.from_ns = 0;
	w.to_ns = 1;
	assert_int_equal(ty_syscall_stats(m, &w, arch, &s, &n), 0);
	assert_int_equal(n, 0);
	free(s);
}

static void syscalls(void **state)
{
	syscalls_of(1);
	syscalls_of(5001); /* too long to be counted by the nanosecond */
}

/* Few long calls among very many short ones: the percentile lies in blocks far apart. */
static void rare_long_calls(void **state)
{
	static uint64_t len[20000];
	struct ty_syscall_stats *s;
	const struct ty_model *m;
	uint64_t t = 1000;
	struct ty_window w;
	uint32_t n;

	ty_mx_begin("mode=all\n", NULL);
	for (unsigned i = 0; i < 20000; i++) {
		len[i] = i % 5000 == 4000 ? 900000 : i % 2000 < 21 ? 50000 + i % 21 : 77;

		ty_mx_enter(0, t, 5, 0);
		ty_mx_exit(0, t + len[i], 5, 0, 1);
		t += len[i];
	}
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_syscall_stats(m, &w, arch, &s, &n), 0);
	assert_int_equal(n, 1);
	qsort(len, 20000, sizeof(*len), cmp);
	assert_int_equal(s[0].p50_ns, len[9999]);
	assert_int_equal(s[0].p99_ns, len[19799]);
	free(s);
}

/* A call whose begin or end is not known is counted and not timed. */
static void untimed(void **state)
{
	struct ty_syscall_stats *s;
	const struct ty_model *m;
	struct ty_window w;
	uint32_t n;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 0, 5, TY_EV_OTHER);
	ty_mx_enter(0, 5, 5, 1);
	ty_mx_exit(0, 10, 5, 1, 1);
	ty_mx_gap(0, 10, 90, 3);
	ty_mx_exit(0, 100, 5, 0, 1);
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_syscall_stats(m, &w, arch, &s, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(s[1].name, "read");
	assert_int_equal(s[1].count, 1);
	assert_int_equal(s[1].untimed, 1);
	assert_int_equal(s[1].max_call, TY_NONE);
	free(s);
}

/* A call that began before the recording has no known duration: it is counted and not timed. So is
 * one whose end may be that of a later call. */
static void untimed_begin(void **state)
{
	struct ty_syscall_stats *s;
	const struct ty_model *m;
	struct ty_window w;
	uint32_t n;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 0, 5, TY_EV_OTHER);
	ty_mx_exit(0, 5000, 5, 0, -4);
	ty_mx_enter(0, 6000, 5, 0);
	ty_mx_exit(0, 6010, 5, 0, 1);
	ty_mx_enter(0, 7000, 5, 0);
	ty_mx_gap(0, 7000, 8000, 3);
	ty_mx_exit(0, 9000, 5, 0, 1);
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_syscall_stats(m, &w, arch, &s, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(s[0].count, 3);
	assert_int_equal(s[0].errors, 1);
	assert_int_equal(s[0].before, 1);
	assert_int_equal(s[0].untimed, 1);
	assert_int_equal(s[0].max_ns, 10);
	assert_int_equal(s[0].total_ns, 10);
	assert_int_equal(s[0].p99_ns, 10);
	free(s);
}

/* The CPU of a call is where it began, known without scheduler events. */
static void calls_by_cpu(void **state)
{
	struct ty_syscall_stats *s;
	const struct ty_model *m;
	struct ty_window w;
	uint32_t n, cpu = 1;

	ty_mx_begin(NULL, NULL);
	ty_mx_exit(1, 5, 5, 7, 0); /* where it began nobody knows */
	ty_mx_enter(1, 10, 5, 0);
	ty_mx_exit(0, 20, 5, 0, 3);
	ty_mx_enter(0, 25, 5, 1);
	ty_mx_exit(1, 30, 5, 1, 3);
	m = ty_mx_end();
	w = window_all(m);
	w.cpus = &cpu;
	w.cpus_n = 1;
	assert_int_equal(ty_syscall_stats(m, &w, arch, &s, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(s[0].name, "read");
	free(s);
}

/* Calls and waits by the name at their start, threads by any name within the window. */
static void names_at_the_start(void **state)
{
	struct ty_event ev = {.ts_ns = 100, .cpu = 0, .tid = 5, .kind = TY_EV_RENAME, .id = 9};
	const char *pat = "new";
	struct ty_syscall_stats *s;
	const struct ty_model *m;
	struct ty_wait out[10];
	struct ty_window w;
	uint32_t n, t;

	ev.u.rename.tid = 5;
	strcpy(ev.u.rename.old_comm, "t5");
	strcpy(ev.u.rename.new_comm, "new");
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 0, 5, TY_EV_OTHER);
	ty_mx_switch(0, 10, 5, S, 0);
	ty_mx_waking(0, 40, 0, 5, 0);
	ty_mx_switch(0, 50, 0, R, 5);
	ty_mx_enter(0, 80, 5, 0);
	ty_mx_exit(0, 85, 5, 0, 0);
	ty_mx_enter(0, 90, 5, 157); /* prctl(PR_SET_NAME) */
	ty_mx_feed(ev);
	ty_mx_exit(0, 110, 5, 157, 0);
	ty_mx_enter(0, 120, 5, 1);
	ev = (struct ty_event){.ts_ns = 130, .cpu = 0, .tid = 5, .kind = TY_EV_SWITCH, .id = 1};
	ev.u.sw.prev_tid = 5;
	ev.u.sw.prev_state = S;
	strcpy(ev.u.sw.prev_comm, "new");
	ty_mx_feed(ev);
	ty_mx_event(0, 200, 0, TY_EV_OTHER);
	m = ty_mx_end();
	t = ty_model_thread_find(m, 5, 0);
	w = window_all(m);
	w.comms = &pat;
	w.comms_n = 1;
	assert_int_equal(ty_longest(m, &w, BLOCKED, out, 10), 1);
	assert_int_equal(out[0].start_ns, 130);
	assert_int_equal(ty_syscall_stats(m, &w, arch, &s, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(s[0].name, "write");
	free(s);
	assert_true(ty_window_thread(&w, m, t));
	w.to_ns = 100;
	assert_false(ty_window_thread(&w, m, t));
	w.to_ns = 101;
	assert_true(ty_window_thread(&w, m, t));
	pat = "t5";
	assert_true(ty_window_thread(&w, m, t));
	w.from_ns = 100;
	assert_false(ty_window_thread(&w, m, t));
}

/* Who ran meanwhile is who had most of the CPU, not who had the longest single turn. */
static void ran_most(void **state)
{
	const struct ty_model *m;
	struct ty_wait out[10];
	struct ty_window w;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 0, 5, TY_EV_OTHER);
	ty_mx_switch(0, 10, 5, RP, 6);
	ty_mx_switch(0, 50, 6, RP, 7); /* 6: 40 at once */
	ty_mx_switch(0, 80, 7, RP, 8);
	ty_mx_switch(0, 85, 8, S, 7);
	ty_mx_switch(0, 115, 7, RP, 5); /* 7: twice 30 */
	ty_mx_event(0, 120, 5, TY_EV_OTHER);
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_longest(m, &w, 1u << TY_ST_RUNNABLE, out, 1), 1);
	assert_int_equal(ty_model_thread(m, out[0].thread)->tid, 5);
	assert_int_equal(ty_model_thread(m, (uint32_t)out[0].ran)->tid, 7);
	/* Within the window only. */
	w.to_ns = 60;
	assert_int_equal(ty_longest(m, &w, 1u << TY_ST_RUNNABLE, out, 1), 1);
	assert_int_equal(ty_model_thread(m, (uint32_t)out[0].ran)->tid, 6);
}

/* Bystanders' sleeps are their own; their waits for devices may be ours. */
static void bystanders(void **state)
{
	const struct ty_model *m;
	struct ty_wait out[10];
	struct ty_window w;

	ty_mx_begin("mode=tree\n", NULL);
	ty_mx_enter(0, 0, 5, 1);
	ty_mx_event(1, 0, 6, TY_EV_OTHER);
	ty_mx_switch(0, 10, 5, S, 7);
	ty_mx_switch(0, 20, 7, S, 0);
	ty_mx_switch(1, 30, 6, D, 0);
	ty_mx_event(0, 100, 0, TY_EV_OTHER);
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_longest(m, &w, BLOCKED, out, 10), 3);
	assert_int_equal(ty_longest(m, &w, BLOCKED | TY_LONGEST_OURS, out, 10), 2);
	assert_int_equal(ty_model_thread(m, out[0].thread)->tid, 5);
	assert_int_equal(ty_model_thread(m, out[1].thread)->tid, 6);
}

/* A wait whose end is hidden by lost events says so; its length is what was seen. */
static void end_lost(void **state)
{
	const struct ty_model *m;
	struct ty_wait out[10];
	struct ty_window w;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 0, 5, TY_EV_OTHER);
	ty_mx_switch(0, 10, 5, S, 0);
	ty_mx_gap(0, 60, 70, 1);
	ty_mx_waking(0, 90, 0, 5, 0);
	ty_mx_switch(0, 95, 0, R, 5);
	ty_mx_switch(0, 100, 5, S, 0);
	ty_mx_event(0, 120, 0, TY_EV_OTHER);
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_longest(m, &w, BLOCKED, out, 10), 2);
	assert_int_equal(out[0].duration_ns, 50);
	assert_true(out[0].end_lost);
	assert_false(out[1].end_lost);
	w.to_ns = 50; /* the window ends it first */
	assert_int_equal(ty_longest(m, &w, BLOCKED, out, 10), 1);
	assert_false(out[0].end_lost);
}

/* What the command waits for before its execve is tarry, not a wait of the command. */
static void command_before_its_release(void **state)
{
	struct ty_wait out[8];
	const struct ty_model *m;
	struct ty_window w;
	uint32_t n, own = 0;

	ty_mx_begin("command_tid=5\n", NULL);
	ty_mx_switch(0, 10, 5, S, 9);
	ty_mx_waking(0, 500, 9, 5, 0);
	ty_mx_switch(0, 510, 9, S, 5);
	ty_mx_enter(0, 520, 5, 59);
	ty_mx_exit(0, 530, 5, 59, 0);
	ty_mx_waking(0, 535, 5, 9, 0);
	ty_mx_switch(0, 540, 5, S, 9);
	ty_mx_waking(0, 600, 9, 5, 0);
	ty_mx_switch(0, 610, 9, S, 5);
	m = ty_mx_end();
	w = window_all(m);
	n = ty_longest(m, &w, 1u << TY_ST_SLEEPING, out, 8);
	for (uint32_t i = 0; i < n; i++)
		if (ty_model_thread(m, out[i].thread)->tid == 5) {
			assert_int_equal(out[i].start_ns, 540);
			own++;
		}
	assert_int_equal(own, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, drop)
	const struct CMUnitTest tests[] = {
		T(longest),	 T(windows),
		T(threads),	 T(inferred_runs),
		T(syscalls),	 T(rare_long_calls),
		T(untimed),	 T(untimed_begin),
		T(calls_by_cpu), T(names_at_the_start),
		T(ran_most),	 T(bystanders),
		T(end_lost),	 T(command_before_its_release),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
