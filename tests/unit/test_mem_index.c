/* SPDX-License-Identifier: MIT */
/* Points and their index file: what is built, spilled and opened again is the same, point by point;
 * what does not fit or is damaged is never shown as right. */
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

#include "index_file.h"
#include "mem_points.h"

#define SAMPLES 80000u

static char dir[] = "/tmp/tarry-test-XXXXXX", file[64], index_path[100];
static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* Sample i of the same row every time: now and then a step back in time, one without a time, a
 * gap. */
static struct ty_mem sample(uint32_t i)
{
	struct ty_mem m = {
		.ts_ns = 1000000 + 100 * (uint64_t)i - (rnd(50) ? 0 : rnd(5000)),
		.pc = (rnd(10) ? 0x400000 : 0xffff800000000000) + 4 * (uint64_t)rnd(300),
		.va = rnd(9) ? 0x7f0000000000 + rnd(1 << 30) : 0xffff000000001000 + rnd(1 << 20),
		.pa = rnd(1 << 30),
		.target = 0x400000 + rnd(1000),
		.events = rnd(1 << 20),
		.lat_total = rnd(100) ? rnd(300) : 70000,
		.lat_issue = rnd(10),
		.lat_xlat = rnd(3),
		.cpu = rnd(8),
		.pid = 100 + (int32_t)rnd(3),
		.has = TY_MEM_HAS_PC | TY_MEM_HAS_TOTAL | TY_MEM_HAS_ISSUE | TY_MEM_HAS_XLAT,
		.kind = (uint8_t)rnd(4),
		.level = (uint8_t)rnd(TY_MEM_LV_COUNT),
		.src_flags = (uint8_t)rnd(32),
		.size = (uint8_t)(rnd(3) ? 0 : 1u << rnd(6)),
		.who = rnd(20) ? TY_MEM_THREAD_CONTEXT : TY_MEM_THREAD_UNKNOWN,
	};

	m.tid = m.pid + (int32_t)rnd(4);
	m.has |= rnd(30) ? TY_MEM_HAS_TIME : 0;
	m.has |= rnd(5) ? TY_MEM_HAS_VA : 0;
	m.has |= rnd(2) ? TY_MEM_HAS_PA : 0;
	m.has |= rnd(3) ? TY_MEM_HAS_CPU : 0;
	if (m.kind == TY_MEM_BRANCH)
		m.has |= TY_MEM_HAS_TARGET;
	if (!rnd(1000)) {
		m.kind = TY_MEM_GAP;
		m.gap = rnd(2) ? "lost" : "collided";
		m.gap_bytes = rnd(100);
	}
	return m;
}

/* Points of the samples; index: with an index file. */
static void fill(struct ty_mem_points *p, uint64_t memory, bool index)
{
	static const char *const comms[] = {"one", "two", "three", "", "five", "six"};
	int fd = open(file, O_RDONLY);

	seed = 1;
	assert_int_equal(ty_mem_points_begin(p, NULL, memory), 0);
	if (index)
		ty_mem_points_index(p, file, fd, 7);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		struct ty_mem m = sample(i);

		assert_int_equal(ty_mem_points_add(p, &m, comms[m.tid - 100], i % 3 == 0), 0);
	}
	assert_int_equal(ty_mem_points_end(p), 0);
	close(fd);
}

static int open_points(struct ty_mem_points *p, uint64_t midr)
{
	int fd = open(file, O_RDONLY), r = ty_mem_points_open(p, file, fd, midr);

	close(fd);
	return r;
}

