/* SPDX-License-Identifier: MIT */
/* Threads of one name are reported together when there are many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger_rows.h"
#include "fixture_model.h"

/* Threads 10 to 9 + n are "worker", 5 is "job". */
static const struct ty_model *workers(int n)
{
	char table[4096] = "taken 1 2\n5\t5\t1\t5\tS\t0\t0\t0\t-\t-\t-\t-\tjob\n";

	for (int i = 0; i < n; i++)
		snprintf(table + strlen(table), sizeof(table) - strlen(table),
			 "%d\t5\t1\t5\tS\t0\t0\t0\t-\t-\t-\t-\tworker\n", 10 + i);
	ty_mx_begin("mode=all\n", table);
	ty_mx_switch(0, 10, 0, R, 99);
	ty_mx_switch(0, 20, 99, S, 0);
	return ty_mx_end();
}

static struct ty_ledger_group group_of(const struct ty_model *m, const uint8_t *mine, int tid)
{
	struct ty_ledger_group c[64] = {0}, g;

	assert_true(ty_model_summary(m)->threads <= 64);
	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++)
		c[i].n = 1;
	assert_int_equal(ty_ledger_groups(m, mine, c), 0);
	g = c[ty_model_thread_find(m, tid, UINT64_MAX)];
	return g;
}

static void few_stay_apart(void **state)
{
	const struct ty_model *m = workers(4);
	struct ty_ledger_group g = group_of(m, NULL, 12);

	assert_int_equal(g.n, 1);
	assert_int_equal(ty_model_thread(m, g.thread)->tid, 12);
	ty_mx_drop();
}

static void many_are_one(void **state)
{
	const struct ty_model *m = workers(5);
	struct ty_ledger_group g = group_of(m, NULL, 12);

	assert_int_equal(g.n, 5);
	assert_int_equal(ty_model_thread(m, g.thread)->tid, 10);
	assert_int_equal(group_of(m, NULL, 5).n, 1);
	ty_mx_drop();
}

/* Threads of the command and others of the same name are not one. */
static void the_commands_are_apart(void **state)
{
	const struct ty_model *m = workers(9);
	uint8_t mine[64] = {0};

	mine[ty_model_thread_find(m, 99, UINT64_MAX)] = 1;
	for (int tid = 15; tid < 19; tid++)
		mine[ty_model_thread_find(m, tid, UINT64_MAX)] = 1;
	assert_int_equal(group_of(m, mine, 12).n, 5);
	assert_int_equal(group_of(m, mine, 16).n, 1); /* four others */
	ty_mx_drop();
}

/* Of few processes of one name each is shown separately, its many threads together. */
static void threads_of_each_process_are_one(void **state)
{
	char table[4096] = "taken 1 2\n", name[64];
	struct ty_ledger_group c[64] = {0};
	const struct ty_model *m;
	uint32_t one, two;

	for (int i = 0; i < 18; i++)
		snprintf(table + strlen(table), sizeof(table) - strlen(table),
			 "%d\t%d\t1\t5\tS\t0\t0\t0\t-\t-\t-\t-\tserver\n", 10 + i,
			 i < 9	  ? 10
			 : i < 16 ? 19
				  : 10 + i);
	ty_mx_begin("mode=all\n", table);
	ty_mx_switch(0, 10, 0, R, 99);
	ty_mx_switch(0, 20, 99, S, 0);
	m = ty_mx_end();
	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++)
		c[i].n = 1;
	assert_int_equal(ty_ledger_groups(m, NULL, c), 0);
	one = c[ty_model_thread_find(m, 18, UINT64_MAX)].thread;
	two = c[ty_model_thread_find(m, 20, UINT64_MAX)].thread;
	ty_ledger_group_name(m, c, one, name, sizeof(name));
	assert_string_equal(name, "server (9 threads of process 10)");
	ty_ledger_group_name(m, c, two, name, sizeof(name));
	assert_string_equal(name, "server (7 threads of process 19)");
	ty_ledger_group_name(m, c, c[ty_model_thread_find(m, 27, UINT64_MAX)].thread, name,
			     sizeof(name));
	assert_string_equal(name, "server/27");
	ty_mx_drop();
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_stay_apart),
		cmocka_unit_test(many_are_one),
		cmocka_unit_test(the_commands_are_apart),
		cmocka_unit_test(threads_of_each_process_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
