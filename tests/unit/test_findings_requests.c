/* SPDX-License-Identifier: MIT */
/* Requests that took far longer than the others of their service, or ever longer. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "findings_priv.h"
#include "fixture_findings.h"
#include "fixture_given.h"
#include "findings.h"

/* Requests of a millisecond each; how much longer the i-th is. */
static struct ty_findings requests_with(uint64_t (*more)(unsigned i))
{
	begin();
	one(11, NR_ACCEPT, 5, US, US);
	for (unsigned i = 0; i < 60; i++) {
		one(11, NR_READ, 10, US, MS + more(i));
		one(11, NR_WRITE, 10, US, MS);
	}
	return find(0);
}

static uint64_t like_all(unsigned i)
{
	return i % 3 * 10 * US;
}

static uint64_t one_is_slow(unsigned i)
{
	return i == 40 ? 100 * MS : like_all(i);
}

static uint64_t longer_and_longer(unsigned i)
{
	return i * 60 * US;
}

/* By a step, which something else has made, not evenly. */
static uint64_t since_a_change(unsigned i)
{
	return i < 38 ? 2 * i * US : 4 * MS + i * US;
}

static void requests(void **state)
{
	struct ty_findings f;

	(void)state;
	assert_int_equal(requests_with(like_all).n, 0);
	assert_int_equal(requests_with(since_a_change).n, 0);
	f = requests_with(one_is_slow);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.v[0].kind, TY_FINDING_OUTLIERS);
	assert_int_equal(f.v[0].n, 1);
	assert_string_equal(f.v[0].text, "t11/11: 1 of 60 requests took 101 ms (median 1.01 ms)");
	f = requests_with(longer_and_longer);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.v[0].kind, TY_FINDING_GREW);
	assert_true(f.v[0].inferred);
}

/* Of one that began before the recording neither the start is known nor that it was a request: a
 * server may send something without a request. */
static void a_request_from_before_is_no_outlier(void **state)
{
	struct ty_request slow = {.end_ns = 50 * MS, .flags = TY_REQ_INFERRED};
	struct ty_service s = {.n = 60, .p50_ns = MS};
	struct ty_requests q = {.services = &s, .services_n = 1, .v = &slow, .n = 1, .all = 60};
	struct ty_findings f = {0};
	struct ty_explain x;
	struct ty_finding_work k = {.x = &x, .requests = &q, .out = &f};

	(void)state;
	begin();
	ty_mx_switch(0, 20 * MS, 11, TY_TASK_DEAD, 0);
	x = explain(ty_mx_end(), 0);
	assert_int_equal(ty_findings_of_requests(&k), 0);
	assert_int_equal(f.n, 1);
	f.n = 0;
	slow.flags |= TY_REQ_BEFORE;
	assert_int_equal(ty_findings_of_requests(&k), 0);
	assert_int_equal(f.n, 0);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),
		cmocka_unit_test(a_request_from_before_is_no_outlier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
