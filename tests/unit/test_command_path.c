/* SPDX-License-Identifier: MIT */
/* The traced command's critical path, within a window and within its life. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "command_path.h"
#include "fixture_model.h"

/* Command 5 is released by its execve at 530, sleeps 540-610 and ends with the recording at 700. */
static struct ty_explain command(int tid)
{
	ty_mx_begin("command_tid=5\n", NULL);
	ty_mx_switch(0, 10, 5, S, 9);
	ty_mx_waking(0, 500, 9, 5, 0);
	ty_mx_switch(0, 510, 9, S, 5);
	ty_mx_enter(0, 520, 5, 59);
	ty_mx_exit(0, 530, 5, 59, 0);
	ty_mx_switch(0, 540, 5, S, 9);
	ty_mx_waking(0, 600, 9, 5, 0);
	ty_mx_switch(0, 610, 9, S, 5);
	ty_mx_event(0, 700, 5, TY_EV_OTHER);
	return (struct ty_explain){.m = ty_mx_end(), .command_tid = tid};
}

static void from_its_release_to_its_end(void **state)
{
	struct ty_explain x = command(5);
	const struct ty_thread *t = ty_model_thread(x.m, ty_model_thread_find(x.m, 5, 700));
	struct ty_path p;
	uint64_t start, end, sum = 0;

	assert_int_equal(ty_command_path(&x, 0, UINT64_MAX, &start, &end, &p), 0);
	assert_true(t->released_ns >= 520);
	assert_int_equal(start, t->released_ns);
	assert_int_equal(end, 700);
	vec_each (s, &p.seg)
		sum += s->end_ns - s->start_ns;
	assert_int_equal(sum, end - start);
	ty_path_fini(&p);
	ty_mx_drop();
}

static void within_a_window(void **state)
{
	struct ty_explain x = command(5);
	struct ty_path p;
	uint64_t start, end;

	assert_int_equal(ty_command_path(&x, 550, 620, &start, &end, &p), 0);
	assert_int_equal(start, 550);
	assert_int_equal(end, 620);
	ty_path_fini(&p);
	/* A window before the release is empty. */
	assert_int_equal(ty_command_path(&x, 0, 100, &start, &end, &p), 0);
	assert_int_equal(start, end);
	ty_path_fini(&p);
	ty_mx_drop();
}

static void without_a_command(void **state)
{
	struct ty_explain x = command(0);
	struct ty_path p;
	uint64_t start, end;

	assert_int_equal(ty_command_path(&x, 0, UINT64_MAX, &start, &end, &p), -TY_ENOTFOUND);
	ty_path_fini(&p);
	x.command_tid = 4711;
	assert_int_equal(ty_command_path(&x, 0, UINT64_MAX, &start, &end, &p), -TY_ENOTFOUND);
	ty_path_fini(&p);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_its_release_to_its_end),
		cmocka_unit_test(within_a_window),
		cmocka_unit_test(without_a_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
