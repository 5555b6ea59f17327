/* SPDX-License-Identifier: MIT */
/*
 * The model: all threads, CPUs, calls and wakeups of a recording, as columns. One array per field,
 * 32-bit ids, spans of one track contiguous and in time order, so that every query is a binary
 * search and a scan. Built once (build.h), then const; analyses and views read it only through this
 * file. How to write an analysis, with an example: docs/design/index.md, "Writing an analysis".
 *
 * Times are trace-clock nanoseconds. A span is [start, end). The spans of a track neither overlap
 * nor leave holes between the track's first and last instant: an unknown stretch is a span of state
 * UNKNOWN with a flag that says why. A span's flags distinguish recorded from inferred facts; views
 * must show the difference.
 *
 * After lost scheduler events on any CPU, a sleeping thread is UNKNOWN until the next evidence,
 * because nothing shows that it kept sleeping, unless one system call lasted through the loss
 * (TY_SF_LOST). The same holds for threads that were runnable on the CPU that lost events.
 */
#ifndef TY_MODEL_H
#define TY_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

#define TY_NONE	  UINT32_MAX
#define TY_NO_LOC UINT64_MAX

/* States of a thread. IDLE only on CPU tracks. The letter is shown where there is no colour. */
#define TY_STATES(X)                                                                               \
	X(UNKNOWN, '?', "unknown")                                                                 \
	X(RUNNING, 'R', "running")                                                                 \
	X(RUNNABLE, 'w', "runnable")	   /* woken or preempted, waiting for a CPU */             \
	X(SLEEPING, 'S', "sleeping")	   /* interruptible */                                     \
	X(BLOCKED, 'D', "uninterruptible") /* uninterruptible */                                   \
	X(STOPPED, 'T', "stopped")	   /* by a signal or a tracer */                           \
	X(DEAD, 'Z', "dead")		   /* after its exit */                                    \
	X(IDLE, '.', "idle")		   /* a CPU with no runnable thread */

enum ty_state {
#define X(name, letter, text) TY_ST_##name,
	TY_STATES(X)
#undef X
		TY_ST_COUNT
};

char ty_state_letter(enum ty_state s);
const char *ty_state_name(enum ty_state s);

/* Certainty and origin of a span. */
#define TY_SF_INFERRED 0x01 /* inferred: the start of a run, before its first proof */
/* UNKNOWN: because events were lost (without it: a switch was never delivered). RUNNING: cut by
 * lost events, not begun here. SLEEPING, BLOCKED, STOPPED: events were lost meanwhile, but the
 * thread was in the same system call throughout, so it waited there, possibly with
 * interruptions. */
#define TY_SF_LOST     0x02
#define TY_SF_SNAPSHOT 0x04 /* state taken from the /proc snapshot at the start */
#define TY_SF_OPEN     0x08 /* unfinished when the recording ended */
#define TY_SF_BEFORE   0x10 /* began before the recording */
#define TY_SF_PREEMPT                                                                              \
	0x20 /* RUNNABLE: preempted (R+, or R: kernels without     \ preemption report R for that  \
	      * too) */
#define TY_SF_YIELD 0x40 /* RUNNABLE: gave up the CPU itself (R inside sched_yield) */
#define TY_SF_NEW   0x80 /* a new thread: BLOCKED until its first wakeup, then RUNNABLE */
#define TY_SF_ENDED 0x80 /* system calls: the thread exited inside it, there is no result */

struct ty_name_at {
	uint64_t from_ns;
	uint32_t str; /* ty_model_str */
};

