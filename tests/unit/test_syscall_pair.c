/* SPDX-License-Identifier: MIT */
/* Pairing rules of syscall_pair.h, each on a small stream of events as the kernel emits them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "syscall_pair.h"

#define PTR 0x7ffd00001000ull /* an argument that only a 64-bit caller can pass */

static struct ty_pairs *p;
static struct ty_call out[64];
static unsigned out_n;
static uint64_t now;

static int setup(void **state)
{
	p = ty_pairs_new(ty_sysarch_find("x86_64"));
	out_n = 0;
	now = 1000;
	return !p;
}

static int teardown(void **state)
{
	ty_pairs_free(p);
	return 0;
}

static struct ty_pair_step feed(struct ty_event ev)
{
	struct ty_pair_step st;

	ev.ts_ns = now += 10;
	assert_int_equal(ty_pairs_feed(p, &ev, &st, NULL), 0);
	assert_true(st.done_n <= 2);
	for (unsigned i = 0; i < st.done_n; i++)
		out[out_n++ % 64] = st.done[i];
	return st;
}

static void enter(int tid, int64_t nr, uint64_t arg0)
{
	struct ty_pair_step st = feed((struct ty_event){
		.kind = TY_EV_SYS_ENTER, .tid = tid, .u.enter = {.nr = nr, .args = {arg0}}});

	assert_true(st.started);
}

static void leave(int tid, int64_t nr, int64_t ret)
{
	feed((struct ty_event){
		.kind = TY_EV_SYS_EXIT, .tid = tid, .u.exit = {.nr = nr, .ret = ret}});
}

static void forked(int parent, int child)
{
	feed((struct ty_event){.kind = TY_EV_NEWTASK, .tid = parent, .u.newtask.tid = child});
	feed((struct ty_event){.kind = TY_EV_FORK,
			       .tid = parent,
			       .u.fork = {.parent_tid = parent, .child_tid = child}});
}

static void execed(int tid, int old)
{
	feed((struct ty_event){
		.kind = TY_EV_EXEC, .tid = tid, .u.exec = {.tid = tid, .old_tid = old}});
}

static void died(int tid)
{
	feed((struct ty_event){.kind = TY_EV_EXIT, .tid = tid, .u.tex.tid = tid});
}

static void lost(int cpu)
{
	feed((struct ty_event){.kind = TY_EV_GAP, .cpu = cpu, .u.gap.count = 5});
}

static void plain(void **state)
{
	enter(7, 0, PTR);
	assert_non_null(ty_pairs_current(p, 7));
	leave(7, 0, 5);
	assert_null(ty_pairs_current(p, 7));
	assert_int_equal(out_n, 1);
	assert_int_equal(out[0].how, TY_CALL_RETURNED);
	assert_int_equal(out[0].start_ns, 1010);
	assert_int_equal(out[0].end_ns, 1020);
	assert_int_equal(out[0].ret, 5);
	assert_int_equal(out[0].args[0], PTR);
	assert_int_equal(out[0].abi, TY_ABI_NATIVE64);
	assert_false(out[0].gap_inside);
}

static void threads_interleave(void **state)
{
	for (int t = 1; t <= 5000; t++)
		enter(t, t % 300, PTR);
	for (int t = 5000; t >= 1; t--) {
		out_n = 0;
		leave(t, t % 300 == 15 ? -1 : t % 300, t);
		assert_int_equal(out_n, 1);
		assert_int_equal(out[0].tid, t);
		assert_int_equal(out[0].seq, t - 1);
	}
}

static void fork_child_return_is_no_call(void **state)
{
	static const int nrs[] = {56, 57, 58, 435};

	for (unsigned i = 0; i < 4; i++) {
		out_n = 0;
		enter(7, nrs[i], PTR);
		forked(7, 20 + i);
		leave(20 + i, nrs[i], 0); /* before the parent's, as after vfork */
		assert_int_equal(out_n, 0);
		enter(20 + i, 39, PTR);
		leave(20 + i, 39, 20);
		assert_int_equal(out_n, 1);
		leave(7, nrs[i], 20 + i);
		assert_int_equal(out_n, 2);
		assert_int_equal(out[1].ret, 20 + i);
	}
}

static void fork_child_without_fork_events(void **state)
{
	enter(7, 56, PTR);
	leave(8, 56, 0);
	leave(7, 56, 8);
	assert_int_equal(out_n, 1);
	assert_int_equal(out[0].tid, 7);
}

