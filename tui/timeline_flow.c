/* SPDX-License-Identifier: MIT */
/* Opens the executed instructions of a thread from the timeline, and returns to their time. */
#include "timeline_priv.h"

static void flow_left(struct ty_timeline *t)
{
	uint64_t at;
	bool known = ty_flow_view_at(t->flow, &at);

	ty_flow_view_free(t->flow);
	t->flow = NULL;
	if (!known)
		return;
	t->message[0] = 0;
	t->vp.here = ty_timeline_place(t);
	ty_timeline_unselect(t);
	ty_timeline_visit(t, t->flow_thread, at);
}

bool ty_timeline_flow(struct ty_timeline *t)
{
	const struct ty_summary *s = ty_model_summary(t->m);
	uint32_t thread = ty_timeline_thread_here(t);
	struct ty_flow_on on = {.in = t->in->flow,
				.m = t->m,
				.start_ns = s->start_ns,
				.end_ns = s->end_ns,
				.from_ns = t->vp.from_ns,
				.to_ns = t->vp.to_ns,
				.cursor_ns = t->cursor_ns,
				.clock = t->clock,
				.aside = t->in->aside};

	if (!on.in) {
		ty_timeline_say(t, "this recording has no executed instructions: record with "
				   "--flow, or --flow=step without Intel PT");
		return false;
	}
	if (thread == TY_NONE) {
		ty_timeline_say(t, "put the cursor on the row of a thread to see its instructions");
		return false;
	}
	ty_timeline_calls_stop(t);
	on.tid = ty_model_tid(t->m, thread, t->cursor_ns);
	on.comm = ty_model_comm(t->m, thread, t->cursor_ns);
	/* A page that is being computed would be opened above this one. */
	ty_timeline_stop_page(t);
	ty_flow_view_free(t->flow);
	t->flow_thread = thread;
	t->flow = ty_flow_view_new(&on);
	if (!t->flow) {
		ty_timeline_say(t, "out of memory for the instructions");
		return false;
	}
	return ty_timeline_push(t, &ty_flow_view_ops, t->flow, flow_left);
}
