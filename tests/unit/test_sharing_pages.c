/* SPDX-License-Identifier: MIT */
/* Lines by page: shared mappings, and pages that move. */
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
#include "sharing.h"

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

/* PostgreSQL's case: shared memory at other addresses in each process, and inherited by forks; no
 * physical addresses. */
static void test_shared_mapping(void **state)
{
	const struct access a[] = {{101, ST, A + 0x2000, 0, -1},
				   {201, LD, 0xbbbb00001008, 0, PEER}},
			    b[] = {{101, ST, A + 0x2000, 0, -1},
				   {201, LD, 0xcccc00002008, 0, PEER}},
			    c[] = {{101, ST, A + 0x2000, 0, -1}, {302, LD, A + 0x2008, 0, PEER}},
			    d[] = {{101, ST, A + 0x2000, 0, -1},
				   {201, LD, 0xdddd00002008, 0, PEER}};
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
	spe(&r, d, N(d), MAPPED);
	none("the same inode of another device", &r);
	/* A child has what its parent had mapped; not once it runs another program. */
	spe(&r, c, N(c), MAPPED | FORKED);
	assert_int_equal(r.s.lines[0].line, 0x2000);
	one("shared with a fork", &r, TY_SHARING_FALSE, TY_SHARING_PEER, 2);
	spe(&r, c, N(c), MAPPED | FORKED | EXECED);
	none("the child runs another program", &r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_shared_mapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
