/* SPDX-License-Identifier: MIT */
/*
 * See flow_priv.h: the items of a stream, range by range. Walked ranges (flow_walk.h) are converted
 * to items with the help of the code, others are read from the instruction decoder. Both give the
 * same items.
 */
#include <stdlib.h>
#include <string.h>

#include "flow_priv.h"

enum { MISSING_MAX = 16 };

static size_t read_code(void *ctx, uint64_t tsc, uint64_t ip, void *buf, size_t n)
{
	struct ty_flow_stream *s = ctx;
	struct ty_flow *f = s->flow;
	uint64_t t = f->timed && tsc ? ty_flow_ns(f, tsc) : UINT64_MAX - 1;

	return ty_code_read(f->code, s->now_pid, t, ip, buf, n, &s->code_at);
}

void ty_flow_close_range(struct ty_flow_stream *s)
{
	ty_pt_free(s->pt);
	s->pt = NULL;
	s->flow->read_max += s->bytes.len;
	ty_buf_fini(&s->bytes);
	if (s->entered)
		ty_flow_work_drop(s->flow, s->range);
	s->walked = NULL;
	s->block = NULL;
	s->entered = false;
}

/* Why the range is not given to the instruction decoder; NULL: it is. */
static const char *refusal(const struct ty_flow *f, const struct ty_flow_range *r)
{
	size_t n = ty_flow_range_bytes(r);

	if (n > TY_FLOW_RANGE_MAX)
		return "not decoded: too many bytes without a PSB packet to start at";
	if (n > f->read_max)
		return "not decoded: too many threads or CPUs need slow decoding at the same time "
		       "(select fewer, or a shorter time)";
	return NULL;
}

/* Time stamp k belongs to the first instructions behind a taken branch, and no mark lies between
 * it and the one before. */
static bool follows_branch(const struct ty_walked *w, size_t k)
{
	const struct ty_walk_time *t = &w->times.v[k];

	return k && t->at && t->marks == t[-1].marks &&
	       (!t->marks || w->marks.v[t->marks - 1].at < t->at);
}

/*
 * What comes before the window is not reported: begin near it, at the last time stamp before which
 * everything is earlier. Not across thread switches, because the running thread follows from what
 * was executed.
 */
static void skip_earlier(struct ty_flow_stream *s)
{
	const uint64_t from_ns = s->flow->window.from_ns;
	const struct ty_walked *w = s->walked;
	size_t k, to = 0, m = 0;

	if (!s->flow->timed || s->sw < s->sw_end || s->flow->counts)
		return;
	for (k = 0; k < w->times.n && ty_flow_ns(s->flow, w->times.v[k].tsc) < from_ns; k++) {
		while (m < w->times.v[k].marks && ty_flow_ns(s->flow, w->marks.v[m].tsc) < from_ns)
			m++;
		if (m < w->times.v[k].marks)
			break;
		if (follows_branch(w, k))
			to = k;
	}
	if (!to)
		return;
	s->time = to;
	s->taken = w->times.v[to].at;
	s->mark = w->times.v[to].marks;
	s->tsc = w->times.v[to - 1].tsc;
	s->timed = true;
	s->ip = w->taken.v[s->taken - 1].to;
	s->on = true;
}

/* 0 or -TY_E... */
static int open_range(struct ty_flow_stream *s)
{
	struct ty_flow *f = s->flow;
	const struct ty_flow_range *r = &f->ranges.v[s->range];
	int e;

	s->walked = ty_flow_work_take(f, s->range);
	s->entered = true;
	s->lost = true;
	s->brancher = (struct ty_brancher){0};
	if (s->walked) {
		s->taken = s->time = s->mark = s->run = s->path_run = 0;
		s->ip = s->walked->ip;
		s->on = s->walked->on;
		s->timed = false;
		s->tsc = 0;
		skip_earlier(s);
		return 0;
	}
	/* If tracing is off at the end of the range, the decoder reads ahead across the rest and
	 * reports nothing more. */
	s->refused = refusal(f, r);
	if (s->refused)
		return 0;
	e = ty_flow_range_read(f, &f->ahead, r, &s->bytes);
	if (e)
		return e;
	f->read_max -= s->bytes.len;
	e = ty_pt_new(&f->cpu, (const uint8_t *)s->bytes.p,
		      r->stops || r->blind ? s->bytes.len : r->end - r->at.off, read_code, s,
		      &s->pt, NULL);
	/* A broken header: the decoder reports it, and searches for the next PSB itself. */
	if (!e && !r->blind)
		(void)ty_pt_range(s->pt, 0, r->end - r->at.off, r->stops);
	return e;
}

