/* SPDX-License-Identifier: MIT */
/* In which call a thread waits, also where its begin was lost, and waits for pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_given.h"
#include "fixture_model.h"
#include "stalls.h"
#include "wait_call.h"

#define MS UINT64_C(1000000)

enum { NR_WRITE = 1, NR_FUTEX = 202 };

/* 11 stops in user mode, or had before the recording; 12 lets it go on, in a call `by` with these
 * arguments. */
static struct ty_stalls held(int by, uint64_t request, bool before)
{
	givens = 0;
	ty_mx_begin("mode=all\n",
		    before ? "taken 1 2\n11\t11\t1\t5\tS\t0\t0\t0\t-\t-\t-\t-\theld\n" : NULL);
	if (!before) {
		ty_mx_switch(0, 1 * MS, 0, R, 11);
		call(1 * MS + 5000, 11, NR_WRITE, 1, 7);
	}
	ty_mx_switch(0, 3 * MS, before ? 0 : 11, before ? R : S, 12);
	call(3 * MS + 5000, 12, NR_WRITE, 1, 7);
	give(102 * MS, 4, request, 0x7000);
	ty_mx_enter(0, 102 * MS, 12, by);
	ty_mx_waking(0, 103 * MS, 12, 11, 0);
	ty_mx_exit(0, 104 * MS, 12, by, 0);
	ty_mx_switch(0, 105 * MS, 12, S, 11);
	call(106 * MS, 11, NR_WRITE, 1, 7);
	ty_mx_switch(0, 120 * MS, 11, S, 0);
	return stalls_of(ty_mx_end(), 0, false);
}

static void a_page_is_served_by_ioctl(void **state)
{
	enum { NR_IOCTL = 16, ZEROPAGE = 0xc020aa04, NOTIF_SEND = 0xc0182101 };
	struct ty_stalls s;

	for (int before = 0; before < 2; before++) {
		s = held(NR_IOCTL, (uint32_t)ZEROPAGE, before);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.v[0].kind, TY_STALL_FAULT);
		assert_true(s.v[0].proven);
		assert_non_null(strstr(s.v[0].sentence, "waiting for a page, served by "));
		assert_null(strstr(s.v[0].sentence, "device"));
		assert_true(!before == !strstr(s.v[0].sentence, "since before"));
		ty_stalls_fini(&s);
	}
	/* Frozen by its cgroup; a call that a supervisor lets pass. */
	for (int frozen = 0; frozen < 2; frozen++) {
		s = frozen ? held(NR_WRITE, 0x7000, false)
			   : held(NR_IOCTL, (uint32_t)NOTIF_SEND, false);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.v[0].kind, TY_STALL_OTHER);
		assert_false(s.v[0].proven);
		assert_null(strstr(s.v[0].sentence, "page"));
		ty_stalls_fini(&s);
	}
	ty_mx_drop();
}

/* 11 is uninterruptible for 100 ms, in no call that is recorded; then it makes one, or that one
 * began before the recording (before), or it ends. */
static struct ty_stalls uncalled(bool makes, bool before)
{
	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_switch(0, 2 * MS, 11, D, 12);
	ty_mx_waking(0, 102 * MS, 12, 11, 0);
	ty_mx_switch(0, 103 * MS, 12, S, 11);
	if (makes && !before)
		call(104 * MS, 11, NR_WRITE, 1, 7);
	else if (makes)
		ty_mx_exit(0, 104 * MS, 11, NR_WRITE, 1);
	ty_mx_switch(0, 120 * MS, 11, TY_TASK_DEAD, 0);
	return stalls_of(ty_mx_end(), 0, false);
}

/* Uninterruptible outside of any call is a wait for a page, if it is known to be outside of any. */
static void a_page_only_in_user_mode(void **state)
{
	struct ty_stalls s = uncalled(true, false);

	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_FAULT);
	ty_stalls_fini(&s);
	for (int makes = 0; makes < 2; makes++) {
		s = uncalled(makes, true);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.v[0].kind, TY_STALL_UNINTERRUPTIBLE);
		assert_null(strstr(s.v[0].sentence, "page"));
		ty_stalls_fini(&s);
	}
	ty_mx_drop();
}

/* The start of the call is lost, its end is not: it is the call that the thread waited in. With
 * events lost between the two, it may be another one. An earlier call whose end was lost, too,
 * seems to go on until then. */
static void a_call_whose_begin_is_lost(void **state)
{
	for (int i = 0; i < 4; i++) {
		bool since = i & 1, earlier = i & 2;
		const struct ty_model *m;
		struct ty_explain x;
		struct ty_span s;
		uint32_t t, c;

		givens = 0;
		ty_mx_begin("mode=all\n", NULL);
		ty_mx_switch(0, 1 * MS, 0, R, 11);
		ty_mx_enter(0, 2 * MS, 11, NR_WRITE);
		if (!earlier)
			ty_mx_exit(0, 2 * MS + 5, 11, NR_WRITE, 1);
		ty_mx_gap(0, 2 * MS + 10, 2 * MS + 20, 5);
		ty_mx_switch(0, 3 * MS, 11, S, 12);
		ty_mx_waking(0, 103 * MS, 12, 11, 0);
		ty_mx_switch(0, 104 * MS, 12, S, 11);
		if (since)
			ty_mx_gap(1, 104 * MS + 10, 104 * MS + 20, 5);
		ty_mx_exit(0, 105 * MS, 11, NR_FUTEX, 0);
		ty_mx_switch(0, 106 * MS, 11, S, 0);
		m = ty_mx_end();
		x = explain(m, 0);
		t = ty_model_thread_find(m, 11, 10 * MS);
		s = ty_model_span(m, ty_model_span_find(m, t, 50 * MS));
		c = ty_wait_call(&x, &s);
		if (since) {
			assert_int_equal(c, s.syscall);
		} else {
			assert_int_equal(s.syscall == TY_NONE, !earlier);
			assert_int_equal(ty_model_syscall(m, c).nr, NR_FUTEX);
		}
		ty_mx_drop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_is_served_by_ioctl),
		cmocka_unit_test(a_page_only_in_user_mode),
		cmocka_unit_test(a_call_whose_begin_is_lost),
	};

	return cmocka_run_group_tests_name("wait_call", tests, NULL, NULL);
}
