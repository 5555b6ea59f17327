/* SPDX-License-Identifier: MIT */
/* Functions by name in a file: of this very program, which is not stripped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "function_find.h"

static char self[PATH_MAX];

/* Finds `text`; the error, "" for none. */
static const char *error_of(const char *text, const char *command, bool offsets)
{
	static struct ty_err err;
	struct ty_functions f;
	int r;

	err = (struct ty_err){0};
	r = ty_functions_find(&f, "--span", text, command, offsets, &err);

	ty_functions_fini(&f);
	return r ? err.msg : "";
}

static void found_in_a_command_and_in_a_file(void **state)
{
	const char *command[] = {self, "", NULL};
	struct ty_functions f;
	char text[PATH_MAX + 8];
	uint64_t start = 0;

	for (unsigned i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), i ? "main@%s" : "main", self);
		assert_int_equal(ty_functions_find(&f, "--span", text, command[i], false, NULL), 0);
		assert_int_equal(f.n, 1);
		assert_string_equal(f.path, self);
		assert_true(f.st.st_size > 0);
		assert_true(f.sym[0].start > 0 && f.sym[0].start < (uint64_t)f.st.st_size);
		assert_true(!i || f.sym[0].start == start);
		start = f.sym[0].start;
		ty_functions_fini(&f);
	}
	/* An offset, where one is valid. */
	snprintf(text, sizeof(text), "0x40@%s", self);
	assert_int_equal(ty_functions_find(&f, "--flow-filter", text, NULL, true, NULL), 0);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.sym[0].start, 0x40);
	ty_functions_fini(&f);
	assert_non_null(strstr(error_of(text, NULL, false), " has no function '0x40' "));
}

static void what_is_not_found(void **state)
{
	char text[PATH_MAX + 8], name[600];

	assert_non_null(strstr(error_of("nosuch", self, false),
			       "has no function 'nosuch' in its symbol table (see nm; for a "
			       "function of a library give FUNC@FILE)"));
	snprintf(text, sizeof(text), "nosuch@%s", self);
	assert_non_null(strstr(error_of(text, NULL, true), "in its symbol table (see nm)"));
	assert_string_equal(error_of("main", NULL, true),
			    "--span main: without a command give FUNC@FILE");
	assert_non_null(strstr(error_of("main@/nonexistent", NULL, true),
			       "--span: cannot open /nonexistent"));
	assert_non_null(strstr(error_of("main@libnonexistent.so", self, true),
			       " does not load a library 'libnonexistent.so', and no such file "
			       "exists here"));
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = 0;
	assert_non_null(strstr(error_of(name, self, true), " is longer than 511 bytes"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_in_a_command_and_in_a_file),
		cmocka_unit_test(what_is_not_found),
	};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	return n < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
