/* SPDX-License-Identifier: MIT */
/*
 * The builder's internals, shared by build.c (front), sched_state.c (threads and CPUs),
 * thread_identity.c (tids, names, lives), syscall_spans.c (calls) and build_finish.c (the end).
 *
 * While events are fed, each thread and each CPU has one open span. When it closes, its row goes to
 * its table, and every full block of rows to the store, so memory holds open blocks only. A row of
 * a thread's or CPU's span holds its start only: it ends where the next one starts.
 *
 * Budget of ty_builder_feed: allocates only blocks of rows; one hash look-up for every tid other
 * than the current one. Out of memory is sticky in b->failed.
 */
#ifndef TY_BUILDER_H
#define TY_BUILDER_H

#include <string.h>

#include "build.h"
#include "hash_index.h"
#include "index_file.h"
#include "model_priv.h"
#include "paged_pool.h"
#include "points.h"
#include "regions.h"
#include "strtab.h"
#include "syscall_pair.h"

#define TY_MAX_CPUS    8192u	  /* CONFIG_NR_CPUS' largest */
#define TY_MAX_TID     4194304	  /* PID_MAX_LIMIT */
#define TY_MAX_THREADS (1u << 24) /* threads in one trace, counting each reuse of a tid */
#define TY_IRQ_DEPTH   8
#define TY_IDLE_NS     100000 /* an idle CPU starts a runnable thread sooner */
#define TY_IRQ_INSIDE  65536u /* interrupts nested in one before its end is taken as lost */

/* Values of ty_bcpu.cur that are not threads. */
#define TY_CUR_IDLE    (UINT32_MAX - 1)
#define TY_CUR_UNKNOWN (UINT32_MAX - 2) /* no event yet */
#define TY_CUR_LOST    (UINT32_MAX - 3) /* a gap, or a switch that was not delivered */
#define TY_CUR_THREAD  (UINT32_MAX - 3) /* below: a thread index */

struct ty_bthread {
	struct ty_thread pub;
	int32_t tid_now; /* pub.tid, except for a leader whose tid was taken over by an exec */
	uint64_t open_start;
	uint16_t open_cpu;
	uint8_t open_state, open_flags;
	struct ty_span_row last; /* its last closed span, which the next span may extend */
	bool has_last;
	uint64_t call_end; /* of its last call */
	bool seen;	   /* an event stated its state */
	bool exiting;	   /* sched_process_exit passed */
	bool ended;	   /* its last switch-out was seen: the tid is free */
	bool fresh;	   /* forked, no other event yet */
	bool wake_pending; /* woken while running: counts if it then sleeps, and runs again without
			    * another wakeup */
	bool in_snapshot;
	char snap_letter;
	int32_t snap_nr;    /* system call in the snapshot; -1 none */
	int64_t in_nr;	    /* current system call; -1 none, -2 unknown */
	uint32_t pair_slot; /* ty_pairs_slot, may be stale */
	uint32_t prov_cpu;  /* CPU on which it is the provisional current thread; TY_NONE */
	int32_t prio_seen;  /* last priority in a switch; INT32_MIN: none yet */
	char comm[TY_COMM + 1];
	char comm_raw[TY_COMM]; /* the last raw bytes that were decoded to comm */
};

struct ty_gap_range {
	uint64_t from, to;
};

/* Gaps not covered by a later one: from and to both increase. endless: start of a loss that
 * continues to the end of the recording; UINT64_MAX: none. */
struct ty_gap_stack {
	VEC(struct ty_gap_range) g;
	uint64_t endless;
};

struct ty_bcpu {
	uint32_t cur;		     /* thread index or TY_CUR_* */
	uint64_t last_ns;	     /* last event that proves it */
	uint64_t sched_ns;	     /* last event in the scheduler's buffer: no gap up to then */
	int32_t tail_tid;	     /* last thread switched out */
	uint64_t tail_ns;	     /* when; its kernel code may emit events slightly longer */
	bool idle_resched;	     /* the idle task was last seen with need_resched set */
	bool no_idle;		     /* switches from idle are not delivered on this CPU */
	uint64_t idle_from, idle_to; /* the last time that it was idle for TY_IDLE_NS or longer */
	/* An event of another buffer than the scheduler's shows a different current thread. The
	 * scheduler's next event on this CPU decides whether a switch was lost or is not delivered
	 * here. */
	bool prov;
	bool prov_exit; /* the first such event was the end of a system call */
	int32_t prov_tid;
	uint64_t prov_first, prov_last;
	uint64_t open_start;
	uint32_t open_thread;
	uint8_t open_state, open_flags;
	struct ty_gap_stack gaps;
	unsigned irq_depth;
	uint32_t irq_open[TY_IRQ_DEPTH]; /* indices into irq */
	VEC(struct ty_irq_row) irq;	 /* since the start of the outermost open one */
};

