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
 * interrupted; elsewhere, the way is a gap.
 */
#include "flow_walk.h"

#include <string.h>

#include "err.h"

void ty_walked_fini(struct ty_walked *w)
{
	vec_fini(&w->taken);
	vec_fini(&w->times);
	vec_fini(&w->marks);
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
	uint64_t returns[RETURNS]; /* of calls, for compressed returns: a ring */
	unsigned returns_at, returns_n;

	/* The end of tracing is next: where the way to it began. */
	bool leaving;
	struct {
		uint64_t ip;
		size_t taken;
		unsigned returns_at, returns_n;
	} left;
	bool nowhere; /* tracing ended on that way, and no packet says where: */
	size_t end;   /* its mark */
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

/* A new time belongs to the instruction at ip. */
static int stamp(struct walk *w, uint64_t ip)
{
	if (!w->fresh)
		return 0;
	w->fresh = false;
	if (ip >> 63)
		w->pid = w->r->pid_at(w->r->ctx, true, w->tsc);
	if (w->out->times.n >= TAKEN_MAX)
		return odd();
	return vec_push(&w->out->times, (struct ty_walk_time){.at = (uint32_t)w->out->taken.n,
							      .marks = (uint32_t)w->out->marks.n,
							      .ip = ip,
							      .tsc = w->tsc});
}

static int mark(struct walk *w, struct ty_walk_mark m)
{
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
	r = stamp(w, b->last);
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
	r = stamp(w, b->last);
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
static inline const struct ty_block *here(struct walk *w)
{
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
	w->ip = b->end.next;
	return MORE;
}

/* Back to where the way to the end of tracing began. */
static void go_back(struct walk *w)
{
	unsigned calls = w->returns_at - w->left.returns_at;

	w->ip = w->left.ip;
	w->block = NULL;
	w->out->taken.n = w->left.taken;
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
	bool same;
	int r = MORE;

	w->nowhere = false;
	same = w->r->pid_at(w->r->ctx, w->q.event_timed, w->q.event_tsc) == w->pid;
	go_back(w);
	for (unsigned i = 0; same && r == MORE && i < IDLE_BLOCKS_MAX; i++) {
		b = here(w);
		if (!b || holds(b, to))
			break;
		r = pass(w, b);
	}
	if (r == -TY_ENOMEM)
		return r;
	if (!same || r != MORE || !b || !holds(b, to)) {
		go_back(w);
		m->to = to;
		return MORE;
	}
	m->kind = TY_FLOW_ASYNC;
	m->flags |= TY_FF_INFERRED;
	m->ip = m->upto = w->resume = to;
	m->value = 0;
	for (; m < w->out->marks.v + w->out->marks.n; m++)
		m->at += (uint32_t)(w->out->taken.n - taken);
	return MORE;
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
	take_event(w);
	r = stamp(w, m.ip);
	return r ? r : mark(w, m);
}

/* A PSB says that the next instruction is the one at `at`, which is in the block or further on. */
static int synced(struct walk *w, const struct ty_block *b)
{
	const uint64_t at = w->q.at;

	if (w->ip != at && !(b && holds(b, at)))
		return b ? pass(w, b) : odd();
	w->ip = at;
	take_event(w);
	return stamp(w, at);
}

/* Interrupted before the instruction at `at`, which is in the block or further on. */
static int interrupted(struct walk *w, const struct ty_block *b)
{
	const uint64_t at = w->q.at;
	struct ty_walk_mark m = {.kind = TY_FLOW_ASYNC, .upto = at, .ip = at};

	if (w->ip != at && !(b && holds(b, at)))
		return b ? pass(w, b) : odd();
	w->on = w->q.next == TY_PT_ASYNC;
	w->ip = at;
	w->resume = at;
	if (w->on)
		m.to = w->ip = w->q.to;
	take_event(w);
	return mark(w, m);
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
		r = w->nowhere ? find_end(w, w->q.to) : MORE;
		if (r != MORE)
			return r;
		m.kind = TY_FLOW_START;
		m.ip = w->ip = w->q.to;
		m.flags = w->ip == w->resume ? TY_FF_RESUMED : 0;
		w->on = true;
		take_event(w);
		w->pid = w->r->pid_at(w->r->ctx, w->timed, w->tsc);
		return mark(w, m);
	case TY_PT_CBR:
		m.kind = TY_FLOW_CBR;
		m.upto = w->on ? w->ip : 0;
		m.value = w->q.ratio;
		take_event(w);
		return mark(w, m);
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

int ty_flow_walk(struct ty_blocks *blocks, const struct ty_walk_range *range, struct ty_walked *out)
{
	struct walk w = {.blocks = blocks, .r = range, .out = out};
	struct pt_config conf;
	int r = MORE;

	out->taken.n = out->times.n = out->marks.n = 0;
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
	w.pid = range->pid_at(range->ctx, w.timed, w.tsc);
	out->on = w.on;
	out->ip = w.ip;
	while (r == MORE)
		r = step(&w);
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