static void exec_by_non_leader(void **state)
{
	enter(7, 202, PTR); /* the leader waits in futex */
	enter(9, 59, PTR);
	died(7);
	assert_int_equal(out_n, 1);
	assert_int_equal(out[0].how, TY_CALL_EXITED);
	execed(7, 9);
	assert_null(ty_pairs_current(p, 9));
	leave(7, 59, 0);
	assert_int_equal(out_n, 2);
	assert_int_equal(out[1].tid, 9);
	assert_int_equal(out[1].end_tid, 7);
	assert_int_equal(out[1].how, TY_CALL_RETURNED);
}

static void execveat_ends_as_execve(void **state)
{
	enter(9, 322, PTR);
	execed(9, 9);
	leave(9, 59, 0);
	assert_int_equal(out_n, 1);
	assert_int_equal(out[0].nr, 322);
	assert_int_equal(out[0].how, TY_CALL_RETURNED);
}

static void exec_proves_the_abi(void **state)
{
	enter(9, 59, PTR);
	execed(9, 9);
	leave(9, 11, 0); /* execve of i386 */
	assert_int_equal(out[0].how, TY_CALL_RETURNED);
	assert_int_equal(out[0].abi, TY_ABI_NATIVE64);
	enter(9, 4, 1);
	leave(9, 4, 3);
	assert_int_equal(out[1].abi, TY_ABI_COMPAT32);
	enter(9, 2, 0); /* i386 fork; the child inherits */
	forked(9, 10);
	leave(9, 2, 10);
	leave(10, 2, 0);
	assert_int_equal(out_n, 3);
	enter(10, 20, 0);
	leave(10, 20, 10);
	assert_int_equal(out[3].abi, TY_ABI_COMPAT32);
	enter(10, 11, 0x8000); /* back to 64 bits */
	execed(10, 10);
	leave(10, 59, 0);
	assert_int_equal(out[4].abi, TY_ABI_COMPAT32);
	enter(10, 39, 0);
	leave(10, 39, 10);
	assert_int_equal(out[5].abi, TY_ABI_NATIVE64);
}

static void abi_without_exec(void **state)
{
	enter(9, 3, 5);
	leave(9, 3, 0);
	assert_int_equal(out[0].abi, TY_ABI_UNSURE);
	enter(9, 3, PTR);
	leave(9, 3, 0);
	assert_int_equal(out[1].abi, TY_ABI_NATIVE64);
	enter(9, 3, 5);
	leave(9, 3, 0);
	assert_int_equal(out[2].abi, TY_ABI_NATIVE64);
	/* A fork event in the middle of number 2: open of x86-64 does not fork. */
	enter(12, 2, 0);
	forked(12, 13);
	leave(13, 2, 0);
	leave(12, 2, 13);
	assert_int_equal(out_n, 4);
	assert_int_equal(out[3].abi, TY_ABI_COMPAT32);
	enter(13, 4, 1);
	leave(13, 4, 1);
	assert_int_equal(out[4].abi, TY_ABI_COMPAT32);
	enter(14, 0x40000000 | 39, 0);
	leave(14, 0x40000000 | 39, -38);
	assert_int_equal(out[5].abi, TY_ABI_X32);
}

