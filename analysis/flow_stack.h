/* SPDX-License-Identifier: MIT */
/*
 * The call stack of one thread, as flow_calls.c opens and closes it, and the suspended stacks that
 * the thread may return to (coroutines). Private to the analysis of calls.
 *
 * Budget: a call and its return cost the same at any depth. Searches through the stack are limited
 * by the number of preceding calls (LOOK_PAID levels each): a rare event (a return at great depth
 * that matches nothing) examines the top only, so that the total work stays proportional to the
 * instructions for any input.
 */
#ifndef TY_FLOW_STACK_H
#define TY_FLOW_STACK_H

#include "flow_sums.h"
#include "vec.h"

/*
 * While a call is active, its `insns` are those of the stack when it began, and its `self_insns`
 * those of its callees that have ended: an instruction is added to the stack alone.
 */
struct ty_flow_frame {
	struct ty_flow_call call;
	uint64_t lo, hi; /* address range of the function; hi 0: unknown */
	bool over;	 /* a signal handler that has returned: its sigreturn follows */
	bool plain;	 /* by its name, the function returns as others do; false: or not known */
};

/* Where setjmp returned to, and may return again: in the call at this level. */
struct ty_flow_jump {
	uint64_t ip;
	size_t level;
};

/* Calls of a suspended stack, lowest first. */
struct ty_flow_aside {
	uint64_t resume; /* address where it resumes */
	struct ty_flow_frame *frames;
	size_t n;
};

struct ty_flow_stack {
	void (*begin)(void *, const struct ty_flow_call *);
	void (*end)(void *, const struct ty_flow_call *);
	void *ctx;
	struct ty_flow_sums *sums; /* added to in place of the callbacks; NULL */
	VEC(struct ty_flow_frame) frames;
	uint64_t insns;			/* executed */
	VEC(struct ty_flow_jump) jumps; /* by level */
	VEC(struct ty_flow_aside) asides;
	size_t aside_frames;
	size_t base; /* lowest level that is not on the thread's own stack; TY_NO_LEVEL */
	uint64_t credit;
	bool nomem;
};

#define TY_NO_LEVEL SIZE_MAX
/* Deeper than any real stack: hostile or misread. Levels that a search may look at for each call.
 */
enum { TY_DEPTH_MAX = 1 << 20, TY_LOOK_PAID = 64 };

void ty_flow_stack_fini(struct ty_flow_stack *s);

static inline struct ty_flow_frame *ty_flow_stack_top(struct ty_flow_stack *s)
{
	return s->frames.n ? &s->frames.v[s->frames.n - 1] : NULL;
}

/* Adds a level, to be filled but for the call's depth and caller, then begun with
 * ty_flow_stack_begin. NULL: beyond any realistic depth; or out of memory (s->nomem). */
static inline struct ty_flow_frame *ty_flow_stack_open(struct ty_flow_stack *s)
{
	if (s->frames.n == s->frames.cap || s->frames.n >= TY_DEPTH_MAX) {
		if (s->frames.n >= TY_DEPTH_MAX)
			return NULL;
		if (vec_reserve(&s->frames, s->frames.n + 1)) {
			s->nomem = true;
			return NULL;
		}
	}
	return &s->frames.v[s->frames.n++];
}

static inline void ty_flow_stack_begin(struct ty_flow_stack *s, struct ty_flow_frame *f)
{
	const size_t n = s->frames.n - 1;

	s->credit += TY_LOOK_PAID;
	f->call.depth = (uint32_t)n;
	f->call.caller = n ? f[-1].call.func : TY_NO_FUNC;
	f->call.insns = s->insns;
	f->call.self_insns = 0;
	f->over = f->plain = false;
	if (s->sums)
		ty_flow_sums_begin(s->sums, &f->call);
	else if (s->begin)
		s->begin(s->ctx, &f->call);
}

/* A call within f took from start_ns to end_ns. */
static inline void ty_flow_frame_pass(struct ty_flow_frame *f, uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns != end_ns && start_ns != TY_FLOW_NO_TIME && end_ns != TY_FLOW_NO_TIME)
		f->call.children_ns += end_ns - start_ns;
}