/* One life of one thread: (tid, generation). */
struct ty_thread {
	int32_t tid;
	uint32_t gen;	      /* 0 for the first life of this tid in the trace, 1 for the next... */
	int32_t tgid, ppid;   /* -1 unknown; ppid is the parent's tgid or the forking tid */
	uint64_t start_ns;    /* first known instant; see born */
	uint64_t end_ns;      /* last instant: its exit, or the end of the recording */
	bool born, died;      /* fork / exit was recorded */
	uint64_t released_ns; /* the traced command: when the recorder released it (its execve, or
			       * its first known event); else 0 */
	bool kernel;	      /* a kernel thread */
	bool traced;	      /* its system calls are recorded */
	uint32_t name;	      /* name at its end, the most familiar one */
	uint32_t names_first, names_n;	     /* ty_model_names */
	uint32_t spans_first, spans_n;	     /* ty_model_span */
	uint32_t syscalls_first, syscalls_n; /* ty_model_syscall */
	uint32_t migrations;
	uint32_t wakeups;
	int32_t forked_by; /* thread index, -1 unknown */
	/* From the snapshot at the start of the recording; threads born later inherit their
	 * parent's. */
	int32_t policy;	   /* SCHED_*; -1 unknown */
	uint32_t affinity; /* string id of the CPU list ("0-3,7"); 0 unknown, or changed since */
	uint32_t cgroup;   /* string id; 0 unknown */
};

struct ty_span {
	uint64_t start_ns, end_ns;
	uint32_t thread; /* thread index; on CPU tracks TY_NONE for idle and unknown */
	uint32_t cpu;	 /* RUNNING: the CPU; RUNNABLE: the target CPU; TY_NONE unknown */
	uint32_t edge;	 /* RUNNABLE: the wakeup that began it; SLEEPING/BLOCKED/STOPPED: the wakeup
			    that ended it; TY_NONE */
	uint32_t syscall; /* system call in progress at its start; TY_NONE */
	uint8_t state;	  /* enum ty_state */
	uint8_t flags;	  /* TY_SF_* */
};

/* A wakeup. */
struct ty_edge {
	uint64_t ts_ns;
	uint32_t waker;	 /* index of the current thread; TY_NONE: idle */
	uint32_t target; /* thread index */
	uint32_t cpu;	 /* the waker's CPU */
	uint32_t target_cpu;
	uint8_t context; /* TY_EVF_HARDIRQ / SOFTIRQ / NMI: the wakeup came from an interrupt, not
			  * from the current thread */
	ty_loc loc;
};

struct ty_syscall {
	uint64_t start_ns, end_ns; /* BEFORE: start is that of the recording; OPEN: end is that of
				    * the recording */
	uint32_t thread;
	int32_t nr;    /* as recorded; see abi */
	int64_t ret;   /* valid unless OPEN, LOST or ENDED */
	uint8_t flags; /* TY_SF_BEFORE, TY_SF_OPEN, TY_SF_LOST (start or end lost, or the end may be
			* that of a later call, because events were lost in between), TY_SF_ENDED,
			* TY_SF_SNAPSHOT (known from /proc only) */
	uint8_t abi;   /* enum ty_abi (syscalls.h) */
	uint32_t cpu;  /* CPU at its start; TY_NONE when its sys_enter is not recorded */
	ty_loc loc;    /* its sys_enter, for the arguments; TY_NO_LOC when it is not recorded */
	uint32_t index; /* the call's */
};

/* An interrupt handler's run on a CPU. */
struct ty_irq_span {
	uint64_t start_ns, end_ns;
	uint32_t vec;
	uint32_t name; /* string id */
	uint8_t kind;  /* 0 hard irq, 1 softirq, 2 vector */
	uint8_t flags; /* TY_SF_* */
};

struct ty_gap_span {
	uint64_t from_ns, to_ns;
	uint64_t count; /* UINT64_MAX: unknown */
	uint32_t cpu, buffer;
	uint8_t what; /* enum ty_gap */
};

struct ty_clock_point {
	uint64_t ts_ns;
	uint64_t realtime_ns, monotonic_ns, boottime_ns, tsc;
};

struct ty_model;

/* Waits for the index file, within the limits of store.h. */
void ty_model_free(struct ty_model *m);
/* Announces that the process is about to exit: the following ty_model_free abandons an index file
 * rather than delay it. NULL: no effect. */
void ty_model_leave(struct ty_model *m);

/* The whole recording: first and last instant, number of events, of lost events (the sum over the
 * gaps, or the kernel's own counters where these are higher; gaps_unknown: gaps of unknown size;
 * lost_unplaced: the part of `lost` that belongs to no gap), CPUs. */
