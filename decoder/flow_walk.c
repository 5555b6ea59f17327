/* SPDX-License-Identifier: MIT */
/*
 * See flow_walk.h. When events apply: asynchronous ones at their address, the end of tracing at the
 * next branch that can leave, others at once. While an event is next, no question may be asked.
 * Budget: 10 ns per branch.
 *
 * A TIP.PGD without an address and without a FUP before it belongs to a far transfer. Where the
 * code comes to a near branch first, the FUP of an interrupt or exception is missing (two page
 * faults on the first instruction of a program look so). Nothing before that branch is then known
 * to have been executed, until tracing begins again: at an address on the way, that is where it was
 * interrupted; elsewhere, the way is a gap. Where tracing begins again on the way before a far
 * transfer, the same FUP is missing, and that transfer was not executed.
 */
#include "flow_walk.h"

#include <string.h>

#include "err.h"

void ty_walked_fini(struct ty_walked *w)
{
	vec_fini(&w->taken);
	vec_fini(&w->times);
	vec_fini(&w->marks);
	vec_fini(&w->runs);
}

#ifdef TY_HAVE_IPT

#include "pt_conf.h"
#include "pt_query.h"

/* Real code does not run that long without a packet; a loop that is not what ran does. */
enum { IDLE_BLOCKS_MAX = 20000, RETURNS = 64, TAKEN_MAX = 1 << 20, MARKS_MAX = 1 << 18 };
/* Of direct jumps no packet tells; a byte tells of 6 branches and the jumps between. */
enum { TAKEN_PER_BYTE = 64, TAKEN_FREE = 4096 };
enum { MORE, DONE };

struct walk {
	struct ty_blocks *blocks;
	const struct ty_walk_range *r;
	struct ty_walked *out;
	struct ty_pt_query q;
	bool on, timed, fresh;
	unsigned idle; /* blocks since the last packet */
	size_t taken_max;
	int32_t pid;
	uint64_t ip, tsc, t_ns, resume;
	struct ty_block *block;	   /* the last one, to find the next by; NULL */
	struct ty_block *cur;	   /* the one at ip, where a step led to it; NULL */
	uint64_t returns[RETURNS]; /* of calls, for compressed returns: a ring */
	unsigned returns_at, returns_n;

	/* The end of tracing is next: where the way to it began. */
	bool leaving;
	struct {
		uint64_t ip;
		size_t taken, runs;
		unsigned returns_at, returns_n;
		struct ty_walk_run run;
		unsigned done;
		uint64_t tsc;
		bool timed;
	} left;
	bool nowhere; /* tracing ended on that way, and no packet says where: */
	bool far;     /* or by the far transfer at its end, if no FUP is missing: */
	size_t end;   /* its mark */
	size_t times; /* how many there were before it */

	/* Where it is counted. */
	struct ty_memos *memos; /* NULL: it is not */
	struct ty_walk_run run; /* that goes on; the last instruction is the one executed last */
	unsigned done;		/* instructions of the block at ip that are in it */
	bool careful;		/* any time may end a run */
	bool bounded, within;	/* there is a window; the time is in it */
	size_t which;
};

static int odd(void)
{
	return -TY_EUNSUPPORTED;
}

/* The time of the packet that was taken. */
static void now(struct walk *w)
{
	w->idle = 0;
	if (!w->q.timed || (w->timed && w->q.tsc == w->tsc))
		return;
	w->timed = true;
	w->tsc = w->q.tsc;
	w->fresh = true;
	w->t_ns = w->r->ns_of(w->r->ctx, true, w->tsc);
}

static void take_event(struct walk *w)
{
	ty_pt_query_event(&w->q);
	now(w);
}

/* ---- counting ---- */

