/* SPDX-License-Identifier: MIT */
/* Gaps of CPUs: those of several buffers that touch become one, and the first behind an instant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cpu_gaps.h"
#include "fixture_model.h"

/* CPU 0 lost 100-200, 150-260 and 400-500, CPU 1 120-130. */
static const struct ty_model *model(void)
{
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 10, 0, R, 5);
	ty_mx_switch(1, 11, 0, R, 6);
	ty_mx_gap(1, 120, 130, 1); /* a gap is reported at its end */
	ty_mx_gap(0, 100, 200, 3);
	ty_mx_gap(0, 150, 260, 1);
	ty_mx_gap(0, 400, 500, 2);
	ty_mx_switch(0, 600, 5, S, 0);
	return ty_mx_end();
}

static void touching_gaps_are_one(void **state)
{
	struct ty_cpu_gaps g = {0};

	assert_int_equal(ty_cpu_gaps_find(model(), 0, UINT64_MAX, &g), 0);
	assert_int_equal(g.gap.n, 3);
	assert_int_equal(g.gap.v[0].from_ns, 100);
	assert_int_equal(g.gap.v[0].to_ns, 260);
	assert_int_equal(g.gap.v[1].from_ns, 400);
	assert_int_equal(g.gap.v[2].cpu, 1);
	ty_cpu_gaps_fini(&g);
	ty_mx_drop();
}

static void only_those_of_the_time_are_found(void **state)
{
	struct ty_cpu_gaps g = {0};

	assert_int_equal(ty_cpu_gaps_find(model(), 260, 400, &g), 0);
	assert_int_equal(g.gap.n, 0);
	assert_int_equal(ty_cpu_gaps_find(model(), 259, 401, &g), 0);
	assert_int_equal(g.gap.n, 2);
	ty_cpu_gaps_fini(&g);
	ty_mx_drop();
}

static void the_first_that_ends_later(void **state)
{
	const struct ty_cpu_gap *gap;
	struct ty_cpu_gaps g = {0};

	assert_int_equal(ty_cpu_gaps_find(model(), 0, UINT64_MAX, &g), 0);
	gap = ty_cpu_gap_after(&g, 0, 259);
	assert_int_equal(gap->from_ns, 100);
	gap = ty_cpu_gap_after(&g, 0, 260);
	assert_int_equal(gap->from_ns, 400);
	assert_null(ty_cpu_gap_after(&g, 0, 500));
	assert_int_equal(ty_cpu_gap_after(&g, 1, 0)->to_ns, 130);
	assert_null(ty_cpu_gap_after(&g, 1, 130));
	assert_null(ty_cpu_gap_after(&g, 2, 0));
	ty_cpu_gaps_fini(&g);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(touching_gaps_are_one),
		cmocka_unit_test(only_those_of_the_time_are_found),
		cmocka_unit_test(the_first_that_ends_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
