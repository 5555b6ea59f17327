/* SPDX-License-Identifier: MIT */
/*
 * Waits for several children, one behind the other, that were one wait for the child that exited
 * last: it existed in all of them, and in between the thread neither sent nor closed nor created
 * anything. So the exits of the others made no difference. Not where another child woke this one
 * meanwhile, as in a pipeline.
 */
#ifndef TY_WAIT_CHILDREN_H
#define TY_WAIT_CHILDREN_H

#include "explain.h"
#include "wakeup.h"

/* The first of these waits; by: the child that ended the one in this span; the span itself: there
 * are no others. Goes back at most to the one that contains from_ns. Cost: up to 512 waits and the
 * calls between them, and as many sleeps of the child. */
uint32_t ty_wait_children_first(const struct ty_explain *x, uint32_t thread, uint32_t span,
				uint64_t from_ns, const struct ty_waker *by);

#endif
