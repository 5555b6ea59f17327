/* SPDX-License-Identifier: MIT */
/*
 * User stacks of long waits (the records of TY_SEC_STACKS), and file mappings (those of
 * TY_SEC_MAPS); see section.h.
 *
 * A record is a head followed by `len` bytes, without padding, in the machine's byte order. ns is
 * the trace clock.
 */
#ifndef TY_STACK_RECORD_H
#define TY_STACK_RECORD_H

#include <linux/types.h>

enum ty_stk_kind {
	TY_STK_PIECE = 1,  /* first record of each piece of a section: aux is its number, from 0; ns
			    * is the number of stacks left out before its end (`target` of them by
			    * the rate limit, the others for lack of space), excluding those that
			    * missing pieces counted */
	TY_STK_WAIT = 2,   /* of a thread that was sleeping at that time, for at least wait_ms */
	TY_STK_WAKER = 3,  /* of a thread when it woke `target`, whose wait also has a stack */
	TY_STK_HOLDER = 7, /* `target` had the lock that tid waited for at that time: a thread of
			      pid, or of a file's lock (flags from FLOCK on) a process. flags: enum
			      ty_lock_kind, aux: the word's address, or the inode. No bytes */
	TY_STK_PYTHON = 8, /* Python frames of the WAIT of the same thread and time: struct
			    * ty_stk_python. aux: CPython's version, major << 8 | minor; flags:
			    * enum ty_stk_python_end */
	/* Of TY_SEC_MAPS: */
	TY_STK_MAP = 4,	 /* pid mapped an executable file: struct ty_stk_map */
	TY_STK_EXEC = 5, /* pid's mappings are only those that follow */
	TY_STK_FORK = 6, /* pid is a copy of the process `target` */

	TY_STK_NEVER = 64, /* kinds from 9 on may be added below it: readers skip those that they
			    * do not know by `len` */
};

/*
 * After the head of WAIT and WAKER: kernel_n addresses of the kernel stack during the wait
 * (innermost first), then regs_n registers in DWARF order with the program counter last (x86-64:
 * 17, AArch64: 33; 0: a 32-bit process), then a copy of the stack from the stack pointer on.
 */
struct ty_stk_head {
	__u64 ns;
	__u32 pid, tid;
	__u32 target;
	__u32 wait_ms;
	__u32 len;
	__u8 kind, flags, regs_n, kernel_n;
	__u64 aux;
};
_Static_assert(sizeof(struct ty_stk_head) == 40, "on disk");

enum ty_stk_flag {
	TY_STK_CUT = 1,	    /* the stack may continue beyond the copy */
	TY_STK_NO_CALL = 2, /* not in a system call: the program counter is that of an unfinished
			     * instruction (a page fault) */
};

/* The evidence for the holder. */
enum ty_lock_kind {
	TY_LOCK_MUTEX = 1, /* glibc's, its __owner */
	TY_LOCK_PI,	   /* the futex word itself: priority inheritance */
	TY_LOCK_ROBUST,	   /* the futex word and __owner */
	TY_LOCK_RWLOCK,	   /* glibc's, its writer */
	TY_LOCK_FLOCK,	   /* /proc/locks */
	TY_LOCK_POSIX,	   /* /proc/locks: fcntl */
	TY_LOCK_KINDS
};

struct ty_stk_map {
	__u64 start, bytes, off;
	__u8 build_id[20];
	__u8 build_id_n, pad[3];
	/* The path as in /proc/PID/maps, with its NUL; "//anon": no file. */
};
_Static_assert(sizeof(struct ty_stk_map) == 48, "on disk");

/* A frame of CPython, the innermost first: file and function with their NULs follow, in UTF-8. */
struct ty_stk_python {
	__u32 line; /* 0: unknown */
	__u16 file_n, name_n;
	__u32 entry; /* 1: C code called the function; 0: the next frame's Python code did */
};
_Static_assert(sizeof(struct ty_stk_python) == 12, "on disk");
#define TY_STK_PYTHON_MAX 128u

enum ty_stk_python_end {
	TY_STK_PYTHON_ALL,     /* up to the thread's first */
	TY_STK_PYTHON_MORE,    /* there are more than TY_STK_PYTHON_MAX */
	TY_STK_PYTHON_INVALID, /* the next one is not a frame of the known layout */
	TY_STK_PYTHON_ENDS
};

#define TY_STK_KERNEL_MAX 24u
#define TY_STK_REGS_MAX	  33u
/* Most bytes copied of a stack. */
#define TY_STK_BYTES 16384u
/* In a copy of a stack or of registers: a word of the program that the recorder removed. */
#define TY_STK_REMOVED 1u
/* arm64: of an address of user code the bits below a pointer authentication code and tag, as long
 * as the program maps no addresses above 2^48. */
#define TY_STK_ARM_ADDRESS (((uint64_t)1 << 48) - 1)

#endif
