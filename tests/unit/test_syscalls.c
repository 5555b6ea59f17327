/* SPDX-License-Identifier: MIT */
/*
 * Names, arguments and results of system calls. Expected texts are strace 6.1's for the same values
 * where strace does not look behind pointers; tests/e2e/dump_syscalls.sh compares many more, live.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "syscall_constants.h"
#include "syscalls.h"

static const struct ty_sysarch *x86, *arm;

static int setup(void **state)
{
	x86 = ty_sysarch_find("x86_64");
	arm = ty_sysarch_find("aarch64");
	return !x86 || !arm;
}

static const char *name(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr)
{
	static char buf[32];

	return ty_syscall_name(a, abi, nr, buf);
}

static void names(void **state)
{
	assert_string_equal(name(x86, TY_ABI_NATIVE64, 0), "read");
	assert_string_equal(name(x86, TY_ABI_UNSURE, 257), "openat");
	assert_string_equal(name(x86, TY_ABI_COMPAT32, 257), "remap_file_pages");
	assert_string_equal(name(x86, TY_ABI_COMPAT32, 11), "execve");
	assert_string_equal(name(x86, TY_ABI_X32, 0x40000000 | 520), "execve");
	assert_string_equal(name(x86, TY_ABI_X32, 39), "syscall_39");
	assert_string_equal(name(arm, TY_ABI_NATIVE64, 56), "openat");
	assert_string_equal(name(arm, TY_ABI_COMPAT32, 0xf0005), "set_tls");
	assert_string_equal(name(x86, TY_ABI_NATIVE64, 462), "mseal"); /* newer than libseccomp */
	assert_string_equal(name(arm, TY_ABI_NATIVE64, 469), "file_setattr");
	assert_string_equal(name(x86, TY_ABI_NATIVE64, 999), "syscall_999");
	assert_string_equal(name(x86, TY_ABI_NATIVE64, -1), "syscall_-1");
	assert_string_equal(name(x86, TY_ABI_NATIVE64, INT64_MIN), "syscall_-9223372036854775808");
	assert_string_equal(name(x86, TY_ABI_NATIVE64, INT64_MAX), "syscall_9223372036854775807");
	/* libseccomp's own negative numbers for calls that a machine lacks */
	assert_string_equal(name(x86, TY_ABI_NATIVE64, -101), "syscall_-101");
	assert_string_equal(name(ty_sysarch_find("i586"), TY_ABI_NATIVE64, 4), "write");
	assert_string_equal(name(ty_sysarch_find("armv7l"), TY_ABI_NATIVE64, 4), "write");
	assert_string_equal(name(ty_sysarch_find("arm64"), TY_ABI_NATIVE64, 64), "write");
	assert_string_equal(name(ty_sysarch_find("sparc"), TY_ABI_NATIVE64, 4), "syscall_4");
	assert_string_equal(name(ty_sysarch_find(NULL), TY_ABI_NATIVE64, 4), "syscall_4");
	assert_string_equal(name(ty_sysarch_find(""), TY_ABI_COMPAT32, 4), "syscall_4");
	assert_int_equal(ty_syscall_number(x86, "openat"), 257);
	assert_int_equal(ty_syscall_number(x86, "sigreturn"), -1);
	assert_int_equal(ty_syscall_number(ty_sysarch_find("sparc"), "openat"), -1);
	assert_int_equal(ty_syscall_row(x86, TY_ABI_NATIVE64, 39)->n, 0);
	assert_int_equal(ty_syscall_row(x86, TY_ABI_NATIVE64, 257)->n, 4);
	assert_int_equal(ty_syscall_row(x86, TY_ABI_NATIVE64, 999)->n, 6);
}

