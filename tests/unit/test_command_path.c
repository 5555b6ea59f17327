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
	/* It waits at the window's end for a thread that wakes it later: that is its path. */
	assert_int_equal(ty_command_path(&x, 550, 580, &start, &end, &p), 0);
	assert_int_equal(p.seg.n, 1);
	assert_int_equal(ty_model_thread(x.m, p.seg.v[0].thread)->tid, 9);
	assert_int_equal(p.seg.v[0].start_ns, 550);
	assert_int_equal(p.seg.v[0].end_ns, 580);
	ty_path_fini(&p);
	/* A window before the release is empty. */
	assert_int_equal(ty_command_path(&x, 0, 100, &start, &end, &p), 0);
	assert_int_equal(start, end);
	ty_path_fini(&p);
	ty_mx_drop();
}

/* Command 5 still waits when the file ends; thread 9 runs. */
static void of_an_exported_part(void **state)
{
	struct ty_explain x = {.command_tid = 5};
	struct ty_path p;
	uint64_t start, end;
	bool inferred;

	ty_mx_begin("command_tid=5\n", NULL);
	ty_mx_switch(0, 10, 9, S, 5);
	ty_mx_enter(0, 20, 5, 59);
	ty_mx_exit(0, 30, 5, 59, 0);
	ty_mx_switch(0, 40, 5, S, 9);
	ty_mx_event(0, 100, 9, TY_EV_OTHER);
	x.m = ty_mx_end();
	assert_int_equal(ty_command_path_at(&x, 100, &inferred), 5);
	assert_int_equal(ty_command_ns(&x), 80); /* from its execve */
	x.path_tid = 9;
	x.path_inferred = true;
	x.command_ns = 1000;
	assert_int_equal(ty_command_path_at(&x, 100, &inferred), 9);
	assert_true(inferred);
	assert_int_equal(ty_command_ns(&x), 1000);
	assert_int_equal(ty_command_path(&x, 0, UINT64_MAX, &start, &end, &p), 0);
	assert_int_equal(end, 100);
	assert_true(p.inferred);
	assert_int_equal(ty_model_thread(x.m, p.seg.v[p.seg.n - 1].thread)->tid, 9);
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
		cmocka_unit_test(of_an_exported_part),
		cmocka_unit_test(without_a_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