/* It ends, before mark number `marks`. */
static int end_run(struct walk *w, size_t marks)
{
	struct ty_walked *out = w->out;
	struct ty_walk_run *run;

	if (!w->run.insns)
		return 0;
	if (out->runs.n >= TAKEN_MAX || vec_reserve(&out->runs, out->runs.n + 1))
		return out->runs.n >= TAKEN_MAX ? odd() : -TY_ENOMEM;
	run = &out->runs.v[out->runs.n++];
	*run = w->run;
	run->marks = (uint32_t)marks;
	w->run.insns = 0;
	return 0;
}

static bool is_within(const struct walk *w)
{
	return w->timed && w->t_ns >= w->r->from_ns && w->t_ns <= w->r->to_ns;
}

static inline void begin_run(struct walk *w, uint64_t ip)
{
	if (w->bounded)
		w->within = is_within(w);
	w->run.ip = ip;
	w->run.tsc = w->run.until = w->tsc;
	w->run.flags = w->timed ? 0 : TY_FF_NO_TIME;
}

static inline void last_is(struct walk *w, uint64_t ip, uint8_t size, uint8_t cls)
{
	w->run.last = ip;
	w->run.size = size;
	w->run.cls = cls;
}

/* The block (or what is left of it) was executed to its end. */
static inline void whole(struct walk *w, const struct ty_block *b)
{
	w->run.insns += b->insns - w->done;
	w->done = 0;
	last_is(w, b->last, b->sizes[b->insns - 1], b->cls);
}

/* It was executed up to the instruction at ip; the number of those before it. */
static unsigned partly(struct walk *w, const struct ty_block *b, uint64_t ip)
{
	uint64_t at = b->ip;
	unsigned n = 0;

	while (at < ip && n < b->insns)
		at += b->sizes[n++];
	if (n > w->done) {
		w->run.insns += n - w->done;
		last_is(w, at - b->sizes[n - 1], b->sizes[n - 1], TY_FC_OTHER);
	}
	w->done = 0;
	return n;
}

/* A new time belongs to the instruction at ip of the block. */
static int count_time(struct walk *w, const struct ty_block *b, uint64_t ip)
{
	bool split = w->r->each_time;
	int r;

	w->fresh = false;
	if (ip >> 63) {
		size_t was = w->which;

		w->pid = w->r->pid_at(w->r->ctx, true, w->tsc, &w->which);
		split |= was != w->which;
	}
	split |= w->bounded && w->within != is_within(w);
	if (!split && (w->run.insns || ip != w->run.ip)) {
		w->run.until = w->tsc;
		return 0;
	}
	if (split) {
		unsigned n = b ? partly(w, b, ip) : 0;

		r = end_run(w, w->out->marks.n);
		if (r)
			return r;
		w->done = n;
	}
	begin_run(w, ip);
	w->run.flags |= TY_FF_EXACT;
	return 0;
}

static int count_branch(struct walk *w, const struct ty_block *b, uint64_t to)
{
	int r;

	whole(w, b);
	w->ip = to;
	if (!ty_block_cuts(b, to))
		return MORE;
	r = end_run(w, w->out->marks.n);
	begin_run(w, to);
	return r;
}

static void take_calls(struct walk *w, const struct ty_memo *m)
{
	const uint64_t *rets = ty_memo_rets(m);

	/* At its deepest, what did not fit any more was lost. */
	if (w->returns_n + m->deepest > RETURNS)
		w->returns_n = RETURNS - m->deepest;
	for (unsigned i = 0; i < m->rets_n; i++)
		w->returns[w->returns_at++ % RETURNS] = rets[i];
	w->returns_n += m->rets_n;
}

/* A step that was taken before. */
static inline int take_step(struct walk *w, const struct ty_memo *m)
{
	const struct ty_memo_cut *c = m->cuts;
	int r = 0;

	w->q.bits <<= m->used;
	w->q.branches -= m->used;
	w->idle = m->idle + (m->used ? 0 : w->idle);
	for (unsigned i = 0; i < m->cuts_n && !r; i++, c++) {
		w->run.insns += c->insns;
		last_is(w, c->last, c->size, c->cls);
		r = end_run(w, w->out->marks.n);
		begin_run(w, c->to);
	}
	if (m->deepest)
		take_calls(w, m);
	w->run.insns += m->insns;
	last_is(w, m->last, m->size, m->cls);
	w->cur = m->next;
	w->ip = m->next->ip;
	return r;
}

