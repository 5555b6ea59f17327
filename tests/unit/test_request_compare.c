/* SPDX-License-Identifier: MIT */
/* A request beside a median one: which one is the median, and where both spent their time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_timeline.h"
#include "fixture_turns.h"
#include "request_compare.h"

enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_ACCEPT = 43,
	NR_FLOCK = 73,
	NR_FUTEX = 202,
	NR_EPOLL_WAIT = 232
};

static const char *the_lock(void *ctx, int32_t pid, int32_t fd, bool *cloexec)
{
	*cloexec = false;
	return pid == 11 && fd == 5 ? "/srv/site.lock" : NULL;
}

static bool none_left_out(void *ctx, int32_t pid)
{
	return false;
}

/* R lists them; Enter opens the comparison, which leads to the request, or back to the list. */
static void pages(const struct ty_explain *x, uint64_t slow_ns)
{
	struct ty_view_input in = ty_tl_input(x->m);
	const struct ty_view_ops *ops;
	struct ty_timeline *view;
	void *page;
	char more[60];

	in.explain = x;
	view = ty_tl_open(&in);
	assert_int_equal(ty_timeline_ops.act(view, TY_ACT_REQUESTS), TY_VIEW_PUSH);
	ty_timeline_ops.child(view, &ops, &page);
	assert_non_null(strstr(ty_tl_view_frame(ops, page, &ty_tl_utf8, 80, 24),
			       "The slowest of 5 requests; Enter compares"));
	assert_non_null(strstr(ty_tl_view_frame(ops, page, &ty_tl_utf8, 80, 24), "Enter compare "));
	assert_non_null(
		strstr(ty_tl_view_frame(ops, page, &ty_tl_utf8, 200, 24), "state with most time"));
	assert_non_null(strstr(ty_tl_view_frame(ops, page, &ty_tl_utf8, 200, 24),
			       "ms sleeping in flock(fd 5 </srv/site.lock>), "));
	for (int i = 0; i < 2; i++) { /* the second time out of what was kept */
		assert_int_equal(ops->act(page, TY_ACT_OPEN), TY_VIEW_CLOSE);
		assert_int_equal(ty_timeline_ops.resumed(view), TY_VIEW_PUSH);
		ty_timeline_ops.child(view, &ops, &page);
		assert_string_equal(view->page.title,
				    "A request of 90.0 ms compared with a median one of 4.00 ms");
		assert_non_null(strstr(ty_tl_view_frame(ops, page, &ty_tl_utf8, 80, 24),
				       "sleeping in flock(fd 5 </srv/site.lock>), "));
		/* that there is more is said where there is */
		assert_null(strstr(ty_tl_view_frame(ops, page, &ty_tl_utf8, 80, 60), "close  1-"));
		assert_non_null(
			strstr(ty_tl_view_frame(ops, page, &ty_tl_utf8, 80, 10), "q close  1-"));
		ops->act(page, TY_ACT_ROW_LAST);
		snprintf(more, sizeof(more), "-%zu of %zu", view->page.lines.n, view->page.lines.n);
		assert_non_null(strstr(ty_tl_view_frame(ops, page, &ty_tl_utf8, 80, 10), more));
		ops->act(page, TY_ACT_ROW_FIRST);
		assert_int_equal(ops->act(page, TY_ACT_QUIT), TY_VIEW_CLOSE);
		assert_int_equal(ty_timeline_ops.resumed(view), TY_VIEW_PUSH);
		ty_timeline_ops.child(view, &ops, &page);
		assert_non_null(strstr(view->page.title, "The slowest of 5 requests"));
	}
	ops->act(page, TY_ACT_OPEN);
	ty_timeline_ops.resumed(view);
	assert_int_equal(ops->act(page, TY_ACT_OPEN), TY_VIEW_CLOSE);
	assert_int_equal(ty_timeline_ops.resumed(view), TY_VIEW_CHANGED);
	assert_int_equal(view->cursor_ns, slow_ns + 45 * MS);
	ty_timeline_free(view);
}

