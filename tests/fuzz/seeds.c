/* SPDX-License-Identifier: MIT */
/* Writes the small traces that fuzz_trace and fuzz_perf_data start from into the directory argv[1].
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture_trace.h"
#include "perf_events.h"

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

static void perf_data(const char *name)
{
	struct pw_at at = {.pid = 7, .tid = 7};
	struct perf_write w;
	struct ty_buf b;

	pe_init(&w);
	pe_index(&w, 0, -1);
	pw_comm(&w, at, "seed");
	for (at.time = 1000; at.time < 3000; at.time += 500) {
		at.cpu = at.time % 1000 != 0;
		pe_switch(&w, at, 9, 1);
		pe_lost(&w, at, 3);
		pe_call(&w, at, true, 0);
		pe_task(&w, at, true, 8, 8);
		pe_round(&w);
	}
	ty_buf_init(&b, 1 << 20);
	pw_pipe(&w, &b);
	ty_fx_write(in_dir(name), b.p, b.len);
	ty_buf_fini(&b);
	pw_fini(&w);
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
	perf_data("perf-data");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_seeds)};

	if (argc != 2)
		return 2;
	dir = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