/* ---- branches and times ---- */

/* A new time belongs to the instruction at ip, of the block (NULL: the next one). */
static int stamp(struct walk *w, const struct ty_block *b, uint64_t ip)
{
	if (!w->fresh)
		return 0;
	if (w->memos)
		return count_time(w, b, ip);
	w->fresh = false;
	if (ip >> 63)
		w->pid = w->r->pid_at(w->r->ctx, true, w->tsc, NULL);
	if (w->out->times.n >= TAKEN_MAX)
		return odd();
	return vec_push(&w->out->times, (struct ty_walk_time){.at = (uint32_t)w->out->taken.n,
							      .marks = (uint32_t)w->out->marks.n,
							      .ip = ip,
							      .tsc = w->tsc});
}

static int mark(struct walk *w, struct ty_walk_mark m)
{
	int r = w->memos ? end_run(w, w->out->marks.n) : 0;

	if (r)
		return r;
	m.at = (uint32_t)w->out->taken.n;
	m.tsc = w->tsc;
	m.flags |= w->fresh ? TY_FF_EXACT : 0;
	m.flags |= w->timed ? 0 : TY_FF_NO_TIME;
	w->fresh = false;
	/* Packets alone make them, 14 bytes of memory each byte: so many are not ordinary. */
	if (w->out->marks.n >= MARKS_MAX)
		return odd();
	return vec_push(&w->out->marks, m);
}

static inline int branch(struct walk *w, const struct ty_block *b, uint64_t to)
{
	if (w->memos)
		return count_branch(w, b, to);
	w->ip = to;
	if (to == b->end.next && b->end.cls == TY_STEP_COND)
		return MORE;
	if (w->out->taken.n >= w->taken_max)
		return odd();
	return vec_push(&w->out->taken, (struct ty_taken){.from = b->last, .to = to});
}

static void remember(struct walk *w, uint64_t next)
{
	w->returns[w->returns_at++ % RETURNS] = next;
	if (w->returns_n < RETURNS)
		w->returns_n++;
}

static int direct(struct walk *w, const struct ty_block *b)
{
	if (b->end.call && b->end.target != b->end.next)
		remember(w, b->end.next);
	return branch(w, b, b->end.target);
}

/* Is there an answer to a question about a branch, and is it a bit? The bits are taken. */
static inline bool have_bits(struct walk *w)
{
	if (w->q.branches)
		return true;
	if (w->q.next != TY_PT_TNT)
		return false;
	ty_pt_query_branches(&w->q);
	now(w);
	return w->q.branches != 0;
}

static inline int conditional(struct walk *w, const struct ty_block *b)
{
	int r;

	if (!have_bits(w))
		return odd();
	w->idle = 0;
	r = stamp(w, b, b->last);
	return r ? r : branch(w, b, ty_pt_query_taken(&w->q) ? b->end.target : b->end.next);
}

static int indirect(struct walk *w, const struct ty_block *b)
{
	uint64_t to;
	int r;

	if (b->end.ret && have_bits(w)) {
		/* A compressed return is a branch that is taken. */
		if (!ty_pt_query_taken(&w->q) || !w->returns_n)
			return odd();
		to = w->returns[--w->returns_at % RETURNS];
		w->returns_n--;
	} else {
		if (b->end.call && !b->end.far)
			remember(w, b->end.next);
		if (!ty_pt_query_tip(&w->q, &to))
			return odd();
		now(w);
	}
	w->idle = 0;
	r = stamp(w, b, b->last);
	return r ? r : branch(w, b, to);
}

/* Is ip the address of an instruction of the block? */
static bool holds(const struct ty_block *b, uint64_t ip)
{
	uint64_t at = b->ip;

	if (ip < b->ip || ip > b->last)
		return false;
	for (unsigned i = 0; at < ip; i++)
		at += b->sizes[i];
	return at == ip;
}

