/* SPDX-License-Identifier: MIT */
/*
 * See flow_priv.h: the reader. A merge of streams, each of which holds its next item. A stream
 * passes through its ranges: walked ranges (flow_walk.h) are converted to items with the help of
 * the code, others are read from the instruction decoder. Both give the same items.
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

static void close_range(struct ty_flow_stream *s)
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
		s->taken = s->time = s->mark = s->run = 0;
		s->ip = s->walked->ip;
		s->on = s->walked->on;
		s->timed = false;
		s->tsc = 0;
		skip_earlier(s);
		return 0;
	}
	/* Where tracing is off at the end it is shown no more: it reads ahead, over what is left.
	 */
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
	/* A broken header: the decoder tells, and looks for the next PSB itself. */
	if (!e && !r->blind)
		(void)ty_pt_range(s->pt, 0, r->end - r->at.off, r->stops);
	return e;
}

/* As libipt's class of the instruction that ends a block. */
static uint8_t class_of(const struct ty_step_insn *i, const struct ty_flow_item *it)
{
	switch (i->cls) {
	case TY_STEP_COND: return TY_FC_COND;
	case TY_STEP_DIRECT: return i->call ? TY_FC_CALL : TY_FC_JUMP;
	case TY_STEP_KERNEL: return TY_FC_FAR_CALL;
	case TY_STEP_INDIRECT:
		if (i->far)
			return i->call ? TY_FC_FAR_CALL
			       : it->raw[0] == 0xff || (it->size > 1 && it->raw[1] == 0xff)
				       ? TY_FC_FAR_JUMP
				       : TY_FC_FAR_RETURN;
		return i->ret ? TY_FC_RETURN : i->call ? TY_FC_CALL : TY_FC_JUMP;
	default: return TY_FC_OTHER;
	}
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
		it->cls = class_of(&b->end, it);
	s->ip += it->size;
	return true;
}

/* Times that belong to the instruction at ip, or (told: false) to instructions that are not
 * reported one by one. */
static bool pass_times(struct ty_flow_stream *s, bool told, uint64_t ip)
{
	const struct ty_walked *w = s->walked;
	bool exact = false;

	for (; s->time < w->times.n; s->time++) {
		const struct ty_walk_time *t = &w->times.v[s->time];

		if (t->at > s->taken || t->marks > s->mark || (told && t->ip != ip))
			break;
		exact = t->ip == ip;
		s->tsc = t->tsc;
		s->timed = true;
	}
	return exact;
}

/* When tracing begins again behind the marks up to s->mark; 0: not known. */
static uint64_t next_start(const struct ty_flow_stream *s)
{
	const struct ty_walked *w = s->walked;

	for (size_t i = s->mark; i < w->marks.n; i++)
		if (w->marks.v[i].kind == TY_FLOW_START)
			return w->marks.v[i].flags & TY_FF_NO_TIME ? 0 : w->marks.v[i].tsc;
	return 0;
}

/* A gap that reaches the range's end: what follows tells where and when it is over. */
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

	if (!r || r->marks > s->mark)
		return false;
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
			if (pass_times(s, true, it->ip))
				it->flags |= TY_FF_EXACT;
			if (last) {
				s->ip = t->to;
				s->taken++;
				s->block = NULL;
			}
			break;
		}
		if (m) {
			pass_times(s, false, 0);
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
		if (pass_times(s, false, t->from))
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

/* The stream's next item; at a loss a gap, then what is behind it. False at the end. */
static bool next_item(struct ty_flow_stream *s, struct ty_flow_item *it)
{
	uint64_t tsc = it->tsc;
	uint8_t no_time = it->flags & TY_FF_NO_TIME;

	while (s->range < s->until) {
		size_t from = s->range;

		if (s->entered && next_in_range(s, it))
			return true;
		if (s->entered) {
			close_range(s);
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
	s->has = next_item(s, &s->head.item);
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

	/* What an instruction's place tells is the one before's branch. */
	if (n)
		put_branch(&s->head, now.item.kind == TY_FLOW_INSN || n > 1 ? &s->before : &now,
			   b[0].from, b[0].to);
	if (n > 1)
		put_branch(&s->later, &now, b[1].from, b[1].to);
	s->has_later = n > 1;
	s->before = now;
	return n || now.item.kind == TY_FLOW_GAP || now.item.kind == TY_FLOW_OVERFLOW;
}

/* Of a walked range, in place: the next branch, when nothing else comes before it. */
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
	it->flags = (timed && pass_times(s, false, t->from) ? TY_FF_EXACT : 0) |
		    (s->timed ? 0 : TY_FF_NO_TIME);
	if (timed || !s->bare) {
		it->tsc = s->tsc;
		place(s);
		s->bare = true;
	}
	s->taken++;
	return true;
}

/* The stream's next item as it is asked for into its head. */
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
		close_range(s);
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

/* The stream whose head comes next. What has no time comes first: it lies before its stream's first
 * time stamp. */
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
		(void)ty_flow_pull_start(f, NULL); /* f->failed tells */
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
		    (r->flags & TY_FF_NO_TIME || ty_flow_ns(f, r->tsc) >= f->lead_until))
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
	if (!s || s->head.item.kind != TY_FLOW_RUN)
		return ty_flow_next(f, out);
	*out = s->head;
	*runs = &s->walked->runs.v[s->run];
	/* What has no time comes first, whatever stream it is of. */
	if (f->lead == s || f->streams.n == 1)
		*n = pass_runs(f, s);
	f->passed = s;
	return 1;
}

uint64_t ty_flow_runs_insns(const struct ty_walk_run *runs, size_t n)
{
	uint64_t insns = 0;

	for (size_t i = 0; i < n; i++)
		insns += runs[i].insns;
	return insns;
}