/* As libipt's class of the instruction that ends a block. */
static uint8_t class_of(const struct ty_block *b, const struct ty_flow_item *it)
{
	if (!b->end.far)
		return b->cls & (uint8_t)~TY_BLOCK_INDIRECT;
	return b->end.call						    ? TY_FC_FAR_CALL
	       : it->raw[0] == 0xff || (it->size > 1 && it->raw[1] == 0xff) ? TY_FC_FAR_JUMP
									    : TY_FC_FAR_RETURN;
}

/* The instruction at s->ip; false when its code cannot be had any more (it could, when walked). */
static bool put_insn(struct ty_flow_stream *s, struct ty_flow_item *it)
{
	const struct ty_block *b = s->block;
	struct ty_flow *f = s->flow;
	uint64_t t = f->timed && s->timed ? ty_flow_ns(f, s->tsc) : UINT64_MAX - 1;

	if (!b || s->block_age != ty_blocks_age(f->blocks) || s->block_i >= b->insns) {
		b = s->block = ty_blocks_at(f->blocks, s->now_pid, t, s->ip);
		s->block_age = ty_blocks_age(f->blocks);
		s->block_i = 0;
		if (!b)
			return false;
	}
	it->kind = TY_FLOW_INSN;
	it->ip = s->ip;
	it->size = b->sizes[s->block_i];
	memcpy(it->raw, b->sizes + b->insns + (s->ip - b->ip), it->size);
	if (++s->block_i == b->insns)
		it->cls = class_of(b, it);
	s->ip += it->size;
	return true;
}

bool ty_flow_pass_times(struct ty_flow_stream *s, bool each, uint64_t ip)
{
	const struct ty_walked *w = s->walked;
	bool exact = false;

	for (; s->time < w->times.n; s->time++) {
		const struct ty_walk_time *t = &w->times.v[s->time];

		if (t->at > s->taken || t->marks > s->mark || (each && t->ip != ip))
			break;
		exact = t->ip == ip;
		s->tsc = t->tsc;
		s->timed = true;
	}
	return exact;
}

/* When tracing begins again after the marks up to s->mark; 0: unknown. */
static uint64_t next_start(const struct ty_flow_stream *s)
{
	const struct ty_walked *w = s->walked;

	for (size_t i = s->mark; i < w->marks.n; i++)
		if (w->marks.v[i].kind == TY_FLOW_START)
			return w->marks.v[i].flags & TY_FF_NO_TIME ? 0 : w->marks.v[i].tsc;
	return 0;
}

/* A gap that reaches the range's end: the next range gives the place and time of its end. */
static void end_gap(const struct ty_flow_stream *s, struct ty_flow_item *gap)
{
	const struct ty_flow_range *r = &s->flow->ranges.v[s->range];

	if (gap->to || gap->off + gap->value < r->end || s->range + 1 >= s->ranges_end ||
	    r[1].seg_lo != r->seg_lo)
		return;
	gap->to = r[1].at.on ? r[1].at.ip : 0;
	gap->until = r[1].at.timed ? r[1].at.tsc : 0;
}

/* Which file's code a gap misses; those after the first MISSING_MAX are not listed. */
static void note_missing(const struct ty_flow_stream *s, const struct ty_flow_item *gap)
{
	struct ty_flow *f = s->flow;
	uint64_t off, until, t = f->timed && gap->tsc ? ty_flow_ns(f, gap->tsc) : UINT64_MAX - 1;
	int file = ty_code_mapping_of(f->code, s->now_pid, t, gap->ip, &off, &until);

	vec_each (m, &f->missing)
		if (m->file == file) {
			m->gaps++;
			return;
		}
	if (f->missing.n < MISSING_MAX)
		(void)vec_push(&f->missing,
			       (struct ty_flow_missing){.file = file, .ip = gap->ip, .gaps = 1});
}