/* The block at w->ip; NULL: there is none. */
static inline struct ty_block *here(struct walk *w)
{
	struct ty_block *cur = w->cur;

	w->cur = NULL;
	if (cur && cur->ip == w->ip && cur->pid == w->pid && w->t_ns >= cur->from_ns &&
	    w->t_ns < cur->until_ns)
		return w->block = cur;
	w->block = ty_blocks_after(w->blocks, w->block, w->pid, w->t_ns, w->ip);
	return w->block;
}

/* One block further without a question; -TY_EUNSUPPORTED when its end would need one. */
static int pass(struct walk *w, const struct ty_block *b)
{
	if (b->end.cls == TY_STEP_DIRECT)
		return direct(w, b);
	if (b->end.cls != TY_STEP_OTHER && b->end.cls != TY_STEP_REP)
		return odd();
	if (w->memos)
		whole(w, b);
	w->ip = b->end.next;
	return MORE;
}

/* Back to where the way to the end of tracing began. */
static void go_back(struct walk *w)
{
	unsigned calls = w->returns_at - w->left.returns_at;

	w->ip = w->left.ip;
	w->block = w->cur = NULL;
	w->out->taken.n = w->left.taken;
	w->out->runs.n = w->left.runs;
	w->run = w->left.run;
	w->done = w->left.done;
	w->returns_at = w->left.returns_at;
	/* What lay deepest in a full ring is overwritten. */
	w->returns_n = calls >= RETURNS			     ? 0
		       : w->left.returns_n > RETURNS - calls ? RETURNS - calls
							     : w->left.returns_n;
	w->left.returns_n = w->returns_n;
}

/* Tracing ended somewhere on the way to here: what begins next tells where, if anything does. */
static int ended_nowhere(struct walk *w)
{
	uint64_t off = (uint64_t)(w->q.event - w->r->bytes);
	int r;

	go_back(w);
	w->leaving = w->on = false;
	w->nowhere = true;
	w->end = w->out->marks.n;
	w->resume = 0;
	take_event(w);
	r = mark(w, (struct ty_walk_mark){
			    .kind = TY_FLOW_GAP, .upto = w->ip, .ip = w->ip, .value = off});
	w->ip = 0;
	return r;
}

/* Tracing begins at `to` after such an end: interrupted there, if that is on the way. */
static int find_end(struct walk *w, uint64_t to)
{
	struct ty_walk_mark *m = &w->out->marks.v[w->end];
	const struct ty_block *b = NULL;
	size_t taken = w->out->taken.n;
	const uint64_t tsc = w->tsc;
	const bool timed = w->timed;
	bool same;
	int r = MORE;

	w->nowhere = false;
	same = w->r->pid_at(w->r->ctx, w->q.event_timed, w->q.event_tsc, NULL) == w->pid;
	go_back(w);
	/* What is executed there is executed before the end. */
	w->tsc = w->left.tsc;
	w->timed = w->left.timed;
	for (unsigned i = 0; same && r == MORE && i < IDLE_BLOCKS_MAX; i++) {
		b = here(w);
		if (!b || holds(b, to))
			break;
		r = pass(w, b);
	}
	w->tsc = tsc;
	w->timed = timed;
	if (r == -TY_ENOMEM)
		return r;
	if (!same || r != MORE || !b || !holds(b, to)) {
		go_back(w);
		m->to = to;
		return w->memos ? end_run(w, w->end) : MORE;
	}
	if (w->memos) {
		partly(w, b, to);
		r = end_run(w, w->end);
		if (r)
			return r;
	}
	m->kind = TY_FLOW_ASYNC;
	m->flags |= TY_FF_INFERRED;
	m->ip = m->upto = w->resume = to;
	m->value = 0;
	for (; m < w->out->marks.v + w->out->marks.n; m++)
		m->at += (uint32_t)(w->out->taken.n - taken);
	return MORE;
}

