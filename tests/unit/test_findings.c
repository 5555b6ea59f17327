/* SPDX-License-Identifier: MIT */
/* All findings of a window: most time first, and none without a time to compare with. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_findings.h"

static void most_time_first(void **state)
{
	struct ty_findings f;

	begin();
	for (unsigned i = 0; i < 1000; i++)
		one(11, NR_OPENAT, -ENOENT, 2 * US, US);
	for (unsigned i = 0; i < 30; i++)
		one(11, NR_FSYNC, 0, MS, US);
	f = find(11); /* which checks the order and the texts of any */
	assert_int_equal(f.n, 2);
	assert_int_equal(f.v[0].kind, TY_FINDING_STORM);
	assert_int_equal(f.v[0].ns, 30 * MS);
	assert_int_equal(f.v[1].kind, TY_FINDING_FAILING);
	assert_int_equal(f.v[1].ns, 2 * MS);
}

static struct ty_findings with_wall(uint64_t wall_ns, uint64_t runnable_ns)
{
	struct ty_findings f = {.n = 7};
	struct ty_answer a = {.of = TY_ANSWER_COMMAND, .end_ns = wall_ns};
	struct ty_explain x;
	struct ty_window w;

	a.part_ns[TY_PART_RUNNABLE] = runnable_ns;
	begin();
	for (unsigned i = 0; i < 1000; i++)
		one(11, NR_OPENAT, -ENOENT, 2 * US, US);
	ty_mx_switch(0, at, 11, TY_TASK_DEAD, 0);
	x = explain(ty_mx_end(), 11);
	x.args = on_fd_5;
	w = window_all(x.m);
	assert_int_equal(ty_findings_find(&x, &w, &a, NULL, &f), 0);
	ty_mx_drop();
	return f;
}

/* 2 ms of failed calls are 5% of 40 ms; time spent waiting for a CPU is not counted as such. */
static void part_of_the_time(void **state)
{
	assert_int_equal(with_wall(40 * MS, 0).n, 1);
	assert_int_equal(with_wall(42 * MS, 0).n, 0);
	assert_int_equal(with_wall(100 * MS, 60 * MS).n, 2); /* and that it waited for a CPU */
	assert_int_equal(with_wall(100 * MS, 60 * MS).v[0].kind, TY_FINDING_STARVED);
}

static void no_time_at_all(void **state)
{
	assert_int_equal(with_wall(0, 0).n, 0);
	assert_int_equal(with_wall(5 * MS, 5 * MS).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_time_first),
		cmocka_unit_test(part_of_the_time),
		cmocka_unit_test(no_time_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