static void classes(void **state)
{
	enum ty_abi abi = TY_ABI_UNSURE;

	assert_int_equal(ty_syscall_class(x86, TY_ABI_NATIVE64, 57), TY_SC_FORK);
	assert_int_equal(ty_syscall_class(x86, TY_ABI_COMPAT32, 120), TY_SC_FORK);
	assert_int_equal(ty_syscall_class(x86, TY_ABI_NATIVE64, 120), TY_SC_OTHER);
	assert_int_equal(ty_syscall_class(x86, TY_ABI_COMPAT32, 119), TY_SC_SIGRETURN);
	assert_int_equal(ty_syscall_class(x86, TY_ABI_X32, 0x40000000 | 513), TY_SC_SIGRETURN);
	assert_int_equal(ty_syscall_class(arm, TY_ABI_NATIVE64, 94), TY_SC_EXIT);
	assert_int_equal(ty_syscall_class(x86, TY_ABI_NATIVE64, -1), TY_SC_OTHER);
	assert_true(ty_syscall_exec_proves(x86, 11, &abi));
	assert_int_equal(abi, TY_ABI_COMPAT32);
	assert_true(ty_syscall_exec_proves(x86, 59, &abi));
	assert_int_equal(abi, TY_ABI_NATIVE64);
	assert_true(ty_syscall_exec_proves(x86, 0x40000000 | 520, &abi));
	assert_int_equal(abi, TY_ABI_X32);
	assert_false(ty_syscall_exec_proves(x86, 322, &abi));
	assert_false(ty_syscall_exec_proves(arm, 221, &abi));
	assert_true(ty_syscall_is_x32(x86, 0x40000000 | 39));
	assert_false(ty_syscall_is_x32(x86, -1));
	assert_false(ty_syscall_is_x32(arm, 0x40000000 | 39));
	assert_false(ty_sysarch_has_compat(ty_sysarch_find("i686")));
}

static const char *args(const struct ty_sysarch *a, enum ty_abi abi, int nr, uint64_t a0,
			uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5)
{
	static struct ty_buf b;
	const uint64_t v[6] = {a0, a1, a2, a3, a4, a5};

	ty_buf_fini(&b);
	ty_buf_init(&b, 4096);
	assert_int_equal(ty_syscall_fmt_args(a, abi, nr, v, &b), 0);
	return b.p ? b.p : "";
}

#define ARGS(text, call, ...)                                                                      \
	assert_string_equal(args(x86, TY_ABI_NATIVE64, ty_syscall_number(x86, call), __VA_ARGS__), \
			    text)
#define P 0x7ffd12345678