struct ty_name_log {
	VEC(uint32_t) thread;
	VEC(struct ty_name_at) at;
};

/* Numbers of calls of which the model has the first argument, by enum ty_abi; or more, in any. */
#define TY_KEPT_NRS 1024
struct ty_kept_args {
	const struct ty_sysarch *arch;
	uint64_t one[TY_ABI_UNSURE + 1][TY_KEPT_NRS / 64], more[TY_KEPT_NRS / 64];
};

struct ty_builder {
	struct ty_build_facts
		facts; /* its texts are valid until ty_builder_new returns, cmdlines to the end */
	int failed;
	bool started;
	uint64_t start, now, self_end, self_lost;
	bool none_lost;	  /* the recorder counted no loss: missing switches were never delivered */
	bool refuted;	  /* with none_lost: there is a gap nevertheless */
	uint64_t ends_ns; /* latest end of a call that was taken together with its start */
	int32_t command_tid; /* 0: no command was traced */
	uint32_t sched_buf;
	uint32_t kind_buf[TY_EV_KINDS]; /* buffer that provides this kind, + 1; 0: not seen yet */
	bool waking_seen;
	bool own_only; /* facts: activity of other threads on a CPU is unknown */
	bool complete; /* recorded by tarry: the streams of all CPUs begin at the start */
	bool all_mode;
	bool have_snapshot;
	uint64_t snap_from, snap_to;
	int yield_nr, setaffinity_nr;
	struct ty_kept_args kept;
	struct ty_summary sum;

	VEC(struct ty_bthread) thread;
	struct ty_hash_index by_tid; /* the current or last thread of a tid */
	VEC(struct ty_tid_entry) alias;
	struct ty_strtab *strs;
	struct ty_bcpu *cpu;
	uint32_t cpus, cpus_cap;

	struct ty_store *store;	      /* the model's, once it is finished */
	struct ty_index_write *index; /* belongs to the store; NULL: none is written */
	struct ty_block_coder *coder; /* until ty_builder_finish; NULL: none */
	struct ty_paged_pool open_blocks;
	struct ty_table_fill fill[TY_TABLES];
	struct ty_name_log names;
	struct ty_io_log ios;
	struct ty_region_log regions;
	struct ty_gap_stack gaps;

	struct ty_pairs *pairs;
	VEC(struct ty_gap_span) gap_spans;
	VEC(struct ty_clock_point) clock;
	uint32_t *vector_name; /* string id by event id; 0: not looked up yet */
};

static inline bool ty_is_thread(uint32_t cur)
{
	return cur < TY_CUR_THREAD;
}

/* Ensures that b->cpu[cpu] exists; cpu < TY_MAX_CPUS. 0 or -TY_ENOMEM. */
int ty_builder_cpu_add(struct ty_builder *b, uint32_t cpu); /* open_spans.c */
static inline int ty_builder_cpu(struct ty_builder *b, uint32_t cpu)
{
	return cpu < b->cpus ? 0 : ty_builder_cpu_add(b, cpu);
}

/* thread_identity.c ---------------------------------------------------------------------------- */
int ty_identity_init(struct ty_builder *b);
/* The current life of tid (it may have ended); TY_NONE. */
uint32_t ty_identity_find(const struct ty_builder *b, int32_t tid);
/* The same; starts a new life at ts when there is none or it has ended. TY_NONE only when out of
 * memory or for an impossible tid. */
