/* SPDX-License-Identifier: MIT */
/* Shared cache lines: labelled cases through the whole way from the bytes of a perf.data file to
 * the finding, as Arm SPE and, where it can say the same, as x86 memory samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mem_stream.h"
#include "memory.h"
#include "perf_write.h"
#include "sharing.h"
#include "spe_encode.h"

enum { LD = 0, ST = 1, ATOMIC = 0x06, LD_EXCL = 0x0a };
#define PEER 9
#define L1   0
#define A    0xaaab00001000ull
#define P    0x80000040000ull

struct access {
	int tid; /* pid: tid / 100 * 100; CPU: tid % 4 */
	unsigned op;
	uint64_t va, pa; /* pa 0: not recorded */
	int source;	 /* -1: none */
};

struct result {
	struct ty_perf *perf;
	struct ty_mem_stream *stream;
	struct ty_mem_points points;
	struct ty_sharing s;
};

static void load(struct result *r, struct ty_buf *file)
{
	struct ty_err err = {0};
	const struct ty_mem *m;
	char path[32];
	int e;

	*r = (struct result){0};
	pw_save(file, path);
	if (ty_perf_open(path, &r->perf, &err) || ty_mem_open(r->perf, &r->stream, &err))
		fail_msg("%s", err.msg);
	unlink(path);
	assert_int_equal(ty_mem_points_begin(&r->points, r->stream, 0), 0);
	while ((e = ty_mem_next(r->stream, &m, &err)) > 0)
		assert_int_equal(ty_mem_points_add(&r->points, m, "", true), 0);
	assert_int_equal(e, 0);
	assert_int_equal(ty_mem_points_end(&r->points), 0);
	assert_int_equal(ty_sharing_find(&r->points, 64, NULL, &r->s), 0);
}

static void done(struct result *r)
{
	ty_sharing_fini(&r->s);
	ty_mem_points_fini(&r->points);
	ty_mem_close(r->stream);
	ty_perf_close(r->perf);
}

enum {
	NO_CONTEXT = 1,
	SWITCHES = 2,
	UNKNOWN_CORE = 4,
	STORES = 8,
	MAPPED = 16,
	FORKED = 32,
	EXECED = 64
};

static void header(struct perf_write *w, const struct access *a, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		pw_comm(w,
			(struct pw_at){.pid = a[i].tid / 100 * 100,
				       .tid = a[i].tid,
				       .time = 1,
				       .cpu = (uint32_t)a[i].tid % 4},
			"worker");
}