static void put_mark(struct ty_flow_stream *s, const struct ty_walk_mark *m,
		     struct ty_flow_item *it)
{
	it->kind = m->kind;
	it->ip = m->ip;
	it->to = m->to;
	it->value = m->value;
	it->flags = m->flags;
	it->tsc = s->tsc;
	if (!(m->flags & TY_FF_NO_TIME)) {
		it->tsc = s->tsc = m->tsc;
		s->timed = true;
	}
	if (m->kind == TY_FLOW_GAP) {
		const struct ty_walk_gap *g = &s->walked->gaps.v[m->value];

		it->text = g->text;
		it->off = s->flow->ranges.v[s->range].at.off + g->off;
		it->value = g->bytes;
		it->until = g->text == ty_pt_ended_nowhere ? next_start(s) : g->until;
		s->on = g->resume;
		s->ip = g->resume;
		if (m->flags & TY_FF_NO_CODE) {
			note_missing(s, it);
			end_gap(s, it);
		}
	}
	s->block = NULL;
	if (m->kind == TY_FLOW_START || m->kind == TY_FLOW_ASYNC)
		s->ip = m->kind == TY_FLOW_START ? m->ip : m->to;
	if (m->kind == TY_FLOW_START || m->kind == TY_FLOW_STOP || m->kind == TY_FLOW_ASYNC)
		s->on = m->kind != TY_FLOW_STOP && s->ip;
}

/* The walked range's next run, unless a mark comes before it. */
static inline bool put_run(struct ty_flow_stream *s, struct ty_flow_item *it)
{
	const struct ty_walked *w = s->walked;
	const struct ty_walk_run *r = s->run < w->runs.n ? &w->runs.v[s->run] : NULL;
	struct ty_walk_run of_path;

	if (!r || r->marks > s->mark)
		return false;
	if (ty_walk_is_path(r)) {
		ty_walk_path_runs(r, s->path_run, s->path_run + 1, &of_path);
		if (++s->path_run < r->path->cuts_n)
			s->run--;
		else
			s->path_run = 0;
		r = &of_path;
	}
	*it = (struct ty_flow_item){.kind = TY_FLOW_RUN,
				    .cls = r->cls & (uint8_t)~TY_BLOCK_INDIRECT,
				    .size = r->size,
				    .flags = r->flags |
					     (r->cls & TY_BLOCK_INDIRECT ? TY_FF_INDIRECT : 0),
				    .tsc = r->tsc,
				    .ip = r->ip,
				    .to = r->last,
				    .value = r->insns,
				    .until = r->until};
	s->run++;
	return true;
}

/* The same of a range that is counted. */
static bool next_counted(struct ty_flow_stream *s, struct ty_flow_item *it)
{
	const struct ty_walk_mark *m;

	if (put_run(s, it))
		return true;
	if (s->mark == s->walked->marks.n)
		return false;
	m = &s->walked->marks.v[s->mark++];
	if (m->kind == TY_WALK_END)
		return false;
	memset(it, 0, sizeof(*it));
	put_mark(s, m, it);
	it->tsc = s->tsc;
	return true;
}