/* Is `to` on the way to the far transfer that is said to have ended tracing, before that? */
static bool is_before_far(struct walk *w, uint64_t to)
{
	uint64_t ip = w->left.ip, far = w->out->marks.v[w->end].ip;

	w->block = NULL;
	for (unsigned i = 0; i < IDLE_BLOCKS_MAX && to != far; i++) {
		const struct ty_block *b = ty_blocks_after(w->blocks, NULL, w->pid, w->t_ns, ip);

		if (!b || holds(b, to))
			return b;
		if (b->last == far)
			return false;
		ip = b->end.cls == TY_STEP_DIRECT ? b->end.target : b->end.next;
	}
	return false;
}

/* Tracing begins at `to` again behind a far transfer: one before which it was interrupted? */
static int find_far(struct walk *w, uint64_t to)
{
	struct ty_walk_mark *m = &w->out->marks.v[w->end];
	int r;

	w->far = false;
	if (to == w->resume ||
	    w->r->pid_at(w->r->ctx, w->q.event_timed, w->q.event_tsc, NULL) != w->pid ||
	    !is_before_far(w, to))
		return MORE;
	/* The time that came with the end is the interruption's. */
	m->flags |= w->out->times.n > w->times ? TY_FF_EXACT : 0;
	w->out->times.n = w->times;
	r = find_end(w, to);
	return r == MORE && w->out->marks.v[w->end].kind == TY_FLOW_STOP ? odd() : r;
}

/* Does the code come to `to`, where tracing ends, without a branch? It does at the end of an
 * address range that is filtered for. */
static bool runs_out(const struct ty_block *b, uint64_t to)
{
	bool passes = b->end.cls == TY_STEP_OTHER || b->end.cls == TY_STEP_REP;

	return (to > b->ip && holds(b, to)) || (passes && to == b->end.next);
}

static uint64_t before(const struct ty_block *b, uint64_t ip)
{
	uint64_t at = b->ip;

	for (unsigned i = 0; at + b->sizes[i] < ip; i++)
		at += b->sizes[i];
	return at;
}

/* Tracing ends by the block's last instruction, if that is one that can. */
static int stopped(struct walk *w, const struct ty_block *b)
{
	bool told = !w->q.suppressed;
	uint64_t to = told ? w->q.to : 0;
	bool leaves = b->end.cls == TY_STEP_KERNEL || b->end.far;
	bool call = b->end.call || b->end.cls == TY_STEP_KERNEL;
	struct ty_walk_mark m = {
		.kind = TY_FLOW_STOP, .upto = b->end.next, .ip = b->last, .to = to};
	int r;

	if (told && runs_out(b, to)) {
		leaves = true;
		m.upto = to;
		m.ip = before(b, to);
		w->resume = 0;
	} else {
		if (told)
			leaves |= b->end.cls == TY_STEP_COND || b->end.cls == TY_STEP_INDIRECT ||
				  (b->end.cls == TY_STEP_DIRECT && b->end.target == to);
		else if (!leaves && (b->end.cls == TY_STEP_COND || b->end.cls == TY_STEP_INDIRECT))
			return ended_nowhere(w);
		w->resume = b->end.cls == TY_STEP_DIRECT ? b->end.target : call ? b->end.next : 0;
	}
	if (!leaves)
		return pass(w, b);
	w->leaving = w->on = false;
	w->far = !told;
	w->times = w->out->times.n;
	take_event(w);
	r = stamp(w, b, m.ip);
	if (w->memos && m.upto < b->end.next)
		(void)partly(w, b, m.upto);
	else if (w->memos)
		whole(w, b);
	w->end = w->out->marks.n;
	return r ? r : mark(w, m);
}

/* A PSB says that the next instruction is the one at `at`, which is in the block or further on. */
static int synced(struct walk *w, const struct ty_block *b)
{
	const uint64_t at = w->q.at;

	if (w->ip != at && !(b && holds(b, at)))
		return b ? pass(w, b) : odd();
	if (w->memos && b)
		partly(w, b, at);
	w->ip = at;
	take_event(w);
	return stamp(w, NULL, at);
}

