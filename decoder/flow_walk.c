/* SPDX-License-Identifier: MIT */
/*
 * See flow_walk.h. Asynchronous events apply at their address, the end of tracing at the next
 * branch that can leave, others at once. While an event is next, no branch may be queried. Budget:
 * 10 ns per branch.
 */
#include "flow_walk_priv.h"

#include <stdlib.h>
#include <string.h>

static void forget_paths(struct ty_walked *w)
{
	vec_each (p, &w->paths)
		free(*p);
	w->paths.n = 0;
	w->paths_bytes = 0;
}

void ty_walked_fini(struct ty_walked *w)
{
	forget_paths(w);
	vec_fini(&w->paths);
	vec_fini(&w->taken);
	vec_fini(&w->times);
	vec_fini(&w->marks);
	vec_fini(&w->gaps);
	vec_fini(&w->runs);
}

size_t ty_walked_size(const struct ty_walked *w)
{
	return sizeof(*w) + w->taken.cap * sizeof(*w->taken.v) +
	       w->times.cap * sizeof(*w->times.v) + w->marks.cap * sizeof(*w->marks.v) +
	       w->gaps.cap * sizeof(*w->gaps.v) + w->runs.cap * sizeof(*w->runs.v) +
	       w->paths.cap * sizeof(*w->paths.v) + w->paths_bytes;
}

#ifdef TY_HAVE_IPT

#include "pt_conf.h"

/* Direct jumps produce no packet; one byte covers 6 branches and the jumps between them. */
enum { TAKEN_PER_BYTE = 64, TAKEN_FREE = 4096 };

/* ---- counting ---- */

/* A step that was taken before. */
static inline int take_step(struct ty_walk *w, const struct ty_memo *m)
{
	int r = 0;

	w->q.bits <<= m->used;
	w->q.branches -= m->used;
	w->idle = m->idle + (m->used ? 0 : w->idle);
	if (m->calls)
		r = ty_walk_take_calls(w, m->calls);
	w->run.insns += m->insns;
	ty_walk_last_is(w, m->last, m->size, m->cls);
	w->ip = m->next->ip;
	return r;
}

/* ---- branches ---- */

/* True if the query of a branch gave TNT bits; these are consumed. */
static inline bool have_bits(struct ty_walk *w)
{
	if (w->q.branches)
		return true;
	w->idle = 0;
	if (ty_pt_query_quick_branches(&w->q))
		return true;
	if (w->q.next != TY_PT_TNT)
		return false;
	ty_pt_query_branches(&w->q);
	ty_walk_now(w);
	return w->q.branches != 0;
}

static inline int conditional(struct ty_walk *w, const struct ty_block *b)
{
	int r;

	if (!have_bits(w))
		return ty_walk_odd();
	w->idle = 0;
	r = ty_walk_stamp(w, b, ty_block_last(b));
	return r ? r
		 : ty_walk_branch(w, b,
				  ty_pt_query_taken(&w->q) ? ty_block_target(b) : ty_block_next(b));
}

/* Where the indirect branch at the end of the block leads to. */
static inline int target(struct ty_walk *w, const struct ty_block *b, uint64_t *to)
{
	if (b->end.ret && have_bits(w)) {
		/* A compressed return is a branch that is taken. */
		if (!ty_pt_query_taken(&w->q) || !w->returns_n)
			return ty_walk_odd();
		*to = w->returns[--w->returns_at % TY_WALK_RETURNS];
		w->returns_n--;
	} else if (!ty_pt_query_quick_tip(&w->q, to)) {
		if (!ty_pt_query_tip(&w->q, to))
			return ty_walk_odd();
		ty_walk_now(w);
	}
	w->idle = 0;
	return TY_WALK_MORE;
}

static int go_to(struct ty_walk *w, const struct ty_block *b, uint64_t to)
{
	int r = ty_walk_stamp(w, b, ty_block_last(b));

	if (b->end.call && !b->end.far)
		ty_walk_remember(w, ty_block_next(b));
	return r ? r : ty_walk_branch(w, b, to);
}

static int indirect(struct ty_walk *w, const struct ty_block *b)
{
	uint64_t to;
	int r = target(w, b, &to);

	return r ? r : go_to(w, b, to);
}

