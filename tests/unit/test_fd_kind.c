/* SPDX-License-Identifier: MIT */
/* What a descriptor was, by calls and by the list of those that were open when the recording began.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "call_args.h"
#include "fd_kind.h"
#include "fixture_fds.h"
#include "fixture_given.h"

/* Names that descriptors had when they were listed, 10 ms after the start. */
static void names_from_before(void **state)
{
	enum { NR_CLOSE = 3, NR_OPEN = 2, NR_DUP = 32 };
	const char *name;
	struct ty_explain x;
	uint32_t t;

	begin();
	call(2 * MS, 11, NR_OPEN, 6, 0x7000); /* 6 is another one from here on */
	call(20 * MS, 11, NR_DUP, 7, 5);
	call(30 * MS, 11, NR_CLOSE, 0, 5);
	call(40 * MS, 11, NR_OPEN, 5, 0x7000);
	x = end();
	x.fds_ns = 10 * MS;
	t = ty_model_thread_find(x.m, 11, 10 * MS);
	assert_int_equal(ty_fd_kind(&x, t, 5, 1 * MS, &name), TY_FD_FILE);
	assert_string_equal(name, "/var/lock/x");
	/* What was found at 6 was not there yet; what was opened has no name. */
	assert_int_equal(ty_fd_kind(&x, t, 6, 1 * MS, &name), TY_FD_UNKNOWN);
	assert_null(name);
	assert_int_equal(ty_fd_kind(&x, t, 6, 15 * MS, &name), TY_FD_FILE);
	assert_null(name);
	/* A copy keeps the name, the number does not. */
	assert_int_equal(ty_fd_kind(&x, t, 7, 35 * MS, &name), TY_FD_FILE);
	assert_string_equal(name, "/var/lock/x");
	assert_int_equal(ty_fd_kind(&x, t, 5, 45 * MS, &name), TY_FD_FILE);
	assert_null(name);
	ty_mx_drop();
}

/* What was done before descriptors were looked at is in the list already; what was done meanwhile
 * may be. */
static void changes_before_the_list(void **state)
{
	enum { NR_PIPE = 22, NR_DUP2 = 33, NR_CLOSE = 3 };
	const char *name;
	struct ty_explain x;
	uint32_t t;

	begin();
	call(2 * MS, 11, NR_PIPE, 0, 0x7000);
	call(3 * MS, 11, NR_DUP2, 8, 5);
	call(8 * MS, 11, NR_CLOSE, 0, 5);
	call(20 * MS, 11, NR_PIPE, 0, 0x7000);
	x = end();
	x.fds_since_ns = 6 * MS;
	x.fds_ns = 10 * MS;
	t = ty_model_thread_find(x.m, 11, 10 * MS);
	/* The pipe is 6 and one that is closed again: the lowest free one is no pipe's end. */
	assert_int_equal(ty_fd_kind(&x, t, 0, 15 * MS, &name), TY_FD_UNKNOWN);
	assert_int_equal(ty_fd_kind(&x, t, 6, 15 * MS, &name), TY_FD_PIPE);
	assert_string_equal(name, "pipe:[9]");
	/* Nor was 6 one before there was a pipe. */
	assert_int_equal(ty_fd_kind(&x, t, 6, 1 * MS, &name), TY_FD_UNKNOWN);
	assert_null(name);
	/* Closed while it was looked at: before or after? */
	assert_int_equal(ty_fd_kind(&x, t, 5, 15 * MS, &name), TY_FD_UNKNOWN);
	assert_null(name);
	assert_int_equal(ty_fd_kind(&x, t, 0, 30 * MS, &name), TY_FD_PIPE);
	left_out = true; /* 0 may be open, too */
	assert_int_equal(ty_fd_kind(&x, t, 0, 30 * MS, &name), TY_FD_UNKNOWN);
	ty_mx_drop();
}

static void call32(uint64_t at_ns, int nr, int64_t ret, uint64_t fd)
{
	struct ty_event ev = {.ts_ns = at_ns, .tid = 11, .kind = TY_EV_SYS_ENTER, .id = 3};

	give(at_ns, fd, 0, 1);
	ev.u.enter.nr = nr;
	ev.u.enter.args[0] = fd;
	ty_mx_feed(ev);
	ty_mx_exit(0, at_ns + 1000, 11, nr, ret);
}

