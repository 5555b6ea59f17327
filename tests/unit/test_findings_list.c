/* SPDX-License-Identifier: MIT */
/* The ranked list of findings: order, limit, appended texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "findings_priv.h"
#include "fixture_model.h"

static struct ty_findings list;

static struct ty_finding *add(uint64_t ns, uint64_t n)
{
	struct ty_finding_work k = {.out = &list};

	return ty_finding_add(&k, &(struct ty_finding){.ns = ns, .n = n});
}

static void most_time_first(void **state)
{
	list.n = 0;
	assert_non_null(add(10, 1));
	assert_non_null(add(30, 2));
	assert_non_null(add(20, 3));
	assert_non_null(add(30, 4)); /* after the equal one */
	assert_int_equal(list.n, 4);
	assert_int_equal(list.v[0].n, 2);
	assert_int_equal(list.v[1].n, 4);
	assert_int_equal(list.v[2].n, 3);
	assert_int_equal(list.v[3].n, 1);
}

static void the_shortest_gives_way(void **state)
{
	list.n = 0;
	for (uint64_t i = 0; i < TY_FINDINGS_MAX; i++)
		assert_non_null(add(100 + i, i));
	assert_null(add(99, 1000));
	assert_null(add(100, 1000)); /* no longer than the last one */
	assert_non_null(add(1000, 1001));
	assert_int_equal(list.n, TY_FINDINGS_MAX);
	assert_int_equal(list.v[0].n, 1001);
	assert_int_equal(list.v[TY_FINDINGS_MAX - 1].ns, 101);
}

static void texts_are_appended_and_cut(void **state)
{
	struct ty_finding f = {0};

	ty_finding_say(&f, "%s failed", "open");
	ty_finding_say(&f, " %d times", 7);
	assert_string_equal(f.text, "open failed 7 times");
	for (int i = 0; i < 100; i++)
		ty_finding_next(&f, "0123456789");
	assert_int_equal(strlen(f.next), sizeof(f.next) - 1);
}

/* A polled lock that a stall of its thread covers is shown as the stall only. */
static void a_stall_is_no_finding_too(void **state)
{
	const struct ty_finding polled = {
		.kind = TY_FINDING_POLLED, .thread = 3, .at_ns = 100, .ns = 50};
	const struct ty_stall all = {
		.kind = TY_STALL_LOCK, .thread = 3, .start_ns = 100, .duration_ns = 51};
	struct ty_stall other[4] = {all, all, all, all};

	other[0].kind = TY_STALL_PIPE;
	other[1].thread = 4;
	other[2].start_ns = 101;
	other[3].duration_ns = 49;
	list = (struct ty_findings){.n = 2, .v = {polled, polled}};
	list.v[1].kind = TY_FINDING_STORM;
	ty_findings_leave(&list, other, 4);
	assert_int_equal(list.n, 2);
	ty_findings_leave(&list, &all, 0);
	assert_int_equal(list.n, 2);
	ty_findings_leave(&list, &all, 1);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.v[0].kind, TY_FINDING_STORM);
}

static void names_of_threads(void **state)
{
	const struct ty_model *m;
	uint32_t i;
	char out[64];

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 10, 0, R, 12);
	ty_mx_switch(0, 20, 12, S, 0);
	m = ty_mx_end();
	i = ty_model_thread_find(m, 12, 20);
	assert_string_equal(ty_finding_thread_name(m, i, false, out), "t12/12");
	assert_string_equal(ty_finding_thread_name(m, i, true, out), "t12");
	ty_mx_drop();
}

static void every_kind_has_a_key(void **state)
{
	for (unsigned k = 0; k < TY_FINDING_KINDS_N; k++)
		assert_true(*ty_finding_kind_key((enum ty_finding_kind)k));
	assert_string_equal(ty_finding_kind_key(TY_FINDING_POLLED), "polled");
	assert_string_equal(ty_finding_kind_key(TY_FINDING_KINDS_N), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_time_first),
		cmocka_unit_test(the_shortest_gives_way),
		cmocka_unit_test(texts_are_appended_and_cut),
		cmocka_unit_test(a_stall_is_no_finding_too),
		cmocka_unit_test(names_of_threads),
		cmocka_unit_test(every_kind_has_a_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