static void sigreturn_and_restart(void **state)
{
	enter(7, 34, PTR); /* pause */
	leave(7, 34, -514);
	assert_int_equal(out_n, 0); /* held back: SIGKILL or a handler? */
	feed((struct ty_event){.kind = TY_EV_SIGNAL_DELIVER, .tid = 7, .u.sig.sig = 14});
	assert_int_equal(out_n, 1);
	enter(7, 1, PTR); /* in the handler */
	leave(7, 1, 2);
	enter(7, 15, PTR);
	leave(7, -1, -4);
	enter(7, 219, PTR); /* restart_syscall */
	leave(7, 219, 0);
	assert_int_equal(out_n, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(out[i].how, TY_CALL_RETURNED);
	assert_int_equal(out[2].nr, 15);
	assert_int_equal(out[2].ret, -4);
}

static void began_before(void **state)
{
	leave(7, 0, 3);
	leave(8, 57, 0); /* fork's 0 goes to children only */
	assert_int_equal(out_n, 1);
	assert_int_equal(out[0].how, TY_CALL_NO_ENTER_BEFORE);
	assert_int_equal(out[0].start_ns, 0);
	assert_int_equal(out[0].ret, 3);
	/* A refused call: the thread is known, nothing was lost. */
	leave(7, 41, -1);
	assert_int_equal(out[1].how, TY_CALL_NO_ENTER);
}

static void the_commands_own_wait(void **state)
{
	ty_pairs_command(p, 7);
	leave(7, 0, 1);
	assert_int_equal(out_n, 0);
	enter(7, 59, PTR);
	execed(7, 7);
	leave(7, 59, 0);
	leave(7, 0, 1);
	assert_int_equal(out_n, 2);
	assert_int_equal(out[1].how, TY_CALL_NO_ENTER);
}

static void loss(void **state)
{
	enter(7, 0, PTR);
	lost(1);
	enter(7, 1, PTR); /* read's end is gone */
	assert_int_equal(out_n, 1);
	assert_int_equal(out[0].how, TY_CALL_END_LOST);
	leave(7, 1, 1);
	assert_int_equal(out[1].how, TY_CALL_RETURNED);
	assert_false(out[1].gap_inside);
	enter(7, 202, PTR);
	lost(0);
	leave(7, 202, 0); /* perhaps another futex call's end */
	assert_int_equal(out[2].how, TY_CALL_RETURNED);
	assert_true(out[2].gap_inside);
	enter(7, 0, PTR);
	lost(0);
	leave(7, 3, 0); /* a close whose start is gone */
	assert_int_equal(out[3].how, TY_CALL_END_LOST);
	assert_int_equal(out[4].how, TY_CALL_NO_ENTER_LOST);
	assert_int_equal(out[4].nr, 3);
	assert_int_equal(out_n, 5);
}

/* A loss's end has the time of the first event behind it. */
static void loss_just_before(void **state)
{
	struct ty_pair_step st;
	struct ty_event ev = {.kind = TY_EV_GAP, .ts_ns = 500};

	assert_int_equal(ty_pairs_feed(p, &ev, &st, NULL), 0);
	ev = (struct ty_event){.kind = TY_EV_SYS_ENTER, .ts_ns = 500, .tid = 7};
	assert_int_equal(ty_pairs_feed(p, &ev, &st, NULL), 0);
	leave(7, 0, 1);
	assert_int_equal(out[0].start_ns, 500);
	assert_false(out[0].gap_inside);
}

static void mismatch_without_loss(void **state)
{
	enter(7, 0, PTR);
	enter(7, 1, PTR);
	assert_int_equal(out[0].how, TY_CALL_END_MISSING);
	leave(7, 3, 0);
	assert_int_equal(out[1].how, TY_CALL_END_MISSING);
	assert_int_equal(out[2].how, TY_CALL_NO_ENTER);
}

static void loss_of_other_buffers_does_not_count(void **state)
{
	enter(7, 0, PTR); /* buffer 0 holds the system calls */
	feed((struct ty_event){.kind = TY_EV_GAP, .buffer = 1});
	leave(7, 0, 0);
	assert_false(out[0].gap_inside);
}

/* trace-cmd -B a -e raw_syscalls -B b -e raw_syscalls: everything comes twice. */
static void the_same_in_two_buffers(void **state)
{
	static const struct ty_event evs[] = {
		{.kind = TY_EV_SYS_ENTER, .tid = 7, .u.enter = {.nr = 202, .args = {PTR}}},
		{.kind = TY_EV_SYS_ENTER, .tid = 9, .u.enter = {.nr = 39, .args = {PTR}}},
		{.kind = TY_EV_SYS_EXIT, .tid = 9, .u.exit = {.nr = 39, .ret = 9}},
		{.kind = TY_EV_SYS_ENTER, .tid = 9, .u.enter = {.nr = 39, .args = {PTR}}},
		{.kind = TY_EV_SYS_EXIT, .tid = 9, .u.exit = {.nr = 39, .ret = 9}},
		{.kind = TY_EV_SYS_ENTER, .tid = 9, .u.enter = {.nr = 15, .args = {PTR}}},
		{.kind = TY_EV_SYS_EXIT, .tid = 9, .u.exit = {.nr = -1, .ret = 9}},
		{.kind = TY_EV_SYS_ENTER, .tid = 9, .u.enter = {.nr = 56, .args = {PTR}}},
		{.kind = TY_EV_FORK, .tid = 9, .u.fork = {.parent_tid = 9, .child_tid = 10}},
		{.kind = TY_EV_SYS_EXIT, .tid = 10, .u.exit = {.nr = 56, .ret = 0}},
		{.kind = TY_EV_SYS_EXIT, .tid = 9, .u.exit = {.nr = 56, .ret = 10}},
		{.kind = TY_EV_SYS_ENTER, .tid = 9, .u.enter = {.nr = 59, .args = {PTR}}},
		{.kind = TY_EV_EXIT, .tid = 7, .u.tex.tid = 7},
		{.kind = TY_EV_EXEC, .tid = 7, .u.exec = {.tid = 7, .old_tid = 9}},
		{.kind = TY_EV_SYS_EXIT, .tid = 7, .u.exit = {.nr = 59, .ret = 0}},
	};
	static const int64_t nrs[] = {39, 39, 15, 56, 202, 59};

	for (unsigned i = 0; i < sizeof(evs) / sizeof(evs[0]); i++)
		for (unsigned b = 0; b < 2; b++) {
			struct ty_event ev = evs[i];

			ev.buffer = (uint16_t)b;
			feed(ev);
		}
	assert_int_equal(out_n, 6);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(out[i].nr, nrs[i]);
		assert_int_equal(out[i].how, nrs[i] == 202 ? TY_CALL_EXITED : TY_CALL_RETURNED);
	}
}

