/* SPDX-License-Identifier: MIT */
/*
 * Requests that waited before the server received them: in the listen backlog, or in the buffer of
 * a socket. The client slept from before the request was received until the reply woke it, and no
 * other thread of it ran meanwhile. Waits that its own timers cut are one. Inferred: the client's
 * calls need not be recorded, its sleep began when it had sent the request or connected. Only
 * clients on the same machine are seen.
 *
 * The same pass finds the clients of slow requests: the threads that their replies woke.
 */
#ifndef TY_REQUEST_BACKLOG_H
#define TY_REQUEST_BACKLOG_H

#include "requests.h"

#define TY_BACKLOG_NS UINT64_C(50000000) /* shorter ones do not count */

struct ty_backlog {
	uint32_t n;		   /* requests that waited at least TY_BACKLOG_NS */
	uint32_t client;	   /* of the one that waited longest: its thread, */
	uint64_t start_ns;	   /* the start of its sleep, */
	uint64_t wait_ns;	   /* until it was received, */
	struct ty_request longest; /* and the request */
	bool connecting; /* until then a packet was sent again, and the connection accepted */
};

/*
 * Of the kept and sampled requests of the first service. client_of[i]: the thread that slept
 * TY_BACKLOG_NS or more until the reply to of[i] woke it; TY_NONE: unknown. 0 or -TY_EINTR. Cost:
 * LOOKED sleeps of all threads, with a search among the kept requests for those that the service
 * ended.
 */
int ty_request_backlog_find(const struct ty_explain *x, const struct ty_requests *q,
			    const struct ty_window *w, const struct ty_request *const *of,
			    uint32_t of_n, uint32_t *client_of, struct ty_backlog *out);

#endif
