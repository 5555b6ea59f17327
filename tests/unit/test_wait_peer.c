/* SPDX-License-Identifier: MIT */
/* The reply that a wait was for: only of that thread, for all of the wait, on that descriptor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_model.h"
#include "wait_peer.h"

enum { THREAD = 3 };

/* A client waited on fd 9 from 100 to 500, and on fd 7, for a connection, from 600 to 700. */
static struct ty_request waits[] = {
	{.thread = THREAD, .fd = 9, .start_ns = 100, .end_ns = 500},
	{.thread = THREAD, .fd = 7, .start_ns = 600, .end_ns = 700, .flags = TY_REQ_CONNECT},
};
static const struct ty_requests requests = {.client_waits = waits, .client_waits_n = 2};

static int64_t fd_awaited(uint32_t thread, uint64_t from, uint64_t to, struct ty_wait_for w)
{
	const struct ty_request *q = ty_wait_awaits(&requests, thread, from, to, &w);

	return q ? q->fd : -1;
}

static void only_its_own(void **state)
{
	const struct ty_wait_for any = {.class = TY_WAIT_IDLE, .fd = -1};

	assert_int_equal(fd_awaited(THREAD, 100, 500, any), 9);
	assert_int_equal(fd_awaited(THREAD, 200, 300, any), 9);
	assert_int_equal(fd_awaited(THREAD + 1, 200, 300, any), -1);
	/* Not throughout: it began before, or ended later. */
	assert_int_equal(fd_awaited(THREAD, 99, 300, any), -1);
	assert_int_equal(fd_awaited(THREAD, 200, 501, any), -1);
	assert_int_equal(fd_awaited(THREAD, 610, 620, any), 7);
	assert_null(ty_wait_awaits(NULL, THREAD, 200, 300, &any));
}

static void what_it_waits_for(void **state)
{
	static const struct {
		struct ty_wait_for w;
		int64_t fd;
	} cases[] = {
		{{.class = TY_WAIT_PEER, .fd = 9}, 9},
		{{.class = TY_WAIT_PEER, .fd = 8}, -1}, /* another descriptor */
		{{.class = TY_WAIT_PEER, .fd = -1}, 9},
		{{.class = TY_WAIT_IDLE, .fd = 4}, 9}, /* epoll's own descriptor */
		{{.class = TY_WAIT_DEFINITE, .fd = 9}, -1},
		{{.class = TY_WAIT_END, .fd = -1}, -1},
		{{.class = TY_WAIT_PEER, .fd = -1, .word = 0x1000}, -1},
		{{.class = TY_WAIT_IDLE, .fd = -1, .kind = TY_STALL_SLEEP}, -1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (fd_awaited(THREAD, 200, 300, cases[i].w) != cases[i].fd)
			fail_msg("case %zu", i);
}

static void its_name(void **state)
{
	const struct ty_wait_for any = {.class = TY_WAIT_IDLE, .fd = -1};
	struct ty_explain x = {0};
	bool connecting = true;
	char out[TY_PEER];

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 1, 5, TY_EV_OTHER);
	x.m = ty_mx_end();
	assert_int_equal(
		ty_wait_peer(&x, &requests, THREAD, TY_NONE, 200, 300, &any, out, &connecting), 9);
	assert_string_equal(out, "fd 9");
	assert_false(connecting);
	assert_int_equal(
		ty_wait_peer(&x, &requests, THREAD, TY_NONE, 610, 620, &any, out, &connecting), 7);
	assert_string_equal(out, "fd 7");
	assert_true(connecting);
	assert_int_equal(
		ty_wait_peer(&x, &requests, THREAD, TY_NONE, 510, 520, &any, out, &connecting), -1);
	ty_mx_drop();
}

static void softirq(uint64_t ts, int kind, uint32_t vec, uint8_t flags)
{
	struct ty_event ev = {
		.ts_ns = ts, .kind = (uint8_t)kind, .tid = 12, .id = 30, .flags = flags};

	ev.u.softirq.vec = vec;
	ty_mx_feed(ev);
}

/* While 12 runs, a packet wakes 11, which then sleeps again: of a timer, or of 12. */
static uint64_t packet(uint64_t t, bool of_12)
{
	struct ty_event ev = {.kind = TY_EV_WAKING, .tid = 12, .id = 4, .flags = TY_EVF_SOFTIRQ};

	if (!of_12)
		softirq(t += 1000, TY_EV_SOFTIRQ_ENTRY, 1, TY_EVF_SOFTIRQ);
	softirq(t += 1000, TY_EV_SOFTIRQ_RAISE, 3, of_12 ? 0 : TY_EVF_SOFTIRQ);
	if (!of_12)
		softirq(t += 1000, TY_EV_SOFTIRQ_EXIT, 1, TY_EVF_SOFTIRQ);
	softirq(t += 1000, TY_EV_SOFTIRQ_ENTRY, 3, TY_EVF_SOFTIRQ);
	ev.ts_ns = t += 1000;
	ev.u.wake.tid = 11;
	ty_mx_feed(ev);
	softirq(t += 1000, TY_EV_SOFTIRQ_EXIT, 3, TY_EVF_SOFTIRQ);
	ty_mx_switch(0, t += 1000, 12, RP, 11);
	ty_mx_switch(0, t += 1000, 11, S, 12);
	return t;
}

/* 11 is woken by packets, the last one of which is 12's; between: another wakeup comes before
 * that. */
static uint32_t next_packet(bool between, bool last)
{
	const struct ty_model *m;
	uint64_t t = 2000000;
	uint32_t thread, got;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1000000, 0, R, 11);
	ty_mx_switch(0, t, 11, S, 12);
	t = packet(t, false);
	t = packet(t, false);
	if (between) {
		ty_mx_waking(0, t += 1000, 12, 11, 0);
		ty_mx_switch(0, t += 1000, 12, RP, 11);
		ty_mx_switch(0, t += 1000, 11, S, 12);
	}
	if (last)
		t = packet(t, true);
	ty_mx_switch(0, t += 1000, 12, S, 0);
	m = ty_mx_end();
	thread = ty_model_thread_find(m, 11, t);
	got = ty_wait_next_packet(m, thread, ty_model_span_find(m, thread, 2001000));
	got = got == TY_NONE ? 0 : (uint32_t)ty_model_thread(m, got)->tid;
	ty_mx_drop();
	return got;
}

static void sender_of_the_next_packet(void **state)
{
	assert_int_equal(next_packet(false, true), 12);
	assert_int_equal(next_packet(true, true), 0);
	assert_int_equal(next_packet(false, false), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_its_own),
		cmocka_unit_test(what_it_waits_for),
		cmocka_unit_test(its_name),
		cmocka_unit_test(sender_of_the_next_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
