/* SPDX-License-Identifier: MIT */
/* Which process has the other end of a pipe or socket: its creator, or a child of that, and only
 * as long as it has not closed it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fd_peer.h"
#include "fixture_given.h"
#include "wait_peer.h"

#define MS UINT64_C(1000000)
enum { NR_CLOSE = 3, NR_PIPE = 22, NR_DUP2 = 33, NR_ACCEPT = 43 };

static int drop(void **state)
{
	ty_mx_drop();
	return 0;
}

static void dup2_to(uint64_t at_ns, int tid, uint64_t from, uint64_t to)
{
	give(at_ns, from, to, 0);
	ty_mx_enter(0, at_ns, tid, NR_DUP2);
	ty_mx_exit(0, at_ns + 1000, tid, NR_DUP2, (int64_t)to);
}

static void exits(uint64_t at_ns, int tid)
{
	struct ty_event ev = {.ts_ns = at_ns, .cpu = 0, .tid = tid, .kind = TY_EV_EXIT, .id = 10};

	ev.u.tex.tid = tid;
	ty_mx_feed(ev);
}

static bool peer(const struct ty_explain *x, int tid, uint64_t fd, uint64_t t_ns, const char *name,
		 char *access, char out[TY_FD_PEER])
{
	uint32_t thread = ty_model_thread_find(x->m, tid, t_ns);
	struct ty_fd_table *own = ty_fd_table_new(x, thread, t_ns);
	bool found = ty_fd_peer(x, own, thread, fd, t_ns, name, access, out);

	free(own);
	return found;
}

/* 11 is a shell that runs 20 | 21. */
static void pipeline(void **state)
{
	char out[TY_FD_PEER], access = 0;
	struct ty_explain x;

	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n", "taken 1 2\n" ROW("11", "11", "1", "job"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	call(2 * MS, 11, NR_PIPE, 0, 0x7000); /* 3 and 4 */
	ty_mx_fork(0, 3 * MS, 11, 20, 0);
	ty_mx_fork(0, 4 * MS, 11, 21, 0);
	call(6 * MS, 11, NR_CLOSE, 0, 3);
	call(7 * MS, 11, NR_CLOSE, 0, 4);
	ty_mx_switch(0, 8 * MS, 11, S, 20);
	dup2_to(9 * MS, 20, 4, 1);
	call(10 * MS, 20, NR_CLOSE, 0, 3);
	call(11 * MS, 20, NR_CLOSE, 0, 4);
	ty_mx_switch(0, 12 * MS, 20, S, 21);
	dup2_to(13 * MS, 21, 3, 0);
	call(14 * MS, 21, NR_CLOSE, 0, 3);
	call(15 * MS, 21, NR_CLOSE, 0, 4);
	ty_mx_switch(0, 30 * MS, 21, S, 20);
	exits(40 * MS, 20);
	ty_mx_switch(0, 41 * MS, 20, TY_TASK_DEAD, 21);
	ty_mx_switch(0, 50 * MS, 21, S, 0);
	x = explain(ty_mx_end(), 0);
	assert_true(peer(&x, 21, 0, 20 * MS, NULL, &access, out));
	assert_string_equal(out, "t20/20");
	assert_int_equal(access, 'r');
	assert_true(peer(&x, 20, 1, 20 * MS, NULL, &access, out));
	assert_string_equal(out, "t21/21");
	assert_int_equal(access, 'w');
	/* All three have both ends yet. */
	assert_true(peer(&x, 20, 4, 5 * MS, NULL, &access, out));
	assert_string_equal(out, "t11/21 and 1 more process");
	/* The writer has gone. */
	assert_false(peer(&x, 21, 0, 45 * MS, NULL, &access, out));
	assert_false(peer(&x, 21, 7, 20 * MS, NULL, &access, out));
	assert_false(peer(&x, 21, 5000, 20 * MS, NULL, &access, out));
}

