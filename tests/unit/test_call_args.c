/* SPDX-License-Identifier: MIT */
/* The arguments of a call as they are shown, with the names of descriptors and paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "call_args.h"
#include "fd_kind.h"
#include "fixture_fds.h"
#include "fixture_given.h"

/* Arguments as they are shown: paths between quotes, descriptors with their names, what is not
 * known as a number. */
static void arguments_have_names(void **state)
{
	enum { NR_OPEN = 2, NR_READ = 0 };
	static const char *const want[] = {"\"/opened\", O_WRONLY", "8</opened>, NULL, 1",
					   "77, NULL, 1"};
	struct ty_explain x;
	struct ty_buf b;
	uint32_t t;

	begin();
	call(2 * MS, 11, NR_OPEN, 8, 0x7000);
	given[0].args[1] = 1;
	call(4 * MS, 11, NR_READ, 1, 8);
	call(6 * MS, 11, NR_READ, 1, 77);
	x = end();
	x.pointee = pointee;
	t = ty_model_thread_find(x.m, 11, 10 * MS);
	for (uint32_t i = 0; i < 3; i++) {
		ty_buf_init(&b, 1000);
		assert_int_equal(ty_call_args(&x, ty_model_thread(x.m, t)->syscalls_first + i, &b),
				 0);
		assert_string_equal(b.p, want[i]);
		ty_buf_fini(&b);
	}
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
