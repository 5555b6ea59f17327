/* SPDX-License-Identifier: MIT */
/* See wait_peer.h. */
#include "wait_peer.h"

#include "process_of_thread.h"
#include "request_lookup.h"
#include "wakeup.h"

#define LATER 16 /* sleeps of the thread */

#include <stdio.h>
#include <stdlib.h>

#include "fd_kind.h"
#include "wait_fd.h"
#include "thread_walk.h"

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

/* Did the thread have that reply before it slept again? */
static bool was_there(const struct ty_model *m, const struct ty_request *q, uint32_t thread,
		      uint64_t to_ns)
{
	uint32_t next = ty_sleep_after(m, thread, to_ns, 1);

	return next == TY_NONE || ty_model_span_brief(m, thread, next).start_ns >= q->end_ns;
}

/* Had it waited for that reply, it would not have timed out. */
static bool for_another(const struct ty_explain *x, const struct ty_request *q, uint32_t thread,
			uint32_t call, uint64_t to_ns)
{
	return !(q->flags & TY_REQ_VAIN) && ty_wait_timed_out(x, call) &&
	       was_there(x->m, q, thread, to_ns);
}

/* Did the wait end for what the thread read next, and that reply not come before the next sleep? */
static bool ended_by_another(const struct ty_explain *x, const struct ty_request *q,
			     uint32_t thread, uint32_t call, uint64_t to_ns)
{
	int64_t fd = -1;

	return call != TY_NONE && ty_explain_row(x, call)->wait_on == TY_WAIT_ON_EVENTS &&
	       ty_wait_next_fd(x, thread, call, false, &fd) && fd != q->fd &&
	       (q->flags & TY_REQ_VAIN || !was_there(x->m, q, thread, to_ns));
}

bool ty_wait_unanswered(const struct ty_explain *x, const struct ty_requests *r, uint32_t thread,
			uint32_t call, uint64_t from_ns, uint64_t to_ns)
{
	const struct ty_request *q = ty_requests_awaited(r, thread, from_ns, to_ns, true);

	return q && !for_another(x, q, thread, call, to_ns);
}

bool ty_wait_reply_there(const struct ty_explain *x, const struct ty_requests *r, uint32_t thread,
			 uint32_t call, uint64_t from_ns, uint64_t to_ns)
{
	const struct ty_request *q = ty_requests_awaited(r, thread, from_ns, to_ns, false);
	int64_t fd = -1;

	return q && ty_explain_row(x, call)->wait_on == TY_WAIT_ON_EVENTS &&
	       was_there(x->m, q, thread, to_ns) && ty_wait_next_fd(x, thread, call, false, &fd) &&
	       fd == q->fd;
}

uint32_t ty_wait_next_packet(const struct ty_model *m, uint32_t thread, uint32_t span)
{
	const struct ty_seek q = {.states = 1u << TY_ST_SLEEPING, .nr = -1};
	const struct ty_track track = {TY_TRACK_THREAD, thread};

	for (unsigned n = 0; span != TY_NONE && n < LATER; n++) {
		struct ty_span s = ty_model_span_brief(m, thread, span);
		const struct ty_waker by = ty_waker_find(m, ty_model_span_edge(m, &s, span));

		if (!by.net)
			break;
		if (by.kind == TY_WAKER_THREAD)
			return ty_process_of(m, by.thread) == ty_process_of(m, thread) ? TY_NONE
										       : by.thread;
		if (by.kind != TY_WAKER_TIMER)
			break;
		span = ty_model_seek(m, track, &q, s.start_ns, false);
	}
	return TY_NONE;
}

int32_t ty_wait_peer(const struct ty_explain *x, const struct ty_requests *r, uint32_t thread,
		     uint32_t call, uint64_t from_ns, uint64_t to_ns, const struct ty_wait_for *w,
		     char out[TY_PEER], bool *connecting)
{
	const struct ty_request *q = ty_wait_awaits(r, thread, from_ns, to_ns, w);
	struct ty_fd_table *fds;

	if (!q || (w->fd != q->fd && (for_another(x, q, thread, call, to_ns) ||
				      ended_by_another(x, q, thread, call, to_ns))))
		return -1;
	*connecting = q->flags & TY_REQ_CONNECT;
	/* As it was at the end: a socket has its names when it is connected. */
	fds = ty_fd_table_new(x, thread, q->end_ns - 1);
	if (!ty_wait_fd_text(x, fds, thread, q->fd, q->end_ns - 1, 0, out, TY_PEER))
		snprintf(out, TY_PEER, "fd %d", (int)q->fd);
	free(fds);
	return q->fd;
}
