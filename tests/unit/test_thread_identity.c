/* SPDX-License-Identifier: MIT */
/* Lives, names, processes; exec by a thread that is not the leader; tids used again; interrupts,
 * clock points, system calls of a model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_model.h"
#include "syscalls.h"

#define OURS	     "tarry=0.1\nmode=command\n"
#define CLONE_THREAD 0x10000u

static int drop(void **state)
{
	ty_mx_drop();
	return 0;
}

static void exit_event(unsigned cpu, uint64_t ts, int tid)
{
	struct ty_event ev = {.ts_ns = ts, .cpu = cpu, .tid = tid, .kind = TY_EV_EXIT, .id = 10};

	ev.u.tex.tid = tid;
	ty_mx_feed(ev);
}

static const struct ty_thread *life(const struct ty_model *m, int tid, uint64_t t)
{
	return ty_model_thread(m, ty_model_thread_find(m, tid, t));
}

static void birth_and_death(void **state)
{
	const struct ty_model *m;

	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_fork(0, 20, 5, 50, 0);
	ty_mx_fork(0, 25, 5, 51, CLONE_THREAD);
	ty_mx_switch(0, 30, 5, S, 50);
	exit_event(0, 40, 50);
	ty_mx_switch(0, 45, 50, TY_TASK_DEAD, 51);
	ty_mx_switch(0, 60, 51, S, 0);
	m = ty_mx_end();
	assert_string_equal(ty_mx_thread(50, 0), "D20-21n w@0:21-30n R@0:30-45");
	assert_true(life(m, 50, 30)->born && life(m, 50, 30)->died);
	assert_int_equal(life(m, 50, 30)->tgid, 50);
	assert_int_equal(life(m, 50, 30)->end_ns, 45);
	assert_int_equal(ty_model_thread(m, (uint32_t)life(m, 50, 30)->forked_by)->tid, 5);
	assert_false(life(m, 51, 30)->died);
}

/* A thread and its creator: tgid and ppid by clone flags. */
static void processes(void **state)
{
	static const char threads[] = "taken 1 2\n7\t6\t3\t0\tS\tn\t0\t0\t-\t-\t0\t/\tapp\n";
	const struct ty_model *m;

	ty_mx_begin(OURS, threads);
	ty_mx_event(0, 10, 7, TY_EV_OTHER);
	ty_mx_fork(0, 20, 7, 70, CLONE_THREAD);
	ty_mx_fork(0, 30, 7, 71, 0);
	m = ty_mx_end();
	assert_int_equal(life(m, 70, 30)->tgid, 6);
	assert_int_equal(life(m, 70, 30)->ppid, 3);
	assert_int_equal(life(m, 71, 30)->tgid, 71);
	assert_int_equal(life(m, 71, 30)->ppid, 6);
}

static void tid_used_again(void **state)
{
	const struct ty_model *m;

	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	for (unsigned g = 0; g < 3; g++) {
		uint64_t t = 100 * (g + 1);

		ty_mx_fork(0, t, 5, 50, 0);
		ty_mx_switch(0, t + 10, 5, S, 50);
		exit_event(0, t + 15, 50);
		ty_mx_switch(0, t + 20, 50, TY_TASK_DEAD, 5);
	}
	/* The end of the fourth is lost; the fifth begins all the same. */
	ty_mx_fork(0, 400, 5, 50, 0);
	ty_mx_fork(0, 500, 5, 50, 0);
	m = ty_mx_end();
	assert_string_equal(ty_mx_thread(50, 1), "D200-201n w@0:201-210n R@0:210-220");
	assert_string_equal(ty_mx_thread(50, 3), "D400-401n w@0:401-500n");
	assert_string_equal(ty_mx_thread(50, 4), "D500-501n w@0:501-501>n");
	assert_int_equal(life(m, 50, 115)->gen, 0);
	assert_int_equal(life(m, 50, 215)->gen, 1);
	assert_int_equal(life(m, 50, 305)->gen, 2);
	assert_int_equal(life(m, 50, 0)->gen, 0);
	assert_int_equal(life(m, 50, 9999)->gen, 4);
	assert_int_equal(ty_model_thread_find(m, 77, 0), TY_NONE);
}