/* Numbers are those of the ABI that the process runs in: i386's read is 3, as x86-64's close is. */
static void numbers_of_its_abi(void **state)
{
	enum { NR_EXECVE = 59, NR32_EXECVE = 11, NR32_READ = 3, NR32_CLOSE = 6 };
	struct ty_event ev = {.ts_ns = 3 * MS - 1, .kind = TY_EV_EXEC, .id = 34, .tid = 11};
	const char *name;
	struct ty_explain x;
	uint32_t t;

	begin();
	give(2 * MS, 0, 0, 0);
	ty_mx_enter(0, 2 * MS, 11, NR_EXECVE);
	ev.u.exec.tid = ev.u.exec.old_tid = 11;
	ty_mx_feed(ev);
	ty_mx_exit(0, 3 * MS, 11, NR32_EXECVE, 0); /* the new image is i386's */
	call32(20 * MS, NR32_READ, 1, 5);
	call32(21 * MS, NR32_CLOSE, 0, 6);
	x = end();
	x.fds_since_ns = x.fds_ns = 10 * MS;
	t = ty_model_thread_find(x.m, 11, 10 * MS);
	assert_int_equal(ty_fd_kind(&x, t, 5, 30 * MS, &name), TY_FD_FILE);
	assert_string_equal(name, "/var/lock/x");
	assert_int_equal(ty_fd_kind(&x, t, 6, 15 * MS, &name), TY_FD_PIPE);
	assert_int_equal(ty_fd_kind(&x, t, 6, 30 * MS, &name), TY_FD_UNKNOWN);
	ty_mx_drop();
}

static const char *by_kernel(void *ctx, uint32_t thread, uint32_t call, unsigned arg)
{
	return arg == TY_POINTEE_FD	  ? "first"
	       : arg == TY_POINTEE_FD + 1 ? "second"
					  : pointee(ctx, thread, call, arg);
}

/* What was opened while it was recorded has the name that its call was given. */
static void names_from_calls(void **state)
{
	enum { NR_OPEN = 2, NR_CLOSE = 3, NR_DUP = 32, NR_SOCKET = 41, NR_CONNECT = 42 };
	const char *name;
	struct ty_explain x;
	uint32_t t;

	begin();
	call(2 * MS, 11, NR_OPEN, 8, 0x7000);
	call(4 * MS, 11, NR_DUP, 9, 8);
	call(6 * MS, 11, NR_CLOSE, 0, 8);
	call(8 * MS, 11, NR_SOCKET, 8, 2);
	call(10 * MS, 11, NR_CONNECT, -111, 8); /* ECONNREFUSED */
	call(20 * MS, 11, NR_CONNECT, -115, 8); /* EINPROGRESS */
	call(30 * MS, 11, NR_OPEN, -2, 0x7000);
	x = end();
	t = ty_model_thread_find(x.m, 11, 10 * MS);
	assert_int_equal(ty_fd_kind(&x, t, 8, 3 * MS, &name), TY_FD_FILE);
	assert_null(name); /* strings are not recorded */
	x.pointee = pointee;
	assert_int_equal(ty_fd_kind(&x, t, 8, 3 * MS, &name), TY_FD_FILE);
	assert_string_equal(name, "/opened");
	assert_int_equal(ty_fd_kind(&x, t, 9, 40 * MS, &name), TY_FD_FILE);
	assert_string_equal(name, "/opened");
	assert_int_equal(ty_fd_kind(&x, t, 8, 15 * MS, &name), TY_FD_SOCKET);
	assert_null(name);
	assert_int_equal(ty_fd_kind(&x, t, 8, 25 * MS, &name), TY_FD_SOCKET);
	assert_string_equal(name, "socket:[->1.2.3.4:5]");
	ty_mx_drop();
}

/* What the kernel reported at the ends of the calls. */
static void names_by_the_kernel(void **state)
{
	enum { NR_SOCKET = 41, NR_CONNECT = 42, NR_SOCKETPAIR = 53, NR_DUP = 32 };
	const char *name;
	struct ty_explain x;
	uint32_t t;

	begin();
	call(2 * MS, 11, NR_SOCKET, 3, 2);
	call(4 * MS, 11, NR_CONNECT, 0, 3);
	call(6 * MS, 11, NR_SOCKETPAIR, 0, 1);
	call(8 * MS, 11, NR_DUP, 8, 7);
	x = end();
	t = ty_model_thread_find(x.m, 11, 10 * MS);
	x.pointee = by_kernel;
	for (unsigned at = 3; at <= 5; at += 2) {
		assert_int_equal(ty_fd_kind(&x, t, 3, at * MS, &name), TY_FD_SOCKET);
		assert_string_equal(name, "first");
	}
	assert_int_equal(ty_fd_kind(&x, t, 4, 10 * MS, &name), TY_FD_SOCKET);
	assert_string_equal(name, "first");
	assert_int_equal(ty_fd_kind(&x, t, 7, 10 * MS, &name), TY_FD_SOCKET);
	assert_string_equal(name, "second");
	assert_int_equal(ty_fd_kind(&x, t, 8, 10 * MS, &name), TY_FD_SOCKET);
	assert_string_equal(name, "second");
	ty_mx_drop();
}

