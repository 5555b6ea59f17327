/* SPDX-License-Identifier: MIT */
/* The table of system calls: rows fit together, every name is some machine's, look-up by number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <poll.h>
#include <time.h>

#include <cmocka.h>

#include "syscalls.h"

static const char *const machines[] = {"x86_64", "aarch64", "i686", "arm", "riscv64"};
#define MACHINES (sizeof(machines) / sizeof(*machines))

/* A misspelt name is found by no number. */
static void every_name_is_some_machines(void **state)
{
	static bool seen[1024];
	unsigned n = 0, missing = 0;

	for (size_t m = 0; m < MACHINES; m++)
		for (int abi = 0; abi < TY_ABI_UNSURE; abi++)
			for (int nr = 0; nr < 1024 + 8; nr++) {
				const struct ty_sysarch *a = ty_sysarch_find(machines[m]);
				int64_t as = nr < 1024 ? nr : 0x0f0000 + nr - 1024;
				const struct ty_sysrow *r;

				as |= abi == TY_ABI_X32 ? 0x40000000 : 0;
				r = ty_syscall_row(a, (enum ty_abi)abi, as);
				assert_non_null(r);
				if (r->name)
					seen[r - ty_sysrow_nth(0)] = true;
			}
	for (; ty_sysrow_nth(n); n++)
		if (!seen[n]) {
			print_error("no machine has %s\n", ty_sysrow_nth(n)->name);
			missing++;
		}
	assert_true(n > 350);
	assert_int_equal(missing, 0);
}

static bool is_number(uint8_t kind)
{
	return kind == TY_ARG_INT || kind == TY_ARG_UINT || kind == TY_ARG_LONG ||
	       kind == TY_ARG_ULONG;
}

static void rows_fit_together(void **state)
{
	const struct ty_sysrow *r;

	for (unsigned k = 0; (r = ty_sysrow_nth(k)); k++) {
		assert_true(r->n <= 6);
		assert_non_null(r->as);
		assert_true(!r->does == (r->as == r));
		assert_ptr_equal(r->as->as, r->as);
		assert_true(r->object < r->n);
		for (unsigned i = 0; i < r->n; i++) {
			bool more = i + 1 < r->n;

			if (ty_arg_pointee(r->a[i], TY_ARGOS_X86, false).counted &&
			    !(more && is_number(r->a[i + 1])) &&
			    !(more && r->a[i + 1] == TY_ARG_INT_IO))
				fail_msg("%s: argument %u is counted by the next", r->name, i);
			/* A path that a directory's descriptor stands before. */
			if (r->a[i] == TY_ARG_DIRFD && more && !ty_arg_is_pointer(r->a[i + 1]))
				fail_msg("%s: nothing starts at its directory", r->name);
		}
		for (unsigned i = r->n; i < 6; i++)
			assert_int_equal(r->a[i], 0);
		if (r->says && r->gives >= 0)
			assert_true(ty_sysrow_is_fd(r, r->gives));
		if (r->says && r->takes >= 0)
			assert_true(ty_sysrow_is_fd(r, r->takes));
		if (r->fds == TY_FDS_NEW || r->fds == TY_FDS_PAIR || r->fds == TY_FDS_DUP2)
			assert_true(r->cloexec >= TY_CLOEXEC_ALWAYS && r->cloexec < r->n);
		if (r->fds == TY_FDS_PAIR)
			assert_true(memchr(r->a, TY_ARG_FDS_OUT, r->n));
		if (r->fds == TY_FDS_NEW)
			assert_true(r->fd_kind);
	}
}

/* What exists already is the new name, not the one that is linked or renamed. */
static void object_by_result(void **state)
{
	static const struct {
		const char *name;
		int object, exists;
	} v[] = {{"link", 0, 1},    {"linkat", 1, 3}, {"renameat2", 1, 3}, {"symlink", 1, 1},
		 {"mkdirat", 1, 1}, {"openat", 1, 1}, {"read", 0, 0},	   {"getpid", -1, -1}};

	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		const struct ty_sysrow *r = ty_sysrow_find(TY_ARGOS_X86, false, v[i].name);

		assert_int_equal(ty_sysrow_object(r, 0), v[i].object);
		assert_int_equal(ty_sysrow_object(r, -ENOENT), v[i].object);
		assert_int_equal(ty_sysrow_object(r, -EEXIST), v[i].exists);
		assert_int_equal(ty_sysrow_object(r, -ENOTEMPTY), v[i].exists);
	}
}

