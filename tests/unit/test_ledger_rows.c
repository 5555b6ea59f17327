/* SPDX-License-Identifier: MIT */
/* The book of a ledger: one row per key, equal texts merged, sums kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_model.h"
#include "ledger_rows.h"

enum { NR_READ = 0, NR_WRITE = 1 };

static struct ty_explain explained(void)
{
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 10, 0, R, 12);
	ty_mx_switch(0, 20, 12, S, 0);
	return (struct ty_explain){.m = ty_mx_end(), .arch = ty_sysarch_find("x86_64")};
}

static uint64_t sum(const struct ty_ledger *l)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < l->n; i++)
		ns += l->rows[i].ns;
	return ns;
}

static void one_row_per_key(void **state)
{
	const struct ty_ledger_key user = {.what = TY_ROW_USER, .state = TY_ST_RUNNING, .nr = -1};
	struct ty_explain x = explained();
	struct ty_book b = {.x = &x, .who = TY_NONE};
	struct ty_ledger l = {0};

	ty_book_add(&b, user, 100, 7);
	ty_book_add(&b, user, 300, 8);
	ty_book_add(&b, user, 0, 9); /* nothing */
	ty_book_pieces(&b, user, 50, 20, 10);
	ty_book_call(&b, NR_READ, TY_ABI_NATIVE64, 30, 1);
	ty_book_call(&b, NR_WRITE, TY_ABI_NATIVE64, 500, 2);
	ty_book_call(&b, NR_READ, TY_ABI_NATIVE64, 40, 3);
	assert_int_equal(ty_book_close(&b, &l), 0);
	assert_int_equal(l.n, 3);
	assert_int_equal(sum(&l), 1020);
	assert_string_equal(l.rows[0].row, "on CPU in kernel: write");
	assert_int_equal(l.rows[0].ns, 500);
	assert_string_equal(l.rows[1].row, "on CPU outside system calls");
	assert_int_equal(l.rows[1].ns, 450);
	assert_int_equal(l.rows[1].longest_ns, 300);
	assert_int_equal(l.rows[1].span, 8);
	assert_string_equal(l.rows[2].row, "on CPU in kernel: read");
	assert_int_equal(l.rows[2].ns, 70);
	assert_int_equal(l.rows[2].longest_ns, 40);
	ty_ledger_fini(&l);
	ty_book_fini(&b);
	ty_mx_drop();
}

/* The numbers of two calls share a hint; the rows stay apart. */
static void calls_that_share_a_hint(void **state)
{
	struct ty_explain x = explained();
	struct ty_book b = {.x = &x, .who = TY_NONE};
	struct ty_ledger l = {0};

	for (int i = 0; i < 10; i++) {
		ty_book_call(&b, NR_READ, TY_ABI_NATIVE64, 2, 1);
		ty_book_call(&b, NR_READ + TY_BOOK_HINTS, TY_ABI_NATIVE64, 1, 1);
	}
	assert_int_equal(ty_book_close(&b, &l), 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.rows[0].ns, 20);
	assert_int_equal(l.rows[1].ns, 10);
	ty_ledger_fini(&l);
	ty_book_fini(&b);
	ty_mx_drop();
}

/* Beyond the limit, time goes to one row: the sum stays exact. */
static void too_many_rows(void **state)
{
	struct ty_explain x = explained();
	struct ty_book b = {.x = &x, .who = TY_NONE};
	struct ty_ledger l = {0};
	uint64_t others = 0;

	for (int32_t nr = 0; nr < 5000; nr++)
		ty_book_add(&b,
			    (struct ty_ledger_key){.what = TY_ROW_KERNEL,
						   .state = TY_ST_RUNNING,
						   .nr = 10000 + nr},
			    3, 1);
	assert_int_equal(ty_book_close(&b, &l), 0);
	assert_true(l.n < 5000);
	assert_int_equal(sum(&l), 15000);
	for (uint32_t i = 0; i < l.n; i++)
		if (!strncmp(l.rows[i].row, "other causes", 12))
			others = l.rows[i].ns;
	assert_int_equal(others, 15000 - 3 * (l.n - 1));
	ty_ledger_fini(&l);
	ty_book_fini(&b);
	ty_mx_drop();
}

/* The largest row need not be of the state with most time. */
static void the_state_with_most_time(void **state)
{
	const struct ty_ledger_key user = {.what = TY_ROW_USER, .state = TY_ST_RUNNING, .nr = -1},
				   ready = {.what = TY_ROW_RUNNABLE,
					    .end = TY_END_IDLE,
					    .state = TY_ST_RUNNABLE,
					    .nr = -1},
				   again = {.what = TY_ROW_RUNNABLE,
					    .end = TY_END_PREEMPT,
					    .state = TY_ST_RUNNABLE,
					    .nr = -1},
				   wait = {.what = TY_ROW_WAIT,
					   .end = TY_END_TIMER,
					   .state = TY_ST_SLEEPING,
					   .nr = -1};
	struct ty_explain x = explained();
	struct ty_book b = {.x = &x, .who = TY_NONE};
	struct ty_ledger l = {0};
	struct ty_ledger_most most;
	char text[400];

	assert_false(ty_ledger_most(&x, &l, &most));
	ty_book_add(&b, user, 400, 0);
	ty_book_add(&b, ready, 300, 0);
	ty_book_add(&b, again, 200, 0);
	assert_int_equal(ty_book_close(&b, &l), 0);
	assert_true(ty_ledger_most(&x, &l, &most));
	assert_int_equal(most.state, TY_ST_RUNNABLE);
	assert_int_equal(most.state_ns, 500);
	assert_int_equal(most.ns, 300);
	ty_ledger_most_text(&most, "a/1: ", text, sizeof(text));
	assert_non_null(strstr(text, "500 ns a/1: runnable; 300 ns of it: runnable"));
	ty_ledger_fini(&l);

	b = (struct ty_book){.x = &x, .who = TY_NONE};
	ty_book_add(&b, wait, 300, 0);
	ty_book_add(&b, wait, 200, 0);
	assert_int_equal(ty_book_close(&b, &l), 0);
	assert_true(ty_ledger_most(&x, &l, &most));
	ty_ledger_most_text(&most, "", text, sizeof(text));
	assert_non_null(strstr(text, "500 ns (2 waits) sleeping"));
	ty_ledger_fini(&l);
	ty_mx_drop();
}

static void objects_are_numbered_once(void **state)
{
	struct ty_book b = {0};

	assert_int_equal(ty_book_object(&b, ""), 0);
	assert_int_equal(ty_book_object(&b, "fd 3"), 1);
	assert_int_equal(ty_book_object(&b, "fd 4"), 2);
	assert_int_equal(ty_book_object(&b, "fd 3"), 1);
	ty_book_fini(&b);
}

static void a_failed_book_is_empty(void **state)
{
	struct ty_explain x = explained();
	struct ty_book b = {.x = &x, .who = TY_NONE};
	struct ty_ledger l = {0};

	ty_book_call(&b, NR_READ, TY_ABI_NATIVE64, 30, 1);
	b.failed = -TY_EINTR;
	assert_int_equal(ty_book_close(&b, &l), -TY_EINTR);
	assert_int_equal(l.n, 0);
	ty_ledger_fini(&l);
	ty_book_fini(&b);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_row_per_key),
		cmocka_unit_test(calls_that_share_a_hint),
		cmocka_unit_test(too_many_rows),
		cmocka_unit_test(the_state_with_most_time),
		cmocka_unit_test(objects_are_numbered_once),
		cmocka_unit_test(a_failed_book_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
