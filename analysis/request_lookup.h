/* SPDX-License-Identifier: MIT */
/* Which of the requests that were found (requests.h) concern a thread or process at a time. */
#ifndef TY_REQUEST_LOOKUP_H
#define TY_REQUEST_LOOKUP_H

#include "requests.h"

/* The longest kept request that the thread received before from and that was not answered before
 * to; NULL. r may be NULL. */
const struct ty_request *ty_requests_around(const struct ty_requests *r, uint32_t thread,
					    uint64_t from_ns, uint64_t to_ns);
/* The longest kept reply that the thread was awaiting before from and still at to; NULL. vain:
 * including those that never came. r may be NULL. */
const struct ty_request *ty_requests_awaited(const struct ty_requests *r, uint32_t thread,
					     uint64_t from_ns, uint64_t to_ns, bool vain);
/* True if the thread had received what may be a request before from and not answered it before to.
 * r may be NULL. */
bool ty_requests_pending(const struct ty_requests *r, uint32_t thread, uint64_t from_ns,
			 uint64_t to_ns);
/* True if the process replied to requests. r may be NULL. */
bool ty_requests_served(const struct ty_requests *r, uint32_t process);
/* True if a kept request of the process, or one of which it awaited the reply, was open for more
 * than half of the time. r may be NULL: then none is known. */
bool ty_requests_of_process(const struct ty_requests *r, const struct ty_model *m, uint32_t process,
			    uint64_t from_ns, uint64_t to_ns);

#endif
