/* SPDX-License-Identifier: MIT */
/* Waits in several tries, each with a time-out or broken off by a signal, are one wait for the one
 * that ended the last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chain.h"
#include "fixture_given.h"
#include "wait_retry.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)

enum {
	NR_WRITE = 1,
	NR_SIGRETURN = 15,
	NR_FUTEX = 202,
	WAIT = 0x80,
	WAKE = 0x81,
	MINE = 0x1000, /* what 11 waits for */
	LOCK = 0x2000, /* what 12 waits for, in tries, and 13 has */
	ELSE = 0x3000,
	TRIES = 4
};

enum how {
	AGAIN,
	BROKEN_OFF,
	IN_VAIN,
	ASKS,
	OTHER_WORD,
	OTHER_AMID,
	WORKS,
	GETS,
	TOLD_TWICE,
	NO_HANDLER
};

static uint32_t thread(const struct ty_model *m, int tid)
{
	return ty_model_thread_find(m, tid, ty_model_summary(m)->end_ns);
}

static void enter_wait(uint64_t ts, int tid, uint64_t word)
{
	give(ts, word, WAIT, 0);
	ty_mx_enter(0, ts, tid, NR_FUTEX);
}

static void wake(uint64_t ts, int tid, uint64_t word, int whom)
{
	give(ts, word, WAKE, 1);
	ty_mx_enter(0, ts, tid, NR_FUTEX);
	ty_mx_waking(0, ts + 1 * US, tid, whom, 0);
	ty_mx_exit(0, ts + 2 * US, tid, NR_FUTEX, 1);
}

/* The handler of the signal that interrupted a wait gives something, and that many times
 * something is there at once. */
static void handler(uint64_t t, int tid, unsigned told, bool returns)
{
	call(t, tid, NR_WRITE, 1, 7);
	if (returns)
		call(t + 2 * US, tid, NR_SIGRETURN, 0, 0);
	for (unsigned i = 0; i < told; i++) {
		enter_wait(t + (4 + 2 * i) * US, tid, LOCK);
		ty_mx_exit(0, t + (5 + 2 * i) * US, tid, NR_FUTEX, 1);
	}
}

/* 13 computes and has what 12 tries to get, 5 ms at a time; 11 waits for 12. */
static const struct ty_model *interpreter(enum how how)
{
	struct ty_event ev = {
		.kind = TY_EV_VECTOR_ENTRY, .tid = 13, .id = 30, .flags = TY_EVF_HARDIRQ};
	static const int64_t err[] = {-4, -512}; /* EINTR, ERESTARTSYS */
	uint64_t t = 4 * MS;

	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	enter_wait(2 * MS, 11, MINE);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	enter_wait(t - 1 * US, 12, how == OTHER_WORD ? ELSE : LOCK);
	for (int i = 0; i < TRIES; i++) {
		bool last = i == TRIES - 1,
		     broken = how == BROKEN_OFF || how == TOLD_TWICE || how == NO_HANDLER;

		ty_mx_switch(0, t, 12, S, 13);
		t += 5 * MS;
		if (last && how != IN_VAIN) {
			wake(t, 13, LOCK, 12);
			ty_mx_switch(0, t + 10 * US, 13, S, 12);
			ty_mx_exit(0, t + 11 * US, 12, NR_FUTEX, 0);
			break;
		}
		ev.ts_ns = t;
		ev.kind = TY_EV_VECTOR_ENTRY;
		ty_mx_feed(ev);
		ev.kind = TY_EV_HRTIMER_EXPIRE;
		ty_mx_feed(ev);
		ty_mx_waking_irq(0, t + 1 * US, 13, 12, 0);
		ty_mx_switch(0, t + 2 * US, 13, R, 12);
		ty_mx_exit(0, t + 3 * US, 12, NR_FUTEX,
			   how == GETS ? 0
			   : broken    ? err[i % 2]
				       : -110);
		if (last)
			break;
		if (how == ASKS)
			call(t + 4 * US, 12, NR_WRITE, 1, 7);
		if (broken)
			handler(t + 4 * US, 12, how == TOLD_TWICE ? 2 : 1, how != NO_HANDLER);
		t += how == WORKS ? 2 * MS : 20 * US;
		enter_wait(t - 1 * US, 12, how == OTHER_AMID && i == 1 ? ELSE : LOCK);
	}
	t += 20 * US;
	wake(t, 12, MINE, 11);
	ty_mx_switch(0, t + 10 * US, 12, S, 11);
	ty_mx_exit(0, t + 11 * US, 11, NR_FUTEX, 0);
	ty_mx_switch(0, t + 20 * US, 11, S, 0);
	return ty_mx_end();
}

