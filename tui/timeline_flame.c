/* SPDX-License-Identifier: MIT */
/* From the timeline to the flame graph of the window, or of the selected time, and back. */
#include <stdio.h>

#include "flame_view.h"
#include "ruler.h"
#include "model_time.h"
#include "timeline_priv.h"

static void flame_left(struct ty_timeline *t)
{
	ty_flame_view_free(t->flame);
	t->flame = NULL;
}

bool ty_timeline_flame(struct ty_timeline *t)
{
	struct ty_flame_input in = {.host = &t->in->host,
				    .model = t->m,
				    .from_ns = t->vp.from_ns,
				    .to_ns = t->vp.to_ns,
				    .aside = t->in->aside};
	const uint32_t thread = ty_timeline_row_thread(t);
	char from[TY_TIME_MAX], length[TY_TIME_MAX];
	uint32_t first, last;

	if (!t->in->host.samples_load) {
		ty_timeline_say(t, "this file has no CPU samples and no stacks of waits. "
				   "By default tarry record has both");
		return false;
	}
	ty_timeline_selected(t, &in.from_ns, &in.to_ns, &first, &last);
	if (thread != TY_NONE) {
		const struct ty_thread *row = ty_model_thread(t->m, thread);

		in.tid = row->tid;
		in.pid = row->tgid;
		snprintf(in.comm, sizeof(in.comm), "%s", ty_model_comm(t->m, thread, in.from_ns));
	}
	snprintf(in.when, sizeof(in.when), "%s, starting at %s",
		 ty_fmt_length(in.to_ns - in.from_ns, length),
		 ty_time_text(t->m, t->clock, in.from_ns, 1000, from));
	ty_timeline_stop_page(t);
	flame_left(t);
	t->flame = ty_flame_view_new(&in);
	if (!t->flame) {
		ty_timeline_say(t, "out of memory for the flame graph");
		return false;
	}
	return ty_timeline_push(t, &ty_flame_view_ops, t->flame, flame_left);
}
