/* SPDX-License-Identifier: MIT */
/*
 * Internals of flow_walk.h: the walk's state. flow_walk.c takes steps, of these flow_walk_steps.c
 * what was taken before, where it is counted; flow_walk_out.c collects the output; flow_walk_end.c
 * finds where tracing ended; flow_walk_gap.c continues after missing code. Functions that return
 * int return TY_WALK_MORE, TY_WALK_DONE (nothing more of the range can be decoded) or -TY_E...
 */
#ifndef TY_FLOW_WALK_PRIV_H
#define TY_FLOW_WALK_PRIV_H

#include "err.h"
#include "flow_walk.h"
#include "pt_entry.h"
#include "pt_query.h"

/* Limit of blocks without a packet: real code stays below it, a loop caused by wrong code does
 * not. */
enum {
	TY_WALK_IDLE_MAX = 20000,
	TY_WALK_RETURNS = 64,
	TY_WALK_TAKEN_MAX = 1 << 20,
	TY_WALK_MARKS_MAX = 1 << 18
};
enum { TY_WALK_MORE, TY_WALK_DONE };

struct ty_walk {
	struct ty_blocks *blocks;
	const struct ty_walk_range *r;
	struct ty_walked *out;
	struct ty_pt_query q;
	bool on, timed, fresh;
	unsigned idle; /* blocks since the last packet */
	size_t taken_max;
	int32_t pid;
	uint64_t ip, tsc, t_ns, resume;
	struct ty_block *block;		   /* the previous block, to find the next by; NULL */
	struct ty_block *cur;		   /* the block at ip, when a step led to it; NULL */
	uint64_t returns[TY_WALK_RETURNS]; /* of calls, for compressed returns: a ring */
	unsigned returns_at, returns_n;

	/* The end of tracing is next: start of the path to it. */
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
	bool nowhere; /* tracing ended on that path, and no packet says where: */
	bool far;     /* or by the far transfer at its end, if no FUP is missing: */
	size_t end;   /* its mark */
	size_t times; /* how many there were before it */

	/* Where code was missing. */
	struct ty_pt_entries entries; /* bytes NULL: nowhere yet */
	size_t entry;		      /* packet where tracing was entered after that, and state
				       * there: */
	uint64_t entry_ip;
	size_t entry_taken, entry_runs, entry_times;
	bool in_gap;	  /* nothing was output since, */
	bool made;	  /* and the state before it was synthesized */
	bool entry_fresh; /* the time there was new */

	/* Where it is counted. */
	struct ty_memos *memos; /* NULL: it is not */
	struct ty_walk_run run; /* the current run; its last instruction is the one executed last */
	unsigned done;		/* instructions of the block at ip that belong to it */
	bool careful;		/* any time may end a run */
	bool bounded, within;	/* there is a window; the time is in it */
	size_t which;
};

static inline int ty_walk_odd(void)
{
	return -TY_EUNSUPPORTED;
}

/* The time of the packet that was taken. */
static inline void ty_walk_now(struct ty_walk *w)
{
	w->idle = 0;
	if (!w->q.timed || (w->timed && w->q.tsc == w->tsc))
		return;
	w->timed = true;
	w->tsc = w->q.tsc;
	w->fresh = true;
	w->t_ns = w->r->ns_of(w->r->ctx, true, w->tsc);
}

static inline void ty_walk_take_event(struct ty_walk *w)
{
	ty_pt_query_event(&w->q);
	ty_walk_now(w);
}

static inline bool ty_walk_is_within(const struct ty_walk *w)
{
	return w->timed && w->t_ns >= w->r->from_ns && w->t_ns <= w->r->to_ns;
}

static inline void ty_walk_begin_run(struct ty_walk *w, uint64_t ip)
{
	if (w->bounded)
		w->within = ty_walk_is_within(w);
	w->run.ip = ip;
	w->run.tsc = w->run.until = w->tsc;
	w->run.flags = w->timed ? 0 : TY_FF_NO_TIME;
}

