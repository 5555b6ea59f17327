/* SPDX-License-Identifier: MIT */
/* Findings of shared cache lines: which are false or true sharing, in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture_sharing.h"
#include "mem_stream.h"
#include "memory.h"
#include "perf_write.h"
#include "sharing.h"
#include "spe_encode.h"

/* The same as x86 records it: loads of another core's modified line are L3 hits with HITM. */
static void x86(struct result *r, const struct access *a, unsigned n)
{
	struct perf_write w;
	struct ty_buf file;
	uint64_t t = 1000;

	pw_init(&w);
	w.cpuid = "GenuineIntel,6,106,6";
	w.arch = "x86_64";
	w.type = 4;
	header(&w, a, n);
	for (unsigned i = 0; i < 10 * n; i++, t += 100) {
		const struct access *x = &a[i % n];
		uint64_t src = x->op == LD && x->source == PEER ? 0x2 | 0x42ull << 5 | 0x10 << 19
			       : x->op == LD			? 0x2 | 0x0aull << 5
								: 0x4 | 0x0aull << 5;
		uint64_t body[9] = {PW_ID,
				    0x4000 + 16 * (i % n),
				    (uint64_t)x->tid << 32 | (uint32_t)(x->tid / 100 * 100),
				    t,
				    x->va,
				    (uint64_t)x->tid % 4,
				    x->source == PEER ? 200 : 12,
				    src};

		pw_rec(&w, TY_PERF_SAMPLE, 2, body, 64);
	}
	ty_buf_init(&file, 1 << 22);
	pw_file(&w, &file);
	load(r, &file);
	ty_buf_fini(&file);
	pw_fini(&w);
}

static void test_cases(void **state)
{
	struct result r;

	(void)state;
	{
		const struct access a[] = {{101, ST, A, P, -1}, {102, LD, A + 32, P + 32, PEER}};

		spe(&r, a, N(a), 0);
		assert_true(r.s.lines[0].physical);
		assert_int_equal(r.s.lines[0].line, P);
		assert_int_equal(r.s.lines[0].va, A);
		one("false by load", &r, TY_SHARING_FALSE, TY_SHARING_PEER, 2);
	}
	{
		const struct access a[] = {{101, ST, A + 8, P + 8, -1},
					   {102, LD, A + 8, P + 8, PEER}};

		spe(&r, a, N(a), 0);
		one("true by load", &r, TY_SHARING_TRUE, TY_SHARING_PEER, 2);
	}
	{
		const struct access a[] = {{101, ST, A, 0, -1}, {102, ST, A + 4, 0, -1}};

		spe(&r, a, N(a), 0);
		assert_false(r.s.lines[0].physical);
		assert_int_equal(r.s.lines[0].pid, 100);
		assert_true(r.s.lines[0].size_assumed);
		one("store and store, neighbouring words", &r, TY_SHARING_FALSE, TY_SHARING_TIME,
		    2);
	}
	{
		const struct access a[] = {{101, ST, A, 0, -1}, {102, ST, A, 0, -1}};

		spe(&r, a, N(a), 0);
		one("store and store, the same word", &r, TY_SHARING_TRUE, TY_SHARING_TIME, 2);
	}
	{
		const struct access a[] = {{101, LD, A, P, PEER}, {102, LD, A, P, PEER}};

		spe(&r, a, N(a), STORES);
		none("read only", &r);
		/* Where no store is sampled at all, a thread may write. */
		spe(&r, a, N(a), 0);
		assert_int_equal(r.s.lines[0].writes, 0);
		one("loads only", &r, TY_SHARING_UNKNOWN, TY_SHARING_PEER, 2);
	}
	{
		const struct access a[] = {{101, ST, A, P, -1},
					   {201, LD, 0xbbbb00007000 + 16, P + 16, PEER}};

		spe(&r, a, N(a), 0);
		one("two mappings of one page", &r, TY_SHARING_FALSE, TY_SHARING_PEER, 2);
	}
	{
		/* The second process' stores lie by their page, which its loads show. */
		const struct access a[] = {{101, ST, A, P, -1},
					   {202, LD, 0xbbbb00007800, P + 0x800, L1},
					   {202, ST, 0xbbbb00007000, 0, -1}};

		spe(&r, a, N(a), 0);
		one("a physical address known from the page", &r, TY_SHARING_TRUE, TY_SHARING_TIME,
		    2);
	}
	{
		const struct access a[] = {{101, ST, A, 0, -1}, {201, LD, A, 0, L1}};

		spe(&r, a, N(a), 0);
		none("the same address in two processes", &r);
	}
	{
		const struct access a[] = {{101, ST, A | 0xa5ull << 56, 0, -1},
					   {102, LD, A + 8, 0, PEER}};

		spe(&r, a, N(a), 0);
		one("tagged pointers", &r, TY_SHARING_FALSE, TY_SHARING_PEER, 2);
	}
	{
		const struct access a[] = {{101, ST, A + 56, P + 56, -1},
					   {102, ST, A + 64, P + 64, -1}};

		spe(&r, a, N(a), 0);
		none("neighbours in different lines", &r);
	}
	{
		const struct access a[] = {{101, ST, A, 0, -1}, {102, LD, A + 8, 0, PEER}};

		spe(&r, a, N(a), NO_CONTEXT | SWITCHES);
		one("no context packets, but switches", &r, TY_SHARING_FALSE, TY_SHARING_PEER, 2);
		spe(&r, a, N(a), NO_CONTEXT);
		assert_int_equal(r.s.no_thread, 20);
		none("nobody knows the threads", &r);
		spe(&r, a, N(a), UNKNOWN_CORE);
		one("unknown core: its peer code says nothing", &r, TY_SHARING_FALSE,
		    TY_SHARING_TIME, 2);
	}
	{
		const struct access a[] = {
			{101, ST, A, P, -1}, {102, LD, A, P, PEER}, {103, ST, A + 32, P + 32, -1}};

		spe(&r, a, N(a), 0);
		one("three threads, mixed", &r, TY_SHARING_MIXED, TY_SHARING_PEER, 3);
	}
	{
		const struct access a[] = {{101, ATOMIC, A, P, PEER}, {102, ATOMIC, A, P, PEER}};

		spe(&r, a, N(a), 0);
		one("atomics that load write, too", &r, TY_SHARING_TRUE, TY_SHARING_PEER, 2);
	}
	{
		const struct access a[] = {{101, LD_EXCL, A, P, PEER}, {102, LD, A, P, PEER}};

		spe(&r, a, N(a), STORES);
		none("an exclusive load is no write", &r);
	}
	{
		/* A vector store of 32 bytes overlaps the word at 16. */
		const struct access a[] = {{101, 0x39, A, P, -1}, {102, LD, A + 16, P + 16, PEER}};

		spe(&r, a, N(a), 0);
		one("a vector's width is recorded", &r, TY_SHARING_TRUE, TY_SHARING_PEER, 2);
	}
}