/* The walked range's next item; false at its end. */
static bool next_walked(struct ty_flow_stream *s, struct ty_flow_item *it)
{
	const struct ty_walked *w = s->walked;

	memset(it, 0, sizeof(*it));
	for (;;) {
		const struct ty_walk_mark *m =
			s->mark < w->marks.n && w->marks.v[s->mark].at == s->taken
				? &w->marks.v[s->mark]
				: NULL;
		const struct ty_taken *t = s->taken < w->taken.n ? &w->taken.v[s->taken] : NULL;

		if (s->on && !s->flow->branches && (m ? s->ip < m->upto : t && s->ip <= t->from)) {
			bool last = !m && s->ip == t->from;

			if (!put_insn(s, it)) {
				const struct ty_flow_range *r = &s->flow->ranges.v[s->range];

				it->kind = TY_FLOW_GAP;
				it->ip = s->ip;
				it->off = r->at.off;
				it->value = r->end - r->at.off;
				it->text = "cannot read the code here";
				s->mark = w->marks.n;
				s->taken = w->taken.n;
				s->on = false;
				break;
			}
			if (ty_flow_pass_times(s, true, it->ip))
				it->flags |= TY_FF_EXACT;
			if (last) {
				s->ip = t->to;
				s->taken++;
				s->block = NULL;
			}
			break;
		}
		if (m) {
			ty_flow_pass_times(s, false, 0);
			s->mark++;
			if (m->kind == TY_WALK_END)
				return false;
			put_mark(s, m, it);
			break;
		}
		if (!t)
			return false;
		it->kind = TY_FLOW_BRANCH;
		it->ip = t->from;
		it->to = t->to;
		if (ty_flow_pass_times(s, false, t->from))
			it->flags |= TY_FF_EXACT;
		s->taken++;
		break;
	}
	it->tsc = s->tsc;
	if (!s->timed)
		it->flags |= TY_FF_NO_TIME;
	return true;
}

/* The range's next item; false at its end. */
static bool next_in_range(struct ty_flow_stream *s, struct ty_flow_item *it)
{
	const struct ty_flow_range *r = &s->flow->ranges.v[s->range];

	if (s->walked)
		return s->flow->counts ? next_counted(s, it) : next_walked(s, it);
	if (s->refused) {
		*it = (struct ty_flow_item){.kind = TY_FLOW_GAP,
					    .text = s->refused,
					    .off = r->at.off,
					    .value = r->end - r->at.off,
					    .tsc = r->at.tsc,
					    .flags = r->at.timed ? TY_FF_EXACT : TY_FF_NO_TIME};
		end_gap(s, it);
		s->refused = NULL;
		return true;
	}
	if (!s->pt)
		return false;
	if (ty_pt_next(s->pt, it) <= 0) {
		/* The branch to where the next range begins. */
		if (!s->flow->branches || !s->brancher.have || !ty_pt_stopped(s->pt) ||
		    s->brancher.ip + s->brancher.size == r->stop_ip)
			return false;
		*it = s->before.item;
		it->kind = TY_FLOW_BRANCH;
		it->ip = s->brancher.ip;
		it->to = r->stop_ip;
		s->brancher.have = false;
		return true;
	}
	if (it->kind != TY_FLOW_GAP)
		return true;
	it->off += r->at.off;
	if (r->blind)
		it->value = r->end - r->at.off;
	s->flow->errata += (it->flags & TY_FF_ERRATUM) != 0;
	if (it->flags & TY_FF_NO_CODE)
		note_missing(s, it);
	end_gap(s, it);
	return true;
}

/* A range was entered behind `from`: what lies between is lost where a segment begins. */
static bool lost_before(const struct ty_flow_stream *s, size_t from, struct ty_flow_item *gap)
{
	const struct ty_flow_range *r = &s->flow->ranges.v[s->range];

	if (s->range == from || r[-1].seg_lo == r->seg_lo)
		return false;
	*gap = (struct ty_flow_item){
		.kind = TY_FLOW_GAP,
		.text = "trace data was lost here (AUX buffer full or not read in time)",
		.off = r->seg_lo,
		.value = r->at.off - r->seg_lo,
		.lost = ty_flow_lost_at(s, r->seg_lo),
		.until = r->at.timed ? r->at.tsc : 0,
		.to = r->at.on ? r->at.ip : 0};
	return true;
}

bool ty_flow_stream_next(struct ty_flow_stream *s, struct ty_flow_item *it)
{
	uint64_t tsc = it->tsc;
	uint8_t no_time = it->flags & TY_FF_NO_TIME;

	while (s->range < s->until) {
		size_t from = s->range;

		if (s->entered && next_in_range(s, it))
			return true;
		if (s->entered) {
			ty_flow_close_range(s);
			if (++s->range == s->until)
				return false;
		}
		s->flow->failed = open_range(s);
		if (s->flow->failed)
			return false;
		if (!lost_before(s, from, it))
			continue;
		it->tsc = tsc;
		it->flags = no_time;
		return true;
	}
	return false;
}
