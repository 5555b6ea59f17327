/* SPDX-License-Identifier: MIT */
/* The words for a wait for a CPU: which threads had it, and what of an idle one is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_given.h"
#include "fixture_lock.h"
#include "fixture_model.h"
#include "stalls.h"

/* The thread may run on these CPUs, and CPU 1 is idle all the time: is its wait for CPU 0 proven?
 */
static bool beside_an_idle_cpu(const char *affinity, bool *left)
{
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_stalls s;
	char rows[160];
	bool proven;

	snprintf(rows, sizeof(rows), "taken 1 2\n11\t11\t1\t0\tR\tother\t0\t0\t-\t-\t%s\t-\tx\n",
		 affinity);
	ty_mx_begin("mode=all\n", rows);
	ty_mx_switch(1, 1 * MS, 14, S, 0);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_switch(0, 5 * MS, 11, RP, 12);
	ty_mx_switch(0, 205 * MS, 12, S, 11);
	ty_mx_switch(0, 210 * MS, 11, S, 0);
	ty_mx_switch(1, 210 * MS, 0, R, 14);
	m = ty_mx_end();
	x = explain(m, 0);
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].culprit, thread(m, 12));
	*left = strstr(s.v[0].text, "CPU 1 was idle for 200 ms: unknown why it did not run there");
	proven = s.v[0].proven;
	ty_stalls_fini(&s);
	ty_mx_drop();
	return proven;
}

static void who_had_the_cpu_beside_an_idle_one(void **state)
{
	bool left;

	assert_false(beside_an_idle_cpu("0-1", &left));
	assert_true(left);
	assert_true(beside_an_idle_cpu("0", &left));
	assert_false(left);
}

/* Four of them: none of them is the culprit, but the foremost are named, most first. */
static void who_shared_the_cpu(void **state)
{
	static const unsigned ms[] = {40, 70, 60, 50};
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_stalls s;
	uint64_t t = 5 * MS;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_enter(0, 2 * MS, 11, 39);
	ty_mx_exit(0, 2 * MS + 100, 11, 39, 1);
	ty_mx_switch(0, t, 11, RP, 12);
	for (int i = 0; i < 4; i++)
		ty_mx_switch(0, t += ms[i] * MS, 12 + i, S, i < 3 ? 13 + i : 11);
	ty_mx_switch(0, t + 5 * MS, 11, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].culprit, TY_NONE);
	assert_non_null(strstr(s.v[0].text,
			       "shared CPU 0 all that time; the top three: t13/13 (70.0 ms, "));
	assert_non_null(strstr(s.v[0].text, ", t14/14 (60.0 ms, "));
	assert_non_null(strstr(s.v[0].text, ", t15/15 (50.0 ms, "));
	assert_null(strstr(s.v[0].text, "t12/12"));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_had_the_cpu_beside_an_idle_one),
		cmocka_unit_test(who_shared_the_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
