/* SPDX-License-Identifier: MIT */
/* Cgroups held back by a quota: looks at a folder that stands for the hierarchy, the lines that
 * come of it, and what is read from them; and lines that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_quota.h"
#include "cfs_throttle.h"

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
	ty_quotas_sample(q, trace_ns, NULL, out);
	assert_int_equal(ty_buf_addc(out, 0), 0);
}

/* Looks until a line is there: how soon the groups are walked again depends on what that takes. */
static void found_at_last(struct ty_quotas *q, struct ty_buf *out)
{
	for (unsigned i = 0; i < 6000; i++) {
		look(q, out);
		if (*out->p)
			return;
		usleep(10000);
	}
	fail_msg("a new group is not found");
}

static void groups_are_looked_at(void **state)
{
	struct ty_quotas q = {.v2 = true};
	struct ty_throttle_lines *h;
	struct ty_throttled g;
	struct ty_buf out;
	uint64_t from, to;

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
	/* It has a quota, and so have the threads below it; what was counted before the first look
	 * is of the time before the recording. */
	look(&q, &out);
	h = ty_throttle_lines_new(out.p);
	assert_non_null(h);
	for (unsigned i = 0; i < 2; i++) {
		/* From then on, until another line changes it. */
		uint64_t at = now_ns + i * UINT64_C(500000000000);

		assert_true(ty_throttle_lines_quota(h, 99, at, at + 5, &g));
		assert_int_equal(g.quota_us, 20000);
		assert_string_equal(g.path, "/a\tb");
		assert_false(ty_throttle_lines_quota(h, 13, at, at + 5, &g));
	}
	assert_false(ty_throttle_lines_quota(h, 99, 5, now_ns - UINT64_C(900000000000), &g));
	assert_false(ty_throttle_lines_find(h, 99, now_ns, now_ns + 5, &g));
	ty_throttle_lines_free(h);
	look(&q, &out);
	assert_string_equal(out.p, "");

	put("a\tb/cpu.stat", "throttled_usec 700\n");
	put("a\tb/cgroup.threads", "12\n"); /* 7 is gone, but was there */
	look(&q, &out);
	h = ty_throttle_lines_new(out.p);
	assert_non_null(h);
	for (unsigned i = 0; i < 3; i++) {
		static const int32_t tids[] = {7, 12, 99};

		assert_true(ty_throttle_lines_find(h, tids[i], now_ns - 500000, now_ns + 5, &g));
		assert_int_equal(g.ns, 200000);
		assert_false(g.unknown);
		assert_int_equal(g.quota_us, 20000);
		assert_int_equal(g.period_us, 100000);
		assert_string_equal(g.path, "/a\tb");
	}
	assert_false(ty_throttle_lines_find(h, 12, now_ns, now_ns + 5, &g));
	assert_false(ty_throttle_lines_find(h, 12, 0, now_ns - UINT64_C(900000000000), &g));
	assert_false(ty_throttle_lines_find(h, 13, now_ns - 5, now_ns + 5, &g));
	ty_throttle_lines_free(h);

	/* The next sample says, once, that 7 is not there any more. */
	look(&q, &out);
	assert_non_null(strstr(out.p, "\t0\t20000\t100000\t/a\\tb\t 12 99\n"));
	look(&q, &out);
	assert_string_equal(out.p, "");

	/* It is removed: what was since the last look is not known. */
	drop("a\tb/c/cpu.max");
	drop("a\tb/c/cgroup.threads");
	folder("a\tb/c", false);
	drop("a\tb/cpu.max");
	drop("a\tb/cpu.stat");
	drop("a\tb/cgroup.threads");
	folder("a\tb", false);
	look(&q, &out);
	h = ty_throttle_lines_new(out.p);
	assert_non_null(h);
	assert_true(ty_throttle_lines_find(h, 12, now_ns - 5, now_ns, &g));
	assert_int_equal(g.ns, 0);
	assert_true(g.unknown);
	assert_int_equal(g.tids_n, 2); /* of the last look, with the group below */
	ty_throttle_lines_free(h);
	look(&q, &out);
	assert_string_equal(out.p, "");

	/* One with the threads as before is written without them, but not in another buffer. */
	put("cgroup.stat", "nr_descendants 1\n");
	put("free/cpu.max", "30000 100000\n");
	put("free/cpu.stat", "throttled_usec 1\n");
	put("free/cgroup.threads", "8\n8\n");
	found_at_last(&q, &out);
	put("free/cpu.stat", "throttled_usec 20\n");
	ty_buf_reset(&out);
	now_ns += UINT64_C(1000000000000);
	ty_quotas_sample(&q, trace_ns, NULL, &out);
	assert_non_null(strstr(out.p, "\t/free\t 8\n"));
	put("free/cpu.stat", "throttled_usec 30\n");
	now_ns += UINT64_C(1000000000000);
	ty_quotas_sample(&q, trace_ns, NULL, &out);
	assert_non_null(strstr(out.p, "\t10000\t30000\t100000\t/free\t=\n"));
	h = ty_throttle_lines_new(out.p);
	assert_non_null(h);
	assert_true(ty_throttle_lines_find(h, 8, now_ns - 500000, now_ns, &g));
	assert_int_equal(g.ns, 10000);
	assert_int_equal(g.tids_n, 1);
	ty_throttle_lines_free(h);
	put("free/cpu.stat", "throttled_usec 40\n");
	look(&q, &out);
	assert_non_null(strstr(out.p, "\t/free\t 8\n"));
	/* It cannot be read: that is not its end. */
	drop("free/cpu.stat");
	folder("free/cpu.stat", true);
	look(&q, &out);
	assert_string_equal(out.p, "");
	folder("free/cpu.stat", false);
	put("free/cpu.stat", "throttled_usec 50\n");
	look(&q, &out);
	assert_non_null(strstr(out.p, "\t10000\t30000\t100000\t/free\t 8\n"));
	/* Its quota is taken away: it had one until then, and then none. */
	put("free/cpu.max", "max 100000\n");
	put("free/cpu.stat", "throttled_usec 55\n");
	look(&q, &out);
	h = ty_throttle_lines_new(out.p);
	assert_non_null(h);
	assert_false(ty_throttle_lines_quota(h, 8, now_ns + 5, now_ns + 9, &g));
	ty_throttle_lines_free(h);
	assert_int_equal(q.groups.n, 0);
	put("free/cpu.max", "30000 100000\n");
	found_at_last(&q, &out);
	/* Unused, it may have been taken away when it was last read, before the last look. */
	put("free/cpu.max", "max 100000\n");
	usleep(100000);
	look(&q, &out);
	put("cgroup.stat", "nr_descendants 2\n");
	if (!*out.p)
		found_at_last(&q, &out);
	assert_int_equal(sscanf(out.p, "%" SCNu64 "\t%" SCNu64 "\t0\t0\t0\t/free\t", &from, &to),
			 2);
	assert_true(to - from >= 100000000);
	put("free/cpu.max", "30000 100000\n");
	put("cgroup.stat", "nr_descendants 3\n");
	found_at_last(&q, &out);
	/* No more lines than fit. */
	q.bytes = UINT64_MAX - 4096;
	put("free/cpu.stat", "throttled_usec 60\n");
	look(&q, &out);
	assert_string_equal(out.p, "");
	assert_int_equal(q.left_out, 1);

	drop("cgroup.stat");
	drop("free/cgroup.threads");
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
		"left_out\t3\n"
		"60\t70\t5\t1\t2\t/x\t=\n60\t70\t5\t1\t2\t/z\t=\n"
		"80\t90\t5\t1\t2\t/w\t 6 5 6 5 6\n"
		"30\t40\t5\t1\t2\t/x 3\n30\t40\t5\t1\t2\t/y\t -3 0 99999999999 q";
	struct ty_throttle_lines *h = ty_throttle_lines_new(text);
	struct ty_throttled g;

	(void)state;
	assert_non_null(h);
	assert_true(ty_throttle_lines_find(h, 3, 5, 25, &g));
	assert_string_equal(g.path, "/x");
	assert_int_equal(g.ns, 11);
	/* Never for longer than was requested: of the first line it can have been no more than 2.
	 */
	assert_true(ty_throttle_lines_find(h, 4, 18, 25, &g));
	assert_int_equal(g.ns, 7);
	assert_true(ty_throttle_lines_find(h, 4, 18, 21, &g));
	assert_int_equal(g.ns, 3);
	assert_true(ty_throttle_lines_find(h, 3, 21, 30, &g));
	assert_string_equal(g.path, "/");
	assert_int_equal(g.ns, 9);
	assert_false(ty_throttle_lines_find(h, 3, 30, 50, &g));
	assert_true(ty_throttle_lines_find(h, 4, 60, 61, &g));
	assert_string_equal(g.path, "/x");
	assert_int_equal(g.tids_n, 2);
	assert_true(ty_throttle_lines_find(h, 5, 80, 81, &g));
	assert_int_equal(g.tids_n, 2); /* each once */
	ty_throttle_lines_free(h);
	h = ty_throttle_lines_new(NULL);
	assert_non_null(h);
	assert_false(ty_throttle_lines_find(h, 3, 0, UINT64_MAX, &g));
	ty_throttle_lines_free(h);
}

