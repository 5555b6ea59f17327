/* SPDX-License-Identifier: MIT */
/* Comparison of a window with the rest of a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "window_diff.h"
#include "fixture_model.h"
#include "window_all.h"

#define MS UINT64_C(1000000)

enum { NR_READ = 0, NR_WRITE = 1, NR_GETPID = 39 };

static const struct ty_diff_row *row(const struct ty_diff *d, int kind, const char *what)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (d->v[i].kind == kind && !strcmp(d->v[i].what, what))
			return &d->v[i];
	return NULL;
}

/* 1 s in which thread 11 runs and calls getpid every 5 ms; from 400 to 500 ms thread 12 runs
 * instead and writes every ms. */
static const struct ty_model *other_tenth(void)
{
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 0, 0, R, 11);
	for (int i = 0; i < 80; i++) {
		ty_mx_enter(0, i * 5 * MS + 1, 11, NR_GETPID);
		ty_mx_exit(0, i * 5 * MS + 2, 11, NR_GETPID, 11);
	}
	ty_mx_waking(0, 400 * MS, 11, 12, 0);
	ty_mx_switch(0, 400 * MS, 11, RP, 12);
	for (int i = 0; i < 99; i++) {
		ty_mx_enter(0, (400 + i) * MS + 1, 12, NR_WRITE);
		ty_mx_exit(0, (400 + i) * MS + 2, 12, NR_WRITE, 1);
	}
	ty_mx_switch(0, 500 * MS, 12, S, 11);
	for (int i = 100; i < 200; i++) {
		ty_mx_enter(0, i * 5 * MS + 1, 11, NR_GETPID);
		ty_mx_exit(0, i * 5 * MS + 2, 11, NR_GETPID, 11);
	}
	ty_mx_switch(0, 1000 * MS, 11, S, 0);
	return ty_mx_end();
}

static void window_against_the_rest(void **state)
{
	const struct ty_model *m = other_tenth();
	const struct ty_sysarch *arch = ty_sysarch_find("x86_64");
	struct ty_window w = window_all(m);
	const struct ty_diff_row *r;
	struct ty_err err = {0};
	struct ty_diff d;

	w.from_ns = 400 * MS;
	w.to_ns = 500 * MS;
	assert_int_equal(ty_diff_find(&(struct ty_explain){.m = m, .arch = arch}, &w, &d, &err), 0);
	assert_int_equal(d.in_ns, 100 * MS);
	assert_int_equal(d.out_ns, 900 * MS);
	assert_false(d.in_lost || d.out_lost);
	r = row(&d, TY_DIFF_CPU, "t12");
	assert_non_null(r);
	assert_int_equal(r->in, 100 * MS);
	assert_int_equal(r->out, 0);
	assert_true(r->significant && r->share == 1);
	r = row(&d, TY_DIFF_CPU, "t11");
	assert_int_equal(r->in, 0);
	assert_int_equal(r->out, 900 * MS);
	r = row(&d, TY_DIFF_SYSCALL, "write");
	assert_int_equal(r->in, 99);
	assert_int_equal(r->out, 0);
	assert_true(r->in_rate == 990 && r->significant);
	r = row(&d, TY_DIFF_SYSCALL, "getpid");
	assert_int_equal(r->in, 0);
	assert_int_equal(r->out, 180);
	/* One wakeup is chance, and comes behind all that is not. */
	r = row(&d, TY_DIFF_WAKEUP, "t12");
	assert_int_equal(r->in, 1);
	assert_false(r->significant);
	for (uint32_t i = 1; i < d.n; i++)
		assert_true(d.v[i - 1].significant >= d.v[i].significant);
	assert_true(d.v[0].significant);
	ty_diff_fini(&d);
	/* A choice of threads. */
	w.tids = &(int32_t){11};
	w.tids_n = 1;
	assert_int_equal(ty_diff_find(&(struct ty_explain){.m = m, .arch = arch}, &w, &d, &err), 0);
	assert_null(row(&d, TY_DIFF_CPU, "t12"));
	assert_null(row(&d, TY_DIFF_SYSCALL, "write"));
	ty_diff_fini(&d);
	/* Nothing to compare with. */
	w = window_all(m);
	assert_int_equal(ty_diff_find(&(struct ty_explain){.m = m, .arch = arch}, &w, &d, &err),
			 -TY_EUSAGE);
	ty_diff_fini(&d);
	ty_mx_drop();
}

static void loss_is_told_where_it_was(void **state)
{
	const struct ty_model *m;
	struct ty_window w;
	struct ty_diff d;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 0, 0, R, 11);
	ty_mx_gap(0, 200 * MS, 210 * MS, 5);
	ty_mx_switch(0, 1000 * MS, 11, S, 0);
	m = ty_mx_end();
	w = window_all(m);
	w.from_ns = 100 * MS;
	w.to_ns = 300 * MS;
	assert_int_equal(ty_diff_find(&(struct ty_explain){.m = m}, &w, &d, NULL), 0);
	assert_true(d.in_lost);
	assert_false(d.out_lost);
	ty_diff_fini(&d);
	w.from_ns = 300 * MS;
	w.to_ns = 400 * MS;
	assert_int_equal(ty_diff_find(&(struct ty_explain){.m = m}, &w, &d, NULL), 0);
	assert_true(d.out_lost);
	assert_false(d.in_lost);
	ty_diff_fini(&d);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(window_against_the_rest),
		cmocka_unit_test(loss_is_told_where_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
