/* SPDX-License-Identifier: MIT */
/* Which of two threads woke the other, and when: what can be a message, and what cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_stall_count.h"
#include "stall_woken.h"

/* 11 waits at a pipe twice and is woken there by 12, which waits once and is woken by 11. */
static void first_and_last_message(void **state)
{
	uint64_t at[3];
	struct ty_explain x;
	uint32_t a, b, span;

	begin("mode=all\n",
	      "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "other"));
	ty_mx_switch(0, t, 0, R, 11);
	sleeps(11, NR_READ, 4, 0, 12);
	wakes(12, NR_WRITE, 5, 0, 11);
	at[0] = t - 1000;
	sleeps(12, NR_READ, 6, 0, 11);
	ty_mx_exit(0, t += 1000, 11, NR_READ, 1);
	wakes(11, NR_WRITE, 3, 0, 12);
	at[1] = t - 1000;
	sleeps(11, NR_READ, 4, 0, 12);
	ty_mx_exit(0, t += 1000, 12, NR_READ, 1);
	wakes(12, NR_WRITE, 5, 0, 11);
	at[2] = t - 1000;
	sleeps(12, NR_READ, 6, 0, 11);
	ty_mx_exit(0, t += 1000, 11, NR_READ, 1);
	call(t += MS, 11, NR_GETPID, 11, 0);
	x = explain(ty_mx_end(), 0);
	a = ty_model_thread_find(x.m, 11, t);
	b = ty_model_thread_find(x.m, 12, t);
	assert_int_equal(ty_stall_first_woken(&x, a, b, true), at[0]);
	assert_int_equal(ty_stall_first_woken(&x, b, a, true), at[1]);
	assert_int_equal(ty_stall_last_woken(&x, a, b, t, true), at[2]);
	assert_int_equal(ty_stall_last_woken(&x, a, b, at[2] - 1, true), at[0]);
	assert_int_equal(ty_stall_last_woken(&x, a, b, at[0] - 1, true), 0);
	assert_int_equal(ty_stall_last_woken_at(&x, a, b, t, true, &span), at[2]);
	assert_true(ty_stall_woke_another(&x, a, at[1], at[1], TY_NONE));
	assert_false(ty_stall_woke_another(&x, a, at[1], at[1], b));
	ty_mx_drop();
}

/* A wakeup by a call that only takes makes room for a writer: it is no message. */
static void room_is_no_message(void **state)
{
	struct ty_explain x;
	uint32_t a, b;

	begin("mode=all\n",
	      "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "other"));
	ty_mx_switch(0, t, 0, R, 11);
	sleeps(11, NR_WRITE, 4, 0, 12);
	wakes(12, NR_READ, 5, 0, 11);
	sleeps(12, NR_NANOSLEEP, 0, 0, 11);
	ty_mx_exit(0, t += 1000, 11, NR_WRITE, 1);
	call(t += MS, 11, NR_GETPID, 11, 0);
	x = explain(ty_mx_end(), 0);
	a = ty_model_thread_find(x.m, 11, t);
	b = ty_model_thread_find(x.m, 12, t);
	assert_int_equal(ty_stall_last_woken(&x, a, b, t, true), 0);
	assert_int_equal(ty_stall_first_woken(&x, a, b, true), UINT64_MAX);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_and_last_message),
		cmocka_unit_test(room_is_no_message),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("stall_woken", tests, NULL, NULL);
}
