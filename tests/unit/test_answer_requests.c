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
	assert_string_equal(
		a.note[0],
		"a typical request (mean of those near the median): 1.00 ms, all of it on CPU");
	ty_requests_fini(&q);
	ty_mx_drop();
}

/* A broker, 11, waits in epoll until 12 sends it something, which it sends on: possibly no reply to
 * a request from before the recording. That is its slowest request only if it has no other one. */
static void a_message_passed_on_is_no_slow_request(void **state)
{
	enum { NR_EPOLL = 232 };
	struct ty_request v[2] = {{.start_ns = 1 * MS,
				   .end_ns = 47 * MS,
				   .thread = TY_NONE,
				   .flags = TY_REQ_BEFORE | TY_REQ_INFERRED},
				  {.start_ns = 50 * MS, .end_ns = 51 * MS}};
	struct ty_service served = {.n = 2};
	struct ty_requests q = {.services = &served, .services_n = 1, .v = v};
	struct ty_explain x;
	struct ty_window w;
	struct ty_answer a;

	(void)state;
	givens = 0;
	ty_mx_begin("mode=all\n",
		    "taken 1 2\n" ROW("11", "11", "1", "broker") ROW("12", "12", "1", "peer"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_enter(0, 2 * MS, 11, NR_EPOLL);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	ty_mx_enter(0, 45 * MS, 12, NR_WRITE);
	ty_mx_waking(0, 45 * MS + 1000, 12, 11, 0);
	ty_mx_exit(0, 45 * MS + 2000, 12, NR_WRITE, 1);
	ty_mx_switch(0, 46 * MS, 12, S, 11);
	ty_mx_exit(0, 46 * MS + 1000, 11, NR_EPOLL, 1);
	ty_mx_switch(0, 60 * MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	w = window_all(x.m);
	served.process = v[1].thread = v[0].replied_by = v[1].replied_by =
		ty_model_thread_find(x.m, 11, 50 * MS);
	for (q.n = 1; q.n <= 2; q.n++) {
		assert_int_equal(ty_answer_find(&x, &w, &q, &a), 0);
		assert_int_equal(a.of, TY_ANSWER_REQUESTS);
		assert_int_equal(a.total_ns, q.n == 1 ? 46 * MS : 1 * MS);
		assert_string_equal(a.sum_of, q.n == 1 ? "slowest request: "
						       : "slowest request (without 1 that began "
							 "before the recording): ");
	}
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
		cmocka_unit_test(a_message_passed_on_is_no_slow_request),
		cmocka_unit_test(sampled_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
