/* SPDX-License-Identifier: MIT */
/* Cgroups held back by a quota: looks at a folder that stands for the hierarchy, the lines that
 * come of it, and what is read from them; and lines that are none. */
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

#include "cgroup_quota.h"
#include "held_back.h"

static char root[] = "/tmp/tarry-quota-XXXXXX";
static uint64_t now_ns;

static uint64_t trace_ns(void *ctx)
{
	(void)ctx;
	return now_ns;
}

static void put(const char *file, const char *text)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, file);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void folder(const char *name, bool make)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(make ? mkdir(path, 0755) : rmdir(path), 0);
}

static void drop(const char *file)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", root, file);
	assert_int_equal(unlink(path), 0);
}

static void look(struct ty_quotas *q, struct ty_buf *out)
{
	now_ns += UINT64_C(1000000000000);
	ty_buf_reset(out);
	ty_quotas_look(q, trace_ns, NULL, out);
	assert_int_equal(ty_buf_addc(out, 0), 0);
}

static void groups_are_looked_at(void **state)
{
	struct ty_quotas q = {.v2 = true};
	struct ty_held_lines *h;
	struct ty_held_back g;
	struct ty_buf out;

	(void)state;
	assert_non_null(mkdtemp(root));
	q.root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(q.root >= 0);
	ty_buf_init(&out, 1 << 20);
	folder("a\tb", true);
	folder("a\tb/c", true);
	folder("free", true);
	put("a\tb/cpu.max", "20000 100000\n");
	put("a\tb/cpu.stat", "usage_usec 9\nthrottled_usec 500\nnr_bursts 0\n");
	put("a\tb/cgroup.threads", "12\n7\n");
	put("a\tb/c/cpu.max", "max 100000\n");
	put("a\tb/c/cgroup.threads", "99\n");
	put("free/cpu.max", "max 100000\n");
	put("free/cpu.stat", "throttled_usec 77\n");
	/* What was counted before the first look is of the time before the recording. */
	look(&q, &out);
	assert_string_equal(out.p, "");
	look(&q, &out);
	assert_string_equal(out.p, "");

	put("a\tb/cpu.stat", "throttled_usec 700\n");
	put("a\tb/cgroup.threads", "12\n"); /* 7 is gone, but was there */
	look(&q, &out);
	h = ty_held_lines_new(out.p);
	assert_non_null(h);
	for (unsigned i = 0; i < 3; i++) {
		static const int32_t tids[] = {7, 12, 99};

		assert_true(ty_held_lines_find(h, tids[i], now_ns - 5, now_ns + 5, &g));
		assert_int_equal(g.ns, 200000);
		assert_false(g.unknown);
		assert_int_equal(g.quota_us, 20000);
		assert_int_equal(g.period_us, 100000);
		assert_string_equal(g.path, "/a\tb");
	}
	assert_false(ty_held_lines_find(h, 12, now_ns, now_ns + 5, &g));
	assert_false(ty_held_lines_find(h, 12, 0, now_ns - UINT64_C(900000000000), &g));
	assert_false(ty_held_lines_find(h, 13, now_ns - 5, now_ns + 5, &g));
	ty_held_lines_free(h);

	/* It is removed: what was since the last look is not known. */
	drop("a\tb/c/cpu.max");
	drop("a\tb/c/cgroup.threads");
	folder("a\tb/c", false);
	drop("a\tb/cpu.max");
	drop("a\tb/cpu.stat");
	drop("a\tb/cgroup.threads");
	folder("a\tb", false);
	look(&q, &out);
	h = ty_held_lines_new(out.p);
	assert_non_null(h);
	assert_true(ty_held_lines_find(h, 12, now_ns - 5, now_ns, &g));
	assert_int_equal(g.ns, 0);
	assert_true(g.unknown);
	assert_int_equal(g.tids_n, 2); /* of the last look, with the group below */
	ty_held_lines_free(h);
	look(&q, &out);
	assert_string_equal(out.p, "");

	drop("free/cpu.max");
	drop("free/cpu.stat");
	folder("free", false);
	ty_quotas_close(&q);
	ty_buf_fini(&out);
	assert_int_equal(rmdir(root), 0);
}

static void several_lines(void **state)
{
	/* Two samples of one group, one of the group above; and lines that are none. */
	static const char text[] =
		"10\t20\t5\t1\t2\t/x\t 3 4\n"
		"20\t30\t6\t1\t2\t/x\t 4 3\n"
		"20\t30\t9\t8\t9\t/\t 3\n"
		"\n30\t20\t5\t1\t2\t/x\t 3\n30\t40\n30\t40\tx\t1\t2\t/x\t 3\n"
		"30\t40\t5\t1\t2\t/x 3\n30\t40\t5\t1\t2\t/y\t -3 0 99999999999 q";
	struct ty_held_lines *h = ty_held_lines_new(text);
	struct ty_held_back g;

	(void)state;
	assert_non_null(h);
	assert_true(ty_held_lines_find(h, 3, 12, 25, &g));
	assert_string_equal(g.path, "/x");
	assert_int_equal(g.ns, 11);
	assert_true(ty_held_lines_find(h, 3, 21, 25, &g));
	assert_string_equal(g.path, "/");
	assert_int_equal(g.ns, 9);
	assert_false(ty_held_lines_find(h, 3, 30, 50, &g));
	ty_held_lines_free(h);
	h = ty_held_lines_new(NULL);
	assert_non_null(h);
	assert_false(ty_held_lines_find(h, 3, 0, UINT64_MAX, &g));
	ty_held_lines_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_are_looked_at),
		cmocka_unit_test(several_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