/* The accesses ten times over, 100 ns apart. */
static void spe(struct result *r, const struct access *a, unsigned n, unsigned how)
{
	struct perf_write w;
	struct ty_buf file, cpu[4];
	uint64_t words[2] = {8, 1}, t = 1000;

	pw_init(&w);
	if (how & UNKNOWN_CORE)
		w.cpuid = "0x00000000990fd0c0";
	if (how & STORES) /* are sampled, too */
		w.config |= 1ull << 34;
	pw_time_conv(&w, 0, 1, 0);
	pw_words(&w, TY_PERF_AUXTRACE_ARM_SPE, words, 2);
	header(&w, a, n);
	if (how & MAPPED) {
		const struct pw_at one = {.pid = 100, .tid = 101, .time = 5},
				   two = {.pid = 200, .tid = 201, .time = 5};

		pw_mmap2_shared(&w, one, A, 0x10000, 0, 7, "/dev/zero (deleted)");
		pw_mmap2_shared(&w, two, 0xbbbb00000000, 0x10000, 0x1000, 7, "/dev/zero (deleted)");
		pw_mmap2_shared(&w, two, 0xcccc00000000, 0x10000, 0, 8, "/dev/zero (deleted)");
	}
	if (how & FORKED) { /* process 300 of 100 */
		const uint32_t body[6] = {300, 100, 300, 101, 7, 0};

		pw_rec_at(&w, TY_PERF_FORK, 0, body, sizeof(body),
			  (struct pw_at){.pid = 300, .tid = 300, .time = 7});
	}
	if (how & EXECED) {
		const uint32_t body[4] = {300, 300, 'c', 0};

		pw_rec_at(&w, TY_PERF_COMM, TY_PERF_MISC_COMM_EXEC, body, sizeof(body),
			  (struct pw_at){.pid = 300, .tid = 300, .time = 8});
	}
	for (unsigned c = 0; c < 4; c++)
		ty_buf_init(&cpu[c], 1 << 20);
	for (unsigned i = 0; i < 10 * n; i++, t += 100) {
		const struct access *x = &a[i % n];
		unsigned c = (unsigned)x->tid % 4;

		if (how & SWITCHES)
			pw_switch(&w,
				  (struct pw_at){.pid = x->tid / 100 * 100,
						 .tid = x->tid,
						 .time = t - 10,
						 .cpu = c},
				  false, 0, 0);
		spe_mem(&cpu[c], (struct spe_mem){.pc = 0x4000 + 16 * (i % n),
						  .va = x->va,
						  .pa = x->pa,
						  .has_pa = x->pa,
						  .ts = t,
						  .ctx = how & NO_CONTEXT ? -1 : x->tid,
						  .source = x->source,
						  .op = x->op,
						  .total = x->source == PEER ? 200 : 12,
						  .issue = 4});
	}
	for (unsigned c = 0; c < 4; c++) {
		if (cpu[c].len)
			pw_auxtrace(&w, 0, (int)c, -1, cpu[c].p, cpu[c].len);
		ty_buf_fini(&cpu[c]);
	}
	ty_buf_init(&file, 1 << 22);
	pw_file(&w, &file);
	load(r, &file);
	ty_buf_fini(&file);
	pw_fini(&w);
}

/* The same as x86 tells it: loads of another core's modified line are L3 hits with HITM. */
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

static void one(const char *name, struct result *r, unsigned kind, unsigned evidence,
		unsigned threads)
{
	const struct ty_sharing_line *l = r->s.lines;

	if (r->s.lines_n != 1 || l->kind != kind || l->evidence != evidence ||
	    l->threads != threads)
		fail_msg("%s: %u lines; %s, %s, %u threads", name, r->s.lines_n,
			 r->s.lines_n ? ty_sharing_kind_name(l->kind) : "-",
			 r->s.lines_n ? ty_sharing_evidence_name(l->evidence) : "-",
			 r->s.lines_n ? l->threads : 0);
	done(r);
}

static void none(const char *name, struct result *r)
{
	if (r->s.lines_n)
		fail_msg("%s: %u lines", name, r->s.lines_n);
	done(r);
}

#define N(a) (sizeof(a) / sizeof(*(a)))

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
		/* Where no store is sampled at all, somebody may write. */
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
		/* The second process' stores lie by their page, which its loads tell. */
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

/* What a point is, for cases that the encoders do not make. */
struct point {
	int tid; /* of pid tid / 100 * 100 */
	int cpu; /* -1: not known */
	uint64_t va, pa;
	unsigned kind, flags; /* TY_MEM_SRC_* */
	unsigned size, latency;
	uint64_t events;
};

static void put(struct ty_mem_points *p, uint64_t ts, const struct point *x)
{
	struct ty_mem m = {.ts_ns = ts,
			   .va = x->va,
			   .pa = x->pa,
			   .pc = 0x4000,
			   .pid = x->tid / 100 * 100,
			   .tid = x->tid,
			   .cpu = (uint32_t)x->cpu,
			   .who = TY_MEM_THREAD_CONTEXT,
			   .kind = (uint8_t)x->kind,
			   .level = TY_MEM_LV_L1,
			   .src_flags = (uint8_t)x->flags,
			   .size = (uint8_t)x->size,
			   .events = x->events,
			   .lat_total = x->latency,
			   .has = TY_MEM_HAS_TIME | TY_MEM_HAS_PC | TY_MEM_HAS_VA |
				  (x->pa ? TY_MEM_HAS_PA : 0) | (x->cpu < 0 ? 0 : TY_MEM_HAS_CPU) |
				  (x->latency ? TY_MEM_HAS_TOTAL : 0)};

	assert_int_equal(ty_mem_points_add(p, &m, "", true), 0);
}

