/* SPDX-License-Identifier: MIT */
/* See wait_peer.h. */
#include "wait_peer.h"

#include <stdio.h>
#include <stdlib.h>

#include "fd_table.h"

const struct ty_request *ty_wait_awaits(const struct ty_requests *r, uint32_t thread,
					uint64_t from_ns, uint64_t to_ns,
					const struct ty_wait_for *w)
{
	const struct ty_request *q;

	if (w->class == TY_WAIT_DEFINITE || w->class == TY_WAIT_END || w->word ||
	    w->kind == TY_STALL_SLEEP)
		return NULL;
	q = ty_requests_awaited(r, thread, from_ns, to_ns, true);
	/* The descriptor of epoll is not what it waits for. */
	return q && w->class == TY_WAIT_PEER && w->fd >= 0 && w->fd != q->fd ? NULL : q;
}

int32_t ty_wait_peer(const struct ty_explain *x, const struct ty_requests *r, uint32_t thread,
		     uint64_t from_ns, uint64_t to_ns, const struct ty_wait_for *w,
		     char out[TY_PEER], bool *connecting)
{
	const struct ty_request *q = ty_wait_awaits(r, thread, from_ns, to_ns, w);
	struct ty_fd_table *fds;

	if (!q)
		return -1;
	*connecting = q->flags & TY_REQ_CONNECT;
	/* As it was at the end: a socket has its names when it is connected. */
	fds = ty_fd_table_new(x, thread, q->end_ns - 1);
	if (!ty_wait_fd_text(x, fds, thread, q->fd, q->end_ns - 1, 0, out, TY_PEER))
		snprintf(out, TY_PEER, "fd %d", (int)q->fd);
	free(fds);
	return q->fd;
}
