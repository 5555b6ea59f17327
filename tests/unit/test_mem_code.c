/* SPDX-License-Identifier: MIT */
/* Instructions of several processes: one where file and offset are one, two where they only have
 * the same address; forks have what their parents had mapped, execs nothing of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mem_code.h"
#include "perf_write.h"

static struct ty_mem_stream *stream;
static struct ty_mem_codes *codes;

static void fork_of(struct perf_write *w, int32_t pid, int32_t parent, uint64_t time)
{
	struct {
		int32_t pid, ppid, tid, ptid;
		uint64_t time;
	} body = {pid, parent, pid, parent, time};

	pw_rec_at(w, TY_PERF_FORK, 0, &body, sizeof(body),
		  (struct pw_at){.pid = parent, .tid = parent, .time = time});
}

static void exec_of(struct perf_write *w, int32_t pid, uint64_t time)
{
	struct {
		int32_t pid, tid;
		char comm[8];
	} body = {pid, pid, "new"};

	pw_rec_at(w, TY_PERF_COMM, 1u << 13, &body, sizeof(body),
		  (struct pw_at){.pid = pid, .tid = pid, .time = time});
}

static void map(struct perf_write *w, int32_t pid, uint64_t time, uint64_t addr, uint64_t off,
		const char *name)
{
	pw_mmap2(w, (struct pw_at){.pid = pid, .tid = pid, .time = time}, addr, 0x2000, off, 5,
		 name);
}

static uint32_t code(int32_t pid, uint64_t pc, uint64_t time)
{
	uint32_t id;
	bool fresh;

	assert_int_equal(ty_mem_code_id(codes, pid, pc, time, &id, &fresh), 0);
	return id;
}

static const char *name(int32_t pid, uint64_t pc, uint64_t time)
{
	const struct ty_mem_map *m = ty_mem_map_find(stream, pid, pc, time);

	return m ? m->name : "none";
}

static void test_codes(void **state)
{
	uint64_t body[8] = {PW_ID, 0x400100, 100ull << 32 | 100, 900, 0x7000, 0, 9, 0x2};
	struct ty_err err = {0};
	struct perf_write w;
	struct ty_perf *perf;
	struct ty_buf file;
	uint64_t addr;
	char path[32];

	(void)state;
	pw_init(&w);
	w.cpuid = "GenuineIntel,6,106,6";
	w.arch = "x86_64";
	w.type = 4;
	map(&w, 100, 10, 0x400000, 0, "/bin/one");
	map(&w, 200, 10, 0x400000, 0, "/bin/two");
	map(&w, 300, 10, 0x900000, 0, "/bin/one");
	map(&w, 300, 10, 0x700000, 0, "//anon");
	fork_of(&w, 101, 100, 50);
	fork_of(&w, 102, 101, 60);
	/* perf's own, of what ran already. */
	map(&w, 500, 0, 0x400000, 0, "/bin/one");
	fork_of(&w, 104, 500, 0);
	map(&w, 101, 70, 0x600000, 0, "/lib/late.so");
	exec_of(&w, 102, 80);
	map(&w, 102, 81, 0x800000, 0x1000, "/bin/two");
	/* Another library where there was one. */
	map(&w, 200, 10, 0x500000, 0, "/lib/a.so");
	map(&w, 200, 500, 0x500000, 0, "/lib/b.so");
	map(&w, 400, 600, 0x400000, 0, "/bin/one");
	/* One that has loaded and dropped a file ever again. */
	for (uint64_t i = 0; i < 200; i++)
		map(&w, 600, 10, 0x1000000 + (i << 16), 0, "/bin/one");
	exec_of(&w, 600, 20);
	map(&w, 600, 21, 0xa00000, 0, "/bin/one");
	pw_rec(&w, TY_PERF_SAMPLE, 2, body, sizeof(body));
	ty_buf_init(&file, 1 << 20);
	pw_file(&w, &file);
	pw_save(&file, path);
	if (ty_perf_open(path, &perf, &err) || ty_mem_open(perf, &stream, &err))
		fail_msg("%s", err.msg);
	unlink(path);
	codes = ty_mem_codes_new(stream);
	assert_non_null(codes);
	/* The same address of two programs; the same place of one at two addresses. */
	assert_int_not_equal(code(100, 0x400100, 900), code(200, 0x400100, 900));
	assert_int_equal(code(100, 0x400100, 900), code(300, 0x900100, 900));
	assert_int_not_equal(code(100, 0x400100, 900), code(300, 0x900104, 900));
	/* Forks share their parent's text, until they exec. */
	assert_string_equal(name(101, 0x400100, 55), "/bin/one");
	assert_int_equal(code(101, 0x400100, 55), code(100, 0x400100, 900));
	assert_int_equal(code(102, 0x400100, 70), code(100, 0x400100, 900));
	assert_string_equal(name(102, 0x400100, 90), "none");
	assert_int_not_equal(code(102, 0x400100, 90), code(100, 0x400100, 900));
	assert_int_equal(code(102, 0x800100, 90), code(200, 0x401100, 900));
	assert_string_equal(name(104, 0x400100, 900), "none");
	/* What a fork maps afterwards is not its parent's, nor its own children's. */
	assert_string_equal(name(101, 0x600100, 90), "/lib/late.so");
	assert_string_equal(name(100, 0x600100, 90), "none");
	assert_string_equal(name(102, 0x600100, 75), "none");
	/* One address, one library after the other. */
	assert_int_not_equal(code(200, 0x500100, 100), code(200, 0x500100, 500));
	assert_int_equal(code(200, 0x500100, 499), code(200, 0x500100, 20));
	/* Code in no file is each process's own; the kernel's is trace_all's. */
	assert_int_not_equal(code(300, 0x700100, 900), code(100, 0x700100, 900));
	assert_int_equal(code(300, 0xffff800000000100, 900), code(-1, 0xffff800000000100, 1));
	/* Instructions of such a page, in any order and between others, keep their numbers. */
	assert_int_not_equal(code(300, 0x700104, 900), code(300, 0x700100, 900));
	assert_int_not_equal(code(300, 0x700104, 900), code(300, 0x700108, 900));
	assert_int_not_equal(code(300, 0x700104, 900), code(100, 0x700104, 900));
	assert_int_equal(code(300, 0x700104, 20), code(300, 0x700104, 900));
	assert_int_equal(code(300, 0x700100, 20), code(300, 0x700100, 900));
	assert_int_not_equal(code(300, 0xffff800000000104, 900),
			     code(300, 0xffff800000000100, 900));
	assert_int_equal(code(300, 0xffff800000000104, 900), code(100, 0xffff800000000104, 1));
	/* A mapping that is recorded later is likely, and seen to be no more. */
	assert_int_equal(ty_mem_map_find(stream, 400, 0x400100, 300)->ts_ns, 600);
	/* Where another process has the same place: elsewhere, at the same address (a fork), or
	 * nowhere. */
	assert_true(ty_mem_map_same_place(stream, (struct ty_mem_place){0x400100, 900, 100}, 300,
					  900, &addr));
	assert_int_equal(addr, 0x900100);
	assert_true(ty_mem_map_same_place(stream, (struct ty_mem_place){0x900104, 900, 300}, 101,
					  900, &addr));
	assert_int_equal(addr, 0x400104);
	assert_false(ty_mem_map_same_place(stream, (struct ty_mem_place){0x400100, 900, 100}, 200,
					   900, &addr));
	assert_true(ty_mem_map_same_place(stream, (struct ty_mem_place){0x400100, 900, 100}, 600,
					  900, &addr));
	assert_int_equal(addr, 0xa00100);
	ty_mem_codes_free(codes);
	ty_mem_close(stream);
	ty_perf_close(perf);
	ty_buf_fini(&file);
	pw_fini(&w);
}

