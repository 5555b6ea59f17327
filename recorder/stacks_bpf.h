/* SPDX-License-Identifier: MIT */
/* What the programs in the kernel (stacks.bpf.c) and their loader (stacks.c) share. */
#ifndef TY_STACKS_BPF_H
#define TY_STACKS_BPF_H

#include "call_data_bpf.h"
#include "stack_record.h"

/* Threads by number; each has WAYS slots that may be its own. A slot whose thread was not seen in
 * two scans is free. */
#define TY_STK_SLOTS 65536u
#define TY_STK_WAYS  4u
#define TY_STK_STEP  16411u

struct ty_stk_slot {
	__u64 switches; /* how often the thread had been switched out when it was last seen asleep
			 */
	__u32 tid;
	__u32 first; /* the scan that first saw this wait */
	__u32 last;  /* the scan that last copied a stack of this thread */
	__u8 asleep; /* at the last scan */
	__u8 copied; /* this wait has its stack */
	__u8 wanted; /* it should have had one by now */
	__u8 busy;   /* scans in which its stack could not be read without waiting */
	__u32 seen;  /* the scan that last saw the thread */
};

/* After this many, the stack is recorded without a copy (the wait may be for the mmap lock
 * itself). */
#define TY_STK_BUSY 4u
/* Bytes from the futex word on: the part of a glibc lock that identifies its holder. */
#define TY_STK_WORDS 6u

/*
 * While fewer than SCARCE stacks may be copied at once, the stack of a wait shorter than MANY scans
 * is copied only if no stack of the thread was copied in the MANY scans before.
 */
#define TY_STK_MANY   10u
#define TY_STK_SCARCE 500

/* The lock of a wait is read in its first 32 scans, and then 16 times while the wait doubles its
 * length. Also the limit of such reads per scan of all threads. */
#define TY_STK_LOCKS 1000

/*
 * A record written by a scan; stack_n bytes follow. lock: the record is of a lock that the thread
 * waits for, in system call nr with these arguments (regs); words: the memory at the futex word.
 */
struct ty_stk_seen {
	__u32 pid, tid, looks, stack_n;
	__u8 regs_n, kernel_n, flags, lock, pad[4];
	__u32 nr, pad2;
	__u32 words[TY_STK_WORDS];
	__u64 switches; /* how often it was switched out before */
	__u64 self;	/* x86-64: its pthread_self(), the base of the segment fs */
	__u64 regs[TY_STK_REGS_MAX];
	__u64 kernel[TY_STK_KERNEL_MAX];
};

#endif
