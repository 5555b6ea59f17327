/* SPDX-License-Identifier: MIT */
/* Lines of source files: which file, which line, made plain; files that are none. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "source_text.h"

static char dir[] = "/tmp/tarry-source-XXXXXX";

static const char *path(const char *name)
{
	static char p[4][300];
	static int k;

	k = (k + 1) % 4;
	snprintf(p[k], sizeof(p[k]), "%s/%s", dir, name);
	return p[k];
}

static void put(const char *name, const char *text, size_t n, long written)
{
	struct timespec t[2] = {{.tv_sec = written}, {.tv_sec = written}};
	FILE *f = fopen(path(name), "w");

	assert_non_null(f);
	assert_int_equal(n, fwrite(text, 1, n, f));
	fclose(f);
	assert_int_equal(0, utimensat(AT_FDCWD, path(name), t, 0));
}

static void lines(void **state)
{
	static const char text[] = "int a;\n\tint\tb;\r\n\n  e\033[31m\xe2\x80\xae\xff\nlast";
	struct ty_source_text *s = ty_source_text_new(NULL);
	char out[40];
	bool newer;

	put("a.c", text, sizeof(text) - 1, 1000);
	put("prog", "x", 1, 1000);
	put("old", "x", 1, 999);
	assert_true(ty_source_text_line(s, path("a.c"), 1, NULL, out, sizeof(out), &newer));
	assert_string_equal(out, "int a;");
	assert_false(newer);
	assert_true(ty_source_text_line(s, path("a.c"), 2, path("prog"), out, sizeof(out), &newer));
	assert_string_equal(out, "int b;");
	assert_false(newer);
	assert_true(ty_source_text_line(s, path("a.c"), 3, path("old"), out, sizeof(out), &newer));
	assert_string_equal(out, "");
	assert_true(newer);
	assert_true(ty_source_text_line(s, path("a.c"), 4, NULL, out, sizeof(out), &newer));
	assert_string_equal(out, "e?[31m????");
	assert_true(ty_source_text_line(s, path("a.c"), 5, NULL, out, 3, &newer));
	assert_string_equal(out, "la");
	for (int i = -1; i < 9; i += 7) /* -1, 6 */
		assert_false(
			ty_source_text_line(s, path("a.c"), i, NULL, out, sizeof(out), &newer));
	assert_false(ty_source_text_line(s, path("a.c"), 0, NULL, out, sizeof(out), &newer));
	assert_false(ty_source_text_line(s, "a.c", 1, NULL, out, sizeof(out), &newer));
	assert_false(ty_source_text_line(s, path("none.c"), 1, NULL, out, sizeof(out), &newer));
	assert_false(ty_source_text_line(s, dir, 1, NULL, out, sizeof(out), &newer));
	assert_int_equal(0, mkfifo(path("fifo.c"), 0600));
	assert_false(ty_source_text_line(s, path("fifo.c"), 1, NULL, out, sizeof(out), &newer));
	put("huge_alloc.c", "x\n", 2, 1000);
	assert_int_equal(0, truncate(path("huge_alloc.c"), (16 << 20) + 1));
	assert_false(
		ty_source_text_line(s, path("huge_alloc.c"), 1, NULL, out, sizeof(out), &newer));
	ty_source_text_free(s);
}

/* More files than are kept, again and again; and below a root first. */
static void many(void **state)
{
	struct ty_texts roots = {.v = (const char *[]){dir}, .n = 1};
	struct ty_source_text *s = ty_source_text_new(&roots);
	char name[20], out[40], want[40];
	bool newer;

	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "m%d.c", i);
		put(name, name, strlen(name), 1000);
	}
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "/m%d.c", i * 7 % 20);
		snprintf(want, sizeof(want), "m%d.c", i * 7 % 20);
		assert_true(ty_source_text_line(s, name, 1, NULL, out, sizeof(out), &newer));
		assert_string_equal(out, want);
		assert_true(ty_source_text_line(s, path(want), 1, NULL, out, sizeof(out), &newer));
		assert_string_equal(out, want);
	}
	ty_source_text_free(s);
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char cmd[80];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(many)};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
