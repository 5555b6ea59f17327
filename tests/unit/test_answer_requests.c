/* SPDX-License-Identifier: MIT */
/* A server's answer: its slowest request beside a median one, and how requests are sampled. */
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

static void a_slow_request(void **state)
{
	struct ty_window w;
	struct ty_requests q;
	struct ty_explain x = slow_request(&w, &q);
	struct ty_answer a;

	(void)state;
	assert_int_equal(q.sample_n, 9);
	assert_int_equal(ty_answer_find(&x, &w, &q, &a), 0);
	assert_int_equal(a.of, TY_ANSWER_REQUESTS);
	assert_string_equal(a.head,
			    "t11/11 replied to 9 requests: p50 1.00 ms, p99 51.0 ms, max 51.0 ms");
	assert_string_equal(a.sum_of, "slowest request: ");
	assert_int_equal(a.part_ns[TY_PART_OTHERS], 50 * MS);
	assert_int_equal(a.part_ns[TY_PART_OTHERS] + a.part_ns[TY_PART_CPU], a.total_ns);
	assert_string_equal(a.item[0].text, "t11/11 waited in flock on fd 7 for t20/20, which ran");
	assert_int_equal(a.notes, 1);
	assert_string_equal(a.note[0],
			    "the mean of the requests near the median: 1.00 ms, all of it on CPU");
	ty_requests_fini(&q);
	ty_mx_drop();
}

static int on_fd_9(void *ctx, const struct ty_syscall *c, uint64_t args[6])
{
	(void)ctx;
	memcpy(args, (uint64_t[6]){c->nr == NR_ACCEPT ? 3 : 9, 0, 10}, 6 * sizeof(*args));
	return 0;
}

/* Every stride-th of more requests than are kept, evenly, in time order. */
static void sampled_requests(void **state)
{
	struct ty_explain x;
	struct ty_window w;
	struct ty_requests q;
	uint64_t at = 2 * MS;

	(void)state;
	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n", "taken 1 2\n" ROW("11", "11", "1", "server"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	call(at, 11, NR_ACCEPT, 9, 3);
	for (unsigned i = 0; i < 700; i++) {
		at += 2000;
		ty_mx_enter(0, at, 11, NR_READ);
		ty_mx_exit(0, at + 1000, 11, NR_READ, 10);
		at += 2000;
		ty_mx_enter(0, at, 11, NR_WRITE);
		ty_mx_exit(0, at + 1000, 11, NR_WRITE, 10);
	}
	ty_mx_switch(0, at + MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	x.args = on_fd_9;
	w = window_all(x.m);
	assert_int_equal(ty_requests_find(&x, &w, 10, 0, &q, NULL), 0);
	assert_int_equal(q.all, 700);
	assert_int_equal(q.sample_n, 175);
	for (uint32_t i = 1; i < q.sample_n; i++)
		assert_int_equal(q.sample[i].start_ns - q.sample[i - 1].start_ns, 4 * 4000);
	ty_requests_fini(&q);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_request),
		cmocka_unit_test(sampled_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
