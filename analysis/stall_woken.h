/* SPDX-License-Identifier: MIT */
/*
 * Which of two threads woke the other, and when. Only wakeups that can be a message count: not
 * those of the kernel's locks, of new threads and of ends of a FIFO. futex: of a wait by futex.
 * Others of stall_woken.c are in stalls_priv.h.
 */
#ifndef TY_STALL_WOKEN_H
#define TY_STALL_WOKEN_H

#include "stalls_priv.h"

/* When `who` last woke the thread up to t; 0: not recorded. *span: the one that this began. */
uint64_t ty_stall_last_woken_at(const struct ty_explain *x, uint32_t thread, uint32_t who,
				uint64_t t, bool futex, uint32_t *span);
uint64_t ty_stall_last_woken(const struct ty_explain *x, uint32_t thread, uint32_t who, uint64_t t,
			     bool futex);
/* The same, but not by passing something around. */
uint64_t ty_stall_last_message(const struct ty_stall_search *h, uint32_t thread, uint32_t who,
			       uint64_t t, bool futex, uint32_t *span);
/* When `who` first woke the thread; UINT64_MAX: not among its first spans since both exist. */
uint64_t ty_stall_first_woken(const struct ty_explain *x, uint32_t thread, uint32_t who,
			      bool futex);
/* True if the thread sent a request to peer before t, had no reply yet, and is the client of the
 * two. What is passed around does not count. */
bool ty_stall_has_request(const struct ty_stall_search *h, uint32_t thread, uint32_t peer,
			  uint64_t t, bool futex);
/* True if `who` woke the thread in [from, to]. */
bool ty_stall_woke_within(const struct ty_explain *x, uint32_t thread, uint32_t who, uint64_t from,
			  uint64_t to);

#endif
