/* SPDX-License-Identifier: MIT */
/*
 * Fast path through a range of a PT stream: packets state the direction of branches and events
 * (pt_query.h), and the code is followed block by block (flow_blocks.h). The output is compact:
 * taken branches, and marks between them (times, start and end of tracing, interrupts); the
 * instructions follow from these and the code.
 *
 * Missing code is a gap up to the next packet with an address (pt_entry.h). Otherwise only the
 * ordinary case is handled. For anything else (an error, an overflow, a transaction, 32-bit code,
 * power events, PTWRITE) it rejects the range, and the instruction decoder (pt_stream.h) decodes it
 * from its start: so errors are reported in one place, and both give the same items wherever both
 * give any. Their times agree, except that libipt, which reads ahead, gives instructions before an
 * event the event's time.
 */
#ifndef TY_FLOW_WALK_H
#define TY_FLOW_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow_blocks.h"
#include "flow_memo.h"
#include "pt_clock.h"
#include "pt_stream.h"
#include "vec.h"

struct ty_taken {
	uint64_t from, to;
};

/* A new time stamp; it belongs to the instruction at ip. */
struct ty_walk_time {
	uint32_t at, marks; /* number of taken branches and of marks before it */
	uint64_t ip, tsc;
};

struct ty_walk_mark {
	uint32_t at;
	uint8_t kind; /* TY_FLOW_START, STOP, ASYNC, CBR, GAP; TY_WALK_END */
	uint8_t flags;
	uint64_t upto;		     /* instructions below this address come before it */
	uint64_t tsc, ip, to, value; /* GAP: value is its number */
};

/* An undecoded part, from `off` in the range. */
struct ty_walk_gap {
	uint64_t off, bytes, until; /* until: a TSC; 0: unknown, or until tracing begins again */
	uint64_t resume;	    /* address where execution continues; 0: it does not */
	const char *text;	    /* static */
};

/*
 * Instructions executed in sequence, from ip to `last`, without calls, returns or jumps to other
 * functions between them; its time is that of the first.
 */
struct ty_walk_run {
	uint64_t ip;
	union {
		uint64_t last;
		struct ty_walk_path *path; /* cls: TY_WALK_PATH */
	};
	uint64_t tsc;
	uint64_t until;	       /* the time of the last; 0: unknown */
	uint32_t insns, marks; /* marks: number of marks before it */
	uint8_t size, cls;     /* of the last: enum ty_flow_class, TY_BLOCK_INDIRECT */
	uint8_t flags;	       /* TY_FF_* */
};

/*
 * Runs that are executed one after another again and again, in one item: a run with this class,
 * whose instructions are those of all of them. The first run begins at its ip and tsc; the others
 * have the time `until`.
 */
enum { TY_WALK_PATH = 0x7f };

struct ty_walk_path {
	uint32_t cuts_n;     /* the ends of the runs, 1 to TY_WALK_PATH_MAX */
	uint32_t others;     /* instructions of all but the first */
	uint32_t seen, plan; /* for the reader of the runs; 0 at first */
	struct ty_memo_cut cuts[];
};

enum { TY_WALK_PATH_MAX = TY_MEMO_CUTS };

static inline bool ty_walk_is_path(const struct ty_walk_run *r)
{
	return r->cls == TY_WALK_PATH;
}

/* Runs [k, end) of a path. */
static inline void ty_walk_path_runs(const struct ty_walk_run *r, unsigned k, unsigned end,
				     struct ty_walk_run *out)
{
	const struct ty_walk_path *p = r->path;

	for (; k < end; k++, out++) {
		const struct ty_memo_cut *c = &p->cuts[k];

		out->ip = k ? c[-1].to : r->ip;
		out->last = c->last;
		out->tsc = k ? r->until : r->tsc;
		out->until = r->until;
		out->insns = k ? c->insns : r->insns - p->others;
		out->marks = r->marks;
		out->size = c->size;
		out->cls = c->cls;
		out->flags = r->flags & (k ? TY_FF_NO_TIME : UINT8_MAX);
	}
}

/* Total number of instructions of runs. */
static inline uint64_t ty_flow_runs_insns(const struct ty_walk_run *runs, size_t n)
{
	uint64_t insns = 0;

	for (size_t i = 0; i < n; i++)
		insns += runs[i].insns;
	return insns;
}

enum { TY_WALK_END = 255 }; /* the range ends at `upto` */

struct ty_walked {
	bool on; /* at its start, at ip */
	bool timed;
	uint64_t ip;
	VEC(struct ty_taken) taken;
	VEC(struct ty_walk_time) times;
	VEC(struct ty_walk_mark) marks;
	VEC(struct ty_walk_gap) gaps;
	VEC(struct ty_walk_run) runs; /* in place of taken and times, where it is counted */
	VEC(struct ty_walk_path *) paths;
	size_t paths_bytes;
};

/* What a walk needs of the CPU: found out once, not for each range. */
struct ty_walk_cpu {
	struct ty_pt_clock clock; /* at its start */
	bool bdm70, skd007;	  /* errata */
};

struct ty_walk_cpu ty_walk_cpu(const struct ty_pt_cpu *cpu);

struct ty_walk_range {
	const struct ty_walk_cpu *cpu;
	const uint8_t *bytes; /* from its PSB on, including what belongs to a PSB at its end */
	size_t n;
	size_t end; /* position of the next range's PSB (n: none) */
	bool stops; /* tracing is on at end, and the code continues at: */
	uint64_t stop_ip;
	/*
	 * Counting mode: outputs runs and marks. A run ends where the classification of its
	 * instructions by time changes: inside or outside [from_ns, to_ns], the kernel's current
	 * thread, or (each_time) the time itself. Marks of CBR are omitted.
	 */
	struct ty_memos *count; /* of the blocks; NULL: taken branches */
	uint64_t from_ns, to_ns;
	bool each_time;
	/* The process that runs at time tsc (timed: it is known), and (which not NULL) the index of
	 * its switch. t_ns of a TSC. */
	int32_t (*pid_at)(void *ctx, bool timed, uint64_t tsc, size_t *which);
	uint64_t (*ns_of)(void *ctx, bool timed, uint64_t tsc);
	void *ctx;
};

/* 0; -TY_EUNSUPPORTED: not ordinary; -TY_ENOMEM. out: reset before, freed with ty_walked_fini. */
int ty_flow_walk(struct ty_blocks *b, const struct ty_walk_range *r, struct ty_walked *out);
void ty_walked_fini(struct ty_walked *w);
/* Bytes that it takes. */
size_t ty_walked_size(const struct ty_walked *w);

#endif