/* Interrupted before the instruction at `at`, which is in the block or further on. */
static int interrupted(struct walk *w, const struct ty_block *b)
{
	const uint64_t at = w->q.at;
	struct ty_walk_mark m = {.kind = TY_FLOW_ASYNC, .upto = at, .ip = at};
	int r;

	if (w->ip != at && !(b && holds(b, at)))
		return b ? pass(w, b) : odd();
	if (w->memos && b)
		partly(w, b, at);
	w->on = w->q.next == TY_PT_ASYNC;
	w->ip = at;
	w->resume = at;
	if (w->on)
		m.to = w->ip = w->q.to;
	take_event(w);
	r = mark(w, m);
	begin_run(w, w->ip);
	return r;
}

/* Apply the event that is next, or go one block towards where it applies. */
static int event(struct walk *w)
{
	struct ty_walk_mark m = {0};
	const struct ty_block *b;
	int r;

	switch (w->q.next) {
	case TY_PT_ON:
		if (w->on)
			return odd();
		r = w->nowhere ? find_end(w, w->q.to) : w->far ? find_far(w, w->q.to) : MORE;
		if (r != MORE)
			return r;
		m.kind = TY_FLOW_START;
		m.ip = w->ip = w->q.to;
		m.flags = w->ip == w->resume ? TY_FF_RESUMED : 0;
		w->on = true;
		take_event(w);
		w->pid = w->r->pid_at(w->r->ctx, w->timed, w->tsc, &w->which);
		r = mark(w, m);
		begin_run(w, w->ip);
		return r;
	case TY_PT_CBR:
		m.kind = TY_FLOW_CBR;
		m.upto = w->on ? w->ip : 0;
		m.value = w->q.ratio;
		take_event(w);
		if (!w->memos)
			return mark(w, m);
		if (w->on)
			return stamp(w, NULL, w->ip);
		w->fresh = false;
		return MORE;
	case TY_PT_PSB:
		if (w->on == w->q.suppressed)
			return odd();
		if (w->on)
			break;
		take_event(w);
		return MORE;
	case TY_PT_OFF:
	case TY_PT_ASYNC_OFF:
	case TY_PT_ASYNC: break;
	default: return odd();
	}
	if (!w->on || ++w->idle > IDLE_BLOCKS_MAX)
		return odd();
	if (w->q.next == TY_PT_OFF && !w->leaving) {
		w->leaving = true;
		w->left.ip = w->ip;
		w->left.taken = w->out->taken.n;
		w->left.runs = w->out->runs.n;
		w->left.run = w->run;
		w->left.done = w->done;
		w->left.tsc = w->tsc;
		w->left.timed = w->timed;
		w->left.returns_at = w->returns_at;
		w->left.returns_n = w->returns_n;
	}
	b = here(w);
	if (w->q.next == TY_PT_OFF)
		return b ? stopped(w, b) : odd();
	return w->q.next == TY_PT_PSB ? synced(w, b) : interrupted(w, b);
}

/* There are no more packets: on to where the next range begins. */
static int finish(struct walk *w)
{
	const struct ty_block *b;

	if (!w->on || w->r->end == w->r->n)
		return DONE;
	b = w->r->stops ? here(w) : NULL;
	if (!b || ++w->idle > IDLE_BLOCKS_MAX)
		return odd();
	if (!holds(b, w->r->stop_ip))
		return pass(w, b);
	if (w->memos)
		partly(w, b, w->r->stop_ip);
	w->ip = w->r->stop_ip;
	return DONE;
}

