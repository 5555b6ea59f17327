/* SPDX-License-Identifier: MIT */
/* What system calls send and receive, and on which descriptor, on 64-bit and 32-bit machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "syscall_ipc.h"

static int given_args(void *ctx, const struct ty_syscall *c, uint64_t args[6])
{
	memcpy(args, ctx, 6 * sizeof(*args));
	return 0;
}

static struct ty_syscall_ipc says(const char *machine, const char *name, uint64_t *args,
				  int64_t ret, unsigned *on_fd_4)
{
	const struct ty_sysarch *arch = ty_sysarch_find(machine);
	struct ty_explain x = {.arch = arch, .args = given_args, .ctx = args};
	struct ty_syscall c = {.nr = ty_syscall_number(arch, name), .ret = ret};
	struct ty_syscall_ipc t;

	assert_true(c.nr >= 0);
	t = ty_syscall_ipc(&x, &c);
	*on_fd_4 = ty_syscall_ipc_on(&x, &c, &t, 4);
	return t;
}

static void sends_and_receives_by_descriptor(void **state)
{
	static const struct {
		const char *machine, *name;
		uint64_t args[6];
		int64_t ret;
		unsigned says, on_fd_4;
	} v[] = {
		{"x86_64", "read", {4}, 1, TY_TAKES, TY_TAKES},
		{"x86_64", "read", {5}, 1, TY_TAKES, 0},
		{"x86_64", "sendfile", {4, 5}, 9, TY_GIVES, TY_GIVES},
		{"x86_64", "sendfile", {5, 4}, 9, TY_GIVES, 0},
		{"x86_64", "splice", {4, 0, 5}, 9, TY_GIVES | TY_TAKES, TY_TAKES},
		{"x86_64", "splice", {5, 0, 4}, 9, TY_GIVES | TY_TAKES, TY_GIVES},
		{"x86_64", "io_uring_enter", {4, 2}, 2, TY_GIVES, 0},
		{"x86_64", "io_uring_enter", {4, 0, 1}, 0, 0, 0},
		{"x86_64", "getpid", {4}, 4, 0, 0},
		{"i686", "recvmmsg_time64", {4}, 1, TY_TAKES | TY_MESSAGE, TY_TAKES | TY_MESSAGE},
		{"i686", "sendfile64", {4, 5}, 9, TY_GIVES, TY_GIVES},
		{"i686", "socketcall", {10, 4}, 1, TY_TAKES | TY_MESSAGE, 0},
		{"i686", "socketcall", {9, 4}, 1, TY_GIVES | TY_MESSAGE, 0},
		{"i686", "socketcall", {99, 4}, 1, 0, 0},
		{"i686", "ipc", {0x10001, 4}, 0, TY_GIVES, 0},
	};

	for (unsigned i = 0; i < sizeof(v) / sizeof(*v); i++) {
		uint64_t args[6];
		unsigned on;
		struct ty_syscall_ipc t;

		memcpy(args, v[i].args, sizeof(args));
		t = says(v[i].machine, v[i].name, args, v[i].ret, &on);
		if (t.says != v[i].says || on != v[i].on_fd_4)
			fail_msg("%s on %s says %#x, on fd 4 %#x", v[i].name, v[i].machine, t.says,
				 on);
	}
}

/* Without recorded arguments the call is known, the descriptor is not. */
static void without_arguments(void **state)
{
	const struct ty_sysarch *arch = ty_sysarch_find("x86_64");
	struct ty_explain x = {.arch = arch};
	struct ty_syscall c = {.nr = ty_syscall_number(arch, "read"), .ret = 1};
	struct ty_syscall_ipc t = ty_syscall_ipc(&x, &c);

	assert_int_equal(t.says, TY_TAKES);
	assert_int_equal(t.takes, 0);
	assert_int_equal(t.gives, -1);
	assert_int_equal(ty_syscall_ipc_on(&x, &c, &t, 4), 0);
}

/* socketcall's descriptor is behind a pointer: the operation is known, its descriptor is not. */
static void carried_by_socketcall(void **state)
{
	uint64_t args[6] = {10, 4};
	const struct ty_sysarch *arch = ty_sysarch_find("i686");
	struct ty_explain x = {.arch = arch, .args = given_args, .ctx = args};
	struct ty_syscall c = {.nr = ty_syscall_number(arch, "socketcall"), .ret = 1};
	struct ty_syscall_ipc t = ty_syscall_ipc(&x, &c);

	assert_int_equal(t.says, TY_TAKES | TY_MESSAGE);
	assert_int_equal(t.takes, -1);
	assert_int_equal(ty_syscall_ipc_on(&x, &c, &t, 10), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends_and_receives_by_descriptor),
		cmocka_unit_test(without_arguments),
		cmocka_unit_test(carried_by_socketcall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
