/* SPDX-License-Identifier: MIT */
/* See flow_spans.h. */
#include "flow_spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "partition.h"
#include "ruler.h"

uint64_t ty_flow_axis_pos(const struct ty_flow_axis *a, uint32_t step)
{
	const struct ty_flow_part *part = a->part;
	uint32_t n = part ? (uint32_t)part->steps.n : 0;
	struct ty_flow_part_stretch st;
	uint64_t t;

	if (a->by_insn)
		return (uint64_t)step * TY_FLOW_PER_INSN;
	if (step >= n)
		return n && part->cut ? ty_flow_axis_pos(a, n - 1) + TY_FLOW_PER_NS : a->vp->end_ns;
	t = part->steps.v[step].ts_ns;
	if (t == TY_FLOW_NO_TIME || t < a->start_ns)
		return 0;
	st = ty_flow_part_stretch(part, step);
	return (t - a->start_ns) * TY_FLOW_PER_NS +
	       (uint64_t)((unsigned __int128)(st.to_ns - st.from_ns) * TY_FLOW_PER_NS *
			  (step - st.first) / st.n);
}

uint32_t ty_flow_axis_step(const struct ty_flow_axis *a, uint64_t pos)
{
	uint64_t n = pos / TY_FLOW_PER_INSN, t;
	uint32_t lo, hi;

	if (!a->part)
		return 0;
	if (a->by_insn)
		return n < a->part->steps.n ? (uint32_t)n : (uint32_t)a->part->steps.n;
	/* Behind the time stamp before it, and not behind its own. */
	t = a->start_ns + pos / TY_FLOW_PER_NS;
	hi = ty_flow_part_step_at(a->part, t + 1);
	if (hi && a->part->steps.v[hi - 1].ts_ns == TY_FLOW_NO_TIME)
		return hi;
	lo = hi ? ty_flow_part_step_at(a->part, a->part->steps.v[hi - 1].ts_ns) : 0;
	return partition_point(i, lo, hi, ty_flow_axis_pos(a, i) < pos);
}

/* Without the brackets that mark it as no symbol: the edges of calls are brackets, too. */
const char *ty_flow_bare(const char *name, char out[256])
{
	size_t n = strlen(name);

	if (*name != '[' || n < 2 || name[n - 1] != ']')
		return name;
	snprintf(out, 256, "%.*s", (int)(n - 2 < 255 ? n - 2 : 255), name + 1);
	return out;
}

/* A call over columns [x, end): its edges where they are, its name between them. */
static void draw_call(const struct ty_flow_axis *v, struct ty_grid *g, const struct ty_palette *p,
		      int y, int x, int end, uint32_t call, bool left, bool right)
{
	const struct ty_flow_part_call *c = &v->part->calls.v[call];
	struct ty_style st = {.fg = TY_C_WHITE, .bg = call & 1 ? TY_C_CALL_ODD : TY_C_CALL};
	int from = x + left, to = end - right;
	char name[256];

	if (p->mode <= TY_COLOR_MONO)
		st = (struct ty_style){.attr = p->mode == TY_COLOR_MONO && call & 1 ? TY_A_REVERSE
										    : 0};
	if (c->flags & TY_CALL_SIGNAL && p->mode > TY_COLOR_MONO)
		st.bg = TY_C_STOPPED;
	ty_grid_fill(g, x, y, end - x, 1, ' ', st);
	if (end - x == 1 && left && right) {
		ty_grid_put(g, x, y, '|', st);
		return;
	}
	if (left)
		ty_grid_put(g, x, y, '[', st);
	if (right)
		ty_grid_put(g, end - 1, y, ']', st);
	if (to > from)
		ty_grid_elide(g, p, from, y, to - from,
			      ty_flow_bare(ty_flow_part_function(v->part, call), name), st);
}