/* A PSB gives the next instruction's address, `at`, which is in this block or a later one. */
static int synced(struct ty_walk *w, const struct ty_block *b)
{
	const uint64_t at = w->q.at;

	if (w->ip != at && !(b && ty_walk_holds(b, at)))
		return b ? ty_walk_pass(w, b) : ty_walk_odd();
	if (w->memos && b)
		ty_walk_partly(w, b, at);
	w->ip = at;
	ty_walk_take_event(w);
	return ty_walk_stamp(w, NULL, at);
}

/* Interrupted before the instruction at `at`, which is in the block or further on. */
static int interrupted(struct ty_walk *w, const struct ty_block *b)
{
	const uint64_t at = w->q.at;
	struct ty_walk_mark m = {.kind = TY_FLOW_ASYNC, .upto = at, .ip = at};
	int r;

	if (w->ip != at && !(b && ty_walk_holds(b, at)))
		return b ? ty_walk_pass(w, b) : ty_walk_odd();
	if (w->memos && b)
		ty_walk_partly(w, b, at);
	w->on = w->q.next == TY_PT_ASYNC;
	w->ip = at;
	w->resume = at;
	if (w->on)
		m.to = w->ip = w->q.to;
	ty_walk_take_event(w);
	r = ty_walk_mark(w, m);
	ty_walk_begin_run(w, w->ip);
	return r;
}

/* Apply the event that is next, or go one block towards where it applies. */
static int event(struct ty_walk *w)
{
	struct ty_walk_mark m = {0};
	const struct ty_block *b;
	int r;

	if (w->in_gap && w->made && ty_pt_query_state(&w->q) && ty_walk_just_entered(w))
		return ty_walk_pass_state(w);
	switch (w->q.next) {
	case TY_PT_ON:
		if (w->on)
			return ty_walk_odd();
		r = w->nowhere ? ty_walk_find_end(w, w->q.to)
		    : w->far   ? ty_walk_find_far(w, w->q.to)
			       : TY_WALK_MORE;
		if (r != TY_WALK_MORE)
			return r;
		m.kind = TY_FLOW_START;
		m.ip = w->ip = w->q.to;
		m.flags = w->ip == w->resume ? TY_FF_RESUMED : 0;
		w->on = true;
		ty_walk_take_event(w);
		w->pid = w->r->pid_at(w->r->ctx, w->timed, w->tsc, &w->which);
		r = ty_walk_mark(w, m);
		ty_walk_begin_run(w, w->ip);
		return r;
	case TY_PT_CBR:
		m.kind = TY_FLOW_CBR;
		m.upto = w->on ? w->ip : 0;
		m.value = w->q.ratio;
		ty_walk_take_event(w);
		w->in_gap = false;
		if (!w->memos)
			return ty_walk_mark(w, m);
		if (w->on)
			return ty_walk_stamp(w, NULL, w->ip);
		w->fresh = false;
		return TY_WALK_MORE;
	case TY_PT_PSB:
		if (w->on == w->q.suppressed)
			return ty_walk_odd();
		if (w->on)
			break;
		ty_walk_take_event(w);
		return TY_WALK_MORE;
	case TY_PT_OFF:
	case TY_PT_ASYNC_OFF:
	case TY_PT_ASYNC: break;
	default: return ty_walk_odd();
	}
	if (!w->on || ++w->idle > TY_WALK_IDLE_MAX)
		return ty_walk_odd();
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
	b = ty_walk_here(w);
	if (!b && (w->q.next == TY_PT_OFF || w->ip != w->q.at))
		return ty_walk_no_code(w);
	if (w->q.next == TY_PT_OFF)
		return ty_walk_stopped(w, b);
	return w->q.next == TY_PT_PSB ? synced(w, b) : interrupted(w, b);
}

/* There are no more packets: on to where the next range begins. */
static int finish(struct ty_walk *w)
{
	const struct ty_block *b;

	if (!w->on || w->r->end == w->r->n)
		return TY_WALK_DONE;
	if (!w->r->stops)
		return ty_walk_odd();
	if (w->ip == w->r->stop_ip)
		return TY_WALK_DONE;
	b = ty_walk_here(w);
	if (!b)
		return ty_walk_no_code(w);
	if (++w->idle > TY_WALK_IDLE_MAX)
		return ty_walk_odd();
	if (!ty_walk_holds(b, w->r->stop_ip))
		return ty_walk_pass(w, b);
	if (w->memos)
		ty_walk_partly(w, b, w->r->stop_ip);
	w->ip = w->r->stop_ip;
	return TY_WALK_DONE;
}

