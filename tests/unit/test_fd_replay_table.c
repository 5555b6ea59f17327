/* SPDX-License-Identifier: MIT */
/* What calls do to the descriptors of a process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_fds.h"

enum { NR_OPEN = 2, NR_SOCKET = 41, NR_CONNECT = 42, NR_EXECVE = 59, O_CLOEXEC_ = 0x80000 };

static void open_with(uint64_t at_ns, int64_t ret, uint64_t flags)
{
	give(at_ns, 0x7000, flags, 0);
	ty_mx_enter(0, at_ns, 11, NR_OPEN);
	ty_mx_exit(0, at_ns + 1000, 11, NR_OPEN, ret);
}

/* The flags of the call that opened it decide, also where another one gave it a name since; where
 * they are unknown, nothing is known of it afterwards. */
static void closed_by_exec(void **state)
{
	struct ty_fd_table *t;
	struct ty_explain x;
	uint32_t thread;

	begin();
	open_with(2 * MS, 8, O_CLOEXEC_);
	open_with(3 * MS, 9, 0);
	ty_mx_enter(0, 4 * MS, 11, NR_OPEN);
	ty_mx_exit(0, 4 * MS + 1000, 11, NR_OPEN, 10);
	give(5 * MS, 1, O_CLOEXEC_ | 1, 0);
	ty_mx_enter(0, 5 * MS, 11, NR_SOCKET);
	ty_mx_exit(0, 5 * MS + 1000, 11, NR_SOCKET, 12);
	call(6 * MS, 11, NR_CONNECT, 0, 12);
	call(20 * MS, 11, NR_EXECVE, 0, 0);
	x = end();
	thread = ty_model_thread_find(x.m, 11, 10 * MS);
	t = ty_fd_table_new(&x, thread, 15 * MS);
	assert_non_null(t);
	assert_true(t->open[8] && t->open[9] && t->open[10] && t->open[12]);
	free(t);
	t = ty_fd_table_new(&x, thread, 30 * MS);
	assert_non_null(t);
	assert_true(t->open[9]);
	assert_false(t->open[8] || t->open[10] || t->open[12]);
	free(t);
	ty_mx_drop();
}

/* One that is returned shows that all lower ones were open. */
static void lower_ones_are_open(void **state)
{
	struct ty_fd_table *t;
	struct ty_explain x;
	uint32_t thread;

	begin();
	call(2 * MS, 11, NR_OPEN, 9, 0x7000);
	x = end();
	x.fd_before = NULL;
	thread = ty_model_thread_find(x.m, 11, 10 * MS);
	t = ty_fd_table_new(&x, thread, 1 * MS);
	assert_non_null(t);
	assert_true(t->open[2] && !t->open[3] && !t->open[9]);
	free(t);
	t = ty_fd_table_new(&x, thread, 3 * MS);
	assert_non_null(t);
	for (unsigned fd = 0; fd < TY_FDS; fd++)
		assert_int_equal(t->open[fd], fd <= 9);
	assert_int_equal(t->kind[8], TY_FD_UNKNOWN);
	assert_int_equal(t->kind[9], TY_FD_FILE);
	free(t);
	ty_mx_drop();
}

/* The other end of a pseudoterminal comes from an ioctl. A copy of what another unknown call opened
 * has no name, whatever had the number before. */
static void terminals_and_stale_names(void **state)
{
	enum { NR_CLOSE = 3, NR_IOCTL = 16, NR_DUP2 = 33, TIOCGPTPEER_ = 0x5441 };
	const char *name;
	struct ty_fd_table *t;
	struct ty_explain x;
	uint32_t thread;

	(void)state;
	begin();
	open_with(2 * MS, 8, 0);
	call(3 * MS, 11, NR_CLOSE, 0, 8);
	give(4 * MS, 8, 9, 0);
	ty_mx_enter(0, 4 * MS, 11, NR_DUP2);
	ty_mx_exit(0, 4 * MS + 1000, 11, NR_DUP2, 9);
	give(5 * MS, 3, TIOCGPTPEER_, O_CLOEXEC_ | 2);
	ty_mx_enter(0, 5 * MS, 11, NR_IOCTL);
	ty_mx_exit(0, 5 * MS + 1000, 11, NR_IOCTL, 8);
	give(6 * MS, 8, 1, 0);
	ty_mx_enter(0, 6 * MS, 11, NR_DUP2);
	ty_mx_exit(0, 6 * MS + 1000, 11, NR_DUP2, 1);
	call(20 * MS, 11, NR_EXECVE, 0, 0);
	x = end();
	x.pointee = pointee;
	thread = ty_model_thread_find(x.m, 11, 10 * MS);
	t = ty_fd_table_new(&x, thread, 10 * MS);
	assert_non_null(t);
	assert_int_equal(ty_fd_table_kind(&x, t, 9, &name), TY_FD_UNKNOWN);
	assert_null(name);
	for (unsigned fd = 1; fd <= 8; fd += 7) {
		assert_int_equal(ty_fd_table_kind(&x, t, fd, &name), TY_FD_FILE);
		assert_string_equal(name, "/dev/pts/?");
	}
	free(t);
	t = ty_fd_table_new(&x, thread, 30 * MS);
	assert_non_null(t);
	assert_true(t->open[1] && !t->open[8]); /* O_CLOEXEC */
	free(t);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closed_by_exec),
		cmocka_unit_test(lower_ones_are_open),
		cmocka_unit_test(terminals_and_stale_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