/* first: the leader's last switch, under the tid it got in exchange, is before anything of the
 * thread's under the leader's. */
static void exec_of(bool first)
{
	struct ty_event ev = {.ts_ns = 60, .cpu = 1, .tid = 5, .kind = TY_EV_RENAME, .id = 11};
	const struct ty_model *m;
	uint32_t n;

	ty_mx_begin(OURS, "taken 1 2\n5\t5\t1\t0\tR\tn\t0\t0\t-\t-\t0\t/\tlead\n"
			  "6\t5\t1\t0\tR\tn\t0\t0\t-\t-\t0\t/\twork\n");
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_event(1, 10, 6, TY_EV_OTHER);
	ty_mx_enter(1, 20, 6, 59); /* execve */
	exit_event(0, 30, 5);
	if (first)
		ty_mx_switch(0, 55, 6, TY_TASK_DEAD, 0);
	/* From here on the thread is 5; its name changes before the exec event. */
	ev.u.rename.tid = 5;
	snprintf(ev.u.rename.new_comm, sizeof(ev.u.rename.new_comm), "newname");
	ty_mx_feed(ev);
	if (!first)
		ty_mx_switch(0, 65, 6, TY_TASK_DEAD, 0);
	ev = (struct ty_event){.ts_ns = 70, .cpu = 1, .tid = 5, .kind = TY_EV_EXEC, .id = 12};
	ev.u.exec.tid = 5;
	ev.u.exec.old_tid = 6;
	ev.u.exec.filename = "/bin/true";
	ty_mx_feed(ev);
	ty_mx_exit(1, 75, 5, 59, 0);
	ty_mx_switch(1, 80, 5, S, 0);
	m = ty_mx_end();
	assert_int_equal(ty_model_summary(m)->threads, 2);
	assert_string_equal(ty_mx_thread(5, 0), first ? "R@0:10-55<" : "R@0:10-65<");
	assert_string_equal(ty_mx_thread(5, 1), "R@1:10-80< S80-80>");
	/* Found under both tids, each at its time. */
	n = ty_model_thread_find(m, 6, 20);
	assert_int_equal(n, ty_model_thread_find(m, 5, 75));
	assert_int_not_equal(n, ty_model_thread_find(m, 5, 20));
	assert_int_equal(ty_model_tid(m, n, 20), 6);
	assert_int_equal(ty_model_tid(m, n, 75), 5);
	assert_int_equal(ty_model_tid(m, ty_model_thread_find(m, 5, 20), 20), 5);
	assert_string_equal(ty_model_comm(m, n, 15), "work");
	assert_string_equal(ty_model_comm(m, n, 65), "newname");
	assert_int_equal(ty_model_thread(m, n)->syscalls_n, 1);
	assert_int_equal(ty_model_syscall(m, ty_model_thread(m, n)->syscalls_first).end_ns, 75);
}

static void exec_by_a_thread(void **state)
{
	exec_of(false);
	ty_mx_drop();
	exec_of(true);
}

static void interrupts(void **state)
{
	struct ty_event ev = {.ts_ns = 20, .cpu = 0, .tid = 5, .kind = TY_EV_SOFTIRQ_ENTRY};
	const struct ty_model *m;
	struct ty_irq_span s;

	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ev.u.softirq.vec = 3;
	ty_mx_feed(ev);
	ev.kind = TY_EV_IRQ_ENTRY;
	ev.ts_ns = 30;
	ev.u.irq.irq = 24;
	ev.u.irq.name = "virtio0";
	ty_mx_feed(ev);
	ev.kind = TY_EV_IRQ_EXIT;
	ev.ts_ns = 35;
	ty_mx_feed(ev);
	ev.kind = TY_EV_SOFTIRQ_EXIT;
	ev.ts_ns = 50;
	ev.u.softirq.vec = 3;
	ty_mx_feed(ev);
	ev.kind = TY_EV_SOFTIRQ_EXIT; /* without a start */
	ev.ts_ns = 55;
	ty_mx_feed(ev);
	ev.kind = TY_EV_SOFTIRQ_ENTRY; /* without an end */
	ev.ts_ns = 60;
	ty_mx_feed(ev);
	ty_mx_event(0, 80, 5, TY_EV_OTHER);
	m = ty_mx_end();
	assert_int_equal(ty_model_irq_spans(m, 0), 3);
	s = ty_model_irq_span(m, 0, 0);
	assert_int_equal(s.start_ns, 20);
	assert_int_equal(s.end_ns, 50);
	assert_string_equal(ty_model_str(m, s.name), "NET_RX");
	s = ty_model_irq_span(m, 0, 1);
	assert_int_equal(s.end_ns, 35);
	assert_string_equal(ty_model_str(m, s.name), "virtio0");
	s = ty_model_irq_span(m, 0, 2);
	assert_int_equal(s.end_ns, 80);
	assert_int_equal(s.flags, TY_SF_OPEN);
}

