/* SPDX-License-Identifier: MIT */
/* The path of a request that one thread receives and another one has meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_stall_count.h"
#include "request_path.h"

enum how {
	HANDED, /* 12 is in one call since before 11 polls, and wakes it at its end */
	LATER,	/* 12 enters that call only before the last poll */
	BUSY,	/* 11 computes between its polls */
};

/* 11 has a request for 400 ms: it polls, by turns in epoll_wait and at a futex, for 100 ms each,
 * until 12 wakes it. How many ms of the path are 12's? */
static unsigned of_12_ms(enum how how)
{
	const uint8_t mine[] = {1, 1, 1, 1};
	struct ty_request r = {0};
	struct ty_path p = {0};
	struct ty_explain x;
	uint64_t ns = 0;

	begin("mode=all\n",
	      "taken 1 2\n" ROW("11", "11", "1", "server") ROW("12", "11", "1", "server"));
	ty_mx_switch(0, t, 0, R, 11);
	ty_mx_switch(1, t += 1000, 0, R, 12);
	r.start_ns = t;
	for (unsigned i = 0; i < 4; i++) {
		const int nr = i % 2 ? NR_EPOLL_WAIT : NR_FUTEX;

		if (i == (how == LATER ? 3 : 0)) {
			give(t += 1000, 8, 0, 0);
			ty_mx_enter(1, t, 12, NR_FSYNC);
			ty_mx_switch(1, t += 1000, 12, D, 0);
		}
		sleeps(11, nr, 4, 0, 0);
		if (i == 3)
			break;
		time_is_up(11, nr, nr == NR_FUTEX ? -110 : 0, how == BUSY ? 20 : 100);
		t += how == BUSY ? 80 * MS : 0;
	}
	ty_mx_waking_irq(1, t += 100 * MS, 0, 12, 1);
	ty_mx_switch(1, t += 1000, 0, R, 12);
	ty_mx_exit(1, t += 1000, 12, NR_FSYNC, 0);
	give(t += 1000, 6, 0, 1);
	ty_mx_enter(1, t, 12, NR_WRITE);
	ty_mx_waking(1, t += 1000, 12, 11, 0);
	ty_mx_exit(1, t += 1000, 12, NR_WRITE, 1);
	ty_mx_switch(0, t += 1000, 0, R, 11);
	ty_mx_exit(0, t += 1000, 11, NR_EPOLL_WAIT, 1);
	call(t += 1000, 11, NR_SENDTO, 40, 7);
	r.end_ns = t + 1000;
	ty_mx_switch(0, t += MS, 11, S, 0);
	ty_mx_switch(1, t += MS, 12, S, 0);
	x = explain(ty_mx_end(), 0);
	r.thread = r.replied_by = ty_model_thread_find(x.m, 11, t);
	assert_int_equal(ty_request_path(&x, &r, mine, &p), 0);
	assert_int_equal(p.seg.v[0].start_ns, r.start_ns);
	assert_int_equal(vec_at(&p.seg, p.seg.n - 1)->end_ns, r.end_ns);
	vec_each (s, &p.seg) {
		if (s != p.seg.v)
			assert_int_equal(s->start_ns, s[-1].end_ns);
		ns += ty_model_thread(x.m, s->thread)->tid == 12 ? s->end_ns - s->start_ns : 0;
	}
	assert_int_equal(p.inferred, how == HANDED);
	ty_path_fini(&p);
	ty_mx_drop();
	return (unsigned)(ns / (100 * MS)) * 100;
}

static void who_is_in_a_call_for_it_has_the_request(void **state)
{
	assert_int_equal(of_12_ms(HANDED), 400);
}

static void what_the_replying_thread_did_is_its_own(void **state)
{
	assert_int_equal(of_12_ms(LATER), 100);
	assert_int_equal(of_12_ms(BUSY), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_in_a_call_for_it_has_the_request),
		cmocka_unit_test(what_the_replying_thread_did_is_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
