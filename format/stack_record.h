/* SPDX-License-Identifier: MIT */
/*
 * User stacks of long waits: the records of TY_SEC_STACKS, and which files were mapped where: those
 * of TY_SEC_MAPS (section.h).
 *
 * A record is a head and `len` bytes, one behind the other without padding, in the byte order of
 * the machine. ns is the trace clock.
 */
#ifndef TY_STACK_RECORD_H
#define TY_STACK_RECORD_H

#include <linux/types.h>

enum ty_stk_kind {
	TY_STK_PIECE = 1, /* begins each piece of a section: aux is its number, from 0, and ns how
			     many stacks were left out before its end (`target` of them for their
			     rate, the others for want of room), not counting what the pieces that
			     are missing here had */
	TY_STK_WAIT = 2,  /* of a thread that slept at that time, and had for wait_ms at least */
	TY_STK_WAKER = 3, /* of a thread when it woke `target`, whose wait has its stack, too */
	/* Of TY_SEC_MAPS: */
	TY_STK_MAP = 4,	 /* pid maps a file to be executed: struct ty_stk_map */
	TY_STK_EXEC = 5, /* pid has nothing mapped but what follows */
	TY_STK_FORK = 6, /* pid is a copy of the process `target` */
};

/*
 * Behind the head of WAIT and WAKER: kernel_n addresses of the kernel's stack while the thread
 * waited (the innermost first), regs_n registers, in the order of their
 * DWARF numbers and the program counter last (x86-64: 17, AArch64: 33; 0: a 32-bit process), and
 * the rest is a copy of the stack from the stack pointer on.
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
	TY_STK_CUT = 1,	    /* the stack may go on behind what was copied */
	TY_STK_NO_CALL = 2, /* not in a system call: the program counter is that of an instruction
			       that is not over (a page fault) */
};

struct ty_stk_map {
	__u64 start, bytes, off;
	__u8 build_id[20];
	__u8 build_id_n, pad[3];
	/* The path as /proc/PID/maps has it, with its NUL; "//anon": no file. */
};
_Static_assert(sizeof(struct ty_stk_map) == 48, "on disk");

#define TY_STK_KERNEL_MAX 24u
#define TY_STK_REGS_MAX	  33u
/* The most that is copied of a stack. */
#define TY_STK_BYTES 16384u

#endif