static void marker(uint64_t ts, const char *text)
{
	struct ty_event ev = {.ts_ns = ts, .kind = TY_EV_PRINT, .tid = 5};

	ev.u.print.text = text;
	ty_mx_feed(ev);
}

static void clocks(void **state)
{
	const struct ty_model *m;
	uint64_t t = 0;

	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 50, 5, TY_EV_OTHER);
	m = ty_mx_end();
	assert_false(ty_model_realtime(m, 60, &t));
	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 50, 5, TY_EV_OTHER);
	marker(100, "tarry_clock realtime_ns=1000100 monotonic_ns=1 boottime_ns=2 tsc=3");
	marker(150, "something else");
	marker(300, "tarry_clock realtime_ns=1000500 monotonic_ns=1 boottime_ns=2 tsc=3\n");
	m = ty_mx_end();
	assert_true(ty_model_realtime(m, 50, &t));
	assert_int_equal(t, 1000050);
	assert_true(ty_model_realtime(m, 200, &t));
	assert_int_equal(t, 1000300); /* between two points, by both */
	assert_true(ty_model_realtime(m, 400, &t));
	assert_int_equal(t, 1000600);
	/* cut out of a longer file: the marker before the window is a fact */
	ty_mx_begin(OURS
		    "clock=40 tarry_clock realtime_ns=1000040 monotonic_ns=1\nclock=x\nclock=30 \n",
		    NULL);
	ty_mx_event(0, 50, 5, TY_EV_OTHER);
	m = ty_mx_end();
	assert_true(ty_model_realtime(m, 60, &t));
	assert_int_equal(t, 1000060);
	assert_int_equal(ty_model_summary(m)->start_ns, 50);
}

static void calls(void **state)
{
	const struct ty_model *m;
	struct ty_syscall c;
	uint32_t th;

	ty_mx_begin(OURS, NULL);
	ty_mx_exit(0, 10, 5, 0, 7); /* began before */
	ty_mx_enter(0, 20, 5, 1);
	ty_mx_exit(0, 30, 5, 1, -11);
	ty_mx_enter(0, 40, 5, 202);
	ty_mx_switch(0, 45, 5, S, 0);
	m = ty_mx_end();
	th = ty_model_thread_find(m, 5, 0);
	assert_int_equal(ty_model_thread(m, th)->syscalls_n, 3);
	c = ty_model_syscall(m, 0);
	assert_int_equal(c.flags, TY_SF_BEFORE);
	assert_true(c.loc == TY_NO_LOC);
	c = ty_model_syscall(m, 1);
	assert_int_equal(c.ret, -11);
	assert_int_equal(c.loc, 20u << 8);
	c = ty_model_syscall(m, 2);
	assert_int_equal(c.flags, TY_SF_OPEN);
	assert_int_equal(c.end_ns, 45);
	assert_int_equal(ty_model_syscall_at(m, th, 25), 1);
	assert_int_equal(ty_model_syscall_at(m, th, 35), TY_NONE);
	assert_int_equal(ty_model_syscall_after(m, th, 35), 2);
	assert_int_equal(ty_model_syscall_after(m, th, 45), TY_NONE);
	assert_true(ty_model_thread(m, th)->traced);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, drop)
	const struct CMUnitTest tests[] = {
		T(birth_and_death), T(processes), T(tid_used_again), T(exec_by_a_thread),
		T(interrupts),	    T(clocks),	  T(calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
