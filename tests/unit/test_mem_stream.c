/* SPDX-License-Identifier: MIT */
/* perf samples that lie out of order, more than are sorted in memory: an open needs no file for
 * them, reading does, and what failed for want of one may be tried again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mem_stream.h"
#include "perf_write.h"

enum { SAMPLES = 240000 };

static void test_sorted_when_read(void **state)
{
	char *dir = getenv("TMPDIR"), *was = dir ? strdup(dir) : NULL, path[32];
	struct ty_mem_stream *s = NULL;
	const struct ty_mem *m;
	struct ty_err err = {0};
	struct perf_write w;
	struct ty_perf *perf;
	struct ty_buf file;

	(void)state;
	pw_init(&w);
	w.cpuid = "GenuineIntel,6,106,6";
	w.arch = "x86_64";
	w.type = 4;
	for (uint64_t i = 0; i < SAMPLES; i++) {
		uint64_t at = 1 + i * 7919 % SAMPLES; /* a prime that does not divide it */
		uint64_t body[8] = {PW_ID, 0x400100, 100ull << 32 | 100, at, 0x7000, 0, 9, 0x2};

		pw_rec(&w, TY_PERF_SAMPLE, 2, body, sizeof(body));
	}
	ty_buf_init(&file, 1 << 25);
	pw_file(&w, &file);
	pw_save(&file, path);
	setenv("TMPDIR", "/nowhere/at/all", 1);
	if (ty_perf_open(path, &perf, &err) || ty_mem_open(perf, &s, &err))
		fail_msg("%s", err.msg);
	unlink(path);
	assert_int_equal(ty_mem_facts(s)->samples, SAMPLES);
	for (unsigned i = 0; i < 2; i++) {
		err = (struct ty_err){0};
		assert_int_equal(ty_mem_next(s, &m, &err), -TY_ENOTFOUND);
		assert_non_null(strstr(err.msg, "TMPDIR"));
	}
	was ? setenv("TMPDIR", was, 1) : unsetenv("TMPDIR");
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint64_t i = 1; i <= SAMPLES; i++) {
			assert_int_equal(ty_mem_next(s, &m, &err), 1);
			assert_int_equal(m->ts_ns, i);
		}
		assert_int_equal(ty_mem_next(s, &m, &err), 0);
		ty_mem_rewind(s);
	}
	ty_mem_close(s);
	ty_perf_close(perf);
	ty_buf_fini(&file);
	pw_fini(&w);
	free(was);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sorted_when_read)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