static struct ty_fd_other other;
static char asked[64];

static bool fd_other(void *ctx, const char *name, char access, uint64_t t_ns, int32_t not_pid,
		     int32_t by_tid, struct ty_fd_other *out)
{
	snprintf(asked, sizeof(asked), "%s %c %d", name, access ? access : '-', not_pid);
	*out = other;
	return other.pid || other.tid;
}

static const char *fd_before(void *ctx, int32_t pid, int32_t fd, bool *cloexec)
{
	*cloexec = false;
	return fd != 5 ? NULL : pid == 11 ? "TCP:[1->2]" : pid == 12 ? "TCP:[2->1]" : NULL;
}

static bool fds_left_out(void *ctx, int32_t pid)
{
	return false;
}

/* 11 waits on a socket that was there before; 12 has, or accepts, its other end and gives it to a
 * child of its own. */
static void sockets(void **state)
{
	struct ty_request reply[] = {{.fd = 5, .start_ns = 9 * MS, .end_ns = 10 * MS + 1}};
	const struct ty_wait_for idle = {.class = TY_WAIT_IDLE, .fd = -1};
	char out[TY_FD_PEER], access = 'r', named[TY_PEER];
	struct ty_explain x;
	bool connecting;

	givens = 0;
	ty_mx_begin("mode=all\n",
		    "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "server"));
	ty_mx_switch(0, 1 * MS, 0, R, 12);
	call(2 * MS, 12, NR_ACCEPT, 8, 7);
	ty_mx_fork(0, 3 * MS, 12, 30, 0);
	call(4 * MS, 12, NR_CLOSE, 0, 8);
	call(20 * MS, 12, NR_CLOSE, 0, 5);
	ty_mx_switch(0, 21 * MS, 12, S, 30);
	ty_mx_switch(0, 50 * MS, 30, S, 11);
	ty_mx_switch(0, 51 * MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	x.fd_before = fd_before;
	x.fds_left_out = fds_left_out;
	x.fd_other = fd_other;
	x.fds_ns = 1;
	other = (struct ty_fd_other){.tid = 12, .ns = 2 * MS + 500};
	assert_true(peer(&x, 11, 5, 10 * MS, "TCP:[1->2]", &access, out));
	assert_string_equal(asked, "TCP:[1->2] r 11");
	assert_string_equal(out, "t12/30");
	/* The descriptor on which a reply was awaited is named the same way. */
	reply[0].thread = ty_model_thread_find(x.m, 11, 10 * MS);
	assert_int_equal(
		ty_wait_peer(&x, &(struct ty_requests){.client_waits = reply, .client_waits_n = 1},
			     reply[0].thread, TY_NONE, 9 * MS, 10 * MS, &idle, named, &connecting),
		5);
	assert_string_equal(named, "fd 5 <TCP:[1->2] to t12/30>");
	/* Queried before it was accepted. */
	assert_true(peer(&x, 11, 5, 1 * MS + 1, "TCP:[1->2]", &access, out));
	assert_string_equal(out, "t12/12");
	other = (struct ty_fd_other){.pid = 12, .name = "TCP:[2->1]"};
	assert_true(peer(&x, 11, 5, 10 * MS, "TCP:[1->2]", &access, out));
	assert_string_equal(out, "t12/30 and 1 more process"); /* inherited */
	other.name = "TCP:[3->1]";
	assert_false(peer(&x, 11, 5, 10 * MS, "TCP:[1->2]", &access, out));
	other = (struct ty_fd_other){.tid = 99, .ns = 5};
	assert_false(peer(&x, 11, 5, 10 * MS, "TCP:[1->2]", &access, out));
	other = (struct ty_fd_other){0};
	assert_false(peer(&x, 11, 5, 10 * MS, "TCP:[1->2]", &access, out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(pipeline, drop),
		cmocka_unit_test_teardown(sockets, drop),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