static void test_loads_only(void **state)
{
	struct result r;

	(void)state;
	{
		/* One thread on one CPU finds it modified again and again; another's stores are
		 * among the samples, but not of this line. */
		const struct point a[] = {{.tid = 101, .cpu = 1, .va = A, .kind = L, .flags = M},
					  {.tid = 102, .cpu = 2, .va = A + 640, .kind = S}};

		points(&r, a, 2, 3);
		one("modified by somebody", &r, TY_SHARING_UNKNOWN, TY_SHARING_PEER, 1);
		points(&r, a, 2, 1); /* once may be its own, from where it ran before */
		none("modified once", &r);
	}
	{
		/* Two find it modified, and the stores that are sampled are of another line. */
		const struct point a[] = {{.tid = 101, .cpu = 1, .va = A, .kind = L, .flags = M},
					  {.tid = 102, .cpu = 2, .va = A, .kind = L, .flags = M},
					  {.tid = 103, .cpu = 3, .va = A + 640, .kind = S}};

		points(&r, a, 3, 1);
		one("modified by another one", &r, TY_SHARING_UNKNOWN, TY_SHARING_PEER, 2);
	}
	{
		const struct point a[] = {{.tid = 101, .cpu = 1, .va = A, .kind = L, .flags = M},
					  {.tid = 101, .cpu = 2, .va = A, .kind = L, .flags = M}};

		points(&r, a, 2, 3);
		none("a thread that goes from CPU to CPU", &r);
	}
	{
		const struct point a[] = {
			{.tid = 101, .cpu = 1, .va = A, .kind = L, .flags = TY_MEM_SRC_PEER},
			{.tid = 102, .cpu = 2, .va = A, .kind = L},
			{.tid = 103, .cpu = 3, .va = A + 640, .kind = S}};

		points(&r, a, 3, 3);
		none("clean copies where stores are sampled", &r);
		points(&r, a, 2, 3);
		one("copies where no store is", &r, TY_SHARING_UNKNOWN, TY_SHARING_PEER, 2);
	}
}

/* Few loads that wait long cost more than many that do not. */
static void test_rank(void **state)
{
	const struct point a[] = {
		{.tid = 101, .cpu = 1, .va = A, .kind = S, .latency = 5000},
		{.tid = 102, .cpu = 2, .va = A + 8, .kind = L, .flags = M, .latency = 10},
		{.tid = 101, .cpu = 1, .va = A, .kind = S},
		{.tid = 102, .cpu = 2, .va = A + 8, .kind = L, .flags = M, .latency = 10},
		{.tid = 101, .cpu = 1, .va = A + 640, .kind = S},
		{.tid = 102, .cpu = 2, .va = A + 648, .kind = L, .flags = M, .latency = 900}};
	struct result r;

	(void)state;
	points(&r, a, 6, 5);
	assert_int_equal(r.s.lines_n, 2);
	assert_int_equal(r.s.lines[0].va, A + 640);
	assert_int_equal(r.s.lines[0].lost, 4500);
	assert_int_equal(r.s.lines[1].lost, 100);
	assert_true(r.s.lines[1].count > r.s.lines[0].count);
	done(&r);
}

