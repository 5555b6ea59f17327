/* SPDX-License-Identifier: MIT */
/* Retried waits: a thread that waits for 350 ms in steps of 50 with timeouts, and is finally woken,
 * waited once, for that wakeup. The same when a signal interrupts a wait and it is restarted: the
 * handler's actions are unrelated to what is waited for. */
#ifndef TY_WAIT_RETRY_H
#define TY_WAIT_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "explain.h"
#include "waits.h"

/* Between two attempts at most: calls, CPU time, time runnable. More is work, or a stall of its
 * own. */
#define TY_WAIT_RETRY_BETWEEN	  8
#define TY_WAIT_RETRY_RAN_NS	  UINT64_C(1000000)
#define TY_WAIT_RETRY_RUNNABLE_NS UINT64_C(50000000)

/* True when the wait in this call ended unsuccessfully: timed out, or interrupted by a signal. */
bool ty_wait_retry_in_vain(const struct ty_explain *x, uint32_t call);
/* True when a signal interrupted the call (also one that the kernel then restarts). Only flags and
 * result are read. */
bool ty_wait_retry_interrupted(const struct ty_syscall *call);
/*
 * True when call b of the thread, the same call as a, retries the unsuccessful wait in a: nothing
 * new was requested in between, and it did not succeed at once. A signal handler's actions, up to
 * its return, do not count; one notification of the thread by its own pipe or latch from a handler
 * is allowed. Cost: the calls in between.
 */
bool ty_wait_retry_again(const struct ty_explain *x, uint32_t thread, uint32_t a, uint32_t b);

/* True when both waits of the thread are for the same object, and none is for an end (exit). */
bool ty_wait_retry_same(const struct ty_model *m, uint32_t thread, const struct ty_wait_for *a,
			const struct ty_wait_for *b);

/* The sleep of the thread next to this span, after or before it, if the thread did little in
 * between; TY_NONE. */
uint32_t ty_wait_retry_beside(const struct ty_model *m, uint32_t thread, uint32_t span,
			      bool forward);

/* True when the sleep b retries the unsuccessful one a of the same thread, for the same object.
 * *inferred: only that they wait for any of as many descriptors, listed at the same place, as poll
 * and its kin do, after a timeout. Cost: as above, and the arguments of both. */
bool ty_wait_retry_follows(const struct ty_explain *x, const struct ty_span *a,
			   const struct ty_span *b, bool *inferred);

/*
 * The first attempt of the retried wait whose last attempt is in this span of the thread; the span
 * itself when there are none. Attempts are waits in the same call for the same object (word or
 * descriptor), with only short work between them and nothing sent to others. Goes back at most to
 * the attempt that contains from_ns. Cost: span, call and arguments of each attempt once.
 * inferred: set when the object is so (ty_wait_retry_follows), else left alone.
 */
uint32_t ty_wait_retry_first(const struct ty_explain *x, uint32_t thread, uint32_t span,
			     uint64_t from_ns, bool *inferred);

/*
 * The first of the waits of an event loop (one epoll descriptor, or a thread whose calls are not
 * recorded) that had nothing to do with what ended the one in this span, which a thread of another
 * process did: timers ended them, or a thread that slept until its timer, since before this process
 * last woke the other one; and the thread did little in between. The other one has not been woken
 * by this process since: what it did meanwhile held the loop up, however often the loop was woken.
 * Where calls are not recorded, a thread whose timer ended before it last woke that other one
 * pauses between its requests, and its timers are none of a loop. The span itself when there are
 * none. Goes back at most to the wait that contains from_ns. Cost: LOOP_BACK sleeps of both
 * threads.
 */
uint32_t ty_wait_loop_first(const struct ty_explain *x, uint32_t thread, uint32_t span,
			    uint64_t from_ns, const struct ty_waker *by);

#endif