/* Blanks instead of threads: one look at each, and no number of the next line. */
static void many_blanks(void **state)
{
	static const char head[] = "1\t2\t-\t1\t1\t/x\t", tail[] = "\n7\t8\t-\t1\t1\t/y\t 9";
	const size_t n = 16u << 20, h = sizeof(head) - 1;
	char *text = malloc(h + n + sizeof(tail));
	struct ty_throttle_lines *l;
	struct ty_throttled g;

	(void)state;
	assert_non_null(text);
	memcpy(text, head, h);
	memset(text + h, ' ', n);
	memcpy(text + h + n, tail, sizeof(tail));
	l = ty_throttle_lines_new(text);
	assert_non_null(l);
	assert_false(ty_throttle_lines_find(l, 7, 1, 2, &g));
	assert_true(ty_throttle_lines_find(l, 9, 7, 8, &g));
	ty_throttle_lines_free(l);
	free(text);
}

/* A group gets a quota, 12 leaves it for another one, and its quota is taken away. Only a thread
 * that had it all of the time has one, by the samples. */
static void quotas_come_and_go(void **state)
{
	static const char text[] = "10\t20\t0\t1000\t100000\t/x\t 12 13\n"
				   "30\t40\t0\t2000\t100000\t/y\t 12\n"
				   "30\t40\t0\t1000\t100000\t/x\t 13\n"
				   "50\t60\t3\t0\t0\t/x\t 13\n"
				   "70\t80\t3\t0\t0\t/z\t 15\n"
				   "50\t60\t-\t2000\t100000\t/y\t 12\n";
	static const struct {
		int32_t tid;
		uint64_t from, to;
		uint64_t quota_us; /* 0: none */
	} cases[] = {
		{12, 1, 5, 0},	    {12, 15, 16, 0},	{12, 15, 25, 0},    {12, 20, 28, 1000},
		{12, 41, 45, 2000}, {13, 41, 45, 1000}, {13, 25, 45, 1000}, {12, 25, 35, 0},
		{13, 45, 55, 0},    {13, 52, 58, 0},	{13, 61, 65, 0},    {12, 55, 58, 2000},
		{12, 55, 70, 0},    {12, 61, 65, 0},	{14, 25, 28, 0},    {15, 81, 85, 0},
	};
	struct ty_throttle_lines *h = ty_throttle_lines_new(text);
	struct ty_throttled g;

	(void)state;
	assert_non_null(h);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool has = ty_throttle_lines_quota(h, cases[i].tid, cases[i].from, cases[i].to, &g);

		assert_int_equal(has, cases[i].quota_us != 0);
		if (has)
			assert_int_equal(g.quota_us, cases[i].quota_us);
	}
	/* What was counted until it was taken away is of the quota that was; of none there is
	 * nothing to count. */
	assert_true(ty_throttle_lines_find(h, 13, 52, 58, &g));
	assert_int_equal(g.ns, 3);
	assert_int_equal(g.quota_us, 1000);
	assert_int_equal(g.period_us, 100000);
	assert_false(ty_throttle_lines_find(h, 15, 72, 78, &g));
	ty_throttle_lines_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_are_looked_at),
		cmocka_unit_test(quotas_come_and_go),
		cmocka_unit_test(several_lines),
		cmocka_unit_test(many_blanks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
