/* SPDX-License-Identifier: MIT */
/*
 * See flow_calls.h: calls from runs. Ordinary calls and returns (nearly all) are handled here. A
 * leaf call does not even push a frame. Calls within a path are counted with the path. Budget: 120
 * instructions for a call and its return, with their sums.
 */
#include "flow_calls_priv.h"
#include "flow_walk.h"

/* The times of runs: in most files all have one, which stays the same for many. */
struct clock {
	const struct ty_flow *f;
	struct ty_flow_thread *t;
	uint64_t tsc, ns;
	uint8_t flags; /* of the last run: TY_FF_NO_TIME */
	bool timed;    /* there are times */
};

static __attribute__((noinline)) uint64_t other_time(struct clock *k, const struct ty_walk_run *r)
{
	k->tsc = r->tsc;
	k->flags = r->flags & TY_FF_NO_TIME;
	k->ns = TY_FLOW_NO_TIME;
	if (k->timed && !k->flags)
		k->t->ts_ns = k->ns = ty_flow_ns(k->f, k->tsc);
	return k->ns;
}

static inline __attribute__((always_inline)) uint64_t time_of(struct clock *k,
							      const struct ty_walk_run *r)
{
	return r->tsc == k->tsc && (r->flags & TY_FF_NO_TIME) == k->flags ? k->ns
									  : other_time(k, r);
}

/* The call that ended the run before r, prev: true, unless it is left to ty_flow_calls_insns. */
static inline bool call(struct ty_flow_calls *c, struct ty_flow_thread *t, uint64_t ts_ns,
			int32_t cpu, const struct ty_walk_run *prev, const struct ty_walk_run *r)
{
	const uint64_t next = prev->last + prev->size;
	struct ty_flow_stack *s = &t->stack;
	const size_t n = s->frames.n;
	const struct ty_flow_place *p;
	struct ty_flow_frame *f;

	if (r->ip == next || t->doubt || n == s->frames.cap || n >= TY_DEPTH_MAX)
		return false;
	p = ty_flow_calls_place(c, t->pid, ts_ns, r->ip);
	f = &s->frames.v[n];
	s->frames.n = n + 1;
	f->call = (struct ty_flow_call){.start_ns = ts_ns,
					.end_ns = TY_FLOW_NO_TIME,
					.seq = c->seq++,
					.ip = r->ip,
					.ret = next,
					.tid = t->tid,
					.pid = t->pid,
					.cpu = cpu,
					.func = p->func};
	f->lo = p->lo;
	f->hi = p->hi;
	ty_flow_stack_begin(s, f);
	return true;
}

/* The return that ended the run before r, the same. */
static inline bool ret(struct ty_flow_calls *c, struct ty_flow_thread *t, uint64_t ts_ns,
		       const struct ty_walk_run *r)
{
	struct ty_flow_stack *s = &t->stack;
	struct ty_flow_frame *f = ty_flow_stack_top(s);

	if (!f || f->call.ret != r->ip ||
	    ty_flow_trait_of(&c->places, f->call.func) != TY_FUNC_PLAIN)
		return false;
	t->doubt = false;
	ty_flow_stack_close(s, f, ts_ns);
	return true;
}

/* Runs one after another, those of a path in place of it where they are needed. */
struct reader {
	const struct ty_walk_run *r, *end;
	const struct ty_walk_run *behind, *behind_end; /* the path; NULL: it is in none */
	struct ty_walk_run runs[TY_WALK_PATH_MAX];
};

static bool more(struct reader *in)
{
	if (in->r == in->end && in->behind) {
		in->r = in->behind;
		in->end = in->behind_end;
		in->behind = in->behind_end = NULL;
	}
	return in->r < in->end;
}

/* Its runs in place of the path at in->r. */
static __attribute__((noinline)) void unfold(struct reader *in)
{
	const struct ty_walk_run *path = in->r;
	const unsigned n = path->path->cuts_n;

	ty_walk_path_runs(path, 0, n, in->runs);
	in->behind = path + 1;
	in->behind_end = in->end;
	in->r = in->runs;
	in->end = in->runs + n;
}

/* The last run executed. */
static struct ty_walk_run before(const struct ty_flow_thread *t)
{
	return (struct ty_walk_run){.last = t->ip,
				    .size = t->size,
				    .cls = t->cls | (t->indirect ? TY_BLOCK_INDIRECT : 0)};
}