struct ty_summary {
	uint64_t start_ns, end_ns;
	uint64_t events, lost, lost_unplaced;
	uint32_t gaps_unknown;
	uint32_t cpus; /* tracks: highest CPU with events or from the machine facts, + 1 */
	uint32_t threads;
	bool has_sched, has_syscalls; /* the trace has such events at all */
	uint64_t regions_left_out;    /* regions of user code beyond what a model holds */
};
const struct ty_summary *ty_model_summary(const struct ty_model *m);
/* The origin of seconds "from the start": the start; in an exported part, the start of the
 * original, so that an instant has the same time in both. Never after the start. */
uint64_t ty_model_origin_ns(const struct ty_model *m);
void ty_model_set_origin(struct ty_model *m, uint64_t origin_ns);
/* The word for all of it: "recording"; in an exported part "part". */
const char *ty_model_noun(const struct ty_model *m);
bool ty_model_is_part(const struct ty_model *m);
void ty_model_set_part(struct ty_model *m);

const char *ty_model_str(const struct ty_model *m, uint32_t id);

const struct ty_thread *ty_model_thread(const struct ty_model *m, uint32_t thread); /* < threads */
/* The life of tid that contains t (or the nearest); TY_NONE when there is no such tid. */
uint32_t ty_model_thread_find(const struct ty_model *m, int32_t tid, uint64_t t_ns);
/* Its tid at time t, which differs before an exec by a thread other than the leader; in that case
 * linear in threads. */
int32_t ty_model_tid(const struct ty_model *m, uint32_t thread, uint64_t t_ns);
/* Its name at time t. */
const char *ty_model_comm(const struct ty_model *m, uint32_t thread, uint64_t t_ns);
/* In order of time. A name that is that of the entry before: it executed a program. */
const struct ty_name_at *ty_model_names(const struct ty_model *m, uint32_t thread, uint32_t *n);

/* Spans by global index: a thread's are spans_first .. +spans_n. */
struct ty_span ty_model_span(const struct ty_model *m, uint32_t span);
/* The same without edge and syscall (TY_NONE) and without a search, for scans over many spans. span
 * is one of the thread's. */
struct ty_span ty_model_span_brief(const struct ty_model *m, uint32_t thread, uint32_t span);
/* ty_span.edge of a span that was read in brief, for scans that need no system call. */
uint32_t ty_model_span_edge(const struct ty_model *m, const struct ty_span *s, uint32_t span);
/* The span of the thread that contains t, or the last before / first after; TY_NONE when none. */
uint32_t ty_model_span_find(const struct ty_model *m, uint32_t thread, uint64_t t_ns);

/* CPU tracks: spans by (cpu, index). */
uint32_t ty_model_cpu_spans(const struct ty_model *m, uint32_t cpu);
struct ty_span ty_model_cpu_span(const struct ty_model *m, uint32_t cpu, uint32_t i);
/* The same without its system call (TY_NONE) and without a search, for scans. */
struct ty_span ty_model_cpu_span_brief(const struct ty_model *m, uint32_t cpu, uint32_t i);
uint32_t ty_model_cpu_span_find(const struct ty_model *m, uint32_t cpu, uint64_t t_ns);
uint32_t ty_model_irq_spans(const struct ty_model *m, uint32_t cpu);
struct ty_irq_span ty_model_irq_span(const struct ty_model *m, uint32_t cpu, uint32_t i);
/* The first handler of the CPU that begins at t or later; ty_model_irq_spans: none. */
uint32_t ty_model_irq_at(const struct ty_model *m, uint32_t cpu, uint64_t t_ns);
/* The kind of one; i is below ty_model_irq_spans. */
uint8_t ty_model_irq_kind(const struct ty_model *m, uint32_t cpu, uint32_t i);

struct ty_syscall ty_model_syscall(const struct ty_model *m, uint32_t syscall);
/* The system call of the thread that contains t; TY_NONE when it is in none. */
uint32_t ty_model_syscall_at(const struct ty_model *m, uint32_t thread, uint64_t t_ns);
/* The first system call of the thread with end_ns > t; spans-relative global index; TY_NONE. */
uint32_t ty_model_syscall_after(const struct ty_model *m, uint32_t thread, uint64_t t_ns);

