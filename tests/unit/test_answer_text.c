/* SPDX-License-Identifier: MIT */
/* The text of an item: descriptors, connections, and what another process waited for. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "answer.h"
#include "fixture_answer.h"
#include "fixture_given.h"
#include "stalls.h"
#include "window_all.h"

/* Two waits of one call are one item: a descriptor that only one of them had is shown with that
 * one. */
static void waits_of_two_descriptors(void **state)
{
	struct ty_answer a;

	(void)state;
	givens = 0;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t from = i ? 110 * MS : 2 * MS, to = i ? 410 * MS : 102 * MS;

		give(from, 4 + i, 0, 0);
		ty_mx_enter(0, from, 11, NR_READ);
		ty_mx_switch(0, from, 11, S, 0);
		timer(to, 11);
		ty_mx_switch(0, to, 0, R, 11);
		ty_mx_exit(0, to, 11, NR_READ, 1);
	}
	ty_mx_switch(0, 420 * MS, 11, TY_TASK_DEAD, 0);
	a = answer_of(11);
	assert_int_equal(a.item[0].ns, 400 * MS);
	assert_string_equal(a.item[0].text, "t11/11 waited in read, woken by a timer (2 times, the "
					    "longest 300 ms on fd 5)");
	ty_mx_drop();
}

/* 11 waits for a CPU four times, so often of them inside a call. */
static void runnable_in_a_call(void **state)
{
	static const char *const text[] = {"", "", ", 50% of it in read", ", 75% of it in read",
					   ", all of it in read"};

	(void)state;
	for (unsigned inside = 0; inside <= 4; inside++) {
		struct ty_answer a;
		uint64_t t = 1 * MS;
		size_t n, all;

		givens = 0;
		ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
		ty_mx_switch(0, t, 0, R, 11);
		for (unsigned i = 0; i < 4; i++) {
			if (i < inside) {
				give(t += 1000, 4, 0, 0);
				ty_mx_enter(0, t, 11, NR_READ);
			}
			ty_mx_switch(0, t += 1000, 11, RP, 12);
			ty_mx_switch(0, t += 100 * MS, 12, R, 11);
			if (i < inside)
				ty_mx_exit(0, t += 1000, 11, NR_READ, 1);
		}
		ty_mx_switch(0, t += MS, 11, TY_TASK_DEAD, 0);
		a = answer_of(11);
		n = strlen(text[inside]);
		all = strlen(a.item[0].text);
		assert_true(all > n && !strncmp(a.item[0].text, "t11/11 waited for a CPU", 23));
		assert_string_equal(a.item[0].text + all - n, text[inside]);
		assert_int_equal(!n, !strstr(a.item[0].text, " of it in "));
		ty_mx_drop();
	}
}

/* Of a call with a timeout that expired, the ledger says that, and not whose timer it was. */
static void a_poll_that_timed_out(void **state)
{
	enum { NR_POLL = 7 };

	(void)state;
	for (int ready = 0; ready < 2; ready++) {
		struct ty_answer a;

		givens = 0;
		ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
		ty_mx_switch(0, 1 * MS, 0, R, 11);
		ty_mx_enter(0, 2 * MS, 11, NR_POLL);
		ty_mx_switch(0, 2 * MS, 11, S, 0);
		timer(102 * MS, 11);
		ty_mx_switch(0, 102 * MS, 0, R, 11);
		ty_mx_exit(0, 102 * MS, 11, NR_POLL, ready);
		ty_mx_switch(0, 103 * MS, 11, TY_TASK_DEAD, 0);
		a = answer_of(11);
		assert_string_equal(a.row[0].row,
				    ready ? "t11/11: sleeping in poll, woken by a timer"
					  : "t11/11: sleeping in poll, timed out");
		ty_mx_drop();
	}
}

/* A command that polls several descriptors while it connects: the destination is shown; and another
 * thread's time counts for the thread that woke it in between. */
static void the_silent_peer_is_told(void **state)
{
	enum { NR_POLL = 7, NR_SOCKET = 41, NR_CONNECT = 42, NR_CLOSE = 3 };
	struct ty_requests q;
	struct ty_explain x;
	struct ty_window w;
	struct ty_answer a;

	(void)state;
	givens = 0;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(0, 2 * MS, 0, R, 11);
	call(3 * MS, 11, NR_SOCKET, 9, 2);
	call(4 * MS, 11, NR_CONNECT, -EINPROGRESS, 9);
	give(5 * MS, 0x7000, 2, 100);
	ty_mx_enter(0, 5 * MS, 11, NR_POLL);
	ty_mx_switch(0, 5 * MS, 11, S, 0);
	timer(105 * MS, 11);
	ty_mx_switch(0, 105 * MS, 0, R, 11);
	ty_mx_exit(0, 105 * MS, 11, NR_POLL, 0);
	call(106 * MS, 11, NR_CLOSE, 0, 9);
	ty_mx_switch(0, 107 * MS, 11, TY_TASK_DEAD, 0);
	x = explain(ty_mx_end(), 11);
	w = window_all(x.m);
	assert_int_equal(ty_requests_find(&x, &w, 100, 0, &q, NULL), 0);
	assert_int_equal(ty_answer_find(&x, &w, &q, &a), 0);
	assert_string_equal(a.item[0].text,
			    "t11/11 waited in poll for a connection on fd 9 until it timed out");
	ty_requests_fini(&q);
	ty_mx_drop();
}

/* 11 waits for 12 of another process, and that for 20, which runs or lets the stopped 12 continue.
 */