void ty_flow_spans_draw(const struct ty_flow_axis *v, struct ty_grid *g, const struct ty_palette *p,
			uint32_t depth, int y)
{
	const struct ty_flow_part *part = v->part;
	uint32_t w = (uint32_t)v->w;

	for (uint32_t x = 0; x < w;) {
		uint64_t edge = ty_viewport_edge(v->vp, x, w),
			 next = ty_viewport_edge(v->vp, x + 1, w);
		uint32_t s = ty_flow_axis_step(v, edge), last,
			 c = ty_flow_part_call_from(part, depth, s), end;
		uint64_t from, to;
		bool more;

		if (c == TY_NO_CALL)
			return;
		from = ty_flow_axis_pos(v, part->calls.v[c].first);
		if (from >= v->vp->to_ns)
			return;
		if (from >= next) { /* nothing of this depth until there */
			uint32_t at = ty_viewport_column(v->vp, from, w);

			x = at > x ? at : x + 1;
			continue;
		}
		last = part->calls.v[c].last;
		to = ty_flow_axis_pos(v, last < part->steps.n ? last : (uint32_t)part->steps.n);
		more = false;
		/* Those that end in this cell: the last call continues behind it, unless a whole
		 * one lies in between. */
		while (to < next && to < v->vp->to_ns) {
			uint32_t n = ty_flow_part_call_from(part, depth, last);
			bool whole = from >= edge;

			if (n == TY_NO_CALL)
				break;
			from = ty_flow_axis_pos(v, part->calls.v[n].first);
			if (from >= next)
				break;
			more |= whole;
			c = n;
			last = part->calls.v[c].last;
			to = ty_flow_axis_pos(v, last < part->steps.n ? last
								      : (uint32_t)part->steps.n);
			if (more && to < next) {
				/* Enough is known of the cell. */
				to = next;
				break;
			}
		}
		end = to >= v->vp->to_ns ? w : ty_viewport_column(v->vp, to, w);
		end = end <= x ? x + 1 : end;
		if (more) {
			ty_grid_put(g, v->x + (int)x, y, p->utf8 ? 0x2592 : '#',
				    (struct ty_style){.fg = TY_C_CALL});
			end = x + 1;
		} else
			draw_call(v, g, p, y, v->x + (int)x, v->x + (int)end, c,
				  from >= edge && !(part->calls.v[c].flags & TY_CALL_BEFORE),
				  to < v->vp->to_ns && !(part->calls.v[c].flags & TY_CALL_OPEN));
		x = end;
	}
}

void ty_flow_gaps_draw(const struct ty_flow_axis *v, struct ty_grid *g, const struct ty_palette *p,
		       int y, int h)
{
	const struct ty_flow_part *part = v->part;
	uint64_t end = ty_flow_axis_pos(v, (uint32_t)part->steps.n);

	/* A part that was not decoded is not empty. */
	if (part->cut && !v->by_insn && end < v->vp->to_ns) {
		int x = end > v->vp->from_ns ? (int)ty_viewport_column(v->vp, end, (uint32_t)v->w)
					     : 0;

		for (int i = 0; i < h; i++)
			ty_grid_fill(g, v->x + x, y + i, v->w - x, 1, p->utf8 ? 0x2591 : '?',
				     (struct ty_style){.fg = TY_C_UNKNOWN});
	}
	for (size_t i = 0; i < part->gaps.n; i++) {
		uint64_t pos = ty_flow_axis_pos(v, part->gaps.v[i]);

		if (pos >= v->vp->from_ns && pos < v->vp->to_ns)
			ty_grid_put(g, v->x + (int)ty_viewport_column(v->vp, pos, (uint32_t)v->w),
				    y, '!', ty_palette_role(p, TY_ROLE_LOST));
	}
}

void ty_flow_path_text(const struct ty_flow_part *part, uint32_t step, char *text, size_t size)
{
	uint32_t c = part->steps.v[step].call;
	const struct ty_flow_part_call *call = c == TY_NO_CALL ? NULL : &part->calls.v[c];
	char len[TY_TIME_MAX], name[256];
	size_t n = 0;

	snprintf(text, size, "in no known call");

	if (call) {
		bool known = call->start_ns != TY_FLOW_NO_TIME && call->end_ns != TY_FLOW_NO_TIME &&
			     call->end_ns >= call->start_ns;

		n = (size_t)snprintf(
			text, size, "%.200s: %" PRIu64 " instructions%s%s%s%s%s%s%s",
			ty_flow_bare(ty_flow_part_function(part, c), name), call->insns,
			known ? ", " : "",
			known ? ty_fmt_length(call->end_ns - call->start_ns, len) : "",
			call->flags & TY_CALL_BEFORE ? ", began earlier" : "",
			call->flags & TY_CALL_BACK ? ", continued from earlier" : "",
			call->flags & TY_CALL_OPEN ? ", continues after the decoded part" : "",
			call->flags & TY_CALL_GAP ? ", with a gap inside" : "",
			call->flags & TY_CALL_CUT ? ", left without a return" : "");
		for (c = call->parent; c != TY_NO_CALL && n + 110 < size;
		     c = part->calls.v[c].parent)
			n += (size_t)snprintf(text + n, size - n, " < %.100s",
					      ty_flow_bare(ty_flow_part_function(part, c), name));
	}
}
