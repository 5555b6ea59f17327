/* SPDX-License-Identifier: MIT */
/*
 * The system calls whose strings and structures are recorded: their tracepoints
 * (syscalls:sys_enter_NAME; the names are those of the kernel's functions, newstat for stat) and
 * the arguments to read. exit: a path that is often in a page not yet touched by the process
 * (constants of the dynamic linker and of libc in a new process) is read again when the call ends.
 * The kernel takes 70 ms to remove a hook, so only common calls have one. fds: a descriptor that a
 * call creates or changes is described when it ends. values: what arguments point to; of calls that
 * do not wait, arguments that the kernel only reads are read at the end as well, so that they have
 * one hook.
 */
#include "call_data_table.h"

#include <sys/syscall.h>

#define A(n) (1u << (n))
#define V(arg, bytes, count, when)                                                                 \
	{                                                                                          \
		1 + (arg), bytes, count, when                                                      \
	}
#define IN    TY_EV_IN
#define LATE  TY_EV_LATE
#define OUT   TY_EV_OUT
#define SOME  (TY_EV_OUT | TY_EV_SOME)
#define IOV   TY_EV_IOV
#define DATA  TY_EV_DATA
#define STAYS TY_EV_STAYS
#define ONE   TY_EV_ONE
#define BITS  TY_EV_BITS
#define N     TY_EV_RESULT
#ifdef __x86_64__
#define EPOLL 12 /* packed */
#else
#define EPOLL 16
#endif
/* The first bytes of struct stat, up to st_size, and of struct statx, up to stx_size. By default
 * they would make a recording of find 1.4 times as large as one without evidence. */
