/* SPDX-License-Identifier: MIT */
/* The critical path of a request: from its reply back to when it was received. */
#ifndef TY_REQUEST_PATH_H
#define TY_REQUEST_PATH_H

#include "chain.h"
#include "requests.h"

/*
 * The path of the thread that replied. If that thread was idle, in waits that timers ended, until a
 * thread of its process woke it that had waited in one call all that time, then the latter had the
 * request before, and the path is that thread's (inferred). mine: by thread index, members of the
 * process. 0 or as ty_path_find.
 */
int ty_request_path(const struct ty_explain *x, const struct ty_request *r, const uint8_t *mine,
		    struct ty_path *p);

#endif