static int step(struct walk *w)
{
	const struct ty_block *b;

	if (!w->q.branches && w->q.next > TY_PT_TIP)
		return w->q.next == TY_PT_END ? finish(w) : event(w);
	b = w->on ? here(w) : NULL;
	if (!b || ++w->idle > IDLE_BLOCKS_MAX)
		return odd();
	if (b->end.cls == TY_STEP_COND)
		return conditional(w, b);
	return b->end.cls == TY_STEP_INDIRECT || b->end.cls == TY_STEP_KERNEL ? indirect(w, b)
									      : pass(w, b);
}

/* As step, as long as there are branches, by the steps that are known. */
static int steps(struct walk *w)
{
	while (w->on && (w->q.branches || w->q.next <= TY_PT_TIP)) {
		struct ty_block *b = here(w);
		const struct ty_memo *m = NULL;
		unsigned n = w->q.branches, cls = b ? b->end.cls : TY_STEP_UNKNOWN;
		int r;

		if (cls == TY_STEP_COND) {
			if (!have_bits(w))
				return odd();
			n = w->q.branches;
			if (w->fresh && !w->careful && !(b->last >> 63)) {
				r = count_time(w, b, b->last);
				if (r)
					return r;
			}
		} else if (cls == TY_STEP_INDIRECT || cls == TY_STEP_KERNEL) {
			n = UINT32_MAX;
		}
		if (!b || w->idle >= IDLE_BLOCKS_MAX)
			return odd();
		if (n != UINT32_MAX && !w->fresh)
			m = ty_memo_find(w->memos, b, w->q.bits,
					 n < TY_MEMO_BRANCHES ? n : TY_MEMO_BRANCHES, w->t_ns);
		if (m) {
			r = take_step(w, m);
		} else if (n == UINT32_MAX) {
			w->idle++;
			r = indirect(w, b);
		} else {
			/* Blocks may have been forgotten. */
			w->block = NULL;
			r = step(w);
		}
		if (r != MORE)
			return r;
	}
	return step(w);
}

int ty_flow_walk(struct ty_blocks *blocks, const struct ty_walk_range *range, struct ty_walked *out)
{
	struct walk w = {.blocks = blocks, .r = range, .out = out};
	struct pt_config conf;
	int r = MORE;

	out->taken.n = out->times.n = out->marks.n = out->runs.n = 0;
	w.taken_max = range->end * TAKEN_PER_BYTE + TAKEN_FREE;
	if (w.taken_max > TAKEN_MAX)
		w.taken_max = TAKEN_MAX;
	ty_pt_conf(&conf, range->cpu, range->bytes, range->n);
	w.q.end = range->bytes + range->n;
	w.q.stop = range->bytes + range->end;
	w.q.bdm70 = conf.errata.bdm70;
	w.q.skd007 = conf.errata.skd007;
	w.q.clock = (struct ty_pt_clock){.cpuid_15_eax = conf.cpuid_0x15_eax,
					 .cpuid_15_ebx = conf.cpuid_0x15_ebx,
					 .mtc_freq = conf.mtc_freq,
					 .nom_freq = conf.nom_freq,
					 .skl168 = conf.errata.skl168};
	w.t_ns = range->ns_of(range->ctx, false, 0);
	ty_pt_query_start(&w.q, range->bytes);
	now(&w);
	w.on = !w.q.suppressed;
	w.ip = w.on ? w.q.at : 0;
	w.pid = range->pid_at(range->ctx, w.timed, w.tsc, &w.which);
	w.memos = range->count;
	w.bounded = range->count && (range->from_ns || range->to_ns != UINT64_MAX);
	w.careful = w.bounded || range->each_time;
	begin_run(&w, w.ip);
	out->on = w.on;
	out->ip = w.ip;
	while (r == MORE)
		r = w.memos ? steps(&w) : step(&w);
	return r == DONE ? mark(&w,
				(struct ty_walk_mark){.kind = TY_WALK_END, .upto = w.on ? w.ip : 0})
			 : r;
}

#else

int ty_flow_walk(struct ty_blocks *blocks, const struct ty_walk_range *range, struct ty_walked *out)
{
	return -TY_EUNSUPPORTED;
}

#endif
