/* SPDX-License-Identifier: MIT */
/* The first line of a file, whatever the file is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "first_line.h"

static char folder[] = "/tmp/tarry-first-line-XXXXXX";

static const char *text_of(const char *bytes)
{
	static char line[8];
	char path[100];
	bool any;
	FILE *f;

	snprintf(path, sizeof(path), "%s/file", folder);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(bytes, f);
	fclose(f);
	strcpy(line, "before");
	any = ty_first_line(line, sizeof(line), "%s/%s", folder, "file");
	assert_int_equal(any, *line != 0);
	unlink(path);
	return line;
}

static void first_lines(void **state)
{
	char line[8] = "before", long_name[PATH_MAX + 10];

	assert_non_null(mkdtemp(folder));
	assert_string_equal(text_of("one\ntwo\n"), "one");
	assert_string_equal(text_of("one"), "one");
	assert_string_equal(text_of("12345678\n"), "1234567");
	assert_string_equal(text_of("\ntwo\n"), "");
	assert_string_equal(text_of(""), "");
	/* Absent, a folder, a path that is too long. */
	assert_false(ty_first_line(line, sizeof(line), "%s/absent", folder));
	assert_string_equal(line, "");
	assert_false(ty_first_line(line, sizeof(line), "%s", folder));
	memset(long_name, 'a', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = 0;
	assert_false(ty_first_line(line, sizeof(line), "%s", long_name));
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(first_lines)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("first_line", tests, NULL, NULL);
}