static void arguments(void **state)
{
	ARGS("", "getpid", 1, 2, 3, 4, 5, 6);
	ARGS("AT_FDCWD, 0x7ffd12345678, O_RDONLY|O_CLOEXEC", "openat", -100, P, 02000000, 9, 9, 9);
	ARGS("AT_FDCWD, 0x7ffd12345678, O_WRONLY|O_CREAT|O_TRUNC, 0644", "openat", 0xffffff9c, P,
	     01101, 0644, 9, 9);
	ARGS("3, NULL, O_RDWR|O_TMPFILE, 000", "openat", 3, 0, 020200002, 0, 0, 0);
	ARGS("3, NULL, 18446744073709551615", "read", 0xdead00000003, 0, -1, 0, 0, 0);
	ARGS("-1, 0x1, 4096, -8", "pread64", -1, 1, 4096, -8, 0, 0);
	ARGS("NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0", "mmap", 0, 8192,
	     3, 0x22, 0xffffffff, 0);
	ARGS("0x7ffd12345678, 4096, PROT_NONE, MAP_SHARED|MAP_FIXED, 3, 0x26000", "mmap", P, 4096,
	     0, 0x11, 3, 0x26000);
	ARGS("0x1, FUTEX_WAIT_PRIVATE, 2, NULL", "futex", 1, 128, 2, 0, P, 9);
	ARGS("0x1, FUTEX_WAKE, 1", "futex", 1, 1, 1, 0, P, 9);
	ARGS("0x1, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 0, NULL, "
	     "FUTEX_BITSET_MATCH_ANY",
	     "futex", 1, 9 | 128 | 256, 0, 0, P, 0xffffffff);
	ARGS("0x1, FUTEX_WAKE_OP_PRIVATE, 1, 1, 0x7ffd12345678, "
	     "FUTEX_OP_SET<<28|0<<12|FUTEX_OP_CMP_GT<<24|0x1",
	     "futex", 1, 5 | 128, 1, 1, P, 0x4000001);
	ARGS("0x1, 0x7f /* FUTEX_??? */, 1, NULL, 0, 3", "futex", 1, 127, 1, 0, P, 3);
	ARGS("child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, "
	     "child_tidptr=0x7ffd12345678",
	     "clone", 0x1200011, 0, 0, P, 0, 0);
	ARGS("child_stack=NULL, flags=0", "clone", 0, 0, 0, 0, 0, 0);
	ARGS("-1, NULL, WNOHANG|__WALL, NULL", "wait4", -1, 0, 0x40000001, 0, 0, 0);
	ARGS("123, SIGTERM", "kill", 123, 15, 0, 0, 0, 0);
	ARGS("123, 0", "kill", 123, 0, 0, 0, 0, 0);
	ARGS("1, 2, SIGRT_2", "tgkill", 1, 2, 34, 0, 0, 0);
	ARGS("SIG_BLOCK, NULL, 0x7ffd12345678, 8", "rt_sigprocmask", 0, 0, P, 8, 0, 0);
	ARGS("4, EPOLL_CTL_ADD, 5, 0x7ffd12345678", "epoll_ctl", 4, 1, 5, P, 0, 0);
	ARGS("0x7ffd12345678, 2, -1", "poll", P, 2, 0xffffffff, 0, 0, 0);
	ARGS("AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP", "socket", 2, 02000001, 6, 0, 0, 0);
	ARGS("AF_NETLINK, SOCK_RAW, NETLINK_ROUTE", "socket", 16, 3, 0, 0, 0, 0);
	ARGS("0x63 /* AF_??? */, SOCK_RAW, 7", "socket", 99, 3, 7, 0, 0, 0);
	ARGS("3, SOL_TCP, TCP_NODELAY, 0x7ffd12345678, 4", "setsockopt", 3, 6, 1, P, 4, 0);
	ARGS("3, F_GETFL", "fcntl", 3, 3, 99, 0, 0, 0);
	ARGS("3, F_SETFL, O_RDONLY|O_NONBLOCK", "fcntl", 3, 4, 04000, 0, 0, 0);
	ARGS("3, F_SETLK, 0x7ffd12345678", "fcntl", 3, 6, P, 0, 0, 0);
	ARGS("3, 0x270f /* F_??? */, 0x7ffd12345678", "fcntl", 3, 9999, P, 0, 0, 0);
	ARGS("1, 0x5401 /* TCGETS */, 0x7ffd12345678", "ioctl", 1, 0x5401, P, 0, 0, 0);
	ARGS("3, 0xc0045877 /* FIFREEZE */, 0", "ioctl", 3, 0xc0045877, 0, 0, 0, 0);
	ARGS("1, 0xae01, 0", "ioctl", 1, 0xffffffff0000ae01, 0, 0, 0, 0);
	ARGS("NULL", "brk", 0, 0, 0, 0, 0, 0);
	ARGS("0x7ffd12345678, 10, 20, MREMAP_MAYMOVE", "mremap", P, 10, 20, 1, 9, 9);
	ARGS("0x7ffd12345678, 10, 20, MREMAP_MAYMOVE|MREMAP_FIXED, 0x9", "mremap", P, 10, 20, 3, 9,
	     9);
	ARGS("PR_SET_NAME, 0x7ffd12345678", "prctl", 15, P, 3, 4, 5, 6);
	ARGS("0, RLIMIT_STACK, NULL, 0x7ffd12345678", "prlimit64", 0, 3, 0, P, 0, 0);
	ARGS("0x7ffd12345678, F_OK", "access", P, 0, 0, 0, 0, 0);
	ARGS("0x7ffd12345678, R_OK|W_OK|0x100", "access", P, 0x106, 0, 0, 0, 0);
	ARGS("3, LOCK_EX|LOCK_NB", "flock", 3, 6, 0, 0, 0, 0);
	ARGS("0x7ffd12345678, 0755", "mkdir", P, 0755, 0, 0, 0, 0);
	ARGS("022", "umask", 022, 0, 0, 0, 0, 0);
	ARGS("0x7ffd12345678, 0x20, 0, 0x53053053", "rseq", P, 32, 0, 0x53053053, 0, 0);
	assert_string_equal(args(x86, TY_ABI_NATIVE64, 999, 1, 0, -1, 4, 5, 6),
			    "0x1, 0, 0xffffffffffffffff, 0x4, 0x5, 0x6");
}

