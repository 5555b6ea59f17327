/* SPDX-License-Identifier: MIT */
/*
 * Models larger than the memory they may take (--memory): the same answers from files that stand
 * in for memory, and a sentence that names the disk when there is no room for them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build.h"
#include "fixture_trace.h"
#include "index_file.h"
#include "model_priv.h"
#include "model_walk.h"

#define MIB    (1u << 20)
#define ROUNDS 200000

static char dir[] = "/tmp/tarry-test-spill-XXXXXX", trace[64];

static int open_index(const char *path, struct ty_model **m)
{
	int fd = open(path, O_RDONLY), r = ty_index_open(path, fd, m);

	close(fd);
	return r;
}

static int setup(void **state)
{
	FILE *f;

	if (!mkdtemp(dir))
		return 1;
	setenv("TMPDIR", dir, 1);
	snprintf(trace, sizeof(trace), "%s/t.dat", dir);
	f = fopen(trace, "w");
	return !f || fputs("a trace", f) < 0 || fclose(f);
}

static int teardown(void **state)
{
	char cmd[100];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

enum { INDEX = 1, ASIDE = 2, GAPS = 4 };

/* Calls and interrupts of threads that switch, hard to code in few bytes; `names` more names. 0 or
 * the failure. */
static int build(unsigned rounds, unsigned names, uint64_t memory, unsigned how,
		 struct ty_model **m, struct ty_err *err)
{
	struct ty_build_facts facts = {
		.machine = "tarry=0.1\nmode=all\n",
		.arch = "x86_64",
		.memory_bytes = memory,
		.aside = how & ASIDE,
		.index_of = how & INDEX ? trace : NULL,
		.index_fd = how & INDEX ? open(trace, O_RDONLY) : -1,
	};
	struct ty_builder *b = ty_builder_new(&facts);
	uint64_t t = 1000, seed = 88172645463325252u;
	int r = 0;

	*m = NULL;
	assert_non_null(b);
	for (unsigned i = 0; i < rounds && !r; i++) {
		static const uint8_t kinds[] = {TY_EV_SYS_ENTER, TY_EV_IRQ_ENTRY, TY_EV_IRQ_EXIT,
						TY_EV_SYS_EXIT,	 TY_EV_WAKING,	  TY_EV_SWITCH};
		int32_t me = 3 + (int32_t)(i % 4), you = 3 + (int32_t)((i + 1) % 4);

		for (unsigned k = 0; k < sizeof(kinds) && !r; k++) {
			struct ty_event ev = {.tid = me, .kind = kinds[k], .id = kinds[k]};

			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			ev.ts_ns = t += 1 + seed % 100000;
			ev.loc = seed & 0xffffffffffffff;
			if (ev.kind == TY_EV_IRQ_ENTRY)
				ev.u.irq.name = "eth0";
			if (ev.kind == TY_EV_SYS_ENTER)
				ev.u.enter.nr = 1;
			if (ev.kind == TY_EV_SYS_EXIT) {
				ev.u.exit.nr = 1;
				ev.u.exit.ret = (int64_t)seed;
			}
			if (ev.kind == TY_EV_WAKING)
				ev.u.wake.tid = you;
			if (ev.kind == TY_EV_SWITCH) {
				ev.u.sw.prev_tid = me;
				ev.u.sw.next_tid = you;
				ev.u.sw.prev_state = i % 2;
			}
			r = ty_builder_feed(b, &ev, err);
		}
		if (how & GAPS && i % 1000 == 999 && !r) {
			struct ty_event ev = {.ts_ns = t, .kind = TY_EV_GAP};

			ev.u.gap.from_ns = t - 200;
			ev.u.gap.count = 3;
			r = ty_builder_feed(b, &ev, err);
		}
	}
	for (unsigned i = 0; i < names && !r; i++) {
		struct ty_event ev = {.ts_ns = t += 10, .tid = 3, .kind = TY_EV_RENAME};

		ev.u.rename.tid = 3;
		snprintf(ev.u.rename.new_comm, sizeof(ev.u.rename.new_comm), "name%u", i);
		r = ty_builder_feed(b, &ev, err);
	}
	r = r ? r : ty_builder_finish(b, m, err);
	ty_builder_free(b);
	if (how & INDEX)
		close(facts.index_fd);
	return r;
}

static uint64_t built(unsigned rounds, unsigned names, uint64_t memory, unsigned how)
{
	struct ty_err err = {0};
	struct ty_model *m;
	uint64_t h;

	if (build(rounds, names, memory, how, &m, &err))
		fail_msg("%s", err.msg);
	h = walk_model(m);
	if (memory)
		assert_true(m->store->used > memory + 4 * MIB);
	ty_model_free(m);
	return h;
}

/* Budgets of two extents and of none. */
static void over_budget(void **state)
{
	const uint64_t right[2] = {built(ROUNDS, 0, 0, 0), built(ROUNDS, 0, 0, GAPS)};

	for (unsigned how = 0; how < 8; how++) {
		uint64_t h = right[how & GAPS ? 1 : 0];

		assert_true(built(ROUNDS, 0, how & ASIDE ? 1 : 4 * MIB, how) == h);
		if (how & INDEX) {
			struct ty_model *m;

			assert_int_equal(open_index(trace, &m), 1);
			assert_true(walk_model(m) == h);
			assert_false(ty_model_damaged(m));
			ty_model_free(m);
			ty_index_remove(trace);
		}
		assert_int_equal(ty_fx_files(dir), 1); /* the trace */
	}
}