/* The topmost level, f, is left. */
static inline void ty_flow_stack_drop(struct ty_flow_stack *s, struct ty_flow_frame *f,
				      uint64_t ts_ns)
{
	f->call.insns = s->insns - f->call.insns;
	f->call.self_insns = f->call.insns - f->call.self_insns;
	f->call.end_ns = ts_ns;
	s->frames.n--;
	if (s->frames.n) {
		struct ty_flow_frame *up = f - 1;

		up->call.self_insns += f->call.insns;
		up->call.flags |= f->call.flags & TY_CALL_GAP;
		ty_flow_frame_pass(up, f->call.start_ns, ts_ns);
	}
}

/* Closes the topmost level, f, but for what else is noted by level. */
static inline void ty_flow_stack_end(struct ty_flow_stack *s, struct ty_flow_frame *f,
				     uint64_t ts_ns)
{
	ty_flow_stack_drop(s, f, ts_ns);
	if (s->sums)
		ty_flow_sums_end(s->sums, &f->call);
	else if (s->end)
		s->end(s->ctx, &f->call);
}

/* Levels from frames.n on are closed. */
static inline void ty_flow_stack_closed(struct ty_flow_stack *s)
{
	while (s->jumps.n && s->jumps.v[s->jumps.n - 1].level >= s->frames.n)
		s->jumps.n--;
	if (s->base >= s->frames.n)
		s->base = TY_NO_LEVEL;
}

/* Closes the topmost level, f. */
static inline void ty_flow_stack_close(struct ty_flow_stack *s, struct ty_flow_frame *f,
				       uint64_t ts_ns)
{
	ty_flow_stack_end(s, f, ts_ns);
	ty_flow_stack_closed(s);
}

/* Opens a level: the call with everything known at its start except caller and depth, of a function
 * at [lo, hi). Levels beyond any realistic depth are not opened. 0 or -TY_ENOMEM. */
int ty_flow_stack_push(struct ty_flow_stack *s, const struct ty_flow_call *call, uint64_t lo,
		       uint64_t hi);
/* Closes the topmost level; flags: additional TY_CALL_*. */
void ty_flow_stack_pop(struct ty_flow_stack *s, uint64_t ts_ns, uint8_t flags);
/* Closes all levels from `level` on. */
void ty_flow_stack_unwind(struct ty_flow_stack *s, size_t level, uint64_t ts_ns, uint8_t flags);

/* The topmost level below `below` whose return address is ip; TY_NO_LEVEL. */
size_t ty_flow_stack_returns_to(struct ty_flow_stack *s, size_t below, uint64_t ip);
/* The topmost level below `below` that is a call of func, or whose function contains ip. */
size_t ty_flow_stack_level_of(struct ty_flow_stack *s, size_t below, uint32_t func, uint64_t ip);

/* setjmp has returned to ip, in the topmost level. */
void ty_flow_stack_jump_set(struct ty_flow_stack *s, uint64_t ip);
/* The target level of a longjmp to ip; TY_NO_LEVEL. */
size_t ty_flow_stack_jump_to(const struct ty_flow_stack *s, uint64_t ip);

/*
 * The thread leaves the stack that begins at `level`: its calls are closed (CUT) and suspended. The
 * topmost one is the function that switches stacks; it ends when the thread resumes at its return
 * address.
 */
void ty_flow_stack_leave(struct ty_flow_stack *s, size_t level, uint64_t ts_ns);
/* Discards all suspended stacks. */
void ty_flow_stack_forget(struct ty_flow_stack *s);
/*
 * Resumes a suspended stack that continues at ip, if there is one; of several the oldest. It
 * replaces the call that switched, or the other stack that the thread was on. 1; 0: none;
 * -TY_ENOMEM. seq: running number of calls.
 */
int ty_flow_stack_resume(struct ty_flow_stack *s, uint64_t ip, uint64_t ts_ns, uint64_t *seq);

#endif
