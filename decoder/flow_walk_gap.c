/* SPDX-License-Identifier: MIT */
/*
 * See flow_walk_priv.h. Missing code is a gap from the last packet used up to the next packet with
 * an address (pt_entry.h), exactly as in pt_stream.c, which continues after a synthesized PSB+:
 * consecutive gaps with nothing between are merged, and the state in a PSB+ right after a
 * resumption is not part of the output.
 */
#include "flow_walk_priv.h"

#ifdef TY_HAVE_IPT

/* The next place behind `sure` where it can go on, which is not where the code is missing. */
static bool find_entry(struct ty_walk *w, size_t sure, struct ty_pt_entry *e)
{
	struct ty_pt_entries *s = &w->entries;
	size_t from = sure, after = w->entry;
	bool found;

	if (!s->bytes) {
		s->bytes = w->r->bytes;
		s->n = w->r->n;
		s->clock = w->r->cpu->clock;
	}
	do {
		found = ty_pt_entry_find(s, from, after, w->r->end, e);
		from = e->from;
		after = e->off;
	} while (found && e->ip == w->ip && !e->psb);
	if (found && e->psb) {
		struct ty_pt_point p = ty_pt_point_at(w->r->bytes, w->r->n, e->off);

		e->ip = p.on ? p.ip : 0;
		e->timed = p.timed;
		e->tsc = p.tsc;
	}
	return found;
}

/* Go on there. */
static int enter(struct ty_walk *w, const struct ty_pt_entry *e)
{
	uint8_t psb[TY_PT_ENTRY_MAX];

	w->q.clock = w->r->cpu->clock;
	w->leaving = w->nowhere = w->far = false;
	w->returns_n = 0;
	w->resume = 0;
	w->block = w->cur = NULL;
	w->done = 0;
	w->entry = e->off;
	w->idle = 0;
	if (e->psb) {
		ty_pt_query_start(&w->q, w->r->bytes + e->off);
		w->on = !w->q.suppressed;
		w->ip = w->on ? w->q.at : 0;
	} else if (!e->have_mode || (e->mode & 3) != 1) {
		return ty_walk_odd();
	} else {
		size_t n = ty_pt_entry_header(e, psb);

		ty_pt_query_enter(&w->q, psb, n, w->r->bytes + (e->begins ? e->from : e->off),
				  !e->begins, e->ip);
		w->on = !e->begins;
		w->ip = w->on ? e->ip : 0;
	}
	if (w->q.next == TY_PT_ODD)
		return ty_walk_odd();
	ty_walk_now(w);
	w->pid = w->r->pid_at(w->r->ctx, w->timed, w->tsc, &w->which);
	ty_walk_begin_run(w, w->ip);
	w->made = !e->psb;
	w->entry_ip = w->ip;
	w->entry_taken = w->out->taken.n;
	w->entry_runs = w->out->runs.n;
	w->in_gap = true;
	w->entry_times = w->out->times.n;
	w->entry_fresh = w->fresh;
	return w->on && w->made ? ty_walk_stamp(w, NULL, w->ip) : TY_WALK_MORE;
}

/* The state given by a PSB+; like libipt's decoder right after it is entered: none. */
int ty_walk_pass_state(struct ty_walk *w)
{
	const uint8_t *sure = ty_pt_query_sure(&w->q);

	if (w->q.next == TY_PT_PSB && (w->on == w->q.suppressed || (w->on && w->ip != w->q.at)))
		return ty_walk_odd();
	ty_walk_take_event(w);
	w->q.before = sure;
	w->q.left = w->q.branches + 1;
	return TY_WALK_MORE;
}

/* There is no code at w->ip, or none that is understood. */
int ty_walk_no_code(struct ty_walk *w)
{
	struct ty_walk_gap gap = {.off = (uint64_t)(ty_pt_query_sure(&w->q) - w->r->bytes),
				  .text = ty_pt_no_code};
	struct ty_walk_mark m = {
		.kind = TY_FLOW_GAP, .flags = TY_FF_NO_CODE, .upto = w->ip, .ip = w->ip};
	struct ty_pt_entry e;
	bool found, same = ty_walk_just_entered(w);
	struct ty_walk_gap *last;
	int r;

	if (w->q.next == TY_PT_ODD || w->q.silent ||
	    !ty_blocks_missing(w->blocks, w->pid, w->t_ns, w->ip))
		return ty_walk_odd();
	found = find_entry(w, gap.off, &e);
	m.to = found ? e.ip : 0;
	gap.until = found && e.timed ? e.tsc : 0;
	gap.bytes = found ? e.from : w->r->end;
	gap.bytes -= gap.off < gap.bytes ? gap.off : gap.bytes;
	if (same) {
		last = &w->out->gaps.v[w->out->gaps.n - 1];
		last->bytes = gap.off + gap.bytes - last->off;
		last->until = gap.until;
		w->out->marks.v[w->out->marks.n - 1].to = m.to;
		w->out->times.n = w->entry_times;
		w->fresh |= w->entry_fresh;
	} else {
		/* A new time applies to the next item. */
		bool fresh = w->fresh;

		w->fresh = false;
		m.value = w->out->gaps.n;
		r = ty_walk_mark(w, m);
		w->fresh = fresh;
		if (r || vec_push(&w->out->gaps, gap))
			return r ? r : -TY_ENOMEM;
	}
	w->on = false;
	w->run.insns = 0;
	if (!found)
		return TY_WALK_DONE;
	r = enter(w, &e);
	w->out->gaps.v[w->out->gaps.n - 1].resume = w->on ? w->ip : 0;
	return r;
}

#endif