/* What belongs to the store and is not in it yet takes of its memory. */
static void what_lies_beside_counts(void **state)
{
	struct ty_store *s = ty_store_new(16 * MIB);

	assert_non_null(s);
	assert_true(ty_store_alloc(s, 6 * MIB) > 0);
	ty_store_beside(s, 12 * MIB, 4 * MIB);
	assert_true(ty_store_alloc(s, MIB) > 0);
	assert_null(s->writer);
	ty_store_beside(s, 4 * MIB, 0);
	assert_true(ty_store_alloc(s, 2 * MIB) > 0);
	assert_non_null(s->writer); /* a file stands in */
	ty_store_free(s);
}

/* Arrays over many extents: filled before more is requested, and room is made while nothing is
 * written. */
static void many_names(void **state)
{
	const unsigned n = 1200000;
	uint64_t h = built(10, n, 0, 0);

	assert_true(built(10, n, MIB, 0) == h);
	assert_true(built(10, n, 8 * MIB, 0) == h);
	assert_true(built(10, n, MIB, INDEX) == h);
	ty_index_remove(trace);
}

static uint64_t anonymous_now(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long long kb = 0;
	char line[200];

	while (f && !kb && fgets(line, sizeof(line), f))
		(void)sscanf(line, "RssAnon: %llu", &kb);
	assert_non_null(f);
	fclose(f);
	assert_true(kb > 0);
	return kb * 1024;
}

/* n threads with so few calls each that all their blocks stay open; *most: memory meanwhile. */
static uint64_t of_threads(int n, uint64_t memory, uint64_t *most)
{
	struct ty_build_facts facts = {
		.machine = "tarry=0.1\nmode=all\n", .arch = "x86_64", .memory_bytes = memory};
	struct ty_builder *b = ty_builder_new(&facts);
	struct ty_model *m = NULL;
	uint64_t t = 1000, h, now;

	assert_non_null(b);
	*most = 0;
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 200; k++) {
			struct ty_event ev = {.ts_ns = t += 10, .tid = 100 + i, .cpu = 0};

			ev.kind = ev.id = k % 2 ? TY_EV_SYS_EXIT : TY_EV_SYS_ENTER;
			if (k % 2)
				ev.u.exit.nr = 1;
			else
				ev.u.enter.nr = 1;
			assert_int_equal(ty_builder_feed(b, &ev, NULL), 0);
		}
		now = i % 100 ? 0 : anonymous_now();
		*most = now > *most ? now : *most;
	}
	assert_int_equal(ty_builder_finish(b, &m, NULL), 0);
	ty_builder_free(b);
	now = anonymous_now();
	*most = now > *most ? now : *most;
	h = walk_model(m);
	ty_model_free(m);
	return h;
}

/* Blocks being filled and a finished store leave memory to what follows. */
static void many_threads(void **state)
{
	const uint64_t limit = 32 * MIB;
	uint64_t most, all, right;

	if (getenv("ASAN_OPTIONS") || getenv("TSAN_OPTIONS")) /* they count with it */
		skip();
	malloc_trim(0);
	right = of_threads(8000, limit, &most);
	assert_true(of_threads(8000, 0, &all) == right);
	assert_true(all > 2 * limit);
	if (most > limit)
		fail_msg("%llu KB of anonymous memory", (unsigned long long)most / 1024);
}

/* No room for the file: the sentence names disk, folder and what to do. */
static void full_disk(void **state)
{
	struct rlimit was, few = {.rlim_cur = 3 * MIB};

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	few.rlim_max = was.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	for (unsigned how = 0; how < 4; how++) {
		struct ty_err err = {0};
		struct ty_model *m;
		int r = build(ROUNDS, 0, MIB, how, &m, &err);

		assert_null(m);
		assert_int_equal(r, -err.code);
		assert_true(r && r != -TY_ENOMEM);
		assert_non_null(strstr(err.msg, dir));
		assert_non_null(strstr(err.msg, "File too large"));
		assert_non_null(strstr(err.msg, "--memory"));
		assert_int_equal(ty_fx_files(dir), 1);
	}
	/* What fits into memory needs no index to be right. */
	assert_true(built(ROUNDS, 0, 0, INDEX) == built(ROUNDS, 0, 0, 0));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(ty_fx_files(dir), 1);
}

static void no_folder(void **state)
{
	struct ty_err err = {0};
	struct ty_model *m;

	setenv("TMPDIR", "/nowhere/at/all", 1);
	assert_int_equal(build(ROUNDS, 0, MIB, 0, &m, &err), -TY_ENOTFOUND);
	assert_non_null(strstr(err.msg, "/nowhere/at/all"));
	setenv("TMPDIR", dir, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(over_budget), cmocka_unit_test(what_lies_beside_counts),
		cmocka_unit_test(many_names),  cmocka_unit_test(many_threads),
		cmocka_unit_test(full_disk),   cmocka_unit_test(no_folder),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