/* The point that a sample makes. */
static void check(const struct ty_mem *m, const struct ty_mem_points *p,
		  const struct ty_mem_point *o)
{
	assert_int_equal(o->kind, m->kind);
	assert_int_equal(o->ts_ns, m->has & TY_MEM_HAS_TIME ? m->ts_ns : 0);
	if (o->flags & TY_MP_HAS_VA)
		assert_int_equal(o->va, m->va);
	if (o->flags & TY_MP_HAS_TARGET)
		assert_int_equal(o->va, m->target);
	assert_int_equal(o->pa, m->has & TY_MEM_HAS_PA ? m->pa : 0);
	assert_int_equal(p->code[o->pc].addr, m->pc);
	if (m->pc < UINT64_MAX / 2)
		assert_int_equal(p->code[o->pc].pid, m->pid);
	if (m->who == TY_MEM_THREAD_UNKNOWN)
		assert_int_equal(o->thread, TY_MEM_NO_THREAD);
	else
		assert_int_equal(p->thread[o->thread].tid, m->tid);
	assert_int_equal(o->events, m->events);
	assert_int_equal(o->total, m->lat_total < 65535 ? m->lat_total : 65535);
	assert_int_equal(o->issue, m->lat_issue);
	assert_int_equal(o->xlat, m->lat_xlat);
	assert_int_equal(o->cpu, m->has & TY_MEM_HAS_CPU ? m->cpu : UINT16_MAX);
	assert_int_equal(o->level, m->level);
	assert_int_equal(o->src_flags, m->src_flags);
	assert_int_equal(o->size, m->size);
}

static void same(const struct ty_mem_points *a, const struct ty_mem_points *b)
{
	static struct ty_mem_point x[TY_BLOCK_ROWS], y[TY_BLOCK_ROWS];
	uint32_t n;

	assert_int_equal(a->n, b->n);
	assert_memory_equal(&a->sum, &b->sum, sizeof(a->sum));
	assert_int_equal(a->codes, b->codes);
	assert_memory_equal(a->code, b->code, a->codes * sizeof(*a->code));
	assert_int_equal(a->threads, b->threads);
	for (uint32_t i = 0; i < a->threads; i++) {
		assert_int_equal(a->thread[i].tid, b->thread[i].tid);
		assert_string_equal(a->thread[i].comm, b->thread[i].comm);
	}
	assert_int_equal(a->gaps_n, b->gaps_n);
	assert_int_equal(a->unreadable_bytes, b->unreadable_bytes);
	assert_int_equal(a->gaps.n, b->gaps.n);
	for (size_t i = 0; i < a->gaps.n; i++) {
		assert_int_equal(a->gaps.v[i].bytes, b->gaps.v[i].bytes);
		assert_string_equal(a->gaps.v[i].why, b->gaps.v[i].why);
	}
	for (uint64_t at = 0; (n = ty_mem_points_rows(a, at, TY_MEM_WANT_ALL, x)); at += n) {
		assert_int_equal(ty_mem_points_rows(b, at, TY_MEM_WANT_ALL, y), n);
		assert_memory_equal(x, y, n * sizeof(*x));
		assert_memory_equal(&a->group[at / TY_BLOCK_ROWS], &b->group[at / TY_BLOCK_ROWS],
				    sizeof(*a->group));
	}
}

static void test_points(void **state)
{
	static struct ty_mem_point rows[TY_BLOCK_ROWS];
	struct ty_mem_points p, spilled;
	uint64_t at = 0, first, n;
	uint32_t have = 0, k = 0;

	(void)state;
	fill(&p, 0, false);
	seed = 1;
	for (uint32_t i = 0; i < SAMPLES; i++) {
		struct ty_mem m = sample(i);
		struct ty_mem_point one;

		if (m.kind == TY_MEM_GAP)
			continue;
		if (k == have) {
			at += have;
			have = ty_mem_points_rows(&p, at, TY_MEM_WANT_ALL, rows);
			k = 0;
		}
		assert_in_range(k, 0, have - 1);
		check(&m, &p, &rows[k]);
		one = ty_mem_points_get(&p, at + k);
		assert_memory_equal(&one, &rows[k++], sizeof(one));
	}
	assert_int_equal(at + k, p.n);
	/* All of a slice lie where it is said. */
	ty_mem_points_between(&p, 3000000, 3100000, &first, &n);
	assert_in_range(n, 900, 1200);
	for (uint64_t i = 0; i < p.n; i++) {
		struct ty_mem_point o = ty_mem_points_pick(&p, i, TY_MEM_WANT_TIME);

		if (o.flags & TY_MP_HAS_TIME && o.ts_ns >= 3000000 && o.ts_ns < 3100000)
			assert_in_range(i, first, first + n - 1);
	}
	/* With next to no memory it goes to a file meanwhile. */
	fill(&spilled, 2 << 20, false);
	same(&p, &spilled);
	ty_mem_points_fini(&spilled);
	ty_mem_points_fini(&p);
}