/* Values that differ between machines and ABIs. */
static void other_abis(void **state)
{
	/* arm64: O_DIRECTORY 040000, O_NOFOLLOW 0100000, O_DIRECT 0200000, O_LARGEFILE 0400000 */
	assert_string_equal(args(arm, TY_ABI_NATIVE64, 56, -100, P, 040000, 0, 0, 0),
			    "AT_FDCWD, 0x7ffd12345678, O_RDONLY|O_DIRECTORY");
	assert_string_equal(args(arm, TY_ABI_NATIVE64, 56, -100, P, 0200000 | 0100000, 0, 0, 0),
			    "AT_FDCWD, 0x7ffd12345678, O_RDONLY|O_DIRECT|O_NOFOLLOW");
	/* clone: arm64 and i386 have tls before child_tid */
	assert_string_equal(args(arm, TY_ABI_NATIVE64, 220, 0x00280000, 1, 2, 3, 4, 0),
			    "child_stack=0x1, flags=CLONE_SETTLS|CLONE_CHILD_CLEARTID, tls=0x3, "
			    "child_tidptr=0x4");
	assert_string_equal(args(x86, TY_ABI_NATIVE64, 56, 0x00280000, 1, 2, 3, 4, 0),
			    "child_stack=0x1, flags=CLONE_SETTLS|CLONE_CHILD_CLEARTID, tls=0x4, "
			    "child_tidptr=0x3");
	assert_string_equal(args(x86, TY_ABI_COMPAT32, 120, 0x00280000, 1, 2, 3, 4, 0),
			    "child_stack=0x1, flags=CLONE_SETTLS|CLONE_CHILD_CLEARTID, tls=0x3, "
			    "child_tidptr=0x4");
	/* i386: old mmap has one argument; mmap2 counts pages; longs have 32 bits */
	assert_string_equal(args(x86, TY_ABI_COMPAT32, 90, 0x8000, 1, 2, 3, 4, 5), "0x8000");
	assert_string_equal(args(x86, TY_ABI_COMPAT32, 192, 0, 4096, 1, 2, 3, 5),
			    "NULL, 4096, PROT_READ, MAP_PRIVATE, 3, 0x5000");
	assert_string_equal(args(x86, TY_ABI_COMPAT32, 19, 3, 0xfffffffe, 0, 0, 0, 0),
			    "3, -2, SEEK_SET");
	assert_string_equal(args(x86, TY_ABI_X32, 0x40000000 | 0, 3, P, 5, 0, 0, 0),
			    "3, 0x7ffd12345678, 5");
}

static const char *result(enum ty_abi abi, const char *call, const uint64_t *a, int64_t ret)
{
	static struct ty_buf b;

	ty_buf_fini(&b);
	ty_buf_init(&b, 4096);
	assert_int_equal(ty_syscall_fmt_result(x86, abi, ty_syscall_number(x86, call), a, ret, &b),
			 0);
	return b.p;
}

static void results(void **state)
{
	const uint64_t getfd[6] = {3, 1}, getfl[6] = {3, 3};

	assert_string_equal(result(0, "read", NULL, 832), "832");
	assert_string_equal(result(0, "read", NULL, -2), "-1 ENOENT (No such file or directory)");
	assert_string_equal(result(0, "read", NULL, -11),
			    "-1 EAGAIN (Resource temporarily unavailable)");
	assert_string_equal(result(0, "read", NULL, -512),
			    "? ERESTARTSYS (To be restarted if SA_RESTART is set)");
	assert_string_equal(result(0, "read", NULL, -513), "? ERESTARTNOINTR (To be restarted)");
	assert_string_equal(result(0, "read", NULL, -514),
			    "? ERESTARTNOHAND (To be restarted if no handler)");
	assert_string_equal(result(0, "read", NULL, -516),
			    "? ERESTART_RESTARTBLOCK (Interrupted by signal)");
	assert_string_equal(result(0, "read", NULL, -524),
			    "-1 ENOTSUPP (Operation is not supported)");
	assert_string_equal(result(0, "read", NULL, -4000), "-1 (errno 4000)");
	assert_string_equal(result(0, "read", NULL, -4096), "-4096");
	assert_string_equal(result(0, "read", NULL, INT64_MIN), "-9223372036854775808");
	assert_string_equal(result(0, "mmap", NULL, 0x7f0000001000), "0x7f0000001000");
	assert_string_equal(result(0, "mmap", NULL, -12), "-1 ENOMEM (Cannot allocate memory)");
	assert_string_equal(result(0, "umask", NULL, 022), "022");
	assert_string_equal(result(0, "umask", NULL, 0), "000");
	assert_string_equal(result(0, "poll", NULL, 0), "0 (Timeout)");
	assert_string_equal(result(0, "poll", NULL, 1), "1");
	assert_string_equal(result(0, "fcntl", getfd, 1), "0x1 (flags FD_CLOEXEC)");
	assert_string_equal(result(0, "fcntl", getfd, 0), "0");
	assert_string_equal(result(0, "fcntl", getfl, 0x8002), "0x8002 (flags O_RDWR|O_LARGEFILE)");
	assert_string_equal(result(0, "fcntl", NULL, 1), "1");
	assert_string_equal(ty_errno_name(2), "ENOENT");
	assert_string_equal(ty_errno_name(512), "ERESTARTSYS");
	assert_null(ty_errno_name(4000));
	assert_null(ty_errno_name(-1));
}

