/* SPDX-License-Identifier: MIT */
/* The root of a path, the links to it, and the text of a link. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "chain_links.h"
#include "fixture_given.h"
#include "fixture_lock.h"
#include "fixture_model.h"

static void chain_to_the_sleep(void **state)
{
	const struct ty_model *m = lock_and_sleep();
	struct ty_explain x = explain(m, 0);
	struct ty_link l[8];
	struct ty_path p = {0};
	struct ty_root r;
	char what[TY_LINK_TEXT];

	assert_int_equal(ty_path_find(&x, thread(m, 11), 3 * MS, 111 * MS, &p), 0);
	r = ty_path_root(&p);
	assert_int_equal(r.thread, thread(m, 13));
	assert_int_equal(p.seg.v[r.seg].what, TY_SEG_TIMER);
	assert_int_equal(ty_path_links(m, &p, r.seg, l, 8), 3);
	assert_int_equal(l[0].thread, thread(m, 11));
	assert_int_equal(l[1].thread, thread(m, 12));
	assert_int_equal(l[2].thread, thread(m, 13));
	ty_link_text(&x, &l[2], "", what, sizeof(what));
	assert_string_equal(what, "slept in nanosleep");
	/* A run is in a call when it is for more than half of it. */
	l[2].what = TY_SEG_RUNS;
	for (unsigned before = 0; before <= 1; before++) {
		l[2].start_ns = (6 - before) * MS;
		l[2].end_ns = 7 * MS;
		ty_link_text(&x, &l[2], "", what, sizeof(what));
		assert_string_equal(what, before ? "ran" : "ran in nanosleep");
	}
	/* Fewer links than there are: the outer ones are kept. */
	assert_int_equal(ty_path_links(m, &p, r.seg, l, 2), 2);
	assert_int_equal(l[0].thread, thread(m, 11));
	ty_path_fini(&p);
	ty_mx_drop();
}

/* 11 waits for 12, which waits for 13 in flock once and in read twice: of the latter the chain has
 * one, and their sum. */
