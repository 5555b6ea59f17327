/* SPDX-License-Identifier: MIT */
/* The instruction view's axis, and its cursor. */
#include "flow_view_priv.h"

struct ty_flow_axis ty_flow_view_axis(const struct ty_flow_view *v)
{
	return (struct ty_flow_axis){.part = v->part,
				     .vp = &v->vp,
				     .start_ns = v->on.start_ns,
				     .by_insn = v->by_insn,
				     .w = v->w};
}

uint64_t ty_flow_view_pos(const struct ty_flow_view *v, uint32_t step)
{
	struct ty_flow_axis a = ty_flow_view_axis(v);

	return ty_flow_axis_pos(&a, step);
}

uint32_t ty_flow_view_step(const struct ty_flow_view *v, uint64_t pos)
{
	struct ty_flow_axis a = ty_flow_view_axis(v);

	return ty_flow_axis_step(&a, pos);
}

enum ty_view_result ty_flow_view_go(struct ty_flow_view *v, uint32_t step)
{
	uint64_t pos;

	if (!ty_flow_view_steps(v))
		return TY_VIEW_IGNORED;
	v->at = step < ty_flow_view_steps(v) ? step : ty_flow_view_steps(v) - 1;
	pos = ty_flow_view_pos(v, v->at);
	if (pos < v->vp.from_ns || pos >= v->vp.to_ns)
		ty_viewport_follow(&v->vp, pos);
	v->message[0] = 0;
	v->counted = false;
	return TY_VIEW_CHANGED;
}