/* Through the block at w->ip. */
static inline int through(struct ty_walk *w, const struct ty_block *b)
{
	if (++w->idle > TY_WALK_IDLE_MAX)
		return ty_walk_odd();
	if (b->end.cls == TY_STEP_COND)
		return conditional(w, b);
	return b->end.cls == TY_STEP_INDIRECT || b->end.cls == TY_STEP_KERNEL ? indirect(w, b)
									      : ty_walk_pass(w, b);
}

static int step(struct ty_walk *w)
{
	const struct ty_block *b;

	if (!w->q.branches && w->q.next > TY_PT_TIP)
		return w->q.next == TY_PT_END ? finish(w) : event(w);
	if (!w->on)
		return ty_walk_odd();
	b = ty_walk_here(w);
	return b ? through(w, b) : ty_walk_no_code(w);
}

static inline bool waits(const struct ty_walk *w)
{
	return w->q.branches || w->q.next <= TY_PT_TIP;
}

/* As indirect, counted: the block that follows; NULL: to be looked for at w->ip, or *r. Not inline:
 * a loop of known steps has few registers. */
static __attribute__((noinline)) struct ty_block *jump(struct ty_walk *w, struct ty_block *b,
						       int *r)
{
	const uint8_t *p = w->q.p;
	uint64_t to;

	if (ty_walk_can_hop(w, b)) {
		b = ty_walk_hops(w, b, r);
		if (!b || p != w->q.p)
			return b;
	}
	*r = target(w, b, &to);
	if (*r)
		return NULL;
	if (w->fresh)
		*r = ty_walk_count_time(w, b, ty_block_last(b));
	if (b->end.call && !b->end.far)
		ty_walk_remember(w, ty_block_next(b));
	if (!*r)
		*r = ty_walk_count_end(w, b, to, ty_block_cuts_indirect(b, to));
	/* By address, not as the one that followed last: it is often another. */
	return *r ? NULL : ty_blocks_entered(w->blocks, w->pid, w->t_ns, to);
}

/* As through, counted: the block that follows; NULL: to be looked for at w->ip, or *r. */
static inline struct ty_block *count_through(struct ty_walk *w, struct ty_block *b, int *r)
{
	const uint64_t next = ty_block_next(b);
	uint64_t to = next;

	w->idle++;
	switch (b->end.cls) {
	case TY_STEP_COND:
		b->visits++;
		if (!have_bits(w)) {
			*r = ty_walk_odd();
			return NULL;
		}
		w->idle = 0;
		if (w->fresh)
			*r = ty_walk_count_time(w, b, ty_block_last(b));
		if (ty_pt_query_taken(&w->q))
			to = ty_block_target(b);
		break;
	case TY_STEP_DIRECT:
		b->visits++;
		to = ty_block_target(b);
		if (b->end.call && to != next)
			ty_walk_remember(w, next);
		break;
	case TY_STEP_INDIRECT:
	case TY_STEP_KERNEL:
		b->visits += b->end.cls == TY_STEP_INDIRECT && !b->end.far;
		*r = indirect(w, b);
		return *r ? NULL : ty_blocks_after(w->blocks, b, w->pid, w->t_ns, w->ip);
	default:
		b->visits++;
		*r = ty_walk_pass(w, b);
		return *r ? NULL : ty_blocks_after(w->blocks, b, w->pid, w->t_ns, w->ip);
	}
	if (!*r)
		*r = ty_walk_count_end(w, b, to, to != next && (b->end.call || b->end.leaves));
	return *r ? NULL : ty_blocks_after(w->blocks, b, w->pid, w->t_ns, to);
}

