/* SPDX-License-Identifier: MIT */
/* Writes the small traces that fuzz_trace starts from into the directory argv[1]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture_trace.h"

static const char *dir;

static const char *in_dir(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void spool(const char *name, bool finish)
{
	struct ty_spool_writer *w;
	struct ty_spool *s;

	assert_int_equal(ty_spool_create(in_dir(name), TY_FX_PAGE, &s, NULL), 0);
	assert_int_equal(ty_spool_publish(s, NULL), 0);
	w = ty_spool_writer_new(s, 1 << 16);
	ty_fx_spool_meta(w);
	for (unsigned k = 0; k < 2; k++)
		for (unsigned seq = 0; seq < 2; seq++)
			assert_int_equal(ty_fx_spool_data(w, k, k, seq, 1, NULL), 0);
	ty_fx_spool_end(w);
	if (finish)
		assert_int_equal(ty_spool_finish(s, NULL), 0);
	ty_spool_writer_free(w);
	ty_spool_close(s);
}

static void test_seeds(void **state)
{
	static const struct {
		const char *name;
		struct ty_fx_dat d;
	} dat[] = {
		{"v6", {6, "none", false, 8, 2, 2, 1, 1, false, false, 0}},
		{"v6-be", {6, "none", true, 4, 1, 1, 1, 1, false, false, 0}},
		{"v7-none", {7, "none", false, 8, 2, 1, 1, 1, false, false, 0}},
		{"v7-zlib", {7, "zlib", false, 8, 1, 1, 2, 1, true, false, 0}},
		{"v7-zstd", {7, "zstd", false, 8, 2, 1, 2, 1, true, true, 0}},
		{"v7-zstd-be", {7, "zstd", true, 4, 1, 1, 2, 2, false, false, 0}},
	};

	for (unsigned i = 0; i < sizeof(dat) / sizeof(*dat); i++) {
		struct ty_buf b;

		ty_fx_dat(&dat[i].d, &b);
		ty_fx_write(in_dir(dat[i].name), b.p, b.len);
		ty_buf_fini(&b);
	}
	spool("spool", false);
	spool("finished", true);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_seeds)};

	if (argc != 2)
		return 2;
	dir = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