static void reused_tid(void **state)
{
	enter(7, 57, PTR);
	enter(8, 202, PTR);
	lost(0);
	forked(7, 8); /* 8 ended unseen */
	assert_int_equal(out_n, 1);
	assert_int_equal(out[0].tid, 8);
	assert_int_equal(out[0].how, TY_CALL_END_LOST);
	leave(8, 57, 0);
	leave(7, 57, 8);
	assert_int_equal(out_n, 2);
	/* The parent's own end lost, its tid reused: the child's 0 is not the parent's result. */
	enter(30, 57, PTR);
	lost(0);
	leave(30, 57, 0);
	assert_int_equal(out_n, 3);
	assert_int_equal(out[2].how, TY_CALL_END_LOST);
}

static void killed_and_open(void **state)
{
	struct ty_call c;
	uint32_t it = 0;

	enter(7, 231, PTR);
	died(7);
	assert_int_equal(out[0].how, TY_CALL_EXITED);
	enter(8, 0, PTR);
	lost(0);
	died(8);
	assert_int_equal(out[1].how, TY_CALL_END_LOST);
	enter(9, 0, PTR);
	lost(0);
	assert_true(ty_pairs_open_next(p, &it, &c));
	assert_int_equal(c.tid, 9);
	assert_int_equal(c.how, TY_CALL_END_LOST); /* whether it continues is unknown */
	assert_int_equal(c.end_ns, now);
	assert_true(c.gap_inside);
	assert_false(ty_pairs_open_next(p, &it, &c));
	enter(9, 0, PTR);
	it = 0;
	assert_true(ty_pairs_open_next(p, &it, &c));
	assert_int_equal(c.how, TY_CALL_OPEN);
	assert_false(c.gap_inside);
	/* What exit_group would return to is gone in any case. */
	enter(9, 231, PTR);
	lost(0);
	it = 0;
	assert_true(ty_pairs_open_next(p, &it, &c));
	assert_int_equal(c.how, TY_CALL_OPEN);
}

/* A loss that lasts to the end may swallow the end of calls that begin later, too. */
static void endless_loss(void **state)
{
	struct ty_call c;
	uint32_t it = 0;

	enter(9, 0, PTR);
	leave(9, 0, 1);
	feed((struct ty_event){
		.kind = TY_EV_GAP, .cpu = 1, .u.gap = {.what = TY_GAP_UNFINISHED, .to_end = true}});
	enter(9, 0, PTR);
	leave(9, 0, 1);
	enter(9, 0, PTR);
	assert_false(out[0].gap_inside);
	assert_int_equal(out[1].how, TY_CALL_RETURNED);
	assert_true(out[1].gap_inside);
	assert_true(ty_pairs_open_next(p, &it, &c));
	assert_int_equal(c.how, TY_CALL_END_LOST);
	leave(10, 0, 1);
	leave(10, 0, 1);
	assert_int_equal(out[3].how, TY_CALL_NO_ENTER_LOST);
}

