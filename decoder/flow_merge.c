/* SPDX-License-Identifier: MIT */
/*
 * See flow_priv.h: the reader. A merge of streams, each of which holds its next item
 * (flow_items.c), with its time and thread, or the next taken branch.
 */
#include <stdlib.h>

#include "flow_priv.h"

/*
 * Threads change in the kernel: where that is not traced, only while tracing is off. The time of an
 * item in user mode may be that of what follows it (libipt reads ahead) and changes nothing.
 */
static bool may_switch(struct ty_flow_stream *s, const struct ty_flow_item *it)
{
	bool lost = s->lost;

	s->lost = it->kind == TY_FLOW_GAP || it->kind == TY_FLOW_OVERFLOW;
	return lost || it->kind == TY_FLOW_START ||
	       ((it->kind == TY_FLOW_INSN || it->kind == TY_FLOW_BRANCH ||
		 it->kind == TY_FLOW_RUN) &&
		it->ip >> 63 && it->flags & TY_FF_EXACT);
}

static void thread_at(struct ty_flow_stream *s, uint64_t t_ns)
{
	size_t i;

	if (s->sw == s->sw_end)
		return;
	i = ty_flow_sw_at(s, t_ns);
	if (i + 1 == s->sw)
		return;
	s->now_pid = s->flow->sws.v[i].pid;
	s->now_tid = s->flow->sws.v[i].tid;
}

/* When and in which thread the item in the head is. */
static inline void place(struct ty_flow_stream *s)
{
	struct ty_flow *f = s->flow;
	struct ty_flow_at *h = &s->head;

	if (f->timed && !(h->item.flags & TY_FF_NO_TIME)) {
		h->ts_ns = ty_flow_ns(f, h->item.tsc);
		if (may_switch(s, &h->item))
			thread_at(s, h->ts_ns);
	} else {
		h->ts_ns = TY_FLOW_NO_TIME;
	}
	if (h->item.kind == TY_FLOW_RUN)
		h->last_ns =
			f->timed && h->item.until ? ty_flow_ns(f, h->item.until) : TY_FLOW_NO_TIME;
	h->pid = s->now_pid;
	h->tid = s->now_tid;
	h->cpu = s->cpu;
}

/* Pull the stream's next item into its head. */
static void pull_one(struct ty_flow_stream *s)
{
	s->has = ty_flow_stream_next(s, &s->head.item);
	if (s->has)
		place(s);
}

static void put_branch(struct ty_flow_at *to, const struct ty_flow_at *at, uint64_t from,
		       uint64_t target)
{
	struct ty_flow_at b = *at;

	b.item = (struct ty_flow_item){.kind = TY_FLOW_BRANCH,
				       .flags = at->item.flags,
				       .tsc = at->item.tsc,
				       .ip = from,
				       .to = target};
	*to = b;
}

/* Of the instruction decoder's items: the branches that one completes become head and later. */
static bool complete_branches(struct ty_flow_stream *s)
{
	struct ty_flow_at now = s->head;
	struct ty_branch b[2];
	unsigned n = ty_brancher_feed(&s->brancher, &now.item, b);

	/* The address of an instruction shows the outcome of the branch before it. */
	if (n)
		put_branch(&s->head, now.item.kind == TY_FLOW_INSN || n > 1 ? &s->before : &now,
			   b[0].from, b[0].to);
	if (n > 1)
		put_branch(&s->later, &now, b[1].from, b[1].to);
	s->has_later = n > 1;
	s->before = now;
	return n || now.item.kind == TY_FLOW_GAP || now.item.kind == TY_FLOW_OVERFLOW;
}

