/* SPDX-License-Identifier: MIT */
/* A process whose other thread is blocked with a request of its own: the waiter has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_given.h"
#include "fixture_lock.h"
#include "fixture_model.h"
#include "stalls_priv.h"

/* 12, of the process of 11, is blocked from 10 to 110 ms, and briefly at 150 ms. */
static const struct ty_model *blocked(void)
{
	ty_mx_begin("mode=all\n", "taken 1 2\n" ROW("11", "11", "1", "a") ROW("12", "11", "1", "b")
					  ROW("13", "13", "1", "c"));
	ty_mx_switch(0, 1 * MS, 0, R, 12);
	ty_mx_switch(0, 10 * MS, 12, D, 13);
	ty_mx_waking(0, 110 * MS, 13, 12, 0);
	ty_mx_switch(0, 110 * MS, 13, S, 12);
	ty_mx_switch(0, 150 * MS, 12, D, 0);
	ty_mx_waking_irq(0, 152 * MS, 0, 12, 0);
	ty_mx_switch(0, 152 * MS, 0, R, 12);
	ty_mx_switch(0, 200 * MS, 12, S, 11);
	ty_mx_switch(0, 210 * MS, 11, S, 0);
	return ty_mx_end();
}

static bool elsewhere(struct ty_stall_search *h, int of, int tid, uint64_t from, uint64_t to)
{
	struct ty_candidate c = {.s = {.thread = thread(h->x->m, of), .start_ns = from},
				 .end_ns = to};

	return ty_stall_elsewhere(h, &c, thread(h->x->m, tid));
}

static void a_blocked_thread_has_it(void **state)
{
	const struct ty_model *m = blocked();
	struct ty_explain x = explain(m, 0);
	struct ty_request open[] = {
		{.start_ns = 9 * MS, .end_ns = 155 * MS, .thread = thread(m, 12)}};
	struct ty_requests q = {.client_waits = open, .client_waits_n = 1};
	struct ty_stall_search h = {.x = &x, .o = {.requests = &q}};

	assert_true(elsewhere(&h, 11, 11, 5 * MS, 120 * MS));
	/* Not in another process, nor for the thread itself, nor for less than half of the wait. */
	assert_false(elsewhere(&h, 11, 13, 5 * MS, 120 * MS));
	assert_false(elsewhere(&h, 12, 11, 5 * MS, 120 * MS));
	assert_false(elsewhere(&h, 11, 11, 5 * MS, 220 * MS));
	/* A much shorter wait, within a shorter block. */
	assert_true(elsewhere(&h, 11, 11, 150 * MS, 153 * MS));
	assert_true(elsewhere(&h, 11, 11, 5 * MS, 120 * MS));
	assert_false(elsewhere(&h, 11, 11, 149 * MS, 155 * MS));
	/* Without an open request. */
	q.client_waits_n = 0;
	assert_false(elsewhere(&h, 11, 11, 5 * MS, 120 * MS));
	vec_fini(&h.blocked);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_blocked_thread_has_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
