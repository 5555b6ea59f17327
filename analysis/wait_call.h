/* SPDX-License-Identifier: MIT */
/* The system call that a thread waits in, or that it waits in none: for a page. Where events were
 * lost, what is known of the calls around the wait decides. */
#ifndef TY_WAIT_CALL_H
#define TY_WAIT_CALL_H

#include "explain.h"
#include "wakeup.h"

/* The call that the thread waits in: the span's; or, if its start was lost, or the span's call has
 * a lost end, the call whose end is the thread's next known event. TY_NONE: in none, or unknown. */
uint32_t ty_wait_call(const struct ty_explain *x, const struct ty_span *s);
/* True for an uninterruptible wait that certainly began outside of any system call, because the
 * calls around it are recorded. It waits for a page. */
bool ty_wait_is_page(const struct ty_model *m, const struct ty_span *s);
/* True when the thread was in no system call at t: it had made one before, and nothing was lost
 * since. */
bool ty_wait_in_user_mode(const struct ty_model *m, uint32_t thread, uint64_t t);
/* True when the waker served a page (userfaultfd). */
bool ty_wait_page_served(const struct ty_explain *x, const struct ty_waker *k);

#endif
