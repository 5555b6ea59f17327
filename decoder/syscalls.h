/* SPDX-License-Identifier: MIT */
/*
 * System calls as text: names by libseccomp, arguments in symbolic form as strace prints them when
 * their values alone suffice. Strings behind pointers are not in the trace; pointers are printed as
 * addresses.
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
	TY_ABI_UNSURE /* not recorded; numbers are read as native */
};

/* The machine whose numbers apply: "x86_64", "aarch64", "i686"...; unknown ones give syscall_N. */
struct ty_sysarch;
const struct ty_sysarch *ty_sysarch_find(const char *machine);

/* Name of a call: "openat", or "syscall_1234" in buf when the table has none. Thread-safe. */
const char *ty_syscall_name(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr, char buf[32]);
/* Number of a name, -1 when unknown. */
int ty_syscall_number(const struct ty_sysarch *a, const char *name);
/* The call's row (syscall_table.h), an array index; unknown calls have a row without a name. Never
 * NULL. TY_ABI_UNSURE is read as native. Thread-safe. */
const struct ty_sysrow *ty_syscall_row(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr);
/* enum ty_argos, without TY_ARGOS_32; and whether it is a 32-bit ABI. */
unsigned ty_sysarch_os(const struct ty_sysarch *a);
bool ty_sysarch_bits32(const struct ty_sysarch *a, enum ty_abi abi);
static inline enum ty_syscall_class ty_syscall_class(const struct ty_sysarch *a, enum ty_abi abi,
						     int64_t nr)
{
	return (enum ty_syscall_class)ty_syscall_row(a, abi, nr)->class;
}
/* True when nr is the execve of an ABI in which the new image then runs; sets *abi. (x86: the
 * kernel reports a successful exec with the number of the new image's execve.) */
bool ty_syscall_exec_proves(const struct ty_sysarch *a, int64_t nr, enum ty_abi *abi);
/* True when this machine can run 32-bit callers, whose numbers differ and which the trace does not
 * mark. */
bool ty_sysarch_has_compat(const struct ty_sysarch *a);
/* True when the number itself marks an x32 call. */
bool ty_syscall_is_x32(const struct ty_sysarch *a, int64_t nr);

/* Known facts about arguments besides their numbers; NULL: none. */
struct ty_arg_names {
	const char
		*text[6];   /* replaces the argument, already printable: what a pointer points to */
	const char *fd[6];  /* name of the descriptor: "3</etc/passwd>" */
	const char *result; /* name of the returned descriptor */
	const char *peers;  /* of the first descriptor: "PID COMM", a newline behind each */
	const char *after;  /* follows the result: " ([{fd=3, revents=POLLIN}])" */
};
/* Appends "<NAME>", without terminal control characters; "(deleted)" follows it, as in strace. */
int ty_syscall_fmt_fd_name(const char *name, struct ty_buf *out);
/* Appends "AT_FDCWD, 0x7f.., O_RDONLY|O_CLOEXEC". names: may be NULL. */
int ty_syscall_fmt_named(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr,
			 const uint64_t args[6], const struct ty_arg_names *names,
			 struct ty_buf *out);
/* The same without names. */
int ty_syscall_fmt_args(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr,
			const uint64_t args[6], struct ty_buf *out);
/* Appends "3", "-1 ENOENT (No such file or directory)", "0x7f..." (mmap, brk), "?" + " ERESTARTSYS
 * (...)". */
int ty_syscall_fmt_ret(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr, int64_t ret,
		       struct ty_buf *out);
/* The same with known arguments, which fcntl's flags need. args may be NULL. */
int ty_syscall_fmt_result(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr,
			  const uint64_t *args, int64_t ret, struct ty_buf *out);
/* "ENOENT" for 2; NULL for unknown numbers. Includes the kernel's internal ERESTART*. */
const char *ty_errno_name(int e);

#endif
