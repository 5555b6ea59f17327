/* SPDX-License-Identifier: MIT */
/* One wait in several tries, each with a time-out: who waits for 350 ms in steps of 50, and is
 * woken in the end, waited once, for that one. */
#ifndef TY_TRIES_H
#define TY_TRIES_H

#include <stdint.h>

#include "explain.h"

/* Calls between two tries, at most. */
#define TY_TRIES_BETWEEN 8

/*
 * The first of the tries of which the wait in this span of the thread is the last, which ended
 * before its time was up; the span itself when there were none: waits in the same call for the same
 * thing, with no more than a little while of work between two of them, and nothing given to
 * anybody. Cost: each try's span and calls once; arguments of the first and the last only.
 */
uint32_t ty_tries_first(const struct ty_explain *x, uint32_t thread, uint32_t span);

#endif