/* The points so many times over. */
static void points(struct result *r, const struct point *x, unsigned n, unsigned times)
{
	*r = (struct result){0};
	assert_int_equal(ty_mem_points_begin(&r->points, NULL, 0), 0);
	for (unsigned i = 0; i < n * times; i++)
		put(&r->points, 1000 + i, &x[i % n]);
	assert_int_equal(ty_mem_points_end(&r->points), 0);
	assert_int_equal(ty_sharing_find(&r->points, 64, NULL, &r->s), 0);
}

#define L TY_MEM_LOAD
#define S TY_MEM_STORE
#define M (TY_MEM_SRC_HITM | TY_MEM_SRC_PEER)

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

/* Loads of modified data show a writer, whatever else is sampled. */
static void test_modified(void **state)
{
	const struct point a[] = {{.tid = 101, .cpu = 1, .va = A, .kind = L, .flags = M},
				  {.tid = 102, .cpu = 2, .va = A, .kind = L, .flags = M},
				  {.tid = 103, .cpu = 3, .va = A + 640, .kind = S}};
	struct result r;

	(void)state;
	points(&r, a, 3, 1);
	one("modified, two threads", &r, TY_SHARING_UNKNOWN, TY_SHARING_PEER, 2);
}

static void test_moves(void **state)
{
	struct result r;

	(void)state;
	{
		const struct point a[] = {{.tid = 101, .cpu = 1, .va = A, .kind = S},
					  {.tid = 102, .cpu = 2, .va = A + 8, .kind = L},
					  {.tid = 103, .cpu = 3, .va = A + 8, .kind = L}};
		const struct point later[] = {{.tid = 101, .cpu = 1, .va = A, .kind = S},
					      {.tid = 101, .cpu = 1, .va = A, .kind = S},
					      {.tid = 102, .cpu = 2, .va = A + 8, .kind = L},
					      {.tid = 103, .cpu = 3, .va = A + 8, .kind = L},
					      {.tid = 102, .cpu = 2, .va = A + 8, .kind = L}};

		points(&r, later, 5, 1);
		assert_int_equal(r.s.written_once, 1);
		none("written, then only read", &r);
		points(&r, a, 3, 4);
		/* To the first reader and back; the second reader moves nothing. */
		assert_int_equal(r.s.lines[0].turns, 7);
		one("written again", &r, TY_SHARING_FALSE, TY_SHARING_TIME, 3);
	}
	{
		const struct point a[] = {{.tid = 101, .cpu = 1, .va = A, .kind = S},
					  {.tid = 102, .cpu = 1, .va = A + 8, .kind = S}};
		const struct point unknown[] = {{.tid = 101, .cpu = -1, .va = A, .kind = S},
						{.tid = 102, .cpu = -1, .va = A + 8, .kind = S}};

		points(&r, a, 2, 4);
		assert_int_equal(r.s.one_cpu, 1);
		none("two threads on one CPU in turn", &r);
		points(&r, unknown, 2, 4);
		assert_int_equal(r.s.one_cpu, 0);
		one("on CPUs that are not known", &r, TY_SHARING_FALSE, TY_SHARING_TIME, 2);
	}
	{
		/* The page lies elsewhere in the second half. */
		const struct point a[] = {
			{.tid = 101, .cpu = 1, .va = A, .pa = P, .kind = S},
			{.tid = 102, .cpu = 2, .va = A + 8, .pa = P + 8, .kind = S},
			{.tid = 101, .cpu = 1, .va = A, .pa = P + 8192, .kind = S},
			{.tid = 102, .cpu = 2, .va = A + 8, .pa = P + 8192 + 8, .kind = S}};

		points(&r, a, 4, 1);
		assert_false(r.s.lines[0].physical);
		assert_int_equal(r.s.lines[0].line, A);
		assert_int_equal(r.s.lines[0].count, 4);
		{
			struct ty_sharing again;

			assert_int_equal(ty_sharing_one(&r.points, 64, &r.s.lines[0], NULL, &again),
					 0);
			assert_int_equal(again.access_n, 4);
			ty_sharing_fini(&again);
		}
		one("a page that moved", &r, TY_SHARING_FALSE, TY_SHARING_TIME, 2);
	}
	{
		/* In the last block alone: what was found before counts once more. */
		const struct point before = {.tid = 101, .cpu = 1, .va = A, .pa = P, .kind = S},
				   after = {.tid = 102,
					    .cpu = 2,
					    .va = A + 8,
					    .pa = P + 8192 + 8,
					    .kind = S};
		const unsigned n = 3 * TY_BLOCK_ROWS;

		r = (struct result){0};
		assert_int_equal(ty_mem_points_begin(&r.points, NULL, 0), 0);
		for (unsigned i = 0; i < n; i++)
			put(&r.points, 1000 + i, i < n - TY_BLOCK_ROWS ? &before : &after);
		assert_int_equal(ty_mem_points_end(&r.points), 0);
		assert_int_equal(ty_sharing_find(&r.points, 64, NULL, &r.s), 0);
		assert_false(r.s.lines[0].physical);
		assert_int_equal(r.s.lines[0].count, n);
		assert_int_equal(r.s.accesses, n);
		one("a page that moved late", &r, TY_SHARING_FALSE, TY_SHARING_APART, 2);
	}
}

