/* SPDX-License-Identifier: MIT */
/* See request_stream.h. */
#include "request_stream.h"

#include "syscall_table.h"
#include "thread_walk.h"

/* So many messages, each of which an event loop awaited for so long, on a connection without any
 * reply yet, may be a stream (readings, log lines) as well as one request in pieces. */
#define STREAM	  16
#define STREAM_NS UINT64_C(1000000)
#define SINCE	  256 /* calls from the last one to the reply */
/* Of a reply: so many calls after its first one, if one of them took so long. Of a message: calls
 * from the wait to its receipt. */
#define MORE	6
#define DISK_NS UINT64_C(5000000)

static bool waits_in_epoll(const struct ty_explain *x, const struct ty_syscall *c)
{
	const struct ty_sysrow *row = ty_syscall_row(x->arch, c->abi, c->nr);

	/* Not poll: of a single descriptor it is how a read with a timeout waits. */
	return row->wait_on == TY_WAIT_ON_EVENTS && row->object == 0;
}

bool ty_request_may_be_stream(const struct ty_explain *x, const struct ty_sock *s, uint32_t thread,
			      uint32_t call, uint64_t at_ns)
{
	struct ty_calls_back w = ty_calls_before(x->m, thread, call, MORE);

	if (!s->inferred || s->replied || at_ns - s->last_ns < STREAM_NS)
		return false;
	while (ty_call_back(&w) && at_ns - w.s.end_ns < STREAM_NS)
		if (waits_in_epoll(x, &w.s))
			return w.s.end_ns - w.s.start_ns >= STREAM_NS;
	return false;
}

/* Does the thread that received the last message reply before it waits for the next event? */
static bool replies_at_once(const struct ty_explain *x, const struct ty_sock *s, uint32_t thread,
			    uint32_t call)
{
	struct ty_calls_back w = ty_calls_before(x->m, thread, call, SINCE);

	while (thread == s->last_by && ty_call_back(&w)) {
		if (w.s.end_ns <= s->last_ns)
			return true;
		if (waits_in_epoll(x, &w.s))
			return false;
	}
	return false;
}

bool ty_request_is_stream(const struct ty_explain *x, const struct ty_sock *s, uint32_t thread,
			  uint32_t call)
{
	return s->open && s->more >= STREAM && !replies_at_once(x, s, thread, call);
}

uint64_t ty_request_sent_until(const struct ty_explain *x, uint32_t thread, uint32_t call,
			       int32_t fd, const struct ty_syscall *c)
{
	uint32_t end = ty_thread_calls(x->m, thread).to;

	for (uint32_t k = call + 1; k < end && k <= call + MORE; k++) {
		struct ty_syscall s = ty_model_syscall_brief(x->m, thread, k);
		const struct ty_sysrow *row;
		struct ty_cell cell;
		uint64_t args[6];

		if (s.flags & (TY_SF_OPEN | TY_SF_LOST) || s.end_ns - s.start_ns < DISK_NS)
			continue;
		row = ty_syscall_row(x->arch, s.abi, s.nr);
		if (s.ret <= 0 || !(row->says & TY_GIVES) || row->gives < 0)
			break;
		s = ty_model_syscall(x->m, k);
		if (ty_explain_args(x, &s, (unsigned)row->gives + 1, args) ||
		    (int32_t)args[row->gives] != fd)
			break;
		ty_model_cells(x->m, (struct ty_track){TY_TRACK_THREAD, thread}, s.start_ns,
			       s.end_ns, 1, &cell);
		return cell.ns[TY_ST_BLOCKED] > (s.end_ns - s.start_ns) / 2 ? s.end_ns : c->end_ns;
	}
	return c->end_ns;
}

bool ty_request_still_sends(const struct ty_sock *s, uint64_t end_ns)
{
	return s->more >= STREAM && end_ns - s->last_ns <= (s->last_ns - s->since_ns) / STREAM;
}