static inline void went(struct ty_flow_thread *t, const struct ty_walk_run *r)
{
	t->ip = r->last;
	t->size = r->size;
	t->cls = r->cls & (uint8_t)~TY_BLOCK_INDIRECT;
	t->indirect = r->cls & TY_BLOCK_INDIRECT;
}

/* The lowest level whose return concerns nothing but its call. */
static size_t lowest_plain(const struct ty_flow_stack *s)
{
	const size_t jump = s->jumps.n ? s->jumps.v[s->jumps.n - 1].level + 1 : 0;
	const size_t base = s->base == TY_NO_LEVEL ? 0 : s->base + 1;

	return jump > base ? jump : base;
}

/* What stays the same from run to run, or is changed by nearly each. */
struct summing {
	struct ty_flow_calls *c;
	struct ty_flow_sums *sums;
	const struct ty_flow_levels *levels;
	int32_t tid, pid, cpu;
	struct ty_flow_frame *f;
	const struct ty_flow_frame *frames, *lowest, *highest;
	uint64_t insns, seq;
	struct ty_flow_jump jump; /* the last one that is set */
	bool room;		  /* for percentiles */
};

static inline __attribute__((always_inline)) void add(struct summing *s,
						      const struct ty_flow_call *call,
						      bool outermost)
{
	if (!ty_flow_sums_quick(s->sums, call, outermost, s->room))
		ty_flow_sums_add(s->sums, call, outermost);
	s->room &= s->sums->ranks.held < s->sums->most;
}

static inline __attribute__((always_inline)) void open(struct summing *s, uint64_t ts_ns,
						       const struct ty_flow_place *p, uint64_t ret)
{
	struct ty_flow_frame *f = ++s->f;

	f->call.start_ns = ts_ns;
	f->call.insns = s->insns;
	f->call.self_insns = 0;
	f->call.children_ns = 0;
	f->call.seq = s->seq++;
	f->call.ip = p->ip;
	f->call.ret = ret;
	f->call.tid = s->tid;
	f->call.pid = s->pid;
	f->call.cpu = s->cpu;
	f->call.func = p->func;
	f->call.caller = f[-1].call.func;
	f->call.flags = 0;
	f->lo = p->lo;
	f->hi = p->hi;
	f->over = false;
	f->plain = ty_flow_trait_of(&s->c->places, p->func) == TY_FUNC_PLAIN;
	s->levels->of[p->func]++;
}

static inline __attribute__((always_inline)) void leaf(struct summing *s, uint64_t start_ns,
						       uint64_t end_ns, uint32_t insns,
						       const struct ty_flow_place *p)
{
	const struct ty_flow_call call = {.start_ns = start_ns,
					  .end_ns = end_ns,
					  .insns = insns,
					  .self_insns = insns,
					  .seq = s->seq++,
					  .tid = s->tid,
					  .func = p->func,
					  .caller = s->f->call.func};

	add(s, &call, !s->levels->of[p->func]);
	ty_flow_frame_pass(s->f, start_ns, end_ns);
	s->f->call.self_insns += insns;
	s->insns += insns;
}

/* The topmost call ends by a return to ip; false: that is not all. */
static inline __attribute__((always_inline)) bool close(struct summing *s, uint64_t ts_ns,
							uint64_t ip)
{
	struct ty_flow_frame *f = s->f;
	uint32_t *level;

	if (f <= s->lowest || f->call.ret != ip || !f->plain || f->call.func >= s->levels->n)
		return false;
	s->f = f - 1;
	level = &s->levels->of[f->call.func];
	f->call.end_ns = ts_ns;
	f->call.insns = s->insns - f->call.insns;
	f->call.self_insns = f->call.insns - f->call.self_insns;
	f[-1].call.self_insns += f->call.insns;
	ty_flow_frame_pass(f - 1, f->call.start_ns, ts_ns);
	f[-1].call.flags |= f->call.flags & TY_CALL_GAP;
	add(s, &f->call, *level && !--*level);
	return true;
}