/* Of fcntl's commands the kernel reads 32 bits. */
static void copies_of_descriptors(void **state)
{
	static const struct {
		const char *name;
		uint64_t args[6];
		bool copies, cloexec;
	} v[] = {{"dup", {5}, true, false},
		 {"dup2", {5, 6}, true, false},
		 {"dup3", {5, 6, 0x80000}, true, true},
		 {"fcntl", {5, TY_F_DUPFD}, true, false},
		 {"fcntl", {5, TY_F_DUPFD_CLOEXEC}, true, true},
		 {"fcntl", {5, TY_F_DUPFD_CLOEXEC | UINT64_C(1) << 32}, true, true},
		 {"fcntl", {5, TY_F_SETFD, 1}, false, false},
		 {"openat", {5, 0, 0x80000}, false, true}};

	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		const struct ty_sysrow *r = ty_sysrow_find(TY_ARGOS_X86, false, v[i].name);

		assert_int_equal(ty_sysrow_copies(r, v[i].args), v[i].copies);
		assert_int_equal(ty_sysrow_cloexec(r, v[i].args), v[i].cloexec);
	}
}

static void one_number_is_another_call_in_each_abi(void **state)
{
	static const struct {
		const char *machine;
		enum ty_abi abi;
		int64_t nr;
		const char *name, *as;
		int path; /* the argument; -1 */
	} v[] = {
		{"x86_64", TY_ABI_NATIVE64, 59, "execve", "execve", 0},
		{"x86_64", TY_ABI_UNSURE, 59, "execve", "execve", 0},
		{"x86_64", TY_ABI_COMPAT32, 11, "execve", "execve", 0},
		{"x86_64", TY_ABI_X32, 0x40000208, "execve", "execve", 0},
		{"aarch64", TY_ABI_NATIVE64, 221, "execve", "execve", 0},
		{"aarch64", TY_ABI_COMPAT32, 11, "execve", "execve", 0},
		{"i686", TY_ABI_NATIVE64, 11, "execve", "execve", 0},
		{"x86_64", TY_ABI_NATIVE64, 257, "openat", "openat", 1},
		{"aarch64", TY_ABI_NATIVE64, 56, "openat", "openat", 1},
		{"x86_64", TY_ABI_NATIVE64, 3, "close", "close", -1},
		{"x86_64", TY_ABI_COMPAT32, 3, "read", "read", -1},
		{"x86_64", TY_ABI_COMPAT32, 239, "sendfile64", "sendfile", -1},
		{"x86_64", TY_ABI_COMPAT32, 221, "fcntl64", "fcntl", -1},
		{"aarch64", TY_ABI_COMPAT32, 420, "semtimedop_time64", "semtimedop", -1},
		{"x86_64", TY_ABI_COMPAT32, 142, "_newselect", "select", -1},
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		const struct ty_sysrow *r =
			ty_syscall_row(ty_sysarch_find(v[i].machine), v[i].abi, v[i].nr);

		assert_string_equal(r->name, v[i].name);
		assert_string_equal(r->as->name, v[i].as);
		if (v[i].path >= 0)
			assert_int_equal(r->a[v[i].path], TY_ARG_PATH);
		else
			assert_null(memchr(r->a, TY_ARG_PATH, r->n));
		assert_true(r->object < 0 || v[i].path < 0 || r->object == v[i].path);
	}
	/* i386's own select takes one pointer, that of others five arguments. */
	assert_int_equal(ty_syscall_row(ty_sysarch_find("i686"), TY_ABI_NATIVE64, 82)->n, 1);
	assert_int_equal(ty_syscall_row(ty_sysarch_find("arm"), TY_ABI_NATIVE64, 142)->n, 5);
	/* 64-bit offsets are split in 32-bit ABIs. */
	assert_int_equal(ty_syscall_row(ty_sysarch_find("i686"), TY_ABI_NATIVE64, 180)->n, 6);
	assert_int_equal(ty_syscall_row(ty_sysarch_find("x86_64"), TY_ABI_NATIVE64, 17)->n, 4);
}

static void unknown_calls_have_a_row(void **state)
{
	static const int64_t nr[] = {-1, 999, INT64_MAX, INT64_MIN};

	for (unsigned i = 0; i < 4; i++) {
		const struct ty_sysrow *r =
			ty_syscall_row(ty_sysarch_find("x86_64"), TY_ABI_NATIVE64, nr[i]);

		assert_null(r->name);
		assert_int_equal(r->n, 6);
		assert_int_equal(r->object, -1);
		assert_int_equal(r->says | r->wait_on | r->fds | r->class | r->id, 0);
		assert_ptr_equal(r->as, r);
	}
	assert_null(ty_syscall_row(NULL, TY_ABI_NATIVE64, 0)->name);
	assert_null(ty_syscall_row(ty_sysarch_find("sparc"), TY_ABI_NATIVE64, 0)->name);
	assert_null(ty_syscall_row(ty_sysarch_find("x86_64"), (enum ty_abi)77, 0)->name);
}

