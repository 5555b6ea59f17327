/* SPDX-License-Identifier: MIT */
/* Finds the peer whose reply, or connection, a waiting thread was awaiting. */
#ifndef TY_WAIT_PEER_H
#define TY_WAIT_PEER_H

#include "requests.h"
#include "waits.h"

#define TY_PEER 192 /* bytes */

/* The reply, or connection, that the thread was awaiting throughout [from, to) of a wait of this
 * kind, unless that wait was certainly for something else. NULL: none is known. */
const struct ty_request *ty_wait_awaits(const struct ty_requests *r, uint32_t thread,
					uint64_t from_ns, uint64_t to_ns,
					const struct ty_wait_for *w);
/* Was the thread awaiting one throughout [from, to) of a wait in `call`? Not if it had it right
 * behind a wait that timed out: that was for something else. */
bool ty_wait_unanswered(const struct ty_explain *x, const struct ty_requests *r, uint32_t thread,
			uint32_t call, uint64_t from_ns, uint64_t to_ns);
/* Did the thread, whose wait for events in [from, to) a timer ended, receive that reply right
 * behind it? Then its timeout expired as the reply arrived, and no wakeup by the peer is recorded.
 */
#define TY_REPLY_THERE_TEXT "its timeout as the reply arrived"
bool ty_wait_reply_there(const struct ty_explain *x, const struct ty_requests *r, uint32_t thread,
			 uint32_t call, uint64_t from_ns, uint64_t to_ns);
/* After a wait that a packet of a network timer ended, and further such waits: the thread of
 * another process that sent the packet which ended the next one; TY_NONE. Cost: LATER sleeps. */
uint32_t ty_wait_next_packet(const struct ty_model *m, uint32_t thread, uint32_t span);
/* Its descriptor, and its name in out: "fd 5 <TCP:[127.0.0.1:40000->127.0.0.1:80]>"; -1: unknown.
 * Cost: ty_fd_kind, so for findings only. */
int32_t ty_wait_peer(const struct ty_explain *x, const struct ty_requests *r, uint32_t thread,
		     uint32_t call, uint64_t from_ns, uint64_t to_ns, const struct ty_wait_for *w,
		     char out[TY_PEER], bool *connecting);

#endif