/* By known steps from the block at w->ip, as long as there are branches. */
static int known(struct ty_walk *w, struct ty_block *b)
{
	do {
		const struct ty_memo *m;
		unsigned n;
		int r = 0;

		if (w->idle >= TY_WALK_IDLE_MAX)
			return ty_walk_odd();
		w->block = b;
		/* A step that is rarely executed is not worth a memo. */
		if (b->visits < TY_BLOCK_HOT) {
			b = count_through(w, b, &r);
			if (b)
				continue;
			w->block = NULL;
			return r;
		}
		if (b->end.cls == TY_STEP_INDIRECT) {
			b = jump(w, b, &r);
			if (b)
				continue;
			w->block = NULL;
			return r;
		}
		if (b->end.cls == TY_STEP_COND) {
			if (!have_bits(w))
				return ty_walk_odd();
			/* A time that belongs to the branch and ends no run. */
			if (w->fresh && !w->careful && !(ty_block_last(b) >> 63))
				r = ty_walk_count_time(w, b, ty_block_last(b));
			if (r)
				return r;
		}
		if (w->fresh)
			return through(w, b);
		n = w->q.branches < TY_MEMO_BRANCHES ? w->q.branches : TY_MEMO_BRANCHES;
		m = ty_memo_find(w->memos, b, w->q.bits, n,
				 n < w->q.branches || w->q.next <= TY_PT_TIP, w->t_ns);
		if (!m) {
			/* Blocks may have been forgotten. */
			w->block = NULL;
			return step(w);
		}
		r = take_step(w, m);
		if (r)
			return r;
		b = m->next;
	} while (waits(w));
	w->cur = b;
	return TY_WALK_MORE;
}

/* As step, as long as there are branches. */
static int steps(struct ty_walk *w)
{
	while (w->on && waits(w)) {
		struct ty_block *b = ty_walk_here(w);
		int r = b ? known(w, b) : ty_walk_no_code(w);

		if (r != TY_WALK_MORE)
			return r;
	}
	return step(w);
}

struct ty_walk_cpu ty_walk_cpu(const struct ty_pt_cpu *cpu)
{
	struct pt_config conf;

	ty_pt_conf(&conf, cpu, NULL, 0);
	return (struct ty_walk_cpu){.clock = {.cpuid_15_eax = conf.cpuid_0x15_eax,
					      .cpuid_15_ebx = conf.cpuid_0x15_ebx,
					      .mtc_freq = conf.mtc_freq,
					      .nom_freq = conf.nom_freq,
					      .skl168 = conf.errata.skl168},
				    .bdm70 = conf.errata.bdm70,
				    .skd007 = conf.errata.skd007};
}

int ty_flow_walk(struct ty_blocks *blocks, const struct ty_walk_range *range, struct ty_walked *out)
{
	struct ty_walk w = {.blocks = blocks, .r = range, .out = out};
	int r = TY_WALK_MORE;

	out->taken.n = out->times.n = out->marks.n = out->gaps.n = out->runs.n = 0;
	forget_paths(out);
	w.taken_max = range->end * TAKEN_PER_BYTE + TAKEN_FREE;
	if (w.taken_max > TY_WALK_TAKEN_MAX)
		w.taken_max = TY_WALK_TAKEN_MAX;
	w.q.end = range->bytes + range->n;
	w.q.stop = range->bytes + range->end;
	w.q.bdm70 = range->cpu->bdm70;
	w.q.skd007 = range->cpu->skd007;
	w.q.clock = range->cpu->clock;
	w.t_ns = range->ns_of(range->ctx, false, 0);
	ty_pt_query_start(&w.q, range->bytes);
	ty_walk_now(&w);
	w.on = !w.q.suppressed;
	w.ip = w.on ? w.q.at : 0;
	w.pid = range->pid_at(range->ctx, w.timed, w.tsc, &w.which);
	w.memos = range->count;
	if (w.memos)
		w.memos->walks++;
	w.bounded = range->count && (range->from_ns || range->to_ns != UINT64_MAX);
	w.careful = w.bounded || range->each_time;
	ty_walk_begin_run(&w, w.ip);
	out->on = w.on;
	out->ip = w.ip;
	while (r == TY_WALK_MORE)
		r = w.memos ? steps(&w) : step(&w);
	return r == TY_WALK_DONE ? ty_walk_mark(&w, (struct ty_walk_mark){.kind = TY_WALK_END,
									  .upto = w.on ? w.ip : 0})
				 : r;
}

#else

struct ty_walk_cpu ty_walk_cpu(const struct ty_pt_cpu *cpu)
{
	return (struct ty_walk_cpu){0};
}

int ty_flow_walk(struct ty_blocks *blocks, const struct ty_walk_range *range, struct ty_walked *out)
{
	return -TY_EUNSUPPORTED;
}

#endif