/* The same without a search; the call is one of the thread's. */
struct ty_syscall ty_model_syscall_brief(const struct ty_model *m, uint32_t thread, uint32_t call);
/* Its first arguments that the model has: their number, TY_MODEL_ARGS at most. One of
 * calls whose first argument is a descriptor, a futex word or the like; the others, their low 32
 * bits, where they decide what the call does. */
#define TY_MODEL_ARGS 3
unsigned ty_model_syscall_args(const struct ty_model *m, const struct ty_syscall *c,
			       uint64_t args[TY_MODEL_ARGS]);
/* Only its number and enum ty_abi, at a fifth of the cost; -1: no such call. */
int32_t ty_model_syscall_nr(const struct ty_model *m, uint32_t thread, uint32_t call, uint8_t *abi);
/* The thread of a call; TY_NONE. */
uint32_t ty_model_syscall_thread(const struct ty_model *m, uint32_t call);

/*
 * Bulk reads for scans over all rows: the thread's rows from `span` (or `call`) on that are stored
 * together, at most TY_ROWS. Returns their number, 0 after the last. Several times faster than one
 * by one.
 */
#define TY_ROWS 512
struct ty_span_rows {
	uint64_t start_ns[TY_ROWS + 1]; /* [n]: end of the last one */
	uint32_t cpu[TY_ROWS];
	uint8_t state[TY_ROWS], flags[TY_ROWS];
};
uint32_t ty_model_span_rows(const struct ty_model *m, uint32_t thread, uint32_t span,
			    struct ty_span_rows *out);
struct ty_cpu_rows {
	uint64_t start_ns[TY_ROWS + 1]; /* [n]: end of the last one */
	uint32_t thread[TY_ROWS];
	uint8_t state[TY_ROWS], flags[TY_ROWS];
};
uint32_t ty_model_cpu_rows(const struct ty_model *m, uint32_t cpu, uint32_t span,
			   struct ty_cpu_rows *out);
struct ty_call_rows {
	uint64_t start_ns[TY_ROWS], end_ns[TY_ROWS];
	int64_t ret[TY_ROWS];
	int32_t nr[TY_ROWS];
	uint32_t cpu[TY_ROWS];
	uint8_t flags[TY_ROWS], abi[TY_ROWS];
	bool entered[TY_ROWS]; /* its sys_enter is recorded: loc is valid */
};
uint32_t ty_model_call_rows(const struct ty_model *m, uint32_t thread, uint32_t call,
			    struct ty_call_rows *out);

/* How often the thread was moved to another CPU, and woken, in [from, to). */
uint32_t ty_model_migrations(const struct ty_model *m, uint32_t thread, uint64_t from_ns,
			     uint64_t to_ns);
uint32_t ty_model_wakeups(const struct ty_model *m, uint32_t thread, uint64_t from_ns,
			  uint64_t to_ns);

struct ty_edge ty_model_edge(const struct ty_model *m, uint32_t edge);

const struct ty_gap_span *ty_model_gaps(const struct ty_model *m, uint32_t *n);
const struct ty_clock_point *ty_model_clock(const struct ty_model *m, uint32_t *n);
/* Wall clock at a trace time, from the nearest correlation points; false when the file has none. */
bool ty_model_realtime(const struct ty_model *m, uint64_t t_ns, uint64_t *realtime_ns);

/*
 * Points: events without length that explain others, by CPU in time order. Kept are
 *   SOFTIRQ_RAISE    a = vector            (thread: the current one; context: interrupt)
 *   HRTIMER          a = function address  (a timer's expiry)
 *   SIGNAL           a = signal, b = thread index of the receiver (TY_NONE unknown); thread sent it
 *   SIGNAL_DELIVER   a = signal            (thread: receiver)
 *   CONTENTION_BEGIN a = lock, b = flags;  CONTENTION_END a = lock, b = result
 *   PI_SETPRIO       a = new priority, b = thread index
 *   PRIO             a = priority          (thread runs with it from here on; the first seen, then
 *                                          changes only)
 *   EXEC             thread executed a new program
 *   FILE_LOCK, FILE_UNLOCK, FILE_LOCK_FAILED
 *                    a = inode, b = device  (fcntl or flock, of any process; also at close)
 */