/* Takes the next branch of a walked range in place, if no other item precedes it. */
static inline bool pull_taken(struct ty_flow_stream *s)
{
	const struct ty_walked *w = s->walked;
	struct ty_flow_item *it = &s->head.item;
	const struct ty_taken *t;
	bool timed;

	if (!w || s->lost || s->taken == w->taken.n ||
	    (s->mark < w->marks.n && w->marks.v[s->mark].at == s->taken))
		return false;
	t = &w->taken.v[s->taken];
	timed = s->time < w->times.n && w->times.v[s->time].at <= s->taken;
	if (!s->bare)
		*it = (struct ty_flow_item){.kind = TY_FLOW_BRANCH};
	it->ip = t->from;
	it->to = t->to;
	it->flags = (timed && ty_flow_pass_times(s, false, t->from) ? TY_FF_EXACT : 0) |
		    (s->timed ? 0 : TY_FF_NO_TIME);
	if (timed || !s->bare) {
		it->tsc = s->tsc;
		place(s);
		s->bare = true;
	}
	s->taken++;
	return true;
}

/* Puts the stream's next item, of the requested kind, into its head. */
static void pull(struct ty_flow_stream *s)
{
	struct ty_flow_at *h = &s->head;

	if (s->flow->branches && pull_taken(s))
		return;
	s->bare = false;
	if (s->has_later) {
		*h = s->later;
		s->has_later = false;
		return;
	}
	for (;;) {
		pull_one(s);
		if (!s->has || !s->flow->branches)
			return;
		if (!s->walked) {
			if (complete_branches(s))
				return;
			continue;
		}
		switch (h->item.kind) {
		case TY_FLOW_START: put_branch(h, h, 0, h->item.ip); return;
		case TY_FLOW_STOP:
		case TY_FLOW_ASYNC: put_branch(h, h, h->item.ip, h->item.to); return;
		case TY_FLOW_BRANCH:
		case TY_FLOW_GAP: return;
		default: continue;
		}
	}
}

static void choose(struct ty_flow *f, struct ty_flow_stream *s)
{
	const struct ty_flow_range *v = f->ranges.v;
	uint64_t last = 0;

	ty_flow_ranges_in(s, &f->window, &s->range, &s->until);
	s->rises = true;
	s->wanted_bytes = s->range == s->until ? 0 : v[s->until - 1].end - v[s->range].at.off;
	s->headless_bytes = s->range < s->until && s->range == s->ranges
				    ? v[s->range].at.off - v[s->range].seg_lo
				    : 0;
	for (size_t i = s->ranges; i < s->ranges_end; i++) {
		bool wanted = i >= s->range && i < s->until;

		f->ranges.v[i].wanted = wanted;
		if (!v[i].at.timed || !(wanted || i == s->until))
			continue;
		s->rises &= v[i].at.tsc >= last;
		last = v[i].at.tsc;
	}
}

void ty_flow_pull_stop(struct ty_flow *f)
{
	if (!f->work)
		return;
	vec_each (s, &f->streams)
		ty_flow_close_range(s);
	ty_flow_work_stop(f);
}

int ty_flow_refine(struct ty_flow *f, const struct ty_flow_window *w)
{
	if (ty_flow_is_coarse(f, w))
		ty_flow_pull_stop(f); /* f->ranges moves */
	return ty_flow_split(f, w);
}

int ty_flow_pull_start(struct ty_flow *f, struct ty_err *err)
{
	int r = ty_flow_refine(f, &f->window);

	f->failed = r;
	f->errata = 0;
	f->missing.n = 0;
	f->lead = f->passed = NULL;
	if (r)
		return ty_fail(err, -r, TY_NO_OFFSET, "trace packets of executed instructions: %s",
			       ty_strerror(r));
	if (!f->blocks)
		f->blocks = ty_blocks_new(f->code);
	if (f->counts && f->blocks && !f->memos)
		f->memos = ty_memos_new(f->blocks);
	if (f->blocks)
		ty_blocks_set_extents(f->blocks, f->counts ? f->count.extent_of : NULL,
				      f->counts ? f->count.ctx : NULL);
	vec_each (s, &f->streams) {
		choose(f, s);
		s->head = (struct ty_flow_at){.stream = (uint32_t)(s - f->streams.v)};
		s->head.item.flags = TY_FF_NO_TIME;
		s->now_tid = s->tid;
		s->now_pid = s->first_pid;
		s->has_later = false;
	}
	r = f->blocks && (f->memos || !f->counts) ? ty_flow_work_start(f) : -TY_ENOMEM;
	if (r) {
		f->failed = r;
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	}
	vec_each (s, &f->streams)
		pull(s);
	return 0;
}

