/* SPDX-License-Identifier: MIT */
/* Which of the requests that were found concern a thread or a process at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_model.h"
#include "request_lookup.h"

#define MS UINT64_C(1000000)

/* Longest first. Thread 1 received the first; the second was received before the recording. */
static struct ty_request requests[] = {{.start_ns = 100, .end_ns = 500, .thread = 1},
				       {.start_ns = 100,
					.end_ns = 400,
					.thread = TY_NONE,
					.replied_by = 2,
					.flags = TY_REQ_BEFORE},
				       {.start_ns = 600, .end_ns = 800, .thread = 1}},
			 waits[] =
				 {{.start_ns = 0, .end_ns = 500, .thread = 3, .flags = TY_REQ_VAIN},
				  {.start_ns = 50, .end_ns = 450, .thread = 3, .fd = 7}},
			 pending[] = {{.start_ns = 10, .end_ns = 20, .thread = 4}};
static struct ty_service services[] = {{.process = 1, .n = 2}, {.process = 2, .open = 1}};

static const struct ty_requests found = {.v = requests,
					 .n = 3,
					 .client_waits = waits,
					 .client_waits_n = 2,
					 .pending = pending,
					 .pending_n = 1,
					 .services = services,
					 .services_n = 2};

static void requests_around_a_time(void **state)
{
	assert_ptr_equal(ty_requests_around(&found, 1, 100, 500), &requests[0]);
	assert_ptr_equal(ty_requests_around(&found, 1, 650, 700), &requests[2]);
	assert_null(ty_requests_around(&found, 1, 450, 700));
	assert_ptr_equal(ty_requests_around(&found, 2, 200, 300), &requests[1]);
	assert_null(ty_requests_around(NULL, 1, 100, 500));
	assert_true(ty_requests_pending(&found, 1, 100, 500));
	assert_true(ty_requests_pending(&found, 4, 12, 20));
	assert_false(ty_requests_pending(&found, 4, 12, 21));
	assert_false(ty_requests_pending(&found, 3, 12, 20));
}

static void replies_that_a_thread_awaits(void **state)
{
	assert_ptr_equal(ty_requests_awaited(&found, 3, 60, 440, false), &waits[1]);
	assert_ptr_equal(ty_requests_awaited(&found, 3, 60, 440, true), &waits[0]);
	assert_null(ty_requests_awaited(&found, 3, 40, 440, false));
	assert_null(ty_requests_awaited(&found, 1, 60, 440, true));
	assert_null(ty_requests_awaited(NULL, 3, 60, 440, true));
}

static void processes(void **state)
{
	struct ty_request of_11 = {.start_ns = 10 * MS, .end_ns = 31 * MS, .replied_by = TY_NONE};
	struct ty_requests r = {.v = &of_11, .n = 1};
	const struct ty_model *m;
	uint32_t t11, t12;

	assert_true(ty_requests_served(&found, 1));
	assert_false(ty_requests_served(&found, 2)); /* none was answered */
	assert_false(ty_requests_served(NULL, 1));
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_switch(0, 50 * MS, 11, S, 12);
	ty_mx_switch(0, 90 * MS, 12, S, 0);
	m = ty_mx_end();
	t11 = of_11.thread = ty_model_thread_find(m, 11, 2 * MS);
	t12 = ty_model_thread_find(m, 12, 60 * MS);
	/* For more than half of the time. */
	assert_true(ty_requests_of_process(&r, m, t11, 0, 41 * MS));
	assert_false(ty_requests_of_process(&r, m, t11, 0, 42 * MS));
	assert_false(ty_requests_of_process(&r, m, t12, 0, 41 * MS));
	r = (struct ty_requests){.client_waits = &of_11, .client_waits_n = 1};
	assert_true(ty_requests_of_process(&r, m, t11, 0, 41 * MS));
	of_11.flags = TY_REQ_VAIN;
	assert_false(ty_requests_of_process(&r, m, t11, 0, 41 * MS));
	assert_false(ty_requests_of_process(NULL, m, t11, 0, 41 * MS));
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_around_a_time),
		cmocka_unit_test(replies_that_a_thread_awaits),
		cmocka_unit_test(processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
