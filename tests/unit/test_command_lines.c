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

static void put_parent(int pid, int parent)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d/stat", dir, pid);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%d (a) R 7) S %d 1", pid, parent);
	fclose(f);
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

/* Parents while a line needs one; 3 at most. */
static void parents_of_a_culprit(void **state)
{
	struct ty_command_lines *c = ty_command_lines_new(dir);

	put(20, "kill\0-9\0001\0", 10);
	put_parent(20, 21);
	put(21, "/bin/sh\0-x\0", 11);
	put_parent(21, 22);
	put(22, "backup\0--nightly", 16);
	put_parent(22, 23);
	put(23, "cron", 4);
	ty_command_lines_culprit(c, 20);
	assert_string_equal(take(c, 20000),
			    "20\tkill\t-9\t1\n21\t/bin/sh\t-x\n22\tbackup\t--nightly\n");
	for (int i = 30; i < 36; i++) {
		put(i, "sh", 2);
		put_parent(i, i + 1);
	}
	ty_command_lines_culprit(c, 30);
	assert_string_equal(take(c, 20000), "30\tsh\n31\tsh\n32\tsh\n33\tsh\n");
	/* Its line was read where it ran: it is gone. */
	ty_command_lines_add(c, 40, "kill\0-STOP\0", 11, 22);
	assert_string_equal(take(c, 20000), "40\tkill\t-STOP\n");
	usleep(110000);
	ty_command_lines_add(c, 41, "kill\0-CONT\0", 11, 34);
	ty_command_lines_add(c, 42, "monitor\0", 8, 35);
	assert_string_equal(take(c, 20000), "41\tkill\t-CONT\n42\tmonitor\n34\tsh\n35\tsh\n");
	ty_command_lines_free(c);
}

static void culprits_are_limited(void **state)
{
	struct ty_command_lines *c = ty_command_lines_new(dir);
	unsigned lines = 0;

	for (int i = 100; i < 400; i++) {
		put(i, "monitor", 7);
		ty_command_lines_culprit(c, i);
	}
	for (const char *p = take(c, 20000); (p = strchr(p, '\n')); p++)
		lines++;
	assert_in_range(lines, 100, 120);
	ty_command_lines_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_read_once),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(parents_of_a_culprit),
		cmocka_unit_test(culprits_are_limited),
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
