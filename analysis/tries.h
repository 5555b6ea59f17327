/* SPDX-License-Identifier: MIT */
/* One wait in several tries, each with a time-out: who waits for 350 ms in steps of 50, and is
 * woken in the end, waited once, for that one. The same where a signal breaks a wait off and it is
 * taken up again: what the handler did was not for what is waited for. */
#ifndef TY_TRIES_H
#define TY_TRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "explain.h"

/* Calls between two tries, at most. */
#define TY_TRIES_BETWEEN 8

/* Did the wait in this call end without what was waited for: its time was up, or a signal broke it
 * off? */
bool ty_tries_in_vain(const struct ty_explain *x, uint32_t call);
/*
 * Is call b of the thread, the same one as a, another try of the wait in a, which was in vain: did
 * it ask nothing anew in between, and was nothing there at once? What a signal handler does, up to
 * its return, does not count; of what it gave, the thread itself may be told then, once: by its own
 * pipe or latch. Cost: the calls in between.
 */
bool ty_tries_again(const struct ty_explain *x, uint32_t thread, uint32_t a, uint32_t b);

/*
 * The first of the tries of which the wait in this span of the thread is the last, which ended
 * before its time was up; the span itself when there were none: waits in the same call for the same
 * thing, with no more than a little while of work between two of them, and nothing given to
 * anybody. Cost: each try's span and calls once; arguments of the first and the last only.
 */
uint32_t ty_tries_first(const struct ty_explain *x, uint32_t thread, uint32_t span);

#endif
