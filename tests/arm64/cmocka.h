/* SPDX-License-Identifier: MIT */
/*
 * As much of cmocka as the unit tests use that run on an emulated arm64, where no cmocka is
 * installed. A failed assertion ends the program. TESTS_SKIP: names of tests to leave out.
 */
#ifndef CMOCKA_H
#define CMOCKA_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
	const char *name;
	void (*run)(void **state);
};

static jmp_buf cmocka_skipped;

#define fail_msg(...)                                                                              \
	(printf("# %s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), printf("\n"), exit(1))
#define assert_true(c)		     ((c) ? (void)0 : fail_msg("not true: %s", #c))
#define assert_false(c)		     assert_true(!(c))
#define assert_null(p)		     assert_true(!(p))
#define assert_non_null(p)	     assert_true(p)
#define assert_int_equal(a, b)	     assert_true((unsigned long long)(a) == (unsigned long long)(b))
#define assert_ptr_equal(a, b)	     assert_true((const void *)(a) == (const void *)(b))
#define assert_string_equal(a, b)    assert_true(!strcmp(a, b))
#define assert_memory_equal(a, b, n) assert_true(!memcmp(a, b, n))
#define print_message(...)	     printf(__VA_ARGS__)
#define skip()			     longjmp(cmocka_skipped, 1)
#define cmocka_unit_test(f)                                                                        \
	{                                                                                          \
#f, f                                                                              \
	}

static inline int cmocka_run(const struct CMUnitTest *tests, size_t n)
{
	const char *leave_out = getenv("TESTS_SKIP");

	for (size_t i = 0; i < n; i++) {
		if (leave_out && strstr(leave_out, tests[i].name)) {
			printf("# %s left out\n", tests[i].name);
		} else if (setjmp(cmocka_skipped)) {
			printf("# %s skipped\n", tests[i].name);
		} else {
			tests[i].run(NULL);
			printf("# %s passed\n", tests[i].name);
		}
	}
	return 0;
}
#define cmocka_run_group_tests(tests, up, down) cmocka_run(tests, sizeof(tests) / sizeof(*(tests)))

#endif