static bool received(void *ctx, uint32_t thread, uint32_t call, unsigned i,
		     struct ty_fd_received *out)
{
	static const struct ty_fd_received v[] = {{15, false, "/sent"},
						  {16, true, "pipe:[9]"},
						  {17, false, NULL},
						  {4000, false, "/"}};

	if (ctx || call || i >= sizeof(v) / sizeof(*v))
		return false;
	*out = v[i];
	return true;
}

/* What a message brought (SCM_RIGHTS). */
static void names_of_received(void **state)
{
	enum { NR_RECVMSG = 47, NR_EXECVE = 59, NR_DUP = 32 };
	const char *name;
	struct ty_explain x;
	uint32_t t;

	begin();
	call(2 * MS, 11, NR_RECVMSG, 1, 3);
	call(4 * MS, 11, NR_DUP, 19, 15);
	call(6 * MS, 11, NR_RECVMSG, -11, 3);
	call(8 * MS, 11, NR_EXECVE, 0, 0);
	x = end();
	t = ty_model_thread_find(x.m, 11, 10 * MS);
	assert_int_equal(ty_fd_kind(&x, t, 15, 3 * MS, &name), TY_FD_UNKNOWN);
	x.received = received;
	assert_int_equal(ty_fd_kind(&x, t, 15, 1 * MS, &name), TY_FD_UNKNOWN);
	assert_int_equal(ty_fd_kind(&x, t, 15, 3 * MS, &name), TY_FD_FILE);
	assert_string_equal(name, "/sent");
	assert_int_equal(ty_fd_kind(&x, t, 19, 5 * MS, &name), TY_FD_FILE);
	assert_string_equal(name, "/sent");
	assert_int_equal(ty_fd_kind(&x, t, 16, 5 * MS, &name), TY_FD_PIPE);
	assert_int_equal(ty_fd_kind(&x, t, 16, 9 * MS, &name), TY_FD_UNKNOWN); /* close-on-exec */
	assert_int_equal(ty_fd_kind(&x, t, 17, 5 * MS, &name), TY_FD_UNKNOWN);
	ty_mx_drop();
}

/* Look-ups that continue from others find the same as those that begin anew, in any order. */
static void look_ups_that_continue(void **state)
{
	enum { NR_OPEN = 2, NR_CLOSE = 3, NR_SOCKET = 41, CALLS = 1500, TIMES = 400 };
	struct ty_fd_histories *kept = ty_fd_histories_new(1 << 20);
	const char *name, *anew;
	struct ty_explain x, y;
	uint32_t t;

	assert_non_null(kept);
	begin();
	for (unsigned i = 0; i < CALLS; i++)
		call(2 * MS + i * 20000, 11,
		     i % 3 == 0	  ? NR_OPEN
		     : i % 3 == 1 ? NR_SOCKET
				  : NR_CLOSE,
		     i % 3 == 2 ? 0 : 7 + i % 50, 7 + i % 31);
	x = y = end();
	x.pointee = y.pointee = pointee;
	x.fds_ns = y.fds_ns = 5 * MS;
	y.fd_histories = kept;
	t = ty_model_thread_find(x.m, 11, 10 * MS);
	for (unsigned i = 0; i < TIMES; i++) {
		const uint64_t at = MS + i * 7919 % TIMES * 80000, fd = i % 60;

		assert_int_equal(ty_fd_kind(&x, t, fd, at, &anew),
				 ty_fd_kind(&y, t, fd, at, &name));
		assert_true(name == anew);
	}
	ty_fd_histories_free(kept);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_from_before),	  cmocka_unit_test(names_from_calls),
		cmocka_unit_test(names_by_the_kernel),	  cmocka_unit_test(changes_before_the_list),
		cmocka_unit_test(numbers_of_its_abi),	  cmocka_unit_test(names_of_received),
		cmocka_unit_test(look_ups_that_continue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
