/* SPDX-License-Identifier: MIT */
/* Points and block requests of hand-written streams; policy, affinity and cgroup of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_model.h"
#include "points.h"

static void block(unsigned cpu, uint64_t ts, int tid, int kind, uint64_t sector, uint32_t nr)
{
	struct ty_event ev = {.ts_ns = ts, .cpu = cpu, .tid = tid, .kind = (uint8_t)kind, .id = 20};

	ev.u.block.major = 254;
	ev.u.block.sector = sector;
	ev.u.block.nr_sector = nr;
	strcpy(ev.u.block.rwbs, "WS");
	ty_mx_feed(ev);
}

static void requests(void **state)
{
	const struct ty_model *m;
	struct ty_io io;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 100, 0, R, 5);
	block(0, 110, 5, TY_EV_BLOCK_ISSUE, 1000, 8);
	block(0, 120, 5, TY_EV_BLOCK_ISSUE, 1008, 16);
	block(0, 125, 5, TY_EV_BLOCK_ISSUE, 1008, 16);	 /* put back, issued again */
	block(1, 130, 0, TY_EV_BLOCK_COMPLETE, 1008, 8); /* a part of it */
	block(1, 140, 0, TY_EV_BLOCK_COMPLETE, 1000, 8);
	block(1, 150, 0, TY_EV_BLOCK_COMPLETE, 1016, 8);  /* the rest */
	block(1, 160, 0, TY_EV_BLOCK_COMPLETE, 77777, 8); /* issued before */
	block(0, 170, 5, TY_EV_BLOCK_ISSUE, 0, 0);	  /* a flush */
	block(0, 180, 5, TY_EV_BLOCK_COMPLETE, 0, 0);
	block(0, 190, 5, TY_EV_BLOCK_ISSUE, 5000, 8);
	ty_mx_event(0, 200, 5, TY_EV_OTHER);
	m = ty_mx_end();
	assert_int_equal(ty_model_ios(m), 4);
	io = ty_model_io(m, 0);
	assert_int_equal(io.start_ns, 110);
	assert_int_equal(io.end_ns, 140);
	assert_int_equal(io.end_cpu, 1);
	assert_int_equal(io.bytes, 4096);
	assert_int_equal(ty_model_thread(m, io.thread)->tid, 5);
	assert_string_equal(ty_model_str(m, io.rwbs), "WS");
	io = ty_model_io(m, 1);
	assert_int_equal(io.start_ns, 120);
	assert_int_equal(io.end_ns, 150);
	io = ty_model_io(m, 2);
	assert_int_equal(io.end_ns - io.start_ns, 10);
	io = ty_model_io(m, 3);
	assert_int_equal(io.flags, TY_SF_OPEN);
	assert_int_equal(io.end_ns, 200);
	assert_int_equal(io.end_cpu, TY_NONE);
	assert_int_equal(ty_model_io_after(m, 0), 0);
	assert_int_equal(ty_model_io_after(m, 111), 1);
	assert_int_equal(ty_model_io_after(m, 191), 4);
	assert_int_equal(ty_model_io(m, 4).thread, TY_NONE);
	ty_mx_drop();
}

static void request_over_a_gap(void **state)
{
	const struct ty_model *m;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 100, 0, R, 5);
	block(0, 110, 5, TY_EV_BLOCK_ISSUE, 1000, 8);
	block(0, 111, 5, TY_EV_BLOCK_ISSUE, 2000, 8);
	block(0, 112, 5, TY_EV_BLOCK_ISSUE, 3000, 8);
	ty_mx_gap(1, 120, 130, 3);
	block(0, 140, 5, TY_EV_BLOCK_ISSUE, 1000, 8); /* the first one's end was lost */
	block(0, 150, 5, TY_EV_BLOCK_COMPLETE, 1000, 8);
	block(0, 160, 5, TY_EV_BLOCK_COMPLETE, 2000, 8);
	m = ty_mx_end();
	assert_int_equal(ty_model_ios(m), 4);
	assert_int_equal(ty_model_io(m, 0).flags, TY_SF_LOST);
	assert_int_equal(ty_model_io(m, 1).flags, TY_SF_LOST);
	assert_int_equal(ty_model_io(m, 2).flags, TY_SF_LOST | TY_SF_OPEN);
	assert_int_equal(ty_model_io(m, 3).flags, 0);
	assert_int_equal(ty_model_io(m, 3).end_ns, 150);
	ty_mx_drop();
}