/* The path r is executed, and what its last instruction leads to; false: it is not. */
static inline bool take_path(struct summing *s, uint64_t ts_ns, const struct ty_walk_run *r)
{
	const uint64_t t_ns = ts_ns == TY_FLOW_NO_TIME ? UINT64_MAX - 1 : ts_ns;
	struct ty_flow_frame *f = s->f;
	struct ty_flow_path *p = ty_flow_path_of(&s->c->paths, &s->c->places, s->sums, r, s->pid,
						 t_ns, f->call.func);
	uint64_t insns;

	if (!p || p->functions > s->levels->n || p->deepest >= (size_t)(s->highest - f) || !s->room)
		return false;
	/* It is set, then, already. */
	if (p->jump && (s->jump.ip != p->jump || s->jump.level != (size_t)(f - s->frames)))
		return false;
	for (uint32_t i = 0; i < p->calls_n; i++) {
		struct ty_flow_path_calls *e = &p->calls[i];

		e->outermost += !e->inner && !s->levels->of[e->func];
	}
	p->count++;
	p->start_ns = ts_ns;
	p->seq = s->seq;
	p->tid = s->tid;
	s->sums->kept += p->ended;
	f->call.self_insns += p->callees;
	insns = s->insns += r->insns;
	for (uint32_t i = 0; i < p->open_n; i++) {
		const struct ty_flow_path_open *o = &p->open[i];

		f++;
		f->call.start_ns = ts_ns;
		f->call.insns = insns - o->left;
		f->call.self_insns = o->callees;
		f->call.children_ns = 0;
		f->call.seq = s->seq + o->seq;
		f->call.ip = o->ip;
		f->call.ret = o->ret;
		f->call.tid = s->tid;
		f->call.pid = s->pid;
		f->call.cpu = s->cpu;
		f->call.func = o->func;
		f->call.caller = f[-1].call.func;
		f->call.flags = 0;
		f->lo = o->lo;
		f->hi = o->hi;
		f->over = false;
		f->plain = o->trait == TY_FUNC_PLAIN;
		s->levels->of[o->func]++;
	}
	s->f = f;
	s->seq += p->begun;
	return true;
}

/* The next run begins where the path r ends, with its time: its last event is known, too. */
static inline bool goes_on(const struct ty_walk_run *r, const struct ty_walk_run *end)
{
	return r + 1 < end && r[1].ip == r->path->cuts[r->path->cuts_n - 1].to &&
	       r[1].tsc == r->until && !((r[1].flags ^ r->flags) & TY_FF_NO_TIME);
}

/* The next run is executed, which ends nothing. */
static void pass(struct ty_flow_thread *t, struct reader *in)
{
	if (ty_walk_is_path(in->r))
		unfold(in);
	t->stack.insns += in->r->insns;
	went(t, in->r++);
}

/* Runs that are searched for calls. */
enum { LOOK_AHEAD = 4 * TY_PLACES_AHEAD };

/* The functions that the runs from r on call next, where the last ones were not known. */
static __attribute__((noinline)) void look_ahead(struct ty_flow_places *ps, int32_t pid,
						 uint64_t ts_ns, const struct ty_walk_run *r,
						 const struct ty_walk_run *end)
{
	uint64_t ip[TY_PLACES_AHEAD];
	unsigned n = 0;

	for (; n < TY_PLACES_AHEAD && r < end; r++)
		if (r[-1].cls == TY_FC_CALL && r->ip != r[-1].last + r[-1].size)
			ip[n++] = r->ip;
	ps->fresh = false;
	ty_flow_places_ahead(ps, pid, ts_ns == TY_FLOW_NO_TIME ? UINT64_MAX - 1 : ts_ns, ip, n);
}

/* Runs of which the first is entered, and the others are by ordinary calls and returns, added to
 * the sums: as ty_flow_stack_begin and ty_flow_stack_close. */
static void sum_up(struct ty_flow_calls *c, struct ty_flow_thread *t, struct clock *k, int32_t cpu,
		   struct reader *in)
{
	struct ty_flow_stack *const stack = &t->stack;
	struct ty_flow_frame *const frames = stack->frames.v;
	struct ty_flow_sums *const sums = stack->sums;
	const struct ty_walk_run *prev = NULL;
	const size_t cap = stack->frames.cap < TY_DEPTH_MAX ? stack->frames.cap : TY_DEPTH_MAX;
	const size_t left = (size_t)(in->end - in->r) + (size_t)(in->behind_end - in->behind);
	struct summing s = {.c = c,
			    .sums = sums,
			    .levels = sums->last,
			    .tid = t->tid,
			    .pid = t->pid,
			    .cpu = cpu,
			    .f = frames + stack->frames.n - 1,
			    .frames = frames,
			    .lowest = frames + lowest_plain(stack),
			    .highest = frames + cap,
			    .insns = stack->insns,
			    .seq = c->seq};
	struct clock now = *k;
	bool entered = true; /* what led to in->r is done */

