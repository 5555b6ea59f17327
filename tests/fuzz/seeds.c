/* SPDX-License-Identifier: MIT */
/* Writes what a fuzzer starts from into the directory argv[1]: the small traces of fuzz_trace and
 * fuzz_perf_data, or with argv[2] "pt" streams, code and side bands for fuzz_pt, with "names" what
 * fuzz_names reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture_trace.h"
#include "perf_events.h"
#include "perf_write.h"
#include "pt_encode.h"

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

/* Kinds of parts, as in fuzz_pt.c. */
enum { PACKETS, HOLE, BACK, SIDEBAND, CODE, IMAGE, ELF, LOSS };

static void part(struct ty_buf *b, unsigned kind, unsigned stream, const void *p, size_t n)
{
	ty_buf_addc(b, (char)(kind | stream << 3));
	ty_buf_addle(b, n, 2);
	ty_buf_add(b, p, n);
}

/* A loop with a call, and ways through it. */
static void walk(struct ty_buf *out, uint64_t tsc)
{
	struct ty_pt_enc e;

	ty_pt_enc_init(&e, 1 << 20);
	ty_pt_enc_on(&e, tsc, 0x400000, true);
	for (unsigned i = 0; i < 100; i++) {
		ty_pt_enc_cond(&e, tsc += 10, i & 1);
		ty_pt_enc_indirect(&e, tsc += 10, 0x400005);
		ty_pt_enc_tick(&e, tsc, 0x400005, true);
		if (i == 50) {
			ty_pt_enc_async_off(&e, 0x400005);
			ty_pt_enc_on(&e, tsc += 100, 0x400005, true);
		}
	}
	ty_pt_enc_flush(&e);
	ty_buf_add(out, e.out.p, e.out.len);
	ty_pt_enc_fini(&e);
}

static void test_pt_seeds(void **state)
{
	static const uint8_t code[32] = {0xe8, 0x0b,	    0,	  0,	0,    0xeb,
					 0xf9, [16] = 0x74, 0x02, 0x90, 0x90, 0xc3};
	static const char *const names[] = {"one", "hole", "two-cpus", "images", "loss"};
	struct ty_perf_where w = {.pid = 1, .tid = 1, .time_ns = 10};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct ty_buf b, side, pt;

		ty_buf_init(&b, 1 << 20);
		ty_buf_init(&side, 1 << 20);
		ty_buf_init(&pt, 1 << 20);
		walk(&pt, 1000);
		ty_perf_put_mmap2(&side, &w, 0x400000, 4096, 0, 5, NULL, 0, "code");
		ty_perf_put_comm(&side, &w, "name", true);
		ty_perf_put_itrace_start(&side, &w);
		ty_perf_put_task(&side, &w, true, 1, 1);
		part(&b, CODE, i == 2 ? 1 : 2, code, sizeof(code));
		part(&b, SIDEBAND, 0, side.p, side.len);
		part(&b, PACKETS, i == 2 ? 0 : 2, pt.p, pt.len);
		if (i == 1)
			part(&b, HOLE, 2, pt.p, pt.len / 2);
		if (i == 2)
			part(&b, PACKETS, 1, pt.p, pt.len);
		if (i == 3)
			part(&b, IMAGE, 0, code, sizeof(code));
		if (i == 4) {
			part(&b, LOSS, 2, "", 0);
			part(&b, BACK, 2, pt.p, pt.len);
		}
		ty_fx_write(in_dir(names[i]), b.p, b.len);
		ty_buf_fini(&b);
		ty_buf_fini(&side);
		ty_buf_fini(&pt);
	}
}

/* A jitdump (decoder/jitdump.h): two functions at one place, and the second one moved. */
static void jitdump(struct ty_buf *b)
{
	static const char *const names[] = {"first", "second"};
	static const uint8_t body[] = {0x90, 0x90, 0x90, 0xc3};

	ty_buf_add(b, "DTiJ", 4);
	for (unsigned i = 0; i < 5; i++) /* version, size, machine, padding, pid */
		ty_buf_addle(b, (const unsigned[]){1, 40, 62, 0, 7}[i], 4);
	ty_buf_addle(b, 1000, 8);
	ty_buf_addle(b, 0, 8);
	for (unsigned i = 0; i < 2; i++) {
		size_t n = strlen(names[i]) + 1;

		ty_buf_addle(b, 0, 4);
		ty_buf_addle(b, 16 + 40 + n + sizeof(body), 4);
		ty_buf_addle(b, 1100 + i, 8);
		ty_buf_addle(b, 7, 4);
		ty_buf_addle(b, 7, 4);
		ty_buf_addle(b, 0x1000, 8);
		ty_buf_addle(b, 0x1000, 8);
		ty_buf_addle(b, sizeof(body), 8);
		ty_buf_addle(b, i, 8);
		ty_buf_add(b, names[i], n);
		ty_buf_add(b, body, sizeof(body));
	}
	ty_buf_addle(b, 1, 4);
	ty_buf_addle(b, 16 + 48, 4);
	ty_buf_addle(b, 1200, 8);
	ty_buf_addle(b, 7, 4);
	ty_buf_addle(b, 7, 4);
	for (unsigned i = 0; i < 5; i++) /* addresses, bytes, which */
		ty_buf_addle(b, (const unsigned[]){0x2000, 0x1000, 0x2000, 4, 1}[i], 8);
}

/* Kinds of parts, as in fuzz_names.c. */
static void test_name_seeds(void **state)
{
	static const char map[] = "1000 20 one\n1010 10 two\n2000 0 none\n",
			  syms[] = "ffffffff81000000 T _stext\n"
				   "ffffffff81000100 t do_it\t[module]\n";
	enum { JITDUMP, MAP, KALLSYMS };
	struct ty_buf b, dump;

	ty_buf_init(&b, 1 << 16);
	ty_buf_init(&dump, 1 << 16);
	jitdump(&dump);
	part(&b, JITDUMP, 0, dump.p, dump.len);
	ty_fx_write(in_dir("jitdump"), b.p, b.len);
	part(&b, MAP, 0, map, sizeof(map) - 1);
	part(&b, KALLSYMS, 0, syms, sizeof(syms) - 1);
	ty_fx_write(in_dir("all"), b.p, b.len);
	ty_buf_fini(&b);
	ty_buf_fini(&dump);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest trace[] = {cmocka_unit_test(test_seeds)},
				pt[] = {cmocka_unit_test(test_pt_seeds)},
				names[] = {cmocka_unit_test(test_name_seeds)};

	if (argc < 2)
		return 2;
	dir = argv[1];
	if (argc > 2 && !strcmp(argv[2], "pt"))
		return cmocka_run_group_tests(pt, NULL, NULL);
	if (argc > 2 && !strcmp(argv[2], "names"))
		return cmocka_run_group_tests(names, NULL, NULL);
	return cmocka_run_group_tests(trace, NULL, NULL);
}