/* The same pattern from both kinds of machine gives the same finding. */
static void test_x86(void **state)
{
	const struct access a[] = {{101, ST, A, 0, -1}, {102, LD, A + 32, 0, PEER}},
			    b[] = {{101, ST, A, 0, -1}, {102, LD, A, 0, PEER}},
			    c[] = {{101, LD, A, 0, PEER}, {102, LD, A, 0, PEER}};
	struct result x, y;

	(void)state;
	spe(&x, a, 2, 0);
	x86(&y, a, 2);
	assert_int_equal(x.s.sites_n, y.s.sites_n);
	for (uint32_t i = 0; i < x.s.sites_n; i++) {
		assert_int_equal(x.s.sites[i].offset, y.s.sites[i].offset);
		assert_int_equal(x.s.sites[i].count, y.s.sites[i].count);
		assert_int_equal(x.s.sites[i].lat_sum, y.s.sites[i].lat_sum);
		assert_int_equal(x.s.sites[i].writes, y.s.sites[i].writes);
	}
	assert_int_equal(x.s.lines[0].line, y.s.lines[0].line);
	one("spe", &x, TY_SHARING_FALSE, TY_SHARING_PEER, 2);
	one("x86", &y, TY_SHARING_FALSE, TY_SHARING_PEER, 2);
	x86(&y, b, 2);
	one("x86 true", &y, TY_SHARING_TRUE, TY_SHARING_PEER, 2);
	/* Loads of modified data: a thread writes, though no store was sampled. */
	x86(&y, c, 2);
	one("x86 loads only", &y, TY_SHARING_UNKNOWN, TY_SHARING_PEER, 2);
}

/* Percentiles by nearest rank; what the AUX flags report stands as gaps in place. */
static void test_stream(void **state)
{
	struct perf_write w;
	struct ty_buf file, b;
	struct ty_memory_table t;
	struct result r;
	uint64_t words[2] = {8, 1};
	const struct pw_at at = {.pid = 100, .tid = 101, .time = 500, .cpu = 0};

	(void)state;
	pw_init(&w);
	ty_buf_init(&b, 1 << 20);
	pw_words(&w, TY_PERF_AUXTRACE_ARM_SPE, words, 2);
	for (unsigned i = 1; i <= 100; i++)
		spe_mem(&b, (struct spe_mem){.pc = 0x4000,
					     .va = A,
					     .ts = i,
					     .ctx = 101,
					     .source = -1,
					     .op = LD,
					     .total = 101 - i});
	/* In two pieces, cut inside a record; then a hole. The clock comes last. */
	pw_auxtrace(&w, 0, 0, -1, b.p, 1000);
	pw_auxtrace(&w, 1000, 0, -1, b.p + 1000, 99 * 64 - 1000);
	pw_aux(&w, at, 0, 50 * 64, TY_PERF_AUX_COLLISION);
	pw_auxtrace(&w, 99 * 64 + 640, 0, -1, b.p + 99 * 64, 64);
	pw_time_conv(&w, 0, 1, 7);
	ty_buf_init(&file, 1 << 22);
	pw_file(&w, &file);
	load(&r, &file);
	assert_int_equal(r.points.n, 100);
	assert_int_equal(r.points.gaps_n, 2);
	assert_int_equal(r.points.gaps.v[0].ts_ns, 57);
	assert_non_null(strstr(r.points.gaps.v[0].why, "collisions"));
	assert_int_equal(r.points.gaps.v[1].off, 99 * 64);
	assert_int_equal(r.points.gaps.v[1].bytes, 640);
	assert_int_equal(ty_memory_count(&r.points, TY_MEMORY_BY_PC, NULL, 10, NULL, &t), 0);
	assert_int_equal(t.rows[0].total.p50, 50);
	assert_int_equal(t.rows[0].total.p90, 90);
	assert_int_equal(t.rows[0].total.p99, 99);
	assert_int_equal(t.rows[0].total.max, 100);
	ty_memory_fini(&t);
	done(&r);
	ty_buf_fini(&file);
	ty_buf_fini(&b);
	pw_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),  cmocka_unit_test(test_x86),
		cmocka_unit_test(test_stream), cmocka_unit_test(test_loads_only),
		cmocka_unit_test(test_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
