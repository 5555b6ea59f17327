/* SPDX-License-Identifier: MIT */
/* What the programs in the kernel (stacks.bpf.c) and their loader (stacks.c) share. */
#ifndef TY_STACKS_BPF_H
#define TY_STACKS_BPF_H

#include "evidence_bpf.h"
#include "stack_record.h"

/* Threads by number; each has WAYS slots that may be its own. A slot whose thread was not seen in
 * two looks is free. */
#define TY_STK_SLOTS 65536u
#define TY_STK_WAYS  4u
#define TY_STK_STEP  16411u

struct ty_stk_slot {
	__u64 switches; /* how often the thread had been switched out when it was last seen asleep
			 */
	__u32 tid;
	__u32 first; /* the look that first saw this wait */
	__u32 last;  /* the look that last copied a stack of this thread */
	__u8 asleep; /* at the last look */
	__u8 copied; /* this wait has its stack */
	__u8 wanted; /* it should have had one by now */
	__u8 busy;   /* looks at which its stack could not be read without waiting */
	__u32 seen;  /* the look that last saw the thread */
};

/* From so many on a stack is recorded without a copy: a wait for the mmap lock itself, say. */
#define TY_STK_BUSY 4u
/* From a futex' word on: as much of a lock of glibc as tells its holder. */
#define TY_STK_WORDS 6u

/*
 * While fewer than SCARCE stacks may be copied at once, a wait shorter than MANY looks has its
 * stack copied only if none of the thread's was in the MANY looks before.
 */
#define TY_STK_MANY   10u
#define TY_STK_SCARCE 500

/* A wait's lock is looked at for 32 looks, and then 16 times while it doubles its length. How many
 * there may be in one look at all threads. */
#define TY_STK_LOCKS 1000

/*
 * What a look writes; stack_n bytes follow. lock: it is of a lock that the thread waits for, in
 * system call nr with these arguments (regs), and words is what a futex' word begins.
 */
struct ty_stk_seen {
	__u32 pid, tid, looks, stack_n;
	__u8 regs_n, kernel_n, flags, lock, pad[4];
	__u32 nr, pad2;
	__u32 words[TY_STK_WORDS];
	__u64 regs[TY_STK_REGS_MAX];
	__u64 kernel[TY_STK_KERNEL_MAX];
};

#endif