/* The stream with the earliest head. Items without a time are first: they precede their stream's
 * first time stamp. */
static struct ty_flow_stream *first(struct ty_flow *f)
{
	struct ty_flow_stream *best = f->lead;

	if (best && best->has && best->head.ts_ns < f->lead_until)
		return best;
	best = NULL;
	f->lead_until = TY_FLOW_NO_TIME;
	vec_each (s, &f->streams) {
		if (!s->has)
			continue;
		if (s->head.ts_ns == TY_FLOW_NO_TIME) {
			f->lead = NULL;
			return s;
		}
		if (!best || s->head.ts_ns < best->head.ts_ns) {
			if (best)
				f->lead_until = best->head.ts_ns;
			best = s;
		} else if (s->head.ts_ns < f->lead_until) {
			f->lead_until = s->head.ts_ns;
		}
	}
	f->lead = best;
	return best;
}

static void pull_passed(struct ty_flow *f)
{
	if (f->passed)
		pull(f->passed);
	f->passed = NULL;
}

int ty_flow_next(struct ty_flow *f, struct ty_flow_at *out)
{
	const struct ty_flow_window *w = &f->window;
	struct ty_flow_stream *s;

	if (!f->work && !f->failed)
		(void)ty_flow_pull_start(f, NULL); /* f->failed is set */
	pull_passed(f);
	while (!f->failed && (s = first(f))) {
		bool within = ty_flow_whole(w) ||
			      (s->head.ts_ns != TY_FLOW_NO_TIME && s->head.ts_ns >= w->from_ns &&
			       s->head.ts_ns <= w->to_ns);

		if (within)
			*out = s->head;
		if (s->rises && !ty_flow_whole(w) && s->head.ts_ns != TY_FLOW_NO_TIME &&
		    s->head.ts_ns > w->to_ns)
			s->has = false; /* all behind it is later */
		else
			pull(s);
		if (within)
			return 1;
	}
	return f->failed;
}

/* Runs of the stream that come before all other streams' items, and of its thread; passed. */
static size_t pass_runs(const struct ty_flow *f, struct ty_flow_stream *s)
{
	const struct ty_walked *w = s->walked;
	size_t from = s->run;

	/* Mostly it is all of the range that is left. */
	if (s->sw == s->sw_end && f->lead_until == TY_FLOW_NO_TIME && w->runs.n &&
	    w->runs.v[w->runs.n - 1].marks <= s->mark)
		s->run = w->runs.n;
	for (; s->run < w->runs.n && w->runs.v[s->run].marks <= s->mark; s->run++) {
		const struct ty_walk_run *r = &w->runs.v[s->run];

		if (s->sw < s->sw_end && r->ip >> 63 && r->flags & TY_FF_EXACT)
			break;
		if (f->lead_until != TY_FLOW_NO_TIME &&
		    (r->flags & TY_FF_NO_TIME ||
		     ty_flow_ns(f, ty_walk_is_path(r) ? r->until : r->tsc) >= f->lead_until))
			break;
	}
	return s->run - from;
}

int ty_flow_next_runs(struct ty_flow *f, struct ty_flow_at *out, const struct ty_walk_run **runs,
		      size_t *n)
{
	struct ty_flow_stream *s = NULL;

	*n = 0;
	pull_passed(f);
	if (!f->failed && f->work && ty_flow_whole(&f->window))
		s = first(f);
	if (!s || s->head.item.kind != TY_FLOW_RUN || s->path_run)
		return ty_flow_next(f, out);
	*out = s->head;
	*runs = &s->walked->runs.v[s->run];
	/* Items without a time are first, in any stream. */
	if (f->lead == s || f->streams.n == 1)
		*n = pass_runs(f, s);
	f->passed = s;
	return 1;
}