static inline void ty_walk_last_is(struct ty_walk *w, uint64_t ip, uint8_t size, uint8_t cls)
{
	w->run.last = ip;
	w->run.size = size;
	w->run.cls = cls;
}

/* Counts the block (or its remainder) as executed. */
static inline void ty_walk_whole(struct ty_walk *w, const struct ty_block *b)
{
	w->run.insns += b->insns - w->done;
	w->done = 0;
	ty_walk_last_is(w, ty_block_last(b), b->last_size, b->cls);
}

/* True when ip is the address of an instruction of the block. */
static inline bool ty_walk_holds(const struct ty_block *b, uint64_t ip)
{
	uint64_t at = b->ip;

	if (ip < b->ip || ip > ty_block_last(b))
		return false;
	for (unsigned i = 0; at < ip; i++)
		at += b->sizes[i];
	return at == ip;
}

/* The block at w->ip; NULL: there is none. */
static inline struct ty_block *ty_walk_here(struct ty_walk *w)
{
	struct ty_block *cur = w->cur;

	w->cur = NULL;
	if (cur && ty_block_is(w->blocks, cur, w->pid, w->t_ns, w->ip))
		return w->block = cur;
	w->block = ty_blocks_after(w->blocks, w->block, w->pid, w->t_ns, w->ip);
	return w->block;
}

/* Nothing was output or executed since it was entered after a gap. */
static inline bool ty_walk_just_entered(const struct ty_walk *w)
{
	return w->in_gap && w->ip == w->entry_ip && w->out->taken.n == w->entry_taken &&
	       w->out->runs.n == w->entry_runs && !w->run.insns;
}

/* ---- flow_walk_out.c ---- */

/* Makes room for n runs. */
int ty_walk_more_runs(struct ty_walk *w, size_t n);

/*
 * The run ends with the instruction at `last`, so many instructions after those that are counted.
 * Field by field: what was just written in parts is slow to read as a whole.
 */
static inline void ty_walk_put_run(const struct ty_walk *w, struct ty_walk_run *run, uint32_t more,
				   uint64_t last, uint8_t size, uint8_t cls)
{
	run->ip = w->run.ip;
	run->last = last;
	run->tsc = w->run.tsc;
	run->until = w->run.until;
	run->insns = w->run.insns + more;
	run->marks = (uint32_t)w->out->marks.n;
	run->size = size;
	run->cls = cls;
	run->flags = w->run.flags;
}

/* The run ends, before mark number `marks`. */
static inline int ty_walk_end_run(struct ty_walk *w, size_t marks)
{
	struct ty_walked *out = w->out;
	struct ty_walk_run *run;
	int r;

	if (!w->run.insns)
		return 0;
	if (out->runs.n >= out->runs.cap || out->runs.n >= TY_WALK_TAKEN_MAX) {
		r = ty_walk_more_runs(w, 1);
		if (r)
			return r;
	}
	run = &out->runs.v[out->runs.n++];
	*run = w->run;
	run->marks = (uint32_t)marks;
	w->run.insns = 0;
	return 0;
}

/* Executes the block up to the instruction at ip; returns the number of those before it. */
unsigned ty_walk_partly(struct ty_walk *w, const struct ty_block *b, uint64_t ip);
/* A new time belongs to the instruction at ip of the block: counted. */
int ty_walk_count_time(struct ty_walk *w, const struct ty_block *b, uint64_t ip);
/* A new time belongs to the instruction at ip. */
int ty_walk_new_time(struct ty_walk *w, uint64_t ip);
int ty_walk_mark(struct ty_walk *w, struct ty_walk_mark m);

/* The time, where it is new, belongs to the instruction at ip, of the block (NULL: the next one).
 */
static inline int ty_walk_stamp(struct ty_walk *w, const struct ty_block *b, uint64_t ip)
{
	if (!w->fresh)
		return TY_WALK_MORE;
	return w->memos ? ty_walk_count_time(w, b, ip) : ty_walk_new_time(w, ip);
}