uint32_t ty_identity_get(struct ty_builder *b, int32_t tid, uint64_t ts);
void ty_identity_name(struct ty_builder *b, uint32_t thread, uint64_t ts, const char *comm);
/* Its present name once more, as ty_model_names has it of execs. */
void ty_identity_executed(struct ty_builder *b, uint32_t thread, uint64_t ts);
/* The same for TY_COMM bytes, not always terminated; returns at once when they equal the previous
 * ones. */
void ty_identity_name_raw(struct ty_builder *b, uint32_t thread, uint64_t ts, const char *raw);
static inline void ty_identity_seen(struct ty_builder *b, uint32_t thread, uint64_t ts,
				    const char *raw)
{
	if (memcmp(b->thread.v[thread].comm_raw, raw, TY_COMM) != 0)
		ty_identity_name_raw(b, thread, ts, raw);
}
void ty_identity_birth(struct ty_builder *b, const struct ty_event *ev, int32_t child,
		       int32_t parent, uint64_t ts);
/* Ends the life at ts. */
void ty_identity_end(struct ty_builder *b, uint32_t thread, uint64_t ts);
/* If thread a continues as tid (exec by a thread other than the leader), moves it to that tid and
 * returns true. */
bool ty_identity_handover(struct ty_builder *b, uint32_t a, int32_t tid, uint64_t ts, bool proven);
/* The dying leader of a process appears under `tid`, which belongs to another of its threads
 * running elsewhere: that thread has taken the leader's tid. False when this is not the case. */
bool ty_identity_leader_left(struct ty_builder *b, uint32_t leader, int32_t tid, uint64_t ts);
void ty_identity_machine(struct ty_builder *b, const char *text);
void ty_identity_snapshot(struct ty_builder *b, const char *text);
void ty_identity_cmdlines(struct ty_builder *b, const char *text);

/* open_spans.c ------------------------------------------------------------------------------ */
/* Closes the thread's open span at `at` (never before its start) and opens another. */
void ty_sched_set(struct ty_builder *b, uint32_t thread, uint64_t at, enum ty_state state,
		  unsigned flags, uint32_t cpu);
/* Marks the thread's open span as uncertain from `from` on. why: TY_SF_LOST; 0: nothing was lost,
 * but a switch was never delivered. */
static inline void ty_sched_doubt(struct ty_builder *b, uint32_t thread, uint64_t from,
				  unsigned why)
{
	ty_sched_set(b, thread, from, TY_ST_UNKNOWN, why, TY_NO_CPU);
}
/* The thread no longer runs on the CPU recorded for it (since that CPU's last proof). */
void ty_sched_vacate(struct ty_builder *b, uint32_t thread);
void ty_sched_close(struct ty_builder *b, uint32_t thread, unsigned flags);
/* Closes the thread's last span; no further event follows. */
void ty_sched_finish(struct ty_builder *b, uint32_t thread);
/* The same for a CPU and its current thread (TY_NONE). */
void ty_sched_cpu_set(struct ty_builder *b, uint32_t cpu, uint64_t at, uint32_t thread,
		      enum ty_state state, unsigned flags);
void ty_sched_cpu_close(struct ty_builder *b, uint32_t cpu, unsigned flags);
/* Adds a gap; to_end: the loss continues. */
void ty_gap_stack_push(struct ty_builder *b, struct ty_gap_stack *s, uint64_t from, uint64_t to,
		       bool to_end);
/* Earliest start of a gap that extends beyond t; UINT64_MAX: none. */
uint64_t ty_gap_stack_from(const struct ty_gap_stack *s, uint64_t t);
static inline bool ty_gap_stack_any(const struct ty_gap_stack *s)
{
	return s->g.n || s->endless != UINT64_MAX;
}

/* sched_state.c ----------------------------------------------------------------------------- */
/* Processes the evidence that tid is current on a CPU. */
void ty_sched_evidence(struct ty_builder *b, const struct ty_brief *br, uint64_t ts);
/* True when tid is the undisputed current thread there, so that a further proof only needs to be
 * noted (ty_sched_proven). */