static const struct ty_sysrow *x86(const char *name)
{
	const struct ty_sysarch *a = ty_sysarch_find("x86_64");

	return ty_syscall_row(a, TY_ABI_NATIVE64, ty_syscall_number(a, name));
}

static void what_lies_behind_pointers(void **state)
{
	static const struct {
		const char *call;
		unsigned arg, form, bytes;
		bool in, out, counted;
	} v[] = {
		{"openat", 1, TY_POINTEE_STRING, 1, true, false, false},
		{"execve", 1, TY_POINTEE_STRINGS, 8, true, false, false},
		{"write", 1, TY_POINTEE_VALUES, 1, true, false, true},
		{"read", 1, TY_POINTEE_VALUES, 1, false, true, true},
		{"poll", 0, TY_POINTEE_VALUES, sizeof(struct pollfd), true, true, true},
		{"connect", 1, TY_POINTEE_VALUES, 1, true, false, true},
		{"accept", 1, TY_POINTEE_VALUES, 1, false, true, true},
		{"sendmsg", 1, TY_POINTEE_VALUES, sizeof(struct msghdr), true, false, false},
		{"recvmmsg", 1, TY_POINTEE_VALUES, sizeof(struct mmsghdr), true, true, true},
		{"readv", 1, TY_POINTEE_VALUES, sizeof(struct iovec), true, true, true},
		{"nanosleep", 0, TY_POINTEE_VALUES, sizeof(struct timespec), true, false, false},
		{"nanosleep", 1, TY_POINTEE_VALUES, sizeof(struct timespec), false, true, false},
		{"pipe", 0, TY_POINTEE_VALUES, 2 * sizeof(int), false, true, false},
#ifdef __x86_64__
		{"epoll_wait", 1, TY_POINTEE_VALUES, sizeof(struct epoll_event), false, true, true},
#endif
		{"close", 0, TY_POINTEE_NONE, 0, false, false, false},
		{"munmap", 0, TY_POINTEE_NONE, 0, false, false, false},
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		struct ty_pointee p =
			ty_arg_pointee(x86(v[i].call)->a[v[i].arg], TY_ARGOS_X86, false);

		if (p.form != v[i].form || p.bytes != v[i].bytes || p.in != v[i].in ||
		    p.out != v[i].out || p.counted != v[i].counted)
			fail_msg("%s, argument %u", v[i].call, v[i].arg);
	}
	assert_int_equal(ty_arg_pointee(TY_ARG_TIME_IN, TY_ARGOS_X86, true).bytes, 8);
	assert_int_equal(ty_arg_pointee(TY_ARG_TIME64_IN, TY_ARGOS_X86, true).bytes, 16);
	assert_int_equal(ty_arg_pointee(TY_ARG_EPOLL_IN, TY_ARGOS_ARM, false).bytes, 16);
	assert_int_equal(ty_arg_pointee(TY_ARG_STRS, TY_ARGOS_ARM, true).bytes, 4);
	for (unsigned kind = TY_ARG_PTR + 1; kind <= TY_ARG_STRUCT_IO; kind++) {
		struct ty_pointee p = ty_arg_pointee((uint8_t)kind, TY_ARGOS_X86, false);

		assert_true(p.form != TY_POINTEE_NONE && (p.in || p.out));
	}
	assert_int_equal(ty_arg_pointee(TY_ARG_SETS + 3, TY_ARGOS_X86, false).form, 0);
	assert_int_equal(ty_arg_pointee(255, TY_ARGOS_X86, false).form, 0);
}

static void what_socketcall_and_ipc_carry(void **state)
{
	const struct ty_sysarch *a = ty_sysarch_find("i686");
	const struct ty_sysrow *s = ty_syscall_row(a, TY_ABI_NATIVE64, 102),
			       *ipc = ty_syscall_row(a, TY_ABI_NATIVE64, 117);

	assert_string_equal(ty_sysrow_carried(s, 3)->name, "connect");
	assert_string_equal(ty_sysrow_carried(s, 20)->name, "sendmmsg");
	assert_null(ty_sysrow_carried(s, 0));
	assert_null(ty_sysrow_carried(s, 21));
	assert_null(ty_sysrow_carried(s, UINT64_MAX));
	assert_string_equal(ty_sysrow_carried(ipc, 0x10001)->name, "semop");
	assert_null(ty_sysrow_carried(ipc, 13));
	assert_null(ty_sysrow_carried(x86("read"), 3));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_is_some_machines),
		cmocka_unit_test(rows_fit_together),
		cmocka_unit_test(object_by_result),
		cmocka_unit_test(copies_of_descriptors),
		cmocka_unit_test(one_number_is_another_call_in_each_abi),
		cmocka_unit_test(unknown_calls_have_a_row),
		cmocka_unit_test(what_lies_behind_pointers),
		cmocka_unit_test(what_socketcall_and_ipc_carry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
