/* SPDX-License-Identifier: MIT */
/* Descendants and programs, of threads that the recording saw begin and of
 * older ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_stall_count.h"
#include "stalls_priv.h"

static void by_forks_and_by_the_table(void **state)
{
	struct ty_stall_search h = {0};
	struct ty_explain x;
	uint32_t shell, old, child, grandchild;
	uint64_t executed;

	begin("mode=all\n", "taken 1 2\n" ROW("11", "11", "1", "sh") ROW("12", "12", "11", "old")
				    ROW("16", "16", "12", "older"));
	ty_mx_switch(0, t, 0, R, 11);
	ty_mx_fork(0, t += 1000, 11, 13, 0);
	ty_mx_fork(0, t += 1000, 11, 14, CLONE_THREAD);
	ty_mx_switch(0, t += 1000, 11, R, 13);
	ty_mx_fork(0, t += 1000, 13, 15, 0);
	call(t += 1000, 13, NR_EXECVE, 0, 0);
	executed = t;
	ty_mx_switch(0, t += 5000, 13, R, 11);
	call(t += MS, 11, NR_GETPID, 11, 0);
	x = explain(ty_mx_end(), 0);
	h.x = &x;
	shell = ty_model_thread_find(x.m, 11, t);
	old = ty_model_thread_find(x.m, 12, t);
	child = ty_model_thread_find(x.m, 13, t);
	grandchild = ty_model_thread_find(x.m, 15, t);
	assert_true(ty_stall_descends(x.m, child, 11));
	assert_true(ty_stall_descends(x.m, grandchild, 11));
	assert_true(ty_stall_descends(x.m, grandchild, 13));
	assert_true(ty_stall_descends(x.m, old, 11)); /* by its parent in the table */
	assert_true(ty_stall_descends(x.m, ty_model_thread_find(x.m, 16, t), 11));
	assert_false(ty_stall_descends(x.m, shell, 13));
	assert_true(ty_stall_is_related(&h, shell, grandchild));
	assert_false(ty_stall_is_related(&h, child, old));
	assert_false(ty_stall_is_program(&h, child, executed));
	assert_true(ty_stall_is_program(&h, child, executed + 1));
	assert_false(ty_stall_is_program(&h, grandchild, t));
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(by_forks_and_by_the_table)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("stall_process_tree", tests, NULL, NULL);
}