/* ---- branches ---- */

/* The block is executed, and (cuts) ends the run. */
static inline __attribute__((always_inline)) int ty_walk_count_end(struct ty_walk *w,
								   const struct ty_block *b,
								   uint64_t to, bool cuts)
{
	struct ty_walked *out = w->out;

	w->ip = to;
	if (!cuts) {
		ty_walk_whole(w, b);
		return TY_WALK_MORE;
	}
	if (out->runs.n >= out->runs.cap || out->runs.n >= TY_WALK_TAKEN_MAX) {
		int r = ty_walk_more_runs(w, 1);

		if (r)
			return r;
	}
	ty_walk_put_run(w, &out->runs.v[out->runs.n++], b->insns - w->done, ty_block_last(b),
			b->last_size, b->cls);
	w->done = 0;
	w->run.insns = 0;
	ty_walk_begin_run(w, to);
	return TY_WALK_MORE;
}

static inline int ty_walk_count_branch(struct ty_walk *w, const struct ty_block *b, uint64_t to)
{
	return ty_walk_count_end(w, b, to, ty_block_cuts(b, to));
}

static inline void ty_walk_remember(struct ty_walk *w, uint64_t next)
{
	w->returns[w->returns_at++ % TY_WALK_RETURNS] = next;
	if (w->returns_n < TY_WALK_RETURNS)
		w->returns_n++;
}

static inline int ty_walk_branch(struct ty_walk *w, const struct ty_block *b, uint64_t to)
{
	if (w->memos)
		return ty_walk_count_branch(w, b, to);
	w->ip = to;
	if (to == ty_block_next(b) && b->end.cls == TY_STEP_COND)
		return TY_WALK_MORE;
	if (w->out->taken.n >= w->taken_max)
		return ty_walk_odd();
	return vec_push(&w->out->taken, (struct ty_taken){.from = ty_block_last(b), .to = to});
}

/* Advances one block without a packet (flow_walk_out.c); -TY_EUNSUPPORTED when its end needs
 * one. */
int ty_walk_pass(struct ty_walk *w, const struct ty_block *b);

/* ---- flow_walk_steps.c ---- */

/* The block ends with a near indirect branch. */
static inline bool ty_walk_is_near(const struct ty_block *b)
{
	return b->end.cls == TY_STEP_INDIRECT && !b->end.far;
}

/* The calls of a step: the runs that end within it. */
int ty_walk_take_calls(struct ty_walk *w, struct ty_memo_calls *m);

/* At the block b, nothing of which is executed, the next packet may begin a hop. */
static inline bool ty_walk_can_hop(const struct ty_walk *w, const struct ty_block *b)
{
	return w->q.quick && w->q.next == TY_PT_TIP && !w->q.branches && !w->fresh && !w->done &&
	       ty_walk_is_near(b);
}

/* As many hops as are known: the block that follows them, which is b when there were none (to find
 * one out may discard all blocks: NULL, or *r). */
struct ty_block *ty_walk_hops(struct ty_walk *w, struct ty_block *b, int *r);

/* ---- flow_walk_end.c ---- */

/* Ends tracing at the block's last instruction, if it is one that can end it. */
int ty_walk_stopped(struct ty_walk *w, const struct ty_block *b);
/* Tracing begins at `to` after an end without a packet that states where. */
int ty_walk_find_end(struct ty_walk *w, uint64_t to);
/* Tracing begins at `to` after a far transfer: checks whether it was interrupted before that. */
int ty_walk_find_far(struct ty_walk *w, uint64_t to);

/* ---- flow_walk_gap.c ---- */

/* No code at w->ip, or undecodable code: continues after it. */
int ty_walk_no_code(struct ty_walk *w);
/* Processes the event of a PSB+ right after an entry: libipt does not report it. */
int ty_walk_pass_state(struct ty_walk *w);

#endif