	if (stack->jumps.n)
		s.jump = stack->jumps.v[stack->jumps.n - 1];
	/* Whatever the runs are: percentiles count 2^32 - 1 calls at most (percentiles.h). */
	s.room = ty_flow_sums_room(sums) && (UINT32_MAX - sums->kept) / TY_WALK_PATH_MAX > left;
	if (t->doubt || !stack->frames.n || !s.levels || s.levels->tid != s.tid ||
	    s.levels->pid != s.pid) {
		pass(t, in);
		return;
	}
	for (; more(in); in->r++) {
		const struct ty_walk_run *r = in->r;
		const uint64_t ts_ns = time_of(&now, r);

		if (!entered && prev->cls == TY_FC_CALL) {
			const uint64_t next = prev->last + prev->size;
			const struct ty_flow_place *p;

			if (r->ip == next || s.f + 1 >= s.highest)
				break;
			if (c->places.fresh && prev + 1 == r)
				look_ahead(&c->places, s.pid, ts_ns, r,
					   in->end - r < LOOK_AHEAD ? in->end : r + LOOK_AHEAD);
			p = ty_flow_calls_place(c, s.pid, ts_ns, r->ip);
			if (p->func >= s.levels->n)
				break;
			if (r->cls == TY_FC_RETURN && r + 1 < in->end && r[1].ip == next &&
			    ty_flow_trait_of(&c->places, p->func) == TY_FUNC_PLAIN) {
				leaf(&s, ts_ns, time_of(&now, r + 1), r->insns, p);
				prev = r;
				entered = true;
				continue;
			}
			open(&s, ts_ns, p, next);
		} else if (!entered && (prev->cls != TY_FC_RETURN || !close(&s, ts_ns, r->ip))) {
			break;
		}
		entered = false;
		if (ty_walk_is_path(r)) {
			if (goes_on(r, in->end) && take_path(&s, time_of(&now, r + 1), r)) {
				entered = true;
				continue;
			}
			unfold(in);
			r = in->r;
		}
		s.insns += r->insns;
		prev = r;
	}
	stack->frames.n = (size_t)(s.f - frames) + 1;
	stack->credit += (s.seq - c->seq) * TY_LOOK_PAID;
	stack->insns = s.insns;
	c->seq = s.seq;
	*k = now;
	if (prev)
		went(t, prev);
}

/* The same, for callbacks. */
static void call_back(struct ty_flow_calls *c, struct ty_flow_thread *t, struct clock *k,
		      int32_t cpu, struct reader *in)
{
	pass(t, in);
	for (; more(in) && !ty_walk_is_path(in->r); in->r++) {
		const uint64_t ts_ns = time_of(k, in->r);
		const struct ty_walk_run prev = before(t);

		if (!(prev.cls == TY_FC_CALL && call(c, t, ts_ns, cpu, &prev, in->r)) &&
		    !(prev.cls == TY_FC_RETURN && ret(c, t, ts_ns, in->r)))
			break;
		t->stack.insns += in->r->insns;
		went(t, in->r);
	}
}

int ty_flow_calls_runs(struct ty_flow_calls *c, const struct ty_flow *f,
		       const struct ty_flow_at *at, const struct ty_walk_run *runs, size_t n,
		       uint64_t *insns)
{
	struct ty_flow_thread *t = ty_flow_calls_thread(c, at->tid, at->pid);
	struct ty_flow_at now = {.tid = at->tid, .pid = at->pid, .cpu = at->cpu};
	struct clock k = {.f = f,
			  .t = t,
			  .flags = UINT8_MAX, /* none yet */
			  .timed = ty_flow_timed(f)};
	struct reader in;
	uint64_t before;

	if (!t)
		return -TY_ENOMEM;
	in.r = runs;
	in.end = runs + n;
	in.behind = in.behind_end = NULL;
	before = t->stack.insns;
	while (more(&in)) {
		now.ts_ns = time_of(&k, in.r);
		ty_flow_calls_insns(c, t, &now, in.r->ip, 0);
		if (c->sums)
			sum_up(c, t, &k, now.cpu, &in);
		else
			call_back(c, t, &k, now.cpu, &in);
	}
	*insns += t->stack.insns - before;
	if (n && k.timed && runs[n - 1].until)
		t->ts_ns = ty_flow_ns(f, runs[n - 1].until);
	return c->nomem || c->places.nomem ? -TY_ENOMEM : 0;
}
