/* SPDX-License-Identifier: MIT */
/* One wait in several tries, each with a time-out: who waits for 350 ms in steps of 50, and is
 * woken in the end, waited once, for that one. The same where a signal breaks a wait off and it is
 * taken up again: what the handler did was not for what is waited for. */
#ifndef TY_WAIT_RETRY_H
#define TY_WAIT_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "explain.h"
#include "waits.h"

/* Calls between two tries, at most; on a CPU, at most; ready, less: more is work, or a stall of its
 * own, and no trying again. */
#define TY_WAIT_RETRY_BETWEEN	  8
#define TY_WAIT_RETRY_RAN_NS	  UINT64_C(1000000)
#define TY_WAIT_RETRY_RUNNABLE_NS UINT64_C(50000000)

/* Did the wait in this call end without what was waited for: its time was up, or a signal broke it
 * off? */
bool ty_wait_retry_in_vain(const struct ty_explain *x, uint32_t call);
/*
 * Is call b of the thread, the same one as a, another try of the wait in a, which was in vain: did
 * it ask nothing anew in between, and was nothing there at once? What a signal handler does, up to
 * its return, does not count; of what it gave, the thread itself may be told then, once: by its own
 * pipe or latch. Cost: the calls in between.
 */
bool ty_wait_retry_again(const struct ty_explain *x, uint32_t thread, uint32_t a, uint32_t b);

/* Are both waits of the thread, none for an end, for the same thing? */
bool ty_wait_retry_same(const struct ty_model *m, uint32_t thread, const struct ty_wait_for *a,
			const struct ty_wait_for *b);

/*
 * The first of the tries of which the wait in this span of the thread is the last, which ended
 * before its time was up; the span itself when there were none: waits in the same call for the same
 * thing (word or descriptor), with no more than a little while of work between two of them, and
 * nothing given to anybody. Not farther back than the one that from_ns lies in. Cost: each try's
 * span, calls and arguments once; where what the last one is for has no name, one step.
 */
uint32_t ty_wait_retry_first(const struct ty_explain *x, uint32_t thread, uint32_t span,
			     uint64_t from_ns);

#endif
