/* SPDX-License-Identifier: MIT */
/* Whose reply, or connection, a thread had not yet while it waited: the peer that is silent. */
#ifndef TY_WAIT_PEER_H
#define TY_WAIT_PEER_H

#include "requests.h"
#include "waits.h"

#define TY_PEER 128 /* bytes */

/* The reply, or the end of a connect, that the thread awaited all through [from, to) of a wait of
 * this kind, unless that was for something else for certain. NULL: none is known. */
const struct ty_request *ty_wait_awaits(const struct ty_requests *r, uint32_t thread,
					uint64_t from_ns, uint64_t to_ns,
					const struct ty_wait_for *w);
/* Its descriptor, and its name in out: "fd 5 <TCP:[127.0.0.1:40000->127.0.0.1:80]>"; -1: none is
 * known. Cost: ty_fd_kind, for findings only. */
int32_t ty_wait_peer(const struct ty_explain *x, const struct ty_requests *r, uint32_t thread,
		     uint64_t from_ns, uint64_t to_ns, const struct ty_wait_for *w,
		     char out[TY_PEER], bool *connecting);

#endif
