/* SPDX-License-Identifier: MIT */
/* The waker of a wakeup from a softirq: the thread that raised it, or the device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_given.h"
#include "fixture_lock.h"
#include "fixture_model.h"
#include "model_priv.h"
#include "window_all.h"

/* A softirq's wakeup is the thread's that raised it, or the device's. */
static void softirq_wakers(void **state)
{
	struct ty_event
		raise = {.kind = TY_EV_SOFTIRQ_RAISE, .id = 31, .tid = 12},
		entry = {.kind = TY_EV_SOFTIRQ_ENTRY, .id = 32, .tid = 12, .flags = TY_EVF_SOFTIRQ},
		waking = {.kind = TY_EV_WAKING, .id = 2, .tid = 12, .flags = TY_EVF_SOFTIRQ},
		irq = {.kind = TY_EV_IRQ_ENTRY, .id = 33, .tid = 12, .flags = TY_EVF_HARDIRQ};
	const struct ty_model *m;
	char by[TY_WAKER_TEXT];
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
	assert_string_equal(ty_waker_text(m, &w, by), "t12/12");
	assert_true(w.net);
	w = ty_waker_find(m, 1);
	assert_int_equal(w.kind, TY_WAKER_DEVICE);
	assert_string_equal(ty_waker_text(m, &w, by), "device interrupt eth0");
	w.io = 0;
	assert_string_equal(ty_waker_text(m, &w, by), "block I/O completion (eth0)");
	w.kind = TY_WAKER_UNKNOWN;
	assert_string_equal(ty_waker_text(m, &w, by), "interrupt eth0");
	assert_int_equal(ty_waker_find(m, TY_NONE).kind, TY_WAKER_NONE);
	ty_mx_drop();
}

static void softirq(uint64_t ts, int kind, uint32_t vec, uint8_t flags)
{
	struct ty_event ev = {
		.ts_ns = ts, .kind = (uint8_t)kind, .tid = 12, .id = 30, .flags = flags};

	ev.u.softirq.vec = vec;
	ty_mx_feed(ev);
}

static void waking(uint64_t ts)
{
	struct ty_event ev = {
		.ts_ns = ts, .kind = TY_EV_WAKING, .tid = 12, .id = 4, .flags = TY_EVF_SOFTIRQ};

	ev.u.wake.tid = 11;
	ty_mx_feed(ev);
}

/* TCP's timer sends over loopback what wakes the receiver; a timer that wakes it itself does not.
 */
static void network_timer(void **state)
{
	enum { VEC_TIMER = 1, VEC_NET_RX = 3 };
	const struct ty_model *m;
	uint64_t t = 3 * MS;
	char by[TY_WAKER_TEXT];
	struct ty_waker w;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_switch(0, 2 * MS, 11, S, 12);
	softirq(t += 1000, TY_EV_SOFTIRQ_ENTRY, VEC_TIMER, 0);
	softirq(t += 1000, TY_EV_SOFTIRQ_RAISE, VEC_NET_RX, TY_EVF_SOFTIRQ);
	softirq(t += 1000, TY_EV_SOFTIRQ_EXIT, VEC_TIMER, 0);
	softirq(t += 1000, TY_EV_SOFTIRQ_ENTRY, VEC_NET_RX, 0);
	waking(t += 1000);
	softirq(t += 1000, TY_EV_SOFTIRQ_EXIT, VEC_NET_RX, 0);
	ty_mx_switch(0, t += 1000, 12, RP, 11);
	ty_mx_switch(0, t += 1000, 11, S, 12);
	softirq(t += 1000, TY_EV_SOFTIRQ_ENTRY, VEC_TIMER, 0);
	waking(t += 1000);
	softirq(t += 1000, TY_EV_SOFTIRQ_EXIT, VEC_TIMER, 0);
	ty_mx_switch(0, t += 1000, 12, RP, 11);
	m = ty_mx_end();
	assert_int_equal(m->t[TY_T_EDGES].rows, 2);
	w = ty_waker_find(m, 0);
	assert_int_equal(w.kind, TY_WAKER_TIMER);
	assert_true(w.net);
	assert_string_equal(
		ty_waker_text(m, &w, by),
		"a packet (delayed ACK or retransmission) sent when a network timer expired");
	w = ty_waker_find(m, 1);
	assert_int_equal(w.kind, TY_WAKER_TIMER);
	assert_false(w.net);
	assert_string_equal(ty_waker_text(m, &w, by), "a timer");
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(softirq_wakers),
		cmocka_unit_test(network_timer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