enum ty_point_kind {
	TY_PT_SOFTIRQ_RAISE,
	TY_PT_HRTIMER,
	TY_PT_SIGNAL,
	TY_PT_SIGNAL_DELIVER,
	TY_PT_CONTENTION_BEGIN,
	TY_PT_CONTENTION_END,
	TY_PT_PI_SETPRIO,
	TY_PT_PRIO,
	TY_PT_EXEC,
	TY_PT_FILE_LOCK,
	TY_PT_FILE_UNLOCK,
	TY_PT_FILE_LOCK_FAILED,
};
struct ty_point {
	uint64_t ts_ns;
	uint64_t a, b;
	uint32_t thread; /* current on the CPU; TY_NONE: idle or unknown */
	uint32_t cpu;
	uint8_t kind;	 /* enum ty_point_kind */
	uint8_t context; /* TY_EVF_HARDIRQ / SOFTIRQ / NMI */
};
uint32_t ty_model_points(const struct ty_model *m, uint32_t cpu);
struct ty_point ty_model_point(const struct ty_model *m, uint32_t cpu, uint32_t i);
/* Index of the CPU's first point with ts_ns >= t; ty_model_points() when there is none. */
uint32_t ty_model_point_after(const struct ty_model *m, uint32_t cpu, uint64_t t_ns);

/* A block I/O request, from issue to completion, in order of issue. */
struct ty_io {
	uint64_t start_ns, end_ns;
	uint64_t busy_to_ns; /* latest end of this one and all before it */
	uint64_t queue_ns;   /* submission of its first bio; 0: not recorded */
	uint32_t major, minor;
	uint64_t sector;
	uint32_t bytes;
	uint32_t thread;       /* thread that issued it (a kworker when queued); TY_NONE unknown */
	uint32_t bio_thread;   /* thread that submitted its first bio; TY_NONE unknown */
	uint32_t cpu, end_cpu; /* end_cpu TY_NONE: completion not recorded */
	int32_t error;
	uint32_t rwbs;	/* string id: "WS", "R", ... */
	uint8_t flags;	/* TY_SF_OPEN, TY_SF_BEFORE, TY_SF_LOST */
	uint8_t pad[3]; /* the struct is stored as is */
};
uint32_t ty_model_ios(const struct ty_model *m);
struct ty_io ty_model_io(const struct ty_model *m, uint32_t i);
/* First request with start_ns >= t; ty_model_ios() when there is none. */
uint32_t ty_model_io_after(const struct ty_model *m, uint64_t t_ns);

/*
 * Regions of user code: by tarry.h, lines of trace_marker, functions and static probes that were
 * traced. In order of thread, lane and start; in a lane of a thread none overlap, but for the last
 * of TY_LANES_ASYNC and instants.
 */
#define TY_REGION_NAME	200u   /* bytes of a name; longer ones are cut */
#define TY_LANE_ASYNC	0x400u /* below: nesting depth in the thread, 0 outermost */
#define TY_LANES_ASYNC	0x3b00u
#define TY_LANE_INSTANT 0x4000u /* instants, counters, ends without a start */
enum {
	/* Why the length is unknown; 0: start and end are recorded. */
	TY_RGN_OPEN = 1,   /* no end before the recording's */
	TY_RGN_ENDED = 2,  /* its thread ended, or executed another program, inside it */
	TY_RGN_LOST = 4,   /* events were lost: it lasted at least to end_ns, or has an end only */
	TY_RGN_BEFORE = 8, /* an end only: it began before the recording */
	TY_RGN_UNMATCHED = 16 /* an end without a start, or a function that was left otherwise than
				 by its return */
};
struct ty_region {
	uint64_t start_ns, end_ns;
	uint64_t self_ns;    /* without those directly inside it in its thread */
	int64_t value;	     /* of a counter; the id of one that any thread may end; of a call its
				first argument */
	uint32_t name;	     /* ty_model_str */
	uint32_t thread;     /* that began it */
	uint32_t end_thread; /* TY_NONE: not ended */
	uint16_t lane;
	uint8_t kind;  /* TY_REG_BEGIN, _CALL, _ASYNC_BEGIN, _INSTANT, _COUNTER (event.h) */
	uint8_t flags; /* TY_RGN_* */
};
/* Did its thread end it? Otherwise what that thread did and counted says nothing about it. */
static inline bool ty_region_of_one_thread(const struct ty_region *r)
{
	return r->end_thread == TY_NONE || r->end_thread == r->thread;
}
uint32_t ty_model_regions(const struct ty_model *m);
struct ty_region ty_model_region(const struct ty_model *m, uint32_t i);
/* The first region at or after that place in the order (thread, lane, start);
 * ty_model_regions() when there is none. */
