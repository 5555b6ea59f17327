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
#include "spe_encode.h"

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

/* perf's data_src: what `perf mem report` calls each, in our words. */
#define OP_LD	  2ull
#define OP_ST	  4ull
#define LVL(x)	  ((uint64_t)(x) << 5)
#define SNOOP(x)  ((uint64_t)(x) << 19)
#define TLB(x)	  ((uint64_t)(x) << 26)
#define NUM(x)	  ((uint64_t)(x) << 33)
#define REMOTE	  (1ull << 37)
#define SNOOPX(x) ((uint64_t)(x) << 38)
#define HOPS(x)	  ((uint64_t)(x) << 43)

static void test_tlb(void **state)
{
	static const struct {
		unsigned tlb, arm;
		int walk; /* -1: nothing is known */
	} cases[] = {
		{0x2 | 0x8 | 0x10, 0, 0}, /* "L1 or L2 hit" */
		{0x2 | 0x8, 0, 0},	  /* "L1 hit" */
		{0x2 | 0x10, 0, 0},	  /* "L2 hit" */
		{0x2, 0, 0},		  /* a store's "hit" */
		{0x4 | 0x10, 0, 1},	  /* "L2 miss" */
		{0x4, 0, 1},		  /* a store's "miss" */
		{0x2 | 0x20, 0, 1},	  /* "Walker hit" */
		{0x2 | 0x20, 1, 0},	  /* made of SPE: an access */
		{0x4 | 0x20, 1, 1},	  /* made of SPE: a walk */
		{0x2 | 0x40, 0, 1},	  /* "Fault hit" */
		{0x4 | 0x8, 0, -1},	  /* "L1 miss": nothing of the second level */
		{0x1, 0, -1},
		{0x1 | 0x2 | 0x8, 0, -1},
		{0, 0, -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ty_mem m = {0};
		int walk;

		ty_mem_set_data_src(&m, OP_LD | TLB(cases[i].tlb), cases[i].arm);
		walk = m.events & TY_MEM_EV_TLB_WALK ? 1 : m.events & TY_MEM_EV_TLB_ACCESS ? 0 : -1;
		if (walk != cases[i].walk)
			fail_msg("case %zu: %d", i, walk);
	}
}

static void test_sources(void **state)
{
	static const struct {
		uint64_t src;
		const char *text;
		unsigned level, flags; /* without hops */
	} cases[] = {
		{LVL(0xa) | NUM(1), "L1", TY_MEM_LV_L1, 0},
		{LVL(0xa), "L1", TY_MEM_LV_L1, 0},
		{NUM(15), "", TY_MEM_LV_UNKNOWN, 0},
		{LVL(0x2) | NUM(4), "L4", TY_MEM_LV_L4, 0},
		{LVL(0x2) | NUM(4) | REMOTE, "L4, remote", TY_MEM_LV_L4, TY_MEM_SRC_REMOTE},
		{LVL(0x2) | NUM(9), "CXL", TY_MEM_LV_CXL, 0},
		{LVL(0x2) | NUM(14) | REMOTE, "PMEM, remote", TY_MEM_LV_PMEM, TY_MEM_SRC_REMOTE},
		{LVL(0x2000 | 2) | NUM(15), "uncached", TY_MEM_LV_UNCACHED, 0},
		{LVL(0x2) | NUM(8), "uncached", TY_MEM_LV_UNCACHED, 0},
		{LVL(0x1000 | 2) | NUM(10), "device", TY_MEM_LV_DEVICE, 0},
		{LVL(0x2) | NUM(5), "L2 MHB", TY_MEM_LV_L2_MHB, 0},
		{LVL(0x2) | NUM(6), "memory-side cache", TY_MEM_LV_MSC, 0},
		{LVL(0x2) | NUM(7), "L0", TY_MEM_LV_L0, 0},
		/* AMD's neighbouring and far groups of cores. */
		{LVL(0x402) | NUM(11) | REMOTE | HOPS(1), "any cache, another core of the node",
		 TY_MEM_LV_ANY_CACHE, TY_MEM_SRC_PEER},
		{LVL(0x402) | NUM(11) | REMOTE | HOPS(1) | SNOOP(16),
		 "any cache, another core of the node, modified", TY_MEM_LV_ANY_CACHE,
		 TY_MEM_SRC_PEER | TY_MEM_SRC_HITM},
		{LVL(0x802) | NUM(11) | REMOTE | HOPS(2), "any cache, another node of the socket",
		 TY_MEM_LV_ANY_CACHE, TY_MEM_SRC_REMOTE},
		{LVL(0x802) | NUM(11) | REMOTE | HOPS(3), "any cache, another socket",
		 TY_MEM_LV_ANY_CACHE, TY_MEM_SRC_REMOTE},
		/* Intel's. */
		{LVL(0x42) | NUM(3) | SNOOP(16), "peer, modified", TY_MEM_LV_PEER,
		 TY_MEM_SRC_PEER | TY_MEM_SRC_HITM},
		{LVL(0x402) | NUM(3) | REMOTE | SNOOP(16), "remote, modified, peer",
		 TY_MEM_LV_REMOTE, TY_MEM_SRC_PEER | TY_MEM_SRC_HITM | TY_MEM_SRC_REMOTE},
		{LVL(0x402), "remote", TY_MEM_LV_REMOTE, TY_MEM_SRC_REMOTE},
		{LVL(0x82) | NUM(13), "RAM", TY_MEM_LV_RAM, 0},
		{LVL(0x102) | NUM(13) | REMOTE, "remote RAM", TY_MEM_LV_REMOTE_RAM,
		 TY_MEM_SRC_REMOTE},
		{LVL(0x102), "remote RAM", TY_MEM_LV_REMOTE_RAM, TY_MEM_SRC_REMOTE},
		{LVL(0x12) | NUM(12), "LFB", TY_MEM_LV_LFB, 0},
		{LVL(0x44) | NUM(3), "L3 miss", TY_MEM_LV_L3, TY_MEM_SRC_MISS},
	};
	char text[TY_MEM_LEVEL_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ty_mem m = {0};

		ty_mem_set_data_src(&m, OP_LD | cases[i].src, false);
		if (m.level != cases[i].level ||
		    (m.src_flags & ~(unsigned)TY_MEM_SRC_HOPS) != cases[i].flags ||
		    strcmp(ty_mem_source_text(&m, 0, text), cases[i].text))
			fail_msg("case %zu: '%s' level %u flags %x", i,
				 ty_mem_source_text(&m, 0, text), m.level, m.src_flags);
	}
}

/* What loads and stores at once (AMD IBS) writes. */
static void test_load_and_store(void **state)
{
	struct ty_mem m = {0};

	(void)state;
	ty_mem_set_data_src(&m, OP_LD | OP_ST | LVL(0xa), false);
	assert_int_equal(m.kind, TY_MEM_LOAD);
	assert_true(ty_mem_writes(&m));
	ty_mem_set_data_src(&m, OP_LD | LVL(0xa), false);
	assert_false(ty_mem_writes(&m));
}

/* Records without a context in a CPU's ring: the thread that the ring was opened for, marked so,
 * unless switches are recorded or two threads are named. */
static void test_ring_thread(void **state)
{
	enum { OWN, SWITCHED, TWO, CONTEXT, CASES };
	const uint64_t words[2] = {8, 1};

	(void)state;
	for (unsigned k = 0; k < CASES; k++) {
		struct ty_mem_stream *s = NULL;
		const struct ty_mem *m;
		struct ty_err err = {0};
		struct perf_write w;
		struct ty_perf *perf;
		struct ty_buf file, b;
		char path[32];

		pw_init(&w);
		ty_buf_init(&b, 1 << 16);
		ty_buf_init(&file, 1 << 20);
		pw_time_conv(&w, 0, 1, 0);
		pw_words(&w, TY_PERF_AUXTRACE_ARM_SPE, words, 2);
		for (unsigned i = 0; i < 2; i++)
			spe_mem(&b, (struct spe_mem){.pc = 0x4000,
						     .va = 0x7000,
						     .ts = 100 + i,
						     .ctx = k == CONTEXT ? 55 : -1,
						     .source = -1});
		if (k == SWITCHED) /* another process, from later on */
			pw_switch(&w, (struct pw_at){.pid = 9, .tid = 9, .time = 200}, false, 0, 0);
		pw_auxtrace(&w, 0, 0, 77, b.p, 64);
		pw_auxtrace(&w, 64, 0, k == TWO ? 78 : 77, b.p + 64, b.len - 64);
		pw_file(&w, &file);
		pw_save(&file, path);
		if (ty_perf_open(path, &perf, &err) || ty_mem_open(perf, &s, &err))
			fail_msg("%s", err.msg);
		unlink(path);
		assert_int_equal(ty_mem_next(s, &m, &err), 1);
		assert_int_equal(m->tid, k == OWN ? 77 : k == CONTEXT ? 55 : -1);
		assert_int_equal(m->who, k == OWN	? TY_MEM_THREAD_RING
					 : k == CONTEXT ? TY_MEM_THREAD_CONTEXT
							: TY_MEM_THREAD_UNKNOWN);
		ty_mem_close(s);
		ty_perf_close(perf);
		ty_buf_fini(&file);
		ty_buf_fini(&b);
		pw_fini(&w);
	}
}

/* Three latencies in one weight; one that is 0 was not recorded. */
static void test_weights(void **state)
{
	static const struct {
		uint64_t weight;
		unsigned total, insn, retire;
	} cases[] = {
		{0x0007000500000003, 3, 5, 7}, {0x0000000500000000, 0, 5, 0}, {0x30, 0x30, 0, 0}};
	enum { N = sizeof(cases) / sizeof(*cases) };
	struct ty_mem_stream *s = NULL;
	const struct ty_mem *m;
	struct ty_err err = {0};
	struct perf_write w;
	struct ty_perf *perf;
	struct ty_buf file;
	char path[32];

	(void)state;
	pw_init(&w);
	w.arch = "x86_64";
	w.type = 4;
	w.sample_type = (w.sample_type & ~(uint64_t)TY_PERF_S_WEIGHT) | TY_PERF_S_WEIGHT_STRUCT;
	for (uint64_t i = 0; i < N; i++) {
		uint64_t body[8] = {PW_ID,  0x400100, 100ull << 32 | 100, i + 1,
				    0x7000, 0,	      cases[i].weight,	  0x2};

		pw_rec(&w, TY_PERF_SAMPLE, 2, body, sizeof(body));
	}
	ty_buf_init(&file, 1 << 20);
	pw_file(&w, &file);
	pw_save(&file, path);
	if (ty_perf_open(path, &perf, &err) || ty_mem_open(perf, &s, &err))
		fail_msg("%s", err.msg);
	unlink(path);
	for (unsigned i = 0; i < N; i++) {
		assert_int_equal(ty_mem_next(s, &m, &err), 1);
		assert_int_equal(!!(m->has & TY_MEM_HAS_TOTAL), !!cases[i].total);
		assert_int_equal(!!(m->has & TY_MEM_HAS_INSN), !!cases[i].insn);
		assert_int_equal(!!(m->has & TY_MEM_HAS_RETIRE), !!cases[i].retire);
		assert_int_equal(m->lat_total, cases[i].total);
		assert_int_equal(m->lat_insn, cases[i].insn);
		assert_int_equal(m->lat_retire, cases[i].retire);
		assert_false(m->has & (TY_MEM_HAS_ISSUE | TY_MEM_HAS_XLAT));
	}
	ty_mem_close(s);
	ty_perf_close(perf);
	ty_buf_fini(&file);
	pw_fini(&w);
}

/* Samples of another event that have the fields of memory samples and no access in them (perf
 * record -d -e cycles) are none, beside some that are. */
static void test_other_event(void **state)
{
	enum { N = 3, NOT_AVAILABLE = 0x5080021 };
	struct ty_mem_stream *s = NULL;
	const struct ty_mem *m;
	struct ty_err err = {0};
	struct perf_write w;
	struct ty_perf *perf;
	struct ty_buf file;
	char path[32];

	(void)state;
	pw_init(&w);
	w.arch = "x86_64";
	w.type = 4;
	w.dummy_type = w.sample_type;
	for (uint64_t i = 0; i < 2 * N; i++) {
		bool own = i % 2;
		uint64_t body[8] = {
			own ? PW_ID : PW_DUMMY,	  0x400100, 100ull << 32 | 100, i + 1, 0x7000, 0, 9,
			own ? 0x2 : NOT_AVAILABLE};

		pw_rec(&w, TY_PERF_SAMPLE, 2, body, sizeof(body));
	}
	ty_buf_init(&file, 1 << 20);
	pw_file(&w, &file);
	pw_save(&file, path);
	if (ty_perf_open(path, &perf, &err) || ty_mem_open(perf, &s, &err))
		fail_msg("%s", err.msg);
	unlink(path);
	assert_int_equal(ty_mem_facts(s)->samples, N);
	for (uint64_t i = 0; i < N; i++) {
		assert_int_equal(ty_mem_next(s, &m, &err), 1);
		assert_int_equal(m->ts_ns, 2 * i + 2);
	}
	assert_int_equal(ty_mem_next(s, &m, &err), 0);
	ty_mem_close(s);
	ty_perf_close(perf);
	ty_buf_fini(&file);
	pw_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted_when_read), cmocka_unit_test(test_tlb),
		cmocka_unit_test(test_sources),		 cmocka_unit_test(test_load_and_store),
		cmocka_unit_test(test_weights),		 cmocka_unit_test(test_ring_thread),
		cmocka_unit_test(test_other_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