/* Five requests of 2, 3, 4, 5 and 90 ms of CPU 0; the longest one waits 80 ms for a lock. */
static void the_median_is_found_and_compared(void **state)
{
	static const unsigned ms[] = {3, 90, 4, 2, 5};
	const struct ty_request *median;
	struct ty_requests q;
	struct ty_outlier o;
	struct ty_explain x;
	struct ty_window w;
	uint64_t at = 20 * MS, slow = 0, mid = 0;

	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n", "taken 1 2\n" ROW("11", "11", "1", "server"));
	ty_mx_switch(0, 1 * MS, 0, 0, 11);
	call(10 * MS, 11, NR_ACCEPT, 9, 3);
	for (unsigned i = 0; i < 5; i++) {
		call(at, 11, NR_READ, 100, 9);
		if (ms[i] == 90) {
			give(at + 5 * MS, 5, 2, 0);
			ty_mx_enter(0, at + 5 * MS, 11, NR_FLOCK);
			ty_mx_switch(0, at + 5 * MS + 10, 11, 1, 0);
			ty_mx_waking_irq(0, at + 85 * MS, 0, 11, 0);
			ty_mx_switch(0, at + 85 * MS + 10, 0, 0, 11);
			ty_mx_exit(0, at + 85 * MS + 20, 11, NR_FLOCK, 0);
			slow = at;
		}
		mid = ms[i] == 4 ? at : mid;
		call(at + ms[i] * MS, 11, NR_WRITE, 10, 9);
		at += 100 * MS;
	}
	ty_mx_switch(0, at, 11, 1, 0);
	x = explain(ty_mx_end(), 0);
	x.fd_before = the_lock;
	x.fds_left_out = none_left_out;
	w = window_all(x.m);
	assert_int_equal(ty_requests_find(&x, &w, 10, 0, &q, NULL), 0);
	assert_int_equal(q.all, 5);
	assert_int_equal(q.v[0].start_ns, slow + 1000);
	median = ty_request_median(&q, &q.v[0]);
	assert_non_null(median);
	assert_int_equal(median->start_ns, mid + 1000);
	assert_int_equal(ty_request_compare(&x, &q.v[0], median, &o), 0);
	assert_int_equal(o.slow_ns, 90 * MS);
	assert_int_equal(o.median_ns, 4 * MS);
	assert_non_null(strstr(o.rows[0].row, "sleeping in flock(fd 5 </srv/site.lock>), "));
	assert_in_range(o.rows[0].slow_ns, 79 * MS, 80 * MS);
	assert_int_equal(o.rows[0].median_ns, 0);
	slow = mid = 0;
	for (uint32_t i = 0; i < o.n; i++) {
		slow += o.rows[i].slow_ns;
		mid += o.rows[i].median_ns;
	}
	assert_int_equal(slow, o.slow_ns);
	assert_int_equal(mid, o.median_ns);
	ty_outlier_fini(&o);
	/* the median request itself is compared with another one */
	assert_ptr_not_equal(ty_request_median(&q, median), median);
	pages(&x, q.v[0].start_ns);
	ty_requests_fini(&q);
	ty_mx_drop();
}

/* 11 receives a request, may wait itself, and hands it to 12, which waits for `lock` ms, and
 * replies; 11 waits for the next one meanwhile. Whether 12 was woken for it, or was busy. What they
 * did most: of which thread. */
static int most(unsigned own, unsigned lock, bool woken, char *row, size_t n)
{
	struct ty_request_most out;
	struct ty_requests q;
	struct ty_explain x;
	struct ty_window w;
	int tid;

	begin("mode=pids\npid=11\n",
	      "taken 1 2\n" ROW("11", "11", "1", "reactor") ROW("12", "11", "1", "worker"));
	ty_mx_switch(0, t, 0, R, 12);
	if (woken)
		sleeps(12, NR_FUTEX, 0x1200, 0, 11);
	else
		ty_mx_switch(0, t += 1000, 12, R, 11);
	call(t += 1000, 11, NR_ACCEPT, 9, 3);
	call(t += 2000, 11, NR_READ, 100, 9);
	if (own) {
		sleeps(11, NR_FLOCK, 5, 2, 0);
		time_is_up(11, NR_FLOCK, 0, own);
	}
	if (woken)
		wakes(11, NR_FUTEX, 0x1200, 1, 12);
	sleeps(11, NR_EPOLL_WAIT, 4, 0, 12);
	if (woken)
		ty_mx_exit(0, t += 1000, 12, NR_FUTEX, 0);
	sleeps(12, NR_FLOCK, 6, 2, 0);
	time_is_up(12, NR_FLOCK, 0, lock);
	call(t += 1000, 12, NR_WRITE, 10, 9);
	ty_mx_switch(0, t += MS, 12, S, 0);
	x = explain(ty_mx_end(), 0);
	w = window_all(x.m);
	assert_int_equal(ty_requests_find(&x, &w, 10, 0, &q, NULL), 0);
	assert_int_equal(q.all, 1);
	assert_int_equal(ty_request_most(&x, &q.v[0], &out), 0);
	tid = ty_model_thread(x.m, out.thread)->tid;
	snprintf(row, n, "%s", out.most.row);
	ty_requests_fini(&q);
	ty_mx_drop();
	return tid;
}

/* Not what the reactor does once it has handed the request on. */
static void whose_wait_a_request_is(void **state)
{
	char row[TY_LEDGER_ROW_TEXT];

	assert_int_equal(most(0, 60, true, row, sizeof(row)), 12);
	assert_non_null(strstr(row, "sleeping in flock(fd 6)"));
	assert_int_equal(most(0, 60, false, row, sizeof(row)), 12);
	assert_non_null(strstr(row, "sleeping in flock(fd 6)"));
	assert_int_equal(most(90, 60, true, row, sizeof(row)), 11);
	assert_non_null(strstr(row, "sleeping in flock(fd 5)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_median_is_found_and_compared),
		cmocka_unit_test(whose_wait_a_request_is),
	};

	return cmocka_run_group_tests_name("request_compare", tests, NULL, NULL);
}