uint32_t ty_model_region_from(const struct ty_model *m, uint32_t thread, uint32_t lane,
			      uint64_t start_ns);
/* The first region of a lane below TY_LANE_INSTANT that touches [from, to); TY_NONE. Cost:
 * log(regions). */
uint32_t ty_model_region_in(const struct ty_model *m, uint32_t thread, uint32_t lane,
			    uint64_t from_ns, uint64_t to_ns);

/* True when a part of the index file is damaged and reads as empty: results so far may be wrong.
 * Check at the end of the work. */
bool ty_model_damaged(const struct ty_model *m);

/* A timeline row. */
enum ty_track_kind { TY_TRACK_CPU, TY_TRACK_THREAD, TY_TRACK_SYSCALLS, TY_TRACK_IRQS };
struct ty_track {
	uint8_t kind; /* enum ty_track_kind */
	uint32_t id;  /* CPU number or thread index */
};

/* One cell of a row: the track's activity in [from, to). */
struct ty_cell {
	/* Time in each state; SYSCALLS tracks: RUNNING = inside a call; IRQS tracks: RUNNING = in
	 * interrupts, each nanosecond counted once at any nesting depth. */
	uint64_t ns[TY_ST_COUNT];
	uint32_t longest;	/* index (global span, CPU span, syscall or CPU's interrupt) of the
				 * span that covers most of this cell, for nested interrupts the
				 * innermost; TY_NONE: the cell is empty */
	uint32_t spans;		/* number of spans that overlap the cell */
	uint64_t longest_ns;	/* full length of the longest span that overlaps the cell, so that
				 * zooming out never hides a stall */
	uint32_t longest_whole; /* index of that span */
	uint8_t flags;		/* OR of the flags of the spans that overlap the cell */
};

/*
 * Fills n cells of equal width over [from, to) with exact times (cell edges are from +
 * (to-from)*i/n). Cost n x log(spans) by the zoom forest (forest.h).
 */
void ty_model_cells(const struct ty_model *m, struct ty_track track, uint64_t from_ns,
		    uint64_t to_ns, uint32_t n, struct ty_cell *out);

/*
 * Searches along one track by the zoom forest (cost log(spans)): the first span (or call) after
 * `t`, or the last before it, that matches q. The result is an index as in ty_cell.longest; TY_NONE
 * when there is none. A span's position is its start: forward finds start_ns > t, backward start_ns
 * < t.
 */
#define TY_SEEK_NRS 1024
struct ty_seek {
	uint32_t states; /* bits 1 << TY_ST_*; 0: any */
	uint64_t min_ns; /* at least this long */
	int32_t nr;	 /* SYSCALLS tracks: only this number; -1: any */
	/* SYSCALLS tracks: TY_SEEK_NRS bits, only numbers whose bit nr % TY_SEEK_NRS is set; NULL:
	 * any. Numbers that do not occur (ty_model_has_call) only cost time. */
	const uint64_t *nrs;
	uint8_t flags_any; /* at least one of these TY_SF_*; 0: any */
	bool errors;	   /* SYSCALLS tracks: only calls that returned an error */
};
uint32_t ty_model_seek(const struct ty_model *m, struct ty_track track, const struct ty_seek *q,
		       uint64_t t_ns, bool backward);
/* True when a system call of that number (or one that differs by a multiple of TY_SEEK_NRS)
 * occurs. */
bool ty_model_has_call(const struct ty_model *m, int32_t nr);

#endif