static void poke(off_t at)
{
	int fd = open(index_path, O_RDWR);
	uint8_t byte;

	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 0x41;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static void test_index(void **state)
{
	static struct ty_mem_point rows[TY_BLOCK_ROWS];
	struct ty_mem_points built, again = {0};
	struct stat st;

	(void)state;
	assert_int_equal(open_points(&again, 7), 0);
	fill(&built, 0, true);
	ty_mem_points_fini(&built); /* it is written by now */
	fill(&built, 0, false);
	assert_int_equal(open_points(&again, 7), 1);
	same(&built, &again);
	assert_false(again.damaged);
	ty_mem_points_fini(&again);
	assert_int_equal(open_points(&again, 8), 0); /* marked as of another core */
	/* A damaged block reads as nothing, and is reported. */
	assert_int_equal(stat(index_path, &st), 0);
	poke(4096 + 300);
	assert_int_equal(open_points(&again, 7), 1);
	assert_int_equal(ty_mem_points_rows(&again, 0, TY_MEM_WANT_ALL, rows), TY_BLOCK_ROWS);
	assert_true(again.damaged);
	assert_int_equal(rows[5].pc, UINT32_MAX);
	ty_mem_points_fini(&again);
	poke(4096 + 300);
	/* Nothing is shown of what the head or a small array says when these are. */
	for (off_t at = 0; at < 600; at += 7) {
		poke(at);
		if (open_points(&again, 7))
			same(&built, &again); /* behind the head's end */
		ty_mem_points_fini(&again);
		poke(at);
	}
	poke(st.st_size - 10);
	assert_int_equal(open_points(&again, 7), 0);
	poke(st.st_size - 10);
	assert_int_equal(truncate(index_path, st.st_size - 1), 0);
	assert_int_equal(open_points(&again, 7), 0);
	ty_index_remove(file);
	assert_int_not_equal(access(index_path, F_OK), 0);
	ty_mem_points_fini(&built);
}

static int setup(void **state)
{
	FILE *f;

	(void)state;
	if (!mkdtemp(dir))
		return 1;
	snprintf(file, sizeof(file), "%s/perf.data", dir);
	snprintf(index_path, sizeof(index_path), "%s/.perf.data.tarry-memory-index", dir);
	f = fopen(file, "w");
	return !f || fputs("samples", f) < 0 || fclose(f);
}

static int teardown(void **state)
{
	char cmd[100];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

/* A long name of many threads is written once. */
static void test_long_name(void **state)
{
	static char comm[100001];
	struct ty_mem_points p = {0};
	int fd = open(file, O_RDONLY);

	(void)state;
	memset(comm, 'n', sizeof(comm) - 1);
	unlink(index_path);
	seed = 1;
	assert_int_equal(ty_mem_points_begin(&p, NULL, 0), 0);
	ty_mem_points_index(&p, file, fd, 7);
	close(fd);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		struct ty_mem m = sample(i);

		m.who = TY_MEM_THREAD_CONTEXT;
		m.tid = (int32_t)(i % 3000);
		assert_int_equal(ty_mem_points_add(&p, &m, comm, true), 0);
	}
	assert_int_equal(ty_mem_points_end(&p), 0);
	ty_mem_points_fini(&p);
	assert_int_equal(open_points(&p, 7), 1);
	assert_true(p.threads >= 3000);
	assert_string_equal(p.thread[p.threads - 1].comm, comm);
	ty_mem_points_fini(&p);
	unlink(index_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points),
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_long_name),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
