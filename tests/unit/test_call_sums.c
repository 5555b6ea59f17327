/* SPDX-License-Identifier: MIT */
/* What a thread did in a time: calls summed by kind and file, clipped to the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "call_sums.h"
#include "fixture_fds.h"
#include "fixture_given.h"

static const struct ty_call_sum *sum_of(const struct ty_call_sums *s, int nr, const char *object)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i].nr == nr && !s->v[i].object == !object &&
		    (!object || !strcmp(s->v[i].object, object)))
			return &s->v[i];
	return NULL;
}

static void by_kind_and_file(void **state)
{
	enum { NR_OPEN = 2, NR_READ = 0 };
	const struct ty_call_sum *c;
	struct ty_call_sums s;
	struct ty_explain x;
	uint32_t t;

	begin();
	call(2 * MS, 11, NR_OPEN, 8, 0x7000);
	call(4 * MS, 11, NR_READ, 1, 8);
	give(6 * MS, 8, 0, 1); /* 2 ms, the longest */
	ty_mx_enter(0, 6 * MS, 11, NR_READ);
	ty_mx_exit(0, 8 * MS, 11, NR_READ, 1);
	call(10 * MS, 11, NR_READ, 1, 77); /* without a name */
	call(12 * MS, 11, NR_READ, 1, 8);
	x = end();
	x.pointee = pointee;
	t = ty_model_thread_find(x.m, 11, 10 * MS);
	assert_int_equal(ty_call_sums_find(&x, t, 0, 100 * MS, &s), 0);
	assert_int_equal(s.calls, 5);
	assert_int_equal(s.n, 3);
	c = sum_of(&s, NR_READ, "/opened");
	assert_ptr_equal(c, &s.v[0]);
	assert_int_equal(c->n, 3);
	assert_int_equal(c->ns, 2 * MS + 2000);
	assert_int_equal(c->max_ns, 2 * MS);
	assert_int_equal(c->max_at_ns, 7 * MS);
	assert_int_equal(sum_of(&s, NR_READ, NULL)->n, 1);
	assert_int_equal(sum_of(&s, NR_OPEN, "/opened")->n, 1);
	assert_false(s.cut);
	assert_int_equal(s.unnamed, 0);
	ty_call_sums_fini(&s);
	/* a part of one call */
	assert_int_equal(ty_call_sums_find(&x, t, 7 * MS, 10 * MS, &s), 0);
	assert_int_equal(s.calls, 1);
	assert_int_equal(s.v[0].ns, 1 * MS);
	assert_in_range(s.v[0].max_at_ns, 7 * MS, 8 * MS - 1);
	ty_call_sums_fini(&s);
	ty_mx_drop();
}

/* Of the shorter calls the file is not looked up: that is said. */
static void too_many_to_name(void **state)
{
	enum { NR_OPEN = 2, NR_READ = 0 };
	struct ty_call_sums s;
	struct ty_explain x;

	begin();
	call(2 * MS, 11, NR_OPEN, 8, 0x7000);
	for (unsigned i = 0; i < TY_CALL_SUMS_NAMED + 4; i++)
		call((4 + i) * MS, 11, NR_READ, 1, 8);
	x = end();
	x.pointee = pointee;
	assert_int_equal(
		ty_call_sums_find(&x, ty_model_thread_find(x.m, 11, 10 * MS), 0, 900 * MS, &s), 0);
	assert_int_equal(s.calls, TY_CALL_SUMS_NAMED + 5);
	assert_int_equal(s.unnamed, 5);
	assert_int_equal(sum_of(&s, NR_READ, NULL)->n, 5);
	ty_call_sums_fini(&s);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_kind_and_file),
		cmocka_unit_test(too_many_to_name),
	};

	return cmocka_run_group_tests_name("call_sums", tests, NULL, NULL);
}
