/* SPDX-License-Identifier: MIT */
/*
 * Messages of a stream (readings, log lines) that need no reply, apart from a request in several
 * pieces; and until when a reply in several calls is sent. For the pass of requests.c.
 */
#ifndef TY_REQUEST_STREAM_H
#define TY_REQUEST_STREAM_H

#include "request_sockets.h"

/* True if what the call received at at_ns may be one more message of a stream: not if the thread
 * was busy before that, or waits for this client alone. */
bool ty_request_may_be_stream(const struct ty_explain *x, const struct ty_sock *s, uint32_t thread,
			      uint32_t call, uint64_t at_ns);
/* True if a request is open that is rather a stream, because the call that sends on the socket does
 * not reply at once to its last message. */
bool ty_request_is_stream(const struct ty_explain *x, const struct ty_sock *s, uint32_t thread,
			  uint32_t call);
/* True for what may be a stream whose next message is not due yet. */
bool ty_request_still_sends(const struct ty_sock *s, uint64_t end_ns);
/* Until when the reply that begins with call c is sent: where one of the next calls sends more of
 * it, and was blocked by a disk for most of its time (sendfile), to the end of that one. */
uint64_t ty_request_sent_until(const struct ty_explain *x, uint32_t thread, uint32_t call,
			       int32_t fd, const struct ty_syscall *c);

#endif