static inline bool ty_sched_is_current(const struct ty_builder *b, const struct ty_bcpu *c,
				       uint32_t buffer, int32_t tid)
{
	return !c->prov && ty_is_thread(c->cur) && b->thread.v[c->cur].tid_now == tid &&
	       !b->thread.v[c->cur].ended &&
	       (c->gaps.endless == UINT64_MAX || buffer == b->sched_buf);
}
static inline void ty_sched_proven(const struct ty_builder *b, struct ty_bcpu *c, uint32_t buffer,
				   uint64_t ts)
{
	if (buffer == b->sched_buf)
		c->sched_ns = ts;
	c->tail_ns = 0;
	c->last_ns = ts;
	c->idle_resched = false;
}
void ty_sched_resolve(struct ty_builder *b, uint32_t cpu);
/* With own_only, at the end: handles a thread that may have left the CPU unrecorded. */
void ty_sched_own_end(struct ty_builder *b, uint32_t cpu);
/* A switch or a wakeup, from a whole or a packed event. Names: TY_COMM bytes. */
struct ty_switch {
	uint32_t cpu;
	int32_t prev, next, prev_prio, next_prio;
	uint64_t prev_state;
	const char *prev_comm, *next_comm;
};
struct ty_wake {
	uint32_t cpu;
	int32_t waker, tid, target_cpu; /* waker: the current thread */
	ty_loc loc;
	const char *comm;
	uint8_t kind, flags;
};
void ty_sched_switch(struct ty_builder *b, const struct ty_switch *sw, uint64_t ts);
void ty_sched_wake(struct ty_builder *b, const struct ty_wake *w, uint64_t ts);
void ty_sched_event(struct ty_builder *b, const struct ty_event *ev, uint64_t ts);
/* to_end: the loss continues; `to` is the current time. */
void ty_sched_gap(struct ty_builder *b, uint32_t cpu, uint64_t from, uint64_t to, bool to_end);
/* interrupts.c ------------------------------------------------------------------------------ */
/* Processes the start or end of an interrupt, softirq or vector. */
void ty_irq_event(struct ty_builder *b, const struct ty_event *ev, uint64_t ts);
/* Ends all interrupts open on the CPU at ts, marked with flags. */
void ty_irq_cut(struct ty_builder *b, uint32_t cpu, uint64_t ts, uint8_t flags);

/* gap_doubt.c ------------------------------------------------------------------------------- */
/* Called when spans, calls and all gaps are complete: writes the spans again, without the parts
 * that gaps make uncertain, into `out` (initialised, empty). Unaffected threads keep their blocks.
 * 0 or -TY_E.... */
int ty_gap_doubt(const struct ty_builder *b, const struct ty_model *m, struct ty_table_fill *out);

/* syscall_spans.c --------------------------------------------------------------------------- */
/* Processes a system call of `thread`, which is current. True when that was sufficient; otherwise
 * feed the event. */
void ty_calls_keep(struct ty_kept_args *k, const struct ty_sysarch *arch);
/* ty_calls_quick needs br->args of such a SYS_ENTER. */
static inline bool ty_calls_keep_more(const struct ty_builder *b, int32_t nr)
{
	return nr >= 0 && nr < TY_KEPT_NRS && b->kept.more[nr / 64] >> nr % 64 & 1;
}
bool ty_calls_quick(struct ty_builder *b, const struct ty_brief *br, uint32_t thread);
/* After the call in *br was taken with its end, takes the following calls of the same kind. Returns
 * the position after the last item taken; *br is the last call. */
const struct ty_item *ty_calls_run(struct ty_builder *b, const struct ty_run *run,
				   struct ty_brief *br, uint32_t thread);
void ty_calls_event(struct ty_builder *b, const struct ty_event *ev, uint64_t ts);
void ty_calls_finish(struct ty_builder *b, uint64_t end);

/* build_finish.c ----------------------------------------------------------------------------------
 */
/* Writes everything to the store, and moves the store to m (zero before). 0 or -TY_E.... */
int ty_finish_model(struct ty_builder *b, uint64_t end, struct ty_model *m);

/* build_finish.c: progress and cancellation, called every few thousand rows; -TY_EINTR to stop. */
static inline int ty_build_go_on(const struct ty_builder *b, double part)
{
	return !b->facts.finishing || b->facts.finishing(b->facts.finishing_ctx, part) ? 0
										       : -TY_EINTR;
}

/* Sticky failure. */
static inline void ty_build_fail(struct ty_builder *b, int r)
{
	if (r < 0 && !b->failed)
		b->failed = r;
}

#endif