/* More requests without a completion than are remembered: none is taken for another. */
static void many_requests(void **state)
{
	const struct ty_model *m;
	uint32_t open = 0;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 100, 0, R, 5);
	for (unsigned i = 0; i < 20000; i++)
		block(0, 200 + i, 5, TY_EV_BLOCK_ISSUE, i * 8, 8);
	m = ty_mx_end();
	assert_int_equal(ty_model_ios(m), 20000);
	for (uint32_t i = 0; i < 20000; i++) {
		struct ty_io io = ty_model_io(m, i);

		assert_true(io.flags == TY_SF_LOST || io.flags == TY_SF_OPEN);
		assert_true(io.end_ns >= io.start_ns);
		open += io.flags == TY_SF_OPEN;
	}
	assert_true(open <= TY_IO_SETS * TY_IO_WAYS);
	ty_mx_drop();
}

static void points(void **state)
{
	const struct ty_model *m;
	struct ty_event ev = {.ts_ns = 110, .tid = 5, .kind = TY_EV_SOFTIRQ_RAISE, .id = 21};
	struct ty_point p;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 100, 0, R, 5);
	ty_mx_switch(1, 105, 0, R, 6);
	ev.u.softirq.vec = 3;
	ty_mx_feed(ev);
	ev.ts_ns = 115;
	ev.flags = TY_EVF_HARDIRQ | 1;
	ty_mx_feed(ev);
	ev = (struct ty_event){.ts_ns = 120, .tid = 5, .kind = TY_EV_SIGNAL_GENERATE, .id = 22};
	ev.u.sig.sig = 19;
	ev.u.sig.tid = 6;
	ty_mx_feed(ev);
	ev.buffer = 1; /* the same once more, out of another buffer */
	ty_mx_feed(ev);
	ev = (struct ty_event){.ts_ns = 130, .tid = 5, .kind = TY_EV_SWITCH, .id = 1};
	ev.u.sw.prev_tid = 5;
	ev.u.sw.next_tid = 7;
	ev.u.sw.next_prio = 49;
	ty_mx_feed(ev);
	m = ty_mx_end();
	assert_int_equal(ty_model_points(m, 0), 5);
	p = ty_model_point(m, 0, 0);
	assert_int_equal(p.kind, TY_PT_PRIO);
	assert_int_equal(ty_model_thread(m, p.thread)->tid, 5);
	p = ty_model_point(m, 0, 1);
	assert_int_equal(p.kind, TY_PT_SOFTIRQ_RAISE);
	assert_int_equal(p.a, 3);
	assert_int_equal(p.context, 0);
	assert_int_equal(ty_model_point(m, 0, 2).context, TY_EVF_HARDIRQ);
	p = ty_model_point(m, 0, 3);
	assert_int_equal(p.kind, TY_PT_SIGNAL);
	assert_int_equal(ty_model_thread(m, (uint32_t)p.b)->tid, 6);
	p = ty_model_point(m, 0, 4);
	assert_int_equal(p.kind, TY_PT_PRIO);
	assert_int_equal(p.a, 49);
	assert_int_equal(ty_model_thread(m, p.thread)->tid, 7);
	assert_int_equal(ty_model_points(m, 1), 1);
	assert_int_equal(ty_model_point_after(m, 0, 111), 2);
	assert_int_equal(ty_model_point_after(m, 0, 1000), 5);
	assert_int_equal(ty_model_points(m, 99), 0);
	ty_mx_drop();
}

static void snapshot(void **state)
{
	const struct ty_model *m;
	const struct ty_thread *t;
	struct ty_event ev = {.ts_ns = 130, .tid = 8, .kind = TY_EV_SYS_ENTER, .id = 3, .loc = 1};

	ty_mx_begin("mode=all\n", "taken 3 90\n"
				  "5\t5\t1\t0\tS\tfifo\t50\t0\t-\t-\t0-3,7\t/a.slice\tx\n"
				  "6\t6\t1\t0\tS\t9\t50\t0\t-\t-\t-\t-\tx\n");
	ty_mx_switch(0, 100, 0, R, 5);
	ty_mx_fork(0, 110, 5, 8, 0);
	ty_mx_switch(0, 120, 5, S, 8);
	ev.u.enter.nr = 203; /* sched_setaffinity(0, ...) */
	ty_mx_feed(ev);
	m = ty_mx_end();
	t = ty_model_thread(m, ty_model_thread_find(m, 5, 100));
	assert_int_equal(t->policy, 1);
	assert_string_equal(ty_model_str(m, t->affinity), "0-3,7");
	assert_string_equal(ty_model_str(m, t->cgroup), "/a.slice");
	t = ty_model_thread(m, ty_model_thread_find(m, 6, 100));
	assert_int_equal(t->policy, 9);
	assert_int_equal(t->affinity, 0);
	assert_int_equal(t->cgroup, 0);
	t = ty_model_thread(m, ty_model_thread_find(m, 8, 120));
	assert_int_equal(t->policy, 1);
	assert_int_equal(t->affinity, 0);
	assert_string_equal(ty_model_str(m, t->cgroup), "/a.slice");
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),	 cmocka_unit_test(request_over_a_gap),
		cmocka_unit_test(many_requests), cmocka_unit_test(points),
		cmocka_unit_test(snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
