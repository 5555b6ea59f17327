/* SPDX-License-Identifier: MIT */
/*
 * What the arguments of a system call are: one row per call (syscall_args.c), one byte per
 * argument, either a kind of number (enum ty_argkind) or TY_ARG_SETS + a set of named values
 * (syscall_sets.h). Private to syscalls.c and syscall_fmt.c.
 */
#ifndef TY_SYSCALL_ARGS_H
#define TY_SYSCALL_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "syscalls.h"

/* Whose values of O_DIRECTORY & Co, whose order of clone's arguments. */
enum ty_argos { TY_ARGOS_X86 = 0, TY_ARGOS_ARM = 1, TY_ARGOS_GENERIC = 2, TY_ARGOS_32 = 0x10 };

enum ty_argkind {
	TY_ARG_INT,	 /* 32-bit, signed */
	TY_ARG_FD,	 /* the same: a descriptor */
	TY_ARG_UINT,	 /* 32-bit */
	TY_ARG_LONG,	 /* long, signed */
	TY_ARG_ULONG,	 /* long, size_t */
	TY_ARG_HEX,	 /* long in hex, 0 as "0" */
	TY_ARG_HEX32,	 /* int in hex, 0 as "0" */
	TY_ARG_PTR,	 /* pointer, 0 as NULL */
	TY_ARG_DIRFD,	 /* AT_FDCWD or int */
	TY_ARG_MODE,	 /* octal */
	TY_ARG_OPEN,	 /* O_ flags of open */
	TY_ARG_OPENMODE, /* octal; there only when the flags before create */
	TY_ARG_OFLAGS,	 /* O_ flags without an access mode: pipe2, dup3 */
	TY_ARG_SIG,
	TY_ARG_FUTEX,	 /* op; decides what follows */
	TY_ARG_CLONE,	 /* flags|signal */
	TY_ARG_MMAP,	 /* MAP_ type and flags */
	TY_ARG_SOCKTYPE, /* type|SOCK_ flags */
	TY_ARG_PROTO,	 /* protocol of the family before */
	TY_ARG_SOLEVEL,
	TY_ARG_SOOPT, /* name of an option at the level before */
	TY_ARG_FCNTL, /* cmd; decides what follows */
	TY_ARG_IOCTL,
	TY_ARG_PRCTL,  /* option; decides what follows */
	TY_ARG_MREMAP, /* flags; a new address follows MREMAP_FIXED only */
	TY_ARG_STATX,  /* AT_STATX_ kind and AT_ flags */
	TY_ARG_PGOFF,  /* file offset in pages of 4096 bytes */
	TY_ARG_SETS = 64
};

enum ty_retkind { TY_RET_INT, TY_RET_PTR, TY_RET_OCT, TY_RET_FCNTL, TY_RET_POLL };

struct ty_sysargs {
	const char *name;
	uint8_t n;
	uint8_t ret; /* enum ty_retkind */
	uint8_t a[6];
};

/* The row of a call, NULL when there is none. bits32: of a 32-bit ABI, whose argument lists differ
 * in places. Borrowed, constant. */
const struct ty_sysargs *ty_sysargs_find(unsigned os, bool bits32, const char *name);

/* As above, by number; also says how to read values. */
const struct ty_sysargs *ty_syscall_args_of(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr,
					    unsigned *os, bool *bits32);

#endif
