/* SPDX-License-Identifier: MIT */
/*
 * The system calls whose strings are recorded: their tracepoints (syscalls:sys_enter_NAME; the
 * names are those of the kernel's functions, newstat for stat) and the arguments to read. exit: a
 * path that is often in a page not yet touched by the process (constants of the dynamic linker and
 * of libc in a new process) is read again when the call ends. The kernel takes 70 ms to remove a
 * hook, so only common calls have one. fds: a descriptor that a call creates or changes is
 * described when it ends.
 */
#include "evidence_calls.h"

#include <sys/syscall.h>

#define A(n) (1u << (n))
#define CALL(name, nr, ...)                                                                        \
	{                                                                                          \
		name, nr,                                                                          \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

const struct ty_evidence_call ty_evidence_calls[] = {
	CALL("openat", SYS_openat, .strings = A(1), .exit = 1),
	CALL("openat2", SYS_openat2, .strings = A(1)),
	CALL("newfstatat", SYS_newfstatat, .strings = A(1), .exit = 1),
	CALL("statx", SYS_statx, .strings = A(1), .exit = 1),
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
	CALL("accept", SYS_accept, .fds = TY_EV_FDS_RESULT),
	CALL("accept4", SYS_accept4, .fds = TY_EV_FDS_RESULT),
	CALL("socket", SYS_socket, .fds = TY_EV_FDS_RESULT),
	CALL("socketpair", SYS_socketpair, .fds = TY_EV_FDS_PAIR4),
	CALL("pipe2", SYS_pipe2, .fds = TY_EV_FDS_PAIR),
	CALL("sendto", SYS_sendto, .sockaddr = 1 + 4),
#ifdef SYS_open
	CALL("pipe", SYS_pipe, .fds = TY_EV_FDS_PAIR),
	CALL("open", SYS_open, .strings = A(0), .exit = 1),
	CALL("newstat", SYS_stat, .strings = A(0), .exit = 1),
	CALL("newlstat", SYS_lstat, .strings = A(0), .exit = 1),
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
const unsigned ty_evidence_calls_n = sizeof(ty_evidence_calls) / sizeof(*ty_evidence_calls);
