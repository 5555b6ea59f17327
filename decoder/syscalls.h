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
#include "syscall_table.h"

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
/* What the call is (syscall_table.h), an array index; for unknown ones a row without a name. Never
 * NULL. TY_ABI_UNSURE is read as native. Thread-safe. */
const struct ty_sysrow *ty_syscall_row(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr);
/* enum ty_argos, without TY_ARGOS_32; and is it a 32-bit ABI? */
unsigned ty_sysarch_os(const struct ty_sysarch *a);
bool ty_sysarch_bits32(const struct ty_sysarch *a, enum ty_abi abi);
static inline enum ty_syscall_class ty_syscall_class(const struct ty_sysarch *a, enum ty_abi abi,
						     int64_t nr)
{
	return (enum ty_syscall_class)ty_syscall_row(a, abi, nr)->class;
}
/* Is nr an execve of some ABI in which an image runs from its exec on? true fills *abi. (x86: the
 * kernel reports a successful exec with the number of the new image's execve.) */
bool ty_syscall_exec_proves(const struct ty_sysarch *a, int64_t nr, enum ty_abi *abi);
/* Can this machine run 32-bit callers, whose numbers differ and whom the trace does not mark? */
bool ty_sysarch_has_compat(const struct ty_sysarch *a);
/* Does the number itself say that it is an x32 call? */
bool ty_syscall_is_x32(const struct ty_sysarch *a, int64_t nr);

/* What is known of arguments besides their numbers; NULL: nothing. */
struct ty_arg_names {
	const char
		*text[6];  /* stands in place of it, printable as it is: what a pointer points to */
	const char *fd[6]; /* what the descriptor is: "3</etc/passwd>" */
	const char *result; /* what the descriptor is that the call returned */
};
/* "<NAME>" appended to out, of bytes that are no terminal's control; what is "(deleted)" behind it,
 * as strace has it. */
int ty_syscall_fmt_fd_name(const char *name, struct ty_buf *out);
/* "AT_FDCWD, 0x7f.., O_RDONLY|O_CLOEXEC" appended to out. names: may be NULL. */
int ty_syscall_fmt_named(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr,
			 const uint64_t args[6], const struct ty_arg_names *names,
			 struct ty_buf *out);
/* The same without names. */
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