/* What was written for the random test, in the order of the file. */
struct event {
	uint64_t ts, addr, len;
	int32_t pid, parent; /* parent: of a life, -1: an exec */
};
enum { MAPS = 300, LIVES = 12, PIDS = 5, TIMES = 40 };
static struct event mapped[MAPS], lives[LIVES];

static uint32_t rnd(uint32_t n)
{
	return (uint32_t)rand() % n;
}

static const struct event *last_life(int32_t pid, uint64_t ts)
{
	const struct event *best = NULL;

	for (unsigned i = 0; i < LIVES; i++)
		if (lives[i].pid == pid && lives[i].ts <= ts && (!best || lives[i].ts >= best->ts))
			best = &lives[i];
	return best;
}

/* By looking at all: the number of the mapping; -1. */
static int brute(int32_t pid, uint64_t addr, uint64_t ts)
{
	int early = -1;

	pid = addr >> 55 ? -1 : pid;
	for (unsigned generation = 0; generation <= 64; generation++) {
		const struct event *life = last_life(pid, ts);
		int best = -1;

		for (int i = 0; i < MAPS; i++) {
			const struct event *m = &mapped[i];

			if (m->pid != pid || addr < m->addr || addr - m->addr >= m->len)
				continue;
			if (m->ts <= ts && (best < 0 || m->ts >= mapped[best].ts))
				best = i;
			if (m->ts > ts && !generation && (early < 0 || m->ts < mapped[early].ts))
				early = i;
		}
		if (best >= 0 && mapped[best].ts >= (life ? life->ts : 0))
			return best;
		if (!life || life->parent < 0)
			break;
		pid = life->parent;
		ts = life->ts;
	}
	return early;
}

static int number(const struct ty_mem_map *m)
{
	return m ? (int)m->order : -1;
}

/* Mappings over each other, to the end of all addresses, at the same times, of processes that fork
 * and exec: as by looking at all, and as long as it is said. */
