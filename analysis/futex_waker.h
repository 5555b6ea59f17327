/* SPDX-License-Identifier: MIT */
/*
 * Finds the waker of a futex wait when no wakeup record shows it.
 *
 * - The kernel spins for a futex with priority inheritance (FUTEX_LOCK_PI) while its holder runs,
 *   and sleeps only when that one does, or when another thread needs the CPU
 *   (kernel/locking/rtmutex.c, rtmutex_spin_on_owner).
 * - A timer made the thread runnable, but another thread woke the word before it got a CPU: then
 * the call returns 0 (kernel/futex/waitwake.c, futex_wait).
 *
 * Cost: log(calls); for calls to which that applies, the calls begun on each CPU meanwhile, from
 * the end backward (at most 256 spans and calls of each). The waker is inferred when that limit was
 * reached, or when several threads woke the word.
 */
#ifndef TY_FUTEX_WAKER_H
#define TY_FUTEX_WAKER_H

#include "explain.h"
#include "wakeup.h"

#define TY_SPIN_NS UINT64_C(1000000) /* on a CPU in the call: acquiring the lock takes far less */

struct ty_spin {
	uint32_t call;
	uint64_t start_ns, end_ns; /* of the call */
	/* THREAD: the last thread to release the lock before the call ended, and when it started
	 * to; NONE: none was found, or the call did not get the lock. */
	struct ty_waker waker;
};

/* For a thread running in [from, to): the last call in which it spun for a lock, for TY_SPIN_NS or
 * more. */
bool ty_spin_find(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		  struct ty_spin *out);
/* k: ty_waker_find of the span's edge; if that was a timer, the thread that had woken the word. */
struct ty_waker ty_futex_waker(const struct ty_explain *x, const struct ty_span *s,
			       struct ty_waker k);

#endif