static void waits_of_one_kind_are_added(void **state)
{
	static const struct {
		int nr, from, to; /* ms */
	} wait[] = {{NR_FLOCK, 5, 25}, {NR_READ, 27, 57}, {NR_READ, 59, 99}};
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_path p = {0};
	struct ty_link l[8];

	(void)state;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_enter(0, 2 * MS, 11, NR_READ);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	for (unsigned i = 0; i < 3; i++) {
		ty_mx_enter(0, wait[i].from * MS - 2000, 12, wait[i].nr);
		if (i)
			ty_mx_waking(0, wait[i].from * MS - 1000, 12, 13, 0);
		ty_mx_switch(0, wait[i].from * MS, 12, S, 13);
		ty_mx_waking(0, wait[i].to * MS - 1000, 13, 12, 0);
		ty_mx_switch(0, wait[i].to * MS, 13, S, 12);
		ty_mx_exit(0, wait[i].to * MS + 1000, 12, wait[i].nr, 0);
	}
	ty_mx_waking(0, 100 * MS, 12, 11, 0);
	ty_mx_switch(0, 101 * MS, 12, S, 11);
	ty_mx_exit(0, 102 * MS, 11, NR_READ, 1);
	ty_mx_switch(0, 110 * MS, 11, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	assert_int_equal(ty_path_find(&x, thread(m, 11), 3 * MS, 100 * MS, &p), 0);
	assert_int_equal(ty_path_links(m, &p, ty_path_root(&p).seg, l, 8), 3);
	assert_int_equal(l[0].all_ns, 0);
	assert_int_equal(l[1].thread, thread(m, 12));
	assert_in_range(l[1].end_ns - l[1].start_ns, 39 * MS, 40 * MS);
	assert_in_range(l[1].all_ns, 69 * MS, 70 * MS);
	assert_in_range(l[2].all_ns, 89 * MS, 90 * MS);
	ty_path_fini(&p);
	ty_mx_drop();
}

static const char *lock_file(void *ctx, int32_t pid, int32_t fd, bool *cloexec)
{
	(void)ctx;
	(void)pid;
	*cloexec = false;
	return fd == 3 ? "/site.lock" : NULL;
}

static bool none_left_out(void *ctx, int32_t pid)
{
	(void)ctx;
	(void)pid;
	return false;
}

/* A thread that waits for a waiter of a lock is shown with the file and the holder of its lock. */
static void lock_in_a_chain_has_its_file(void **state)
{
	const struct ty_model *m = lock_and_sleep();
	struct ty_explain x = explain(m, 11);
	struct ty_link l = {.thread = thread(m, 12),
			    .span = ty_model_span_find(m, thread(m, 12), 50 * MS),
			    .start_ns = 5 * MS,
			    .end_ns = 108 * MS,
			    .what = TY_SEG_WHATS,
			    .waker = {.thread = thread(m, 13), .io = TY_NONE}};
	char what[TY_LINK_TEXT];

	(void)state;
	givens = 0;
	give(4 * MS, 3, 2, 0);
	x.args = args_of;
	assert_false(ty_link_text(&x, &l, "", what, sizeof(what)));
	assert_string_equal(what, "waited in flock");
	x.fd_before = lock_file;
	x.fds_left_out = none_left_out;
	x.fds_since_ns = 1;
	x.fds_ns = 2;
	assert_true(ty_link_text(&x, &l, "", what, sizeof(what)));
	assert_string_equal(what, "waited for the lock on fd 3 </site.lock> (flock)");
	givens = 0;
	ty_mx_drop();
}

static const char *fifo(void *ctx, uint32_t thread, uint32_t call, unsigned arg)
{
	return arg == 1 ? "/run/conf.fifo" : NULL;
}

/* A wait in open for the other end of a FIFO. */
static void link_of_a_path(void **state)
{
	enum { NR_OPENAT = 257 };
	struct ty_link l = {.start_ns = 3 * MS, .end_ns = 40 * MS, .what = TY_SEG_WHATS};
	char what[TY_LINK_TEXT];
	struct ty_explain x;

	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	give(2 * MS, (uint64_t)-100, 0x7000, 0);
	ty_mx_enter(0, 2 * MS, 11, NR_OPENAT);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	ty_mx_waking(0, 40 * MS, 12, 11, 0);
	ty_mx_switch(0, 41 * MS, 12, S, 11);
	ty_mx_exit(0, 42 * MS, 11, NR_OPENAT, 3);
	ty_mx_switch(0, 43 * MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	l.thread = thread(x.m, 11);
	l.span = ty_model_span_find(x.m, l.thread, 20 * MS);
	l.waker = (struct ty_waker){.thread = thread(x.m, 12), .io = TY_NONE};
	ty_link_text(&x, &l, "", what, sizeof(what));
	assert_string_equal(what, "waited in openat");
	x.pointee = fifo;
	ty_link_text(&x, &l, "", what, sizeof(what));
	assert_string_equal(what, "waited in openat(\"/run/conf.fifo\")");
	givens = 0;
	ty_mx_drop();
}

/* The root of a chain that is a device is shown by name. */
static void link_of_a_device(void **state)
{
	const struct ty_model *m = lock_and_sleep();
	struct ty_explain x = explain(m, 0);
	uint32_t victim = thread(m, 12);
	struct ty_link l = {.thread = victim,
			    .span = ty_model_span_find(m, victim, 50 * MS),
			    .start_ns = 50 * MS,
			    .end_ns = 60 * MS,
			    .what = TY_SEG_DEVICE,
			    .waker = {.kind = TY_WAKER_DEVICE,
				      .thread = TY_NONE,
				      .name = ty_model_thread(m, victim)->name,
				      .io = TY_NONE}};
	char what[TY_LINK_TEXT];

	(void)state;
	ty_link_text(&x, &l, "", what, sizeof(what));
	assert_string_equal(what, "waited in flock, woken by device interrupt t12");
	/* In a call that is not a sleep the timer is named. */
	l.what = TY_SEG_TIMER;
	ty_link_text(&x, &l, "", what, sizeof(what));
	assert_string_equal(what, "waited in flock, woken by a timer");
	l.what = TY_SEG_OPEN;
	ty_link_text(&x, &l, "", what, sizeof(what));
	assert_string_equal(what, "waited in flock, still waiting when the recording ended");
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain_to_the_sleep),
		cmocka_unit_test(waits_of_one_kind_are_added),
		cmocka_unit_test(lock_in_a_chain_has_its_file),
		cmocka_unit_test(link_of_a_path),
		cmocka_unit_test(link_of_a_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