static void test_random(void **state)
{
	uint64_t body[8] = {PW_ID, 0x400100, 100ull << 32 | 100, 900, 0x7000, 0, 9, 0x2};
	unsigned found = 0, none = 0;
	struct ty_mem_when when;
	struct ty_err err = {0};
	struct perf_write w;
	struct ty_perf *perf;
	struct ty_buf file;
	char path[32];

	(void)state;
	srand(11);
	pw_init(&w);
	w.type = 4;
	for (unsigned i = 0; i < MAPS; i++) {
		struct event *m = &mapped[i];

		*m = (struct event){.pid = (int32_t)rnd(PIDS) - 1,
				    .ts = rnd(TIMES),
				    .addr = (uint64_t)rnd(24) << 12,
				    .len = 1 + rnd(6 << 12)};
		if (m->pid < 0 && rnd(4)) { /* ends at 2^64 or would beyond */
			m->addr = -(uint64_t)m->addr - 4096;
			m->len = rnd(2) ? -m->addr : m->len;
		}
		pw_mmap2(&w, (struct pw_at){.pid = m->pid, .tid = m->pid, .time = m->ts}, m->addr,
			 m->len, 0, 5, "/bin/one");
	}
	for (unsigned i = 0; i < LIVES; i++) {
		struct event *l = &lives[i];

		l->ts = 1 + rnd(TIMES);
		l->pid = (int32_t)rnd(PIDS - 1);
		l->parent = rnd(3) ? (l->pid + 1 + (int32_t)rnd(PIDS - 2)) % (PIDS - 1) : -1;
		if (l->parent < 0)
			exec_of(&w, l->pid, l->ts);
		else
			fork_of(&w, l->pid, l->parent, l->ts);
	}
	pw_rec(&w, TY_PERF_SAMPLE, 2, body, sizeof(body));
	ty_buf_init(&file, 1 << 20);
	pw_file(&w, &file);
	pw_save(&file, path);
	if (ty_perf_open(path, &perf, &err) || ty_mem_open(perf, &stream, &err))
		fail_msg("%s", err.msg);
	unlink(path);
	for (unsigned i = 0; i < 20000; i++) {
		int32_t pid = (int32_t)rnd(PIDS) - 1;
		uint64_t addr = rnd(30 << 12), ts = rnd(TIMES + 3), at[3];
		int want;

		addr = rnd(4) ? addr : -addr - 1;
		want = brute(pid, addr, ts);
		assert_int_equal(number(ty_mem_map_when(stream, pid, addr, ts, &when)), want);
		assert_true(when.from_ns <= ts && ts < when.to_ns);
		at[0] = when.from_ns;
		at[1] = (when.to_ns < TIMES + 3 ? when.to_ns : TIMES + 3) - 1;
		at[2] = at[0] + rnd((uint32_t)(at[1] - at[0] + 1));
		for (unsigned k = 0; k < 3; k++)
			assert_int_equal(brute(pid, addr, at[k]), want);
		found += want >= 0;
		none += want < 0;
	}
	assert_true(found > 5000 && none > 1000);
	ty_mem_close(stream);
	ty_perf_close(perf);
	ty_buf_fini(&file);
	pw_fini(&w);
}

/* A file is its device and inode; what is mapped shared and only read is not shared memory. */
static void files(void **state)
{
	enum { PROT_R = 1, PROT_RW = 3, SHARED = 1 };
	const struct pw_at at = {.pid = 100, .tid = 100, .time = 1};
	uint64_t sample[8] = {PW_ID, 0x400100, 100ull << 32 | 100, 5, 0x7000, 0, 9, 0x2};
	struct perf_write w;
	struct ty_perf *of;
	struct ty_mem_stream *s;
	struct ty_buf file;
	uint32_t number[3];
	char path[32];

	for (int writable = 0; writable < 2; writable++) {
		pw_init(&w);
		w.cpuid = "GenuineIntel,6,106,6";
		w.arch = "x86_64";
		w.type = 4;
		pw_rec(&w, TY_PERF_SAMPLE, 2, sample, sizeof(sample));
		for (unsigned i = 0; i < 3; i++)
			pw_mmap2_of(&w, at, 0x10000 * (i + 1), 0x1000, 0,
				    (struct pw_inode){i == 1 ? 8 : 9, 7},
				    writable && i == 2 ? PROT_RW : PROT_R, SHARED, "/usr/lib/l.so");
		ty_buf_init(&file, 1 << 20);
		pw_file(&w, &file);
		pw_save(&file, path);
		assert_int_equal(ty_perf_open(path, &of, NULL), 0);
		assert_int_equal(ty_mem_open(of, &s, NULL), 0);
		unlink(path);
		for (unsigned i = 0; i < 3; i++)
			number[i] = ty_mem_map_find(s, 100, 0x10000 * (i + 1), 5)->file;
		assert_int_not_equal(number[0], number[1]);
		assert_int_equal(number[0], number[2]);
		assert_int_equal(ty_mem_facts(s)->shared_maps, writable);
		ty_mem_close(s);
		ty_perf_close(of);
		ty_buf_fini(&file);
		pw_fini(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_codes),
					   cmocka_unit_test(test_random), cmocka_unit_test(files)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
