/* SPDX-License-Identifier: MIT */
/* Gathering shared lines in as much memory as there is: the same lines, by further passes. */
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
#include "sharing.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_budget_one_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