/* Interrupted by a SIGKILL the call never returns, though the kernel reports its end. */
static void killed_while_interrupted(void **state)
{
	struct ty_call c;
	uint32_t it = 0;

	enter(7, 34, PTR);
	leave(7, 34, -514);
	feed((struct ty_event){.kind = TY_EV_SIGNAL_DELIVER, .tid = 7, .u.sig.sig = 9});
	assert_int_equal(out_n, 1);
	assert_int_equal(out[0].how, TY_CALL_EXITED);
	died(7);
	assert_int_equal(out_n, 1);
	/* Without signal events this is unknown: reported as it is recorded. */
	enter(8, 34, PTR);
	leave(8, 34, -512);
	died(8);
	assert_int_equal(out_n, 2);
	assert_int_equal(out[1].how, TY_CALL_RETURNED);
	enter(9, 34, PTR);
	leave(9, 34, -516);
	assert_null(ty_pairs_current(p, 9));
	assert_true(ty_pairs_open_next(p, &it, &c));
	assert_int_equal(c.how, TY_CALL_RETURNED);
	assert_int_equal(c.ret, -516);
	assert_false(ty_pairs_open_next(p, &it, &c));
	enter(9, 219, PTR);
	assert_int_equal(out_n, 3);
	leave(9, 219, 0);
	assert_int_equal(out[2].seq, 2);
	assert_int_equal(out[3].seq, 3);
}

/* Programs started by the kernel itself (modprobe, core dump helpers) come back from no call. */
static void usermode_helper(void **state)
{
	forked(2, 50);
	execed(50, 50);
	leave(50, 59, 0);
	assert_int_equal(out_n, 0);
	enter(50, 12, 0);
	leave(50, 12, 0x5000);
	assert_int_equal(out[0].abi, TY_ABI_NATIVE64);
}

static void hostile(void **state)
{
	enter(4194304, INT64_MIN, 0);
	leave(4194304, INT64_MIN, INT64_MIN);
	assert_int_equal(out_n, 1);
	out_n = 0;
	struct ty_pair_step st = feed((struct ty_event){.kind = TY_EV_SYS_ENTER, .tid = -5});
	assert_false(st.started);
	st = feed((struct ty_event){.kind = TY_EV_SYS_ENTER, .tid = 4194305});
	assert_false(st.started);
	forked(7, 7);
	forked(-1, 0);
	forked(7, INT32_MAX);
	execed(0, 0);
	execed(-3, INT32_MIN);
	died(INT32_MIN);
	enter(7, 59, PTR);
	execed(7, 8);
	assert_int_equal(out_n, 1);
	assert_null(ty_pairs_current(p, 7));
	out_n = 0;
	/* The table under random use against a plain array. */
	static int64_t model[3000];
	srand(1);
	memset(model, 0, sizeof(model));
	for (int i = 0; i < 200000; i++) {
		int tid = 1 + rand() % 2999;

		switch (rand() % 3) {
		case 0:
			if (!model[tid]) {
				enter(tid, 300, PTR);
				model[tid] = 1;
			}
			break;
		case 1:
			out_n = 0;
			if (model[tid]) {
				leave(tid, 300, 1);
				assert_int_equal(out_n, 1);
				assert_int_equal(out[0].how, TY_CALL_RETURNED);
				model[tid] = 0;
			}
			break;
		default:
			out_n = 0;
			died(tid);
			assert_int_equal(out_n, model[tid]);
			model[tid] = 0;
		}
		assert_int_equal(!!ty_pairs_current(p, tid), model[tid] != 0);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(plain),
		T(threads_interleave),
		T(fork_child_return_is_no_call),
		T(fork_child_without_fork_events),
		T(exec_by_non_leader),
		T(execveat_ends_as_execve),
		T(exec_proves_the_abi),
		T(abi_without_exec),
		T(sigreturn_and_restart),
		T(began_before),
		T(the_commands_own_wait),
		T(loss),
		T(loss_just_before),
		T(mismatch_without_loss),
		T(loss_of_other_buffers_does_not_count),
		T(the_same_in_two_buffers),
		T(reused_tid),
		T(killed_and_open),
		T(endless_loss),
		T(killed_while_interrupted),
		T(usermode_helper),
		T(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