#define STAT(arg)  V(arg, 56, ONE, OUT | DATA)
#define STATX(arg) V(arg, 48, ONE, OUT | DATA)
#define CALL(name, nr, ...)                                                                        \
	{                                                                                          \
		name, nr,                                                                          \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

const struct ty_call_data_call ty_call_data_table[] = {
	CALL("openat", SYS_openat, .strings = A(1), .exit = 1),
	CALL("openat2", SYS_openat2, .strings = A(1)),
	CALL("newfstatat", SYS_newfstatat, .strings = A(1), .exit = 1, .values = {STAT(2)}),
	CALL("newfstat", SYS_fstat, .values = {STAT(1)}),
	CALL("statx", SYS_statx, .strings = A(1), .exit = 1, .values = {STATX(4)}),
	CALL("faccessat", SYS_faccessat, .strings = A(1), .exit = 1),
	CALL("faccessat2", SYS_faccessat2, .strings = A(1), .exit = 1),
	CALL("readlinkat", SYS_readlinkat, .strings = A(1), .exit = 1),
	CALL("execve", SYS_execve, .strings = A(0), .list = 1 + 1, .exit = 1),
	CALL("execveat", SYS_execveat, .strings = A(1), .list = 1 + 2),
	CALL("chdir", SYS_chdir, .strings = A(0), .exit = 1),
	CALL("unlinkat", SYS_unlinkat, .strings = A(1), .exit = 1),
	CALL("mkdirat", SYS_mkdirat, .strings = A(1)),
	CALL("mknodat", SYS_mknodat, .strings = A(1)),
	CALL("renameat2", SYS_renameat2, .strings = A(1) | A(3)),
	CALL("linkat", SYS_linkat, .strings = A(1) | A(3)),
	CALL("symlinkat", SYS_symlinkat, .strings = A(0) | A(2)),
	CALL("fchmodat", SYS_fchmodat, .strings = A(1)),
	CALL("fchownat", SYS_fchownat, .strings = A(1)),
	CALL("utimensat", SYS_utimensat, .strings = A(1)),
	CALL("statfs", SYS_statfs, .strings = A(0), .exit = 1),
	CALL("truncate", SYS_truncate, .strings = A(0)),
	CALL("getxattr", SYS_getxattr, .strings = A(0) | A(1), .exit = 1),
	CALL("lgetxattr", SYS_lgetxattr, .strings = A(0) | A(1), .exit = 1),
	CALL("setxattr", SYS_setxattr, .strings = A(0) | A(1)),
	CALL("listxattr", SYS_listxattr, .strings = A(0)),
	CALL("llistxattr", SYS_llistxattr, .strings = A(0)),
	CALL("inotify_add_watch", SYS_inotify_add_watch, .strings = A(1)),
	CALL("mount", SYS_mount, .strings = A(0) | A(1) | A(2)),
	CALL("chroot", SYS_chroot, .strings = A(0)),
	CALL("memfd_create", SYS_memfd_create, .strings = A(0)),
	CALL("connect", SYS_connect, .sockaddr = 1 + 1, .fds = TY_EV_FDS_FIRST),
	CALL("bind", SYS_bind, .sockaddr = 1 + 1, .fds = TY_EV_FDS_FIRST),
	CALL("listen", SYS_listen, .fds = TY_EV_FDS_FIRST),
	CALL("accept", SYS_accept, .address = 1 + 1, .fds = TY_EV_FDS_RESULT),
	CALL("accept4", SYS_accept4, .address = 1 + 1, .fds = TY_EV_FDS_RESULT),
	CALL("getsockname", SYS_getsockname, .address = 1 + 1),
	CALL("getpeername", SYS_getpeername, .address = 1 + 1),
	CALL("socket", SYS_socket, .fds = TY_EV_FDS_RESULT),
	CALL("socketpair", SYS_socketpair, .fds = TY_EV_FDS_PAIR4),
	CALL("pipe2", SYS_pipe2, .fds = TY_EV_FDS_PAIR),
	CALL("sendto", SYS_sendto, .sockaddr = 1 + 4, .values = {V(1, 1, 2, IN | DATA)}),
	CALL("recvfrom", SYS_recvfrom, .address = 1 + 4, .values = {V(1, 1, N, SOME | DATA)}),
	CALL("read", SYS_read, .values = {V(1, 1, N, OUT | DATA)}),
	CALL("write", SYS_write, .values = {V(1, 1, 2, IN | DATA)}),
	CALL("pread64", SYS_pread64, .values = {V(1, 1, N, OUT | DATA)}),
	CALL("pwrite64", SYS_pwrite64, .values = {V(1, 1, 2, IN | DATA)}),
	CALL("readv", SYS_readv, .values = {V(1, 16, 2, LATE | IOV)}),
	CALL("writev", SYS_writev, .values = {V(1, 16, 2, IN | IOV)}),
	CALL("preadv", SYS_preadv, .values = {V(1, 16, 2, LATE | IOV)}),
	CALL("pwritev", SYS_pwritev, .values = {V(1, 16, 2, IN | IOV)}),
	CALL("preadv2", SYS_preadv2, .values = {V(1, 16, 2, LATE | IOV)}),
	CALL("pwritev2", SYS_pwritev2, .values = {V(1, 16, 2, IN | IOV)}),
	CALL("sendmsg", SYS_sendmsg, .messages = TY_EV_MSG_SEND),
	CALL("recvmsg", SYS_recvmsg, .messages = TY_EV_MSG_ONE),
	CALL("sendmmsg", SYS_sendmmsg, .messages = TY_EV_MSG_SENT),
	CALL("recvmmsg", SYS_recvmmsg, .messages = TY_EV_MSG_MANY, .values = {V(4, 16, ONE, IN)}),
	CALL("ppoll", SYS_ppoll,
	     .values = {V(0, 8, 1, IN | SOME | STAYS), V(2, 16, ONE, IN | SOME), V(3, 8, ONE, IN)}),
	CALL("pselect6", SYS_pselect6,
	     .values = {V(1, 8, BITS, IN | SOME), V(2, 8, BITS, IN | SOME),
			V(3, 8, BITS, IN | SOME), V(4, 16, ONE, IN | SOME), V(5, 16, ONE, IN)}),
	CALL("epoll_ctl", SYS_epoll_ctl, .only = TY_EV_NOT_DEL, .values = {V(3, EPOLL, ONE, IN)}),
	CALL("epoll_pwait", SYS_epoll_pwait, .values = {V(1, EPOLL, N, SOME), V(4, 8, ONE, LATE)}),
	CALL("epoll_pwait2", SYS_epoll_pwait2,
	     .values = {V(1, EPOLL, N, SOME), V(3, 16, ONE, IN), V(4, 8, ONE, LATE)}),
	CALL("nanosleep", SYS_nanosleep, .values = {V(0, 16, ONE, IN)}),
	CALL("clock_nanosleep", SYS_clock_nanosleep, .values = {V(2, 16, ONE, IN)}),
	CALL("futex", SYS_futex, .only = TY_EV_FUTEX_WAITS, .values = {V(3, 16, ONE, IN)}),
	CALL("timerfd_settime", SYS_timerfd_settime,
	     .values = {V(2, 32, ONE, LATE), V(3, 32, ONE, OUT)}),
	CALL("setitimer", SYS_setitimer, .values = {V(1, 32, ONE, LATE), V(2, 32, ONE, OUT)}),
	CALL("prlimit64", SYS_prlimit64, .values = {V(2, 16, ONE, LATE), V(3, 16, ONE, OUT)}),
	CALL("rt_sigprocmask", SYS_rt_sigprocmask,
	     .values = {V(1, 8, ONE, LATE), V(2, 8, ONE, OUT)}),
	CALL("rt_sigaction", SYS_rt_sigaction, .values = {V(1, 32, ONE, LATE), V(2, 32, ONE, OUT)}),
	CALL("rt_sigsuspend", SYS_rt_sigsuspend, .values = {V(0, 8, ONE, IN)}),
	CALL("rt_sigtimedwait", SYS_rt_sigtimedwait,
	     .values = {V(0, 8, ONE, IN), V(2, 16, ONE, IN)}),
	CALL("signalfd4", SYS_signalfd4, .values = {V(1, 8, ONE, LATE)}),
	CALL("wait4", SYS_wait4, .values = {V(1, 4, ONE, SOME)}),
#ifdef SYS_open
	CALL("pipe", SYS_pipe, .fds = TY_EV_FDS_PAIR),
	CALL("poll", SYS_poll, .values = {V(0, 8, 1, IN | SOME | STAYS)}),
	CALL("select", SYS_select,
	     .values = {V(1, 8, BITS, IN | SOME), V(2, 8, BITS, IN | SOME),
			V(3, 8, BITS, IN | SOME), V(4, 16, ONE, IN | SOME)}),
	CALL("epoll_wait", SYS_epoll_wait, .values = {V(1, EPOLL, N, SOME)}),
	CALL("open", SYS_open, .strings = A(0), .exit = 1),
	CALL("newstat", SYS_stat, .strings = A(0), .exit = 1, .values = {STAT(1)}),
	CALL("newlstat", SYS_lstat, .strings = A(0), .exit = 1, .values = {STAT(1)}),
	CALL("access", SYS_access, .strings = A(0), .exit = 1),
	CALL("readlink", SYS_readlink, .strings = A(0), .exit = 1),
	CALL("creat", SYS_creat, .strings = A(0)),
	CALL("unlink", SYS_unlink, .strings = A(0), .exit = 1),
	CALL("mkdir", SYS_mkdir, .strings = A(0), .exit = 1),
	CALL("rmdir", SYS_rmdir, .strings = A(0)),
	CALL("rename", SYS_rename, .strings = A(0) | A(1)),
	CALL("link", SYS_link, .strings = A(0) | A(1)),
	CALL("symlink", SYS_symlink, .strings = A(0) | A(1)),
	CALL("chmod", SYS_chmod, .strings = A(0)),
	CALL("chown", SYS_chown, .strings = A(0)),
	CALL("lchown", SYS_lchown, .strings = A(0)),
#endif
#ifdef SYS_renameat
	CALL("renameat", SYS_renameat, .strings = A(1) | A(3)),
#endif
};
const unsigned ty_call_data_table_n = sizeof(ty_call_data_table) / sizeof(*ty_call_data_table);
