/* SPDX-License-Identifier: MIT */
/* Which side of its connections a process is on: by descriptor and time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fd_sides.h"

#define MS UINT64_C(1000000)

static void by_descriptor_and_time(void **state)
{
	struct ty_fd_sides s = {0};
	struct ty_fd_sides_now a = {0}, b = {0};

	/* From before the recording; then another connection; soon after it a third one. */
	assert_int_equal(ty_fd_side_is(&s, &a, 1, 5, TY_SOCK_CLIENT, 100 * MS), 0);
	assert_int_equal(ty_fd_side_ends(&a, 5, 200 * MS), 0);
	assert_int_equal(ty_fd_side_is(&s, &a, 1, 5, TY_SOCK_SERVER, 300 * MS), 0);
	assert_int_equal(ty_fd_side_ends(&a, 5, 400 * MS), 0);
	assert_int_equal(ty_fd_side_is(&s, &a, 1, 5, TY_SOCK_SERVER, 400 * MS + 5000), 0);
	/* Made, and connected later. */
	assert_int_equal(ty_fd_side_ends(&b, 5, 100 * MS), 0);
	assert_int_equal(ty_fd_side_is(&s, &b, 2, 5, TY_SOCK_CLIENT, 150 * MS), 0);
	assert_int_equal(ty_fd_side_ends(&b, 5, 250 * MS), 0);
	assert_int_equal(ty_fd_side_is(&s, &b, 2, -1, TY_SOCK_CLIENT, 150 * MS), 0);
	assert_int_equal(ty_fd_side_ends(&b, -1, 150 * MS), 0);
	assert_int_equal(ty_fd_sides_finish(&s, &b, UINT64_MAX), 0);
	assert_int_equal(ty_fd_sides_finish(&s, &a, 900 * MS), 0);
	ty_fd_sides_sort(&s);
	assert_int_equal(s.v.n, 3);
	assert_int_equal(ty_fd_side(&s, 1, 5, 0), TY_SOCK_CLIENT);
	assert_int_equal(ty_fd_side(&s, 1, 5, 199 * MS), TY_SOCK_CLIENT);
	assert_int_equal(ty_fd_side(&s, 1, 5, 250 * MS), TY_SOCK_UNKNOWN);
	assert_int_equal(ty_fd_side(&s, 1, 5, 300 * MS), TY_SOCK_SERVER);
	assert_int_equal(ty_fd_side(&s, 1, 5, 899 * MS), TY_SOCK_SERVER);
	assert_int_equal(ty_fd_side(&s, 1, 5, 900 * MS), TY_SOCK_UNKNOWN);
	assert_int_equal(ty_fd_side(&s, 1, 6, 300 * MS), TY_SOCK_UNKNOWN);
	assert_int_equal(ty_fd_side(&s, 2, 5, 120 * MS), TY_SOCK_UNKNOWN);
	assert_int_equal(ty_fd_side(&s, 2, 5, 150 * MS), TY_SOCK_CLIENT);
	assert_int_equal(ty_fd_side(&s, 2, 5, 250 * MS), TY_SOCK_UNKNOWN);
	assert_int_equal(ty_fd_side(&s, 3, 5, 250 * MS), TY_SOCK_UNKNOWN);
	vec_fini(&s.v);
}

static void none_are_known(void **state)
{
	struct ty_fd_sides s = {0};

	ty_fd_sides_sort(&s);
	assert_int_equal(ty_fd_side(&s, 1, 5, 0), TY_SOCK_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_descriptor_and_time),
		cmocka_unit_test(none_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