static void by_another_process(uint32_t nr, uint64_t state, const char *text)
{
	struct ty_answer a;

	givens = 0;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(1, 1 * MS, 0, R, 12);
	ty_mx_switch(1, 2 * MS, 12, state, 20);
	ty_mx_switch(0, 2 * MS, 0, R, 11);
	ty_mx_enter(0, 10 * MS, 11, nr);
	ty_mx_switch(0, 10 * MS, 11, S, 0);
	ty_mx_waking(1, 190 * MS, 20, 12, 1);
	ty_mx_switch(1, 190 * MS, 20, S, 12);
	ty_mx_waking(1, 191 * MS, 12, 11, 0);
	ty_mx_switch(0, 191 * MS, 0, R, 11);
	ty_mx_exit(0, 191 * MS, 11, nr, 0);
	ty_mx_switch(0, 202 * MS, 11, TY_TASK_DEAD, 0);
	a = answer_of(11);
	assert_string_equal(a.item[0].text, text);
	ty_mx_drop();
}

static void what_the_other_process_did(void **state)
{
	(void)state;
	by_another_process(NR_FLOCK, S,
			   "t11/11 waited in flock for t12/12, which waited for t20/20, which ran");
	by_another_process(NR_FLOCK, TY_TASK_STOPPED,
			   "t11/11 waited in flock for t12/12, which was stopped");
	/* A wait for any event need not have been for what ended it. */
	by_another_process(232, S,
			   "t11/11 waited in epoll_wait, woken by t12/12, which waited for t20/20, "
			   "which ran");
}

/* 12 of another process ran in one piece, and two threads ran in its stead. */
static void a_process_that_ran_and_had_no_cpu(void **state)
{
	struct ty_answer a;

	(void)state;
	givens = 0;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(1, 1 * MS, 0, R, 12);
	ty_mx_switch(0, 2 * MS, 0, R, 11);
	ty_mx_enter(0, 10 * MS, 11, NR_FLOCK);
	ty_mx_switch(0, 10 * MS, 11, S, 0);
	ty_mx_switch(1, 10 * MS, 12, R, 20);
	ty_mx_switch(1, 60 * MS, 20, R, 21);
	ty_mx_switch(1, 110 * MS, 21, R, 12);
	ty_mx_waking(1, 190 * MS, 12, 11, 0);
	ty_mx_switch(0, 190 * MS, 0, R, 11);
	ty_mx_exit(0, 190 * MS, 11, NR_FLOCK, 0);
	ty_mx_switch(0, 192 * MS, 11, TY_TASK_DEAD, 0);
	a = answer_of(11);
	assert_string_equal(a.item[0].text, "t11/11 waited in flock for t12/12, which waited for a "
					    "CPU (56%) and ran (44%)");
	ty_mx_drop();
}

static void block(uint64_t ts, int tid, int kind, uint64_t sector)
{
	struct ty_event ev = {.ts_ns = ts, .tid = tid, .kind = (uint8_t)kind, .id = 20};

	ev.u.block.major = 254;
	ev.u.block.sector = sector;
	ev.u.block.nr_sector = 8;
	strcpy(ev.u.block.rwbs, "R");
	ty_mx_feed(ev);
}

static void irq(uint64_t ts, int kind)
{
	struct ty_event ev = {.ts_ns = ts, .kind = (uint8_t)kind, .flags = TY_EVF_HARDIRQ};

	ev.u.irq.irq = 33;
	ev.u.irq.name = "disk";
	ty_mx_feed(ev);
}

/* A wait in whose time the request is queued, or not yet there, and then in flight is one wait. */
static void waits_for_a_disk(bool queued)
{
	const char *text;
	struct ty_answer a;

	givens = 0;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t t = (10 + 100 * i) * MS, sector = 1000 + 8 * i;

		give(t, 4, 0, 0);
		ty_mx_enter(0, t, 11, NR_READ);
		if (queued)
			block(t + 1000, 11, TY_EV_BLOCK_QUEUE, sector);
		ty_mx_switch(0, t + 2000, 11, D, 12);
		block(t + 20 * MS, 12, TY_EV_BLOCK_ISSUE, sector);
		irq(t + 50 * MS, TY_EV_IRQ_ENTRY);
		block(t + 50 * MS + 1000, 12, TY_EV_BLOCK_COMPLETE, sector);
		ty_mx_waking_irq(0, t + 50 * MS + 2000, 12, 11, 0);
		irq(t + 50 * MS + 3000, TY_EV_IRQ_EXIT);
		ty_mx_switch(0, t + 50 * MS + 4000, 12, S, 11);
		ty_mx_exit(0, t + 50 * MS + 5000, 11, NR_READ, 1);
	}
	ty_mx_switch(0, 420 * MS, 11, TY_TASK_DEAD, 0);
	a = answer_of(11);
	assert_in_range(a.part_ns[TY_PART_DISK], 149 * MS, 151 * MS);
	text = a.item[a.item[0].part == TY_PART_DISK ? 0 : 1].text;
	assert_non_null(strstr(text, "(3 times, the longest 50.0 ms"));
	if (queued)
		assert_null(strstr(text, "no request"));
	else
		assert_non_null(
			strstr(text, "; for 40% of that time no I/O request was in flight "));
	ty_mx_drop();
}

static void waits_for_a_disk_are_counted(void **state)
{
	(void)state;
	waits_for_a_disk(true);
	waits_for_a_disk(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_a_disk_are_counted),
		cmocka_unit_test(waits_of_two_descriptors),
		cmocka_unit_test(runnable_in_a_call),
		cmocka_unit_test(a_poll_that_timed_out),
		cmocka_unit_test(the_silent_peer_is_told),
		cmocka_unit_test(what_the_other_process_did),
		cmocka_unit_test(a_process_that_ran_and_had_no_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
