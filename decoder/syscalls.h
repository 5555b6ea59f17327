/* SPDX-License-Identifier: MIT */
/*
 * System calls as people read them: names by libseccomp, arguments in symbolic form as strace shows
 * them where their values alone say enough. Strings behind pointers are not in the trace: pointers
 * are shown as such.
 */
#ifndef TY_SYSCALLS_H
#define TY_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"

enum ty_abi {
	TY_ABI_NATIVE64, /* of the traced machine's 64-bit kernel */
	TY_ABI_COMPAT32, /* a 32-bit caller (i386 on x86_64, arm on aarch64) */
	TY_ABI_X32,
	TY_ABI_UNSURE /* the trace does not say; numbers read as native */
};

/* The machine whose numbers are meant: "x86_64", "aarch64", "i686"...; unknown ones give syscall_N.
 */
struct ty_sysarch;
const struct ty_sysarch *ty_sysarch_find(const char *machine);

/* Name of a call: "openat", or "syscall_1234" in buf when the table has none. Thread-safe. */
const char *ty_syscall_name(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr, char buf[32]);
/* Number of a name, -1 when unknown. */
int ty_syscall_number(const struct ty_sysarch *a, const char *name);
/* How many arguments the call takes (6 when unknown). */
unsigned ty_syscall_nargs(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr);

/* Is its first argument a descriptor? */
bool ty_syscall_takes_fd(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr);

/* What a call does to its thread, as far as pairing of its two ends needs to know. */
enum ty_syscall_class {
	TY_SC_OTHER,
	TY_SC_FORK,	 /* fork, vfork, clone, clone3: returns twice */
	TY_SC_EXEC,	 /* execve, execveat */
	TY_SC_EXIT,	 /* exit, exit_group: never returns */
	TY_SC_SIGRETURN, /* sigreturn, rt_sigreturn: the kernel forgets the number at its end */
};
/* TY_ABI_UNSURE is read as native. Thread-safe, a table look-up. */
enum ty_syscall_class ty_syscall_class(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr);
/* Is nr an execve of some ABI in which an image runs from its exec on? true fills *abi. (x86: the
 * kernel reports a successful exec with the number of the new image's execve.) */
bool ty_syscall_exec_proves(const struct ty_sysarch *a, int64_t nr, enum ty_abi *abi);
/* Can this machine run 32-bit callers, whose numbers differ and whom the trace does not mark? */
bool ty_sysarch_has_compat(const struct ty_sysarch *a);
/* Does the number itself say that it is an x32 call? */
bool ty_syscall_is_x32(const struct ty_sysarch *a, int64_t nr);

/* "AT_FDCWD, 0x7f.., O_RDONLY|O_CLOEXEC" appended to out. */
int ty_syscall_fmt_args(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr,
			const uint64_t args[6], struct ty_buf *out);
/* "3", "-1 ENOENT (No such file or directory)", "0x7f..." (mmap, brk), "?" + " ERESTARTSYS (...)"
 * appended to out. */
int ty_syscall_fmt_ret(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr, int64_t ret,
		       struct ty_buf *out);
/* The same, knowing the arguments: fcntl's flags by name. args may be NULL. */
int ty_syscall_fmt_result(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr,
			  const uint64_t *args, int64_t ret, struct ty_buf *out);
/* "ENOENT" for 2; NULL for unknown numbers. Includes the kernel's internal ERESTART*. */
const char *ty_errno_name(int e);

#endif
