/* SPDX-License-Identifier: MIT */
/* Command lines that say less than that of the parent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "interpreter.h"

#define NEEDS(argv) ty_needs_caller(argv, sizeof(argv))

static void callers(void **state)
{
	assert_true(NEEDS("sh"));
	assert_true(NEEDS("-bash"));
	assert_true(NEEDS("/usr/bin/python3.11\0-u"));
	assert_true(NEEDS("bash\0+x"));
	assert_true(NEEDS("/bin/kill\0-STOP\00012"));
	assert_true(NEEDS("gdb\0-p\00012"));
	assert_false(NEEDS("sh\0-c\0exit"));
	assert_false(NEEDS("python3\0-u\0a.py"));
	assert_false(NEEDS("unbound\0-d"));
	assert_false(NEEDS("shred"));
	assert_false(ty_needs_caller("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(callers)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