/* Any number with any arguments: something readable, nothing else happens. */
static void hostile(void **state)
{
	const struct ty_sysarch *a[] = {x86,
					arm,
					ty_sysarch_find("i686"),
					ty_sysarch_find("armv7l"),
					ty_sysarch_find("riscv64"),
					ty_sysarch_find("?"),
					NULL};
	struct ty_buf b;

	ty_buf_init(&b, 65536);
	srand(7);
	for (unsigned i = 0; i < 7; i++)
		for (int abi = 0; abi <= 4; abi++)
			for (int64_t nr = -2; nr < 1200; nr++) {
				int64_t n = abi == TY_ABI_X32 ? nr | 0x40000000 : nr;
				uint64_t v[6];

				for (unsigned k = 0; k < 6; k++)
					v[k] = (uint64_t)rand() << (rand() % 40) ^
					       -(uint64_t)(rand() % 2);
				ty_buf_reset(&b);
				ty_syscall_fmt_args(a[i], abi, n, v, &b);
				ty_syscall_fmt_result(a[i], abi, n, v, (int64_t)v[0], &b);
				assert_int_equal(b.failed, 0);
				assert_true(b.len > 0 && b.len < 2000);
				assert_int_equal(strlen(b.p), b.len);
			}
	ty_buf_fini(&b);
	ty_buf_init(&b, 8); /* a full buffer is said, not overrun */
	assert_true(ty_syscall_fmt_args(x86, TY_ABI_NATIVE64, 257, (uint64_t[6]){P, P, P}, &b) < 0);
	ty_buf_fini(&b);
}

/* Sets are well-formed: no empty names, alternatives once, flags not hidden by earlier ones. */
static void sets(void **state)
{
	for (int s = 0; s < TY_SET_COUNT; s++) {
		const struct ty_setdef *d = ty_set_get(s);

		assert_true(d->n > 0);
		for (unsigned i = 0; i < d->n; i++) {
			assert_true(d->v[i].name[0] >= '0' && d->v[i].name[0] <= '_');
			for (unsigned k = 0; k < i; k++) {
				assert_string_not_equal(d->v[i].name, d->v[k].name);
				if (d->v[i].v == d->v[k].v)
					fail_msg("%s and %s are equal", d->v[i].name, d->v[k].name);
				if (d->kind == TY_SET_FLAGS && d->v[k].v &&
				    (d->v[i].v & d->v[k].v) == d->v[k].v)
					fail_msg("%s is hidden by %s", d->v[i].name, d->v[k].name);
			}
		}
	}
}

static void *find_arch(void *arg)
{
	return (void *)ty_syscall_name(ty_sysarch_find("riscv64"), TY_ABI_NATIVE64, 64, arg);
}

static void threads(void **state)
{
	pthread_t t[8];
	char bufs[8][32];

	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&t[i], NULL, find_arch, bufs[i]), 0);
	for (int i = 0; i < 8; i++) {
		void *r;

		pthread_join(t[i], &r);
		assert_string_equal(r, "write");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads),    cmocka_unit_test(names),
		cmocka_unit_test(classes),    cmocka_unit_test(arguments),
		cmocka_unit_test(other_abis), cmocka_unit_test(results),
		cmocka_unit_test(hostile),    cmocka_unit_test(sets),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