static struct ty_root root_of(enum how how, size_t *hops)
{
	const struct ty_model *m = interpreter(how);
	struct ty_explain x = explain(m, 0);
	struct ty_path p = {0};
	struct ty_root r;
	uint64_t sum = 0, to;

	to = ty_model_summary(m)->end_ns;
	assert_int_equal(ty_path_find(&x, thread(m, 11), 3 * MS, to, &p), 0);
	vec_each (s, &p.seg)
		sum += s->end_ns - s->start_ns;
	assert_int_equal(sum, to - 3 * MS);
	r = ty_path_root(&p);
	r.thread = (uint32_t)ty_model_thread(m, r.thread)->tid;
	*hops = p.hop.n;
	ty_path_fini(&p);
	ty_mx_drop();
	return r;
}

static void who_has_it_is_what_is_waited_for(void **state)
{
	for (enum how how = AGAIN; how <= BROKEN_OFF; how++) {
		size_t hops;
		struct ty_root r = root_of(how, &hops);

		assert_int_equal(r.thread, 13);
		assert_true(r.what_ns[TY_SEG_RUNS] > 19 * MS);
		assert_int_equal(hops, 2); /* 11's wait, and 12's, once */
	}
}

static void what_is_no_trying_again(void **state)
{
	static const enum how how[] = {IN_VAIN, ASKS, WORKS, GETS, TOLD_TWICE, NO_HANDLER};

	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		size_t hops;
		struct ty_root r = root_of(how[i], &hops);

		assert_int_equal(r.thread, 12);
		assert_true(r.what_ns[TY_SEG_TIMER] > 14 * MS);
		assert_true(r.what_ns[TY_SEG_RUNS] > 1 * MS + 3 * 18 * US); /* in between */
	}
}

/* Another word first, or before the last: what follows is one wait, what precedes is none of it. */
static void another_word_parts_them(void **state)
{
	for (enum how how = OTHER_WORD; how <= OTHER_AMID; how++) {
		size_t hops;
		struct ty_root r = root_of(how, &hops);
		bool amid = how == OTHER_AMID;

		assert_int_equal(r.thread, amid ? 12 : 13);
		assert_in_range(r.what_ns[amid ? TY_SEG_TIMER : TY_SEG_RUNS], 14 * MS, 17 * MS);
	}
}

/* As libcurl does: 12 polls several descriptors, `tries` times in vain, until 13 has computed.
 * other: the last time another list. */
static struct ty_root polls(unsigned tries, bool other, bool *inferred)
{
	enum { NR_POLL = 7, LIST = 0x5000 };
	struct ty_event ev = {
		.kind = TY_EV_HRTIMER_EXPIRE, .tid = 13, .id = 30, .flags = TY_EVF_HARDIRQ};
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_path p = {0};
	struct ty_root r;
	uint64_t t = 1 * MS;

	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, t, 0, R, 12);
	for (unsigned i = 0; i <= tries; i++) {
		t += 10 * US;
		give(t, other && i == tries ? LIST + 64 : LIST, 2, 100);
		ty_mx_enter(0, t, 12, NR_POLL);
		ty_mx_switch(0, t, 12, S, 13);
		t += 100 * MS;
		ev.ts_ns = t;
		if (i < tries)
			ty_mx_feed(ev);
		if (i < tries)
			ty_mx_waking_irq(0, t, 13, 12, 0);
		else
			ty_mx_waking(0, t, 13, 12, 0);
		ty_mx_switch(0, t + 1 * US, 13, R, 12);
		ty_mx_exit(0, t + 2 * US, 12, NR_POLL, i == tries);
	}
	ty_mx_switch(0, t + 20 * US, 12, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	assert_int_equal(ty_path_find(&x, thread(m, 12), 1 * MS, t, &p), 0);
	r = ty_path_root(&p);
	r.thread = (uint32_t)ty_model_thread(m, r.thread)->tid;
	*inferred = p.inferred;
	ty_path_fini(&p);
	ty_mx_drop();
	return r;
}

static void a_poll_of_several_is_tried_again(void **state)
{
	bool inferred;
	struct ty_root r = polls(3, false, &inferred);

	assert_int_equal(r.thread, 13);
	assert_in_range(r.what_ns[TY_SEG_RUNS], 399 * MS, 401 * MS);
	assert_true(inferred); /* the list may have held others */
	r = polls(3, true, &inferred);
	assert_int_equal(r.thread, 12);
	assert_in_range(r.what_ns[TY_SEG_TIMER], 299 * MS, 301 * MS);
	assert_false(inferred);
	polls(0, false, &inferred);
	assert_false(inferred);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_it_is_what_is_waited_for),
		cmocka_unit_test(what_is_no_trying_again),
		cmocka_unit_test(another_word_parts_them),
		cmocka_unit_test(a_poll_of_several_is_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
