/* SPDX-License-Identifier: MIT */
/* Command lines: read from a folder like /proc, also while one process cannot be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command_lines.h"

static char dir[] = "/tmp/tarry-commands-XXXXXX";

static void put(int pid, const char *bytes, size_t n)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%d", dir, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%d/cmdline", dir, pid);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), (ssize_t)n);
	close(fd);
}

static uint64_t trace_ns(void *ctx)
{
	return UINT64_C(5000000000000000000);
}

/* The lines without their times. */
static const char *take(struct ty_command_lines *c, unsigned wait_ms)
{
	static char text[16384];
	struct ty_buf b;
	size_t n = 0;

	ty_buf_init(&b, 1 << 20);
	ty_command_lines_take(c, wait_ms, trace_ns, NULL, &b);
	for (const char *p = b.p; p && *p && n < sizeof(text) - 4200;) {
		const char *end = strchr(p, '\n') + 1, *tab = strchr(p, '\t');

		assert_in_range(strtoull(p, NULL, 10), UINT64_C(4990000000000000000),
				UINT64_C(5000000000000000000));
		memcpy(text + n, tab + 1, (size_t)(end - tab) - 1);
		n += (size_t)(end - tab) - 1;
		p = end;
	}
	text[n] = 0;
	ty_buf_fini(&b);
	return text;
}

static void are_read_once(void **state)
{
	struct ty_command_lines *c = ty_command_lines_new(dir);

	put(7, "sh\0-c\0a\tb\n\\", 11);
	put(8, "postgres: idle \0\0\0\0", 19);
	put(9, "", 0); /* a kernel thread */
	ty_command_lines_request(c, 7);
	assert_string_equal(take(c, 20000), "7\tsh\t-c\ta\\tb\\n\\\\\n");
	ty_command_lines_request(c, 9);
	ty_command_lines_request(c, 10); /* gone */
	ty_command_lines_request(c, -1);
	ty_command_lines_request(c, 8);
	assert_string_equal(take(c, 20000), "8\tpostgres: idle\n");
	/* Not at once again, and later only what is new. */
	put(7, "new", 3);
	ty_command_lines_request(c, 7);
	assert_string_equal(take(c, 20000), "");
	usleep(110000);
	ty_command_lines_request(c, 7);
	ty_command_lines_request(c, 8);
	assert_string_equal(take(c, 20000), "7\tnew\n");
	ty_command_lines_free(c);
}

static void long_lines_are_cut(void **state)
{
	struct ty_command_lines *c = ty_command_lines_new(dir);
	static char line[5000];

	memset(line, 'x', sizeof(line));
	put(11, line, sizeof(line));
	ty_command_lines_request(c, 11);
	assert_int_equal(strlen(take(c, 20000)), 3 + 2048 + 1);
	ty_command_lines_free(c);
}

/* Its memory is locked: the open of a pipe without a writer waits as long. */
static void one_that_is_stuck_holds_up_no_other(void **state)
{
	struct ty_command_lines *c = ty_command_lines_new(dir);
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/12", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/12/cmdline", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	put(13, "other", 5);
	ty_command_lines_request(c, 12);
	assert_string_equal(take(c, 20), "");
	ty_command_lines_request(c, 13);
	while (strcmp(take(c, 20), "13\tother\n"))
		;
	ty_command_lines_free(c); /* does not wait */
	fd = open(path, O_WRONLY);
	close(fd);
	usleep(10000); /* a sanitizer sees what the reader does now */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_read_once),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(one_that_is_stuck_holds_up_no_other),
	};
	char command[64];
	int r;

	if (!mkdtemp(dir))
		return 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command) || r;
}
