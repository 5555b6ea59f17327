/* SPDX-License-Identifier: MIT */
/* The holder of the lock that a thread waited for, as the recorder read it while the thread
 * waited. */
#ifndef TY_WAIT_HOLDER_H
#define TY_WAIT_HOLDER_H

#include "explain.h"

struct ty_wait_holder {
	struct ty_lock_seen seen;
	uint32_t thread; /* of the model; TY_NONE: it did nothing that is recorded */
	/*
	 * Recorded: two looks during the wait found this thread, the last one near its end, or one
	 * found this process in the kernel's list of file locks, and then it woke the waiter. Else
	 * inferred, of what is a lock for certain.
	 */
	bool proven;
};

/* Of the wait that is this span of the thread (ty_model_span); false: unknown, or no wait. */
bool ty_wait_holder(const struct ty_explain *x, uint32_t thread, uint32_t span,
		    struct ty_wait_holder *out);
/* "mutex g_lock (app.c:14), held by app/123"; of a lock without a name its kind. */
void ty_wait_holder_text(const struct ty_explain *x, const struct ty_wait_holder *h, char *buf,
			 size_t n);
#endif