static void test_over_the_end(void **state)
{
	struct result r;
	struct point a[] = {{.tid = 101, .cpu = 1, .va = A + 60, .kind = S, .size = 8},
			    {.tid = 102, .cpu = 2, .va = A + 64, .kind = L}};

	(void)state;
	points(&r, a, 2, 4);
	assert_int_equal(r.s.lines[0].line, A + 64);
	assert_int_equal(r.s.sites[0].offset, 0);
	assert_int_equal(r.s.sites[0].size, 4);
	assert_false(r.s.sites[0].size_assumed);
	one("a store over the line's end", &r, TY_SHARING_TRUE, TY_SHARING_TIME, 2);
	/* Physical lines follow each other within a page only. */
	a[0].pa = P + 60;
	a[1].pa = P + 64;
	points(&r, a, 2, 4);
	assert_int_equal(r.s.lines[0].line, P + 64);
	assert_int_equal(r.s.lines[0].va, A + 64);
	one("by physical address", &r, TY_SHARING_TRUE, TY_SHARING_TIME, 2);
	a[0].va = A + 4092, a[0].pa = P + 4092;
	a[1].va = A + 4096, a[1].pa = P + 4096;
	points(&r, a, 2, 4);
	none("behind the page", &r);
	a[0].va = A + 60, a[0].pa = 0;
	a[1].va = A + 64, a[1].pa = 0;
	/* Its width is not known, but that it is more than its address is aligned. */
	a[0].size = 0;
	points(&r, a, 2, 4);
	none("not known to reach over the end", &r);
	a[0].events = TY_MEM_EV_UNALIGNED;
	points(&r, a, 2, 4);
	assert_true(r.s.sites[0].size_assumed);
	one("flagged unaligned", &r, TY_SHARING_TRUE, TY_SHARING_TIME, 2);
	a[0].va = A + 58; /* 4 bytes or more */
	points(&r, a, 2, 4);
	none("unaligned, but it may end before", &r);
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

/* PostgreSQL's case: shared memory at other addresses in each process, and inherited by forks; no
 * physical addresses. */
static void test_shared_mapping(void **state)
{
	const struct access a[] = {{101, ST, A + 0x2000, 0, -1},
				   {201, LD, 0xbbbb00001008, 0, PEER}},
			    b[] = {{101, ST, A + 0x2000, 0, -1},
				   {201, LD, 0xcccc00002008, 0, PEER}},
			    c[] = {{101, ST, A + 0x2000, 0, -1}, {302, LD, A + 0x2008, 0, PEER}};
	struct result r;

	(void)state;
	spe(&r, a, N(a), MAPPED);
	assert_false(r.s.lines[0].physical);
	assert_int_equal(r.s.lines[0].pid, -1);
	assert_int_equal(r.s.lines[0].line, 0x2000);
	assert_int_equal(r.s.lines[0].va, A + 0x2000);
	{
		struct ty_sharing again;

		assert_int_equal(ty_sharing_one(&r.points, 64, &r.s.lines[0], NULL, &again), 0);
		assert_int_equal(again.access_n, r.s.lines[0].count);
		ty_sharing_fini(&again);
	}
	one("the same place of shared memory", &r, TY_SHARING_FALSE, TY_SHARING_PEER, 2);
	spe(&r, b, N(b), MAPPED);
	none("other memory of the same name", &r);
	/* A child has what its parent had mapped; not once it runs another program. */
	spe(&r, c, N(c), MAPPED | FORKED);
	assert_int_equal(r.s.lines[0].line, 0x2000);
	one("shared with a fork", &r, TY_SHARING_FALSE, TY_SHARING_PEER, 2);
	spe(&r, c, N(c), MAPPED | FORKED | EXECED);
	none("the child runs another program", &r);
}

/* One access as a point. */
static void add(struct ty_mem_points *p, uint64_t i, uint64_t va, int tid, bool store)
{
	struct ty_mem m = {.ts_ns = 1000 + i,
			   .va = va,
			   .pc = 0x4000 + va % 64,
			   .pid = 100,
			   .tid = tid,
			   .who = TY_MEM_THREAD_CONTEXT,
			   .kind = store ? TY_MEM_STORE : TY_MEM_LOAD,
			   .lat_total = (uint32_t)(i % 50),
			   .has = TY_MEM_HAS_TIME | TY_MEM_HAS_PC | TY_MEM_HAS_VA |
				  TY_MEM_HAS_TOTAL};

	assert_int_equal(ty_mem_points_add(p, &m, "", true), 0);
}

static void same_line(const struct ty_sharing *a, const struct ty_sharing *b, uint32_t i)
{
	struct ty_sharing_line x = a->lines[i], y = b->lines[i];

	assert_memory_equal(a->sites + x.sites_first, b->sites + y.sites_first,
			    x.sites_n * sizeof(*a->sites));
	x.sites_first = y.sites_first = 0;
	assert_memory_equal(&x, &y, sizeof(x));
}

/* Many lines in little memory: the same findings, of which the strongest are kept. */
static void test_budget(void **state)
{
	enum { LINES = 5000 };
	const struct ty_mem_work little = {300u << 10, NULL}, tiny = {1, NULL};
	struct ty_mem_points p;
	struct ty_sharing all, few, one;
	uint64_t i = 0;

	(void)state;
	assert_int_equal(ty_mem_points_begin(&p, NULL, 0), 0);
	for (uint64_t turn = 0; turn < 6; turn++)
		for (uint64_t l = 0; l < LINES; l++)
			if (turn < 2 + l % 5)
				add(&p, i++, A + 64 * l + 8 * (turn % 3), 100 + (int)(turn % 3),
				    l % 10 && turn != 1);
	assert_int_equal(ty_mem_points_end(&p), 0);
	assert_int_equal(ty_sharing_find(&p, 64, NULL, &all), 0);
	/* A tenth is read only, and another one written once and then read. */
	assert_int_equal(all.lines_n, LINES - LINES / 5);
	assert_int_equal(all.written_once, LINES / 10);
	assert_int_equal(all.left_out, 0);
	assert_int_equal(ty_sharing_find(&p, 64, &little, &few), 0);
	assert_true(few.lines_n >= 1 && few.lines_n <= 1000);
	assert_int_equal(few.lines_n + few.left_out, all.lines_n);
	assert_int_equal(few.accesses, all.accesses);
	for (uint32_t k = 0; k < few.lines_n; k++)
		same_line(&few, &all, k);
	assert_int_equal(ty_sharing_one(&p, 64, &all.lines[7], &little, &one), 0);
	assert_int_equal(one.lines_n, 1);
	assert_int_equal(one.access_n, all.lines[7].count);
	for (uint32_t k = 0; k < one.access_n; k++)
		assert_int_equal(ty_mem_points_get(&p, one.access[k]).va / 64,
				 all.lines[7].line / 64);
	ty_sharing_fini(&one);
	ty_sharing_fini(&few);
	/* Less than the least is as much as one line takes. */
	assert_int_equal(ty_sharing_find(&p, 64, &tiny, &few), 0);
	assert_int_equal(few.lines_n + few.left_out, all.lines_n);
	same_line(&few, &all, 0);
	ty_sharing_fini(&few);
	ty_sharing_fini(&all);
	ty_mem_points_fini(&p);
}

/* Lines that never left one CPU are counted once, however small the ranges become. */
static void test_budget_one_cpu(void **state)
{
	enum { LINES = 3000, SITES = 6 };
	const struct ty_mem_work little = {300u << 10, NULL};
	struct ty_mem_points p;
	struct ty_sharing s;

	(void)state;
	assert_int_equal(ty_mem_points_begin(&p, NULL, 0), 0);
	for (unsigned i = 0; i < LINES * SITES; i++) {
		unsigned line = i / SITES, n = i % SITES;
		bool stays = line % 2; /* the others have many sites each, of two CPUs */
		const struct point x = {.tid = 101 + (int)(n % 2),
					.cpu = stays ? 1 : (int)(n % 2),
					.va = A + 64 * line + 8 * n,
					.kind = S};

		put(&p, 1000 + i, &x);
	}
	assert_int_equal(ty_mem_points_end(&p), 0);
	assert_int_equal(ty_sharing_find(&p, 64, &little, &s), 0);
	assert_int_equal(s.lines_n + s.left_out, LINES / 2);
	assert_int_equal(s.one_cpu, LINES / 2);
	ty_sharing_fini(&s);
	ty_mem_points_fini(&p);
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
	/* Loads of modified data: somebody writes, though no store was sampled. */
	x86(&y, c, 2);
	one("x86 loads only", &y, TY_SHARING_UNKNOWN, TY_SHARING_PEER, 2);
}

static void test_counts(void **state)
{
	const struct access a[] = {{101, ST, A, P, -1}, {102, LD, A + 4096, P + 4096, PEER}};
	struct ty_memory_table t;
	struct result r;

	(void)state;
	spe(&r, a, 2, 0);
	assert_int_equal(ty_memory_count(&r.points, TY_MEMORY_BY_PC, NULL, 10, NULL, &t), 0);
	assert_int_equal(t.rows_n, 2);
	assert_int_equal(t.rows[0].count, 10);
	assert_int_equal(t.rows[0].loads, 10);
	assert_int_equal(t.rows[0].total.p50, 200);
	assert_int_equal(t.rows[0].exec.p99, 196);
	assert_int_equal(t.rows[1].total.max, 12);
	assert_true(t.rows[0].low > 0.29 && t.rows[0].low < 0.31); /* Wilson of 10 in 20 */
	assert_true(t.rows[0].high > 0.69 && t.rows[0].high < 0.71);
	ty_memory_fini(&t);
	assert_int_equal(ty_memory_count(&r.points, TY_MEMORY_BY_PAGE, NULL, 1, NULL, &t), 0);
	assert_int_equal(t.rows_n, 1);
	assert_int_equal(t.keys, 2);
	assert_int_equal(t.rows[0].key, A + 4096);
	assert_int_equal(t.rows[0].pid, 100);
	ty_memory_fini(&t);
	assert_int_equal(ty_memory_count(&r.points, TY_MEMORY_BY_SOURCE, NULL, 10, NULL, &t), 0);
	assert_int_equal(t.rows[0].key, TY_MEM_LV_PEER << 8 | TY_MEM_SRC_PEER);
	ty_memory_fini(&t);
	done(&r);
}

/* Several tables on any number of threads, in as many passes as there are rows, are those that are
 * made alone and at once. */
static void test_together(void **state)
{
	const struct access a[] = {{101, ST, A, P, -1},
				   {102, LD, A + 4096, P + 4096, PEER},
				   {203, LD, A + 8192, 0, L1},
				   {201, ATOMIC, A, P, PEER}};
	static const uint32_t function[] = {1, 1, 0, 1};
	struct result r;

	(void)state;
	spe(&r, a, 4, 0);
	assert_int_equal(r.points.codes, 4);
	for (unsigned threads = 1; threads <= 6; threads++) {
		const struct ty_mem_work little = {.bytes = 1};
		struct ty_memory_request ask[6] = {0};

		for (unsigned i = 0; i < 6; i++)
			ask[i] = (struct ty_memory_request){
				.by = i, .top = 3, .function_of_pc = function};
		assert_int_equal(ty_memory_count_all(&r.points, ask, 6, threads, &little), 0);
		for (unsigned i = 0; i < 6; i++) {
			struct ty_memory_table *t = &ask[i].table, alone;

			assert_int_equal(ty_memory_count(&r.points, i, function, 3, NULL, &alone),
					 0);
			assert_int_equal(t->keys, alone.keys);
			assert_int_equal(t->samples, alone.samples);
			assert_int_equal(t->rows_n, alone.rows_n);
			assert_int_equal(t->rows_n > 0, i != TY_MEMORY_BY_BRANCH);
			assert_memory_equal(t->rows, alone.rows, t->rows_n * sizeof(*t->rows));
			ty_memory_fini(&alone);
			ty_memory_fini(t);
		}
	}
	done(&r);
}

/* More pages, and more targets of branches, than there is room for at a time: the same tables. */
static void test_ranges(void **state)
{
	const enum ty_memory_by by[] = {TY_MEMORY_BY_PAGE, TY_MEMORY_BY_BRANCH};
	const struct ty_mem_work little = {.bytes = 1};
	struct ty_memory_request all[2] = {0}, some[2] = {0};
	struct ty_mem_points p;

	(void)state;
	assert_int_equal(ty_mem_points_begin(&p, NULL, 0), 0);
	for (uint32_t i = 0; i < 24000; i++) {
		bool branch = i % 4 == 0;
		struct ty_mem m = {.pc = branch ? 0x4000 + i % 3 * 4 : 0x5000,
				   .va = 0x10000000 + (uint64_t)(i * 7919u % 9001) * 4096,
				   .target = 0x8000 + (uint64_t)(i % 5003) * 4,
				   .has = TY_MEM_HAS_PC | TY_MEM_HAS_TOTAL |
					  (branch ? TY_MEM_HAS_TARGET : TY_MEM_HAS_VA),
				   .pid = -1,
				   .tid = -1,
				   .kind = branch ? TY_MEM_BRANCH : TY_MEM_LOAD,
				   .lat_total = i % 977};

		assert_int_equal(ty_mem_points_add(&p, &m, "", true), 0);
	}
	assert_int_equal(ty_mem_points_end(&p), 0);
	for (unsigned i = 0; i < 2; i++)
		all[i] = some[i] = (struct ty_memory_request){.by = by[i], .top = 1500};
	assert_int_equal(ty_memory_count_all(&p, all, 2, 1, NULL), 0);
	assert_int_equal(ty_memory_count_all(&p, some, 2, 1, &little), 0);
	assert_int_equal(all[0].table.keys, 9001);
	assert_int_equal(all[0].table.samples, 18000);
	assert_int_equal(all[1].table.rows_n, 3);
	assert_true(all[1].table.rows[0].targets > 1500);
	for (unsigned i = 0; i < 2; i++) {
		struct ty_memory_table *x = &all[i].table, *y = &some[i].table;

		assert_int_equal(x->keys, y->keys);
		assert_int_equal(x->samples, y->samples);
		assert_int_equal(x->rows_n, y->rows_n);
		assert_memory_equal(x->rows, y->rows, x->rows_n * sizeof(*x->rows));
		ty_memory_fini(x);
		ty_memory_fini(y);
	}
	ty_mem_points_fini(&p);
}

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Few values are sorted, more are counted: percentiles by nearest rank either way, of what was
 * recorded alone. */
static void test_percentiles(void **state)
{
	static const uint32_t ns[] = {1, 2, 3, 10, 63, 64, 65, 66, 101, 1000};

	(void)state;
	for (unsigned k = 0; k < sizeof(ns) / sizeof(*ns); k++) {
		const uint32_t n = ns[k];
		int total[1000], exec[1000], execs = 0;
		struct ty_memory_table t;
		struct ty_mem_points p;

		assert_int_equal(ty_mem_points_begin(&p, NULL, 0), 0);
		for (uint32_t i = 0; i < n; i++) {
			struct ty_mem m = {.pc = 0x4000,
					   .has = TY_MEM_HAS_PC | TY_MEM_HAS_TOTAL |
						  (i % 3 ? TY_MEM_HAS_ISSUE : 0),
					   .pid = -1,
					   .tid = -1,
					   .kind = TY_MEM_LOAD,
					   .lat_total = 5 + i * 7919u % 60013,
					   .lat_issue = i % 5};

			total[i] = (int)m.lat_total;
			if (i % 3)
				exec[execs++] = (int)(m.lat_total - m.lat_issue);
			assert_int_equal(ty_mem_points_add(&p, &m, "", true), 0);
		}
		assert_int_equal(ty_mem_points_end(&p), 0);
		qsort(total, n, sizeof(*total), by_value);
		qsort(exec, (size_t)execs, sizeof(*exec), by_value);
		assert_int_equal(ty_memory_count(&p, TY_MEMORY_BY_PC, NULL, 10, NULL, &t), 0);
		assert_int_equal(t.rows[0].total.n, n);
		assert_int_equal(t.rows[0].total.p50, total[(n * 50 + 99) / 100 - 1]);
		assert_int_equal(t.rows[0].total.p90, total[(n * 90 + 99) / 100 - 1]);
		assert_int_equal(t.rows[0].total.p99, total[(n * 99 + 99) / 100 - 1]);
		assert_int_equal(t.rows[0].total.max, total[n - 1]);
		assert_int_equal(t.rows[0].exec.n, execs);
		assert_int_equal(t.rows[0].exec.p90, execs ? exec[(execs * 90 + 99) / 100 - 1] : 0);
		assert_int_equal(t.rows[0].exec.max, execs ? exec[execs - 1] : 0);
		assert_int_equal(t.rows[0].xlat.n, 0);
		ty_memory_fini(&t);
		ty_mem_points_fini(&p);
	}
}

/* Percentiles by nearest rank; what the AUX flags tell stands as gaps in place. */
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
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_x86),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_loads_only),
		cmocka_unit_test(test_modified),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_over_the_end),
		cmocka_unit_test(test_rank),
		cmocka_unit_test(test_shared_mapping),
		cmocka_unit_test(test_budget_one_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
