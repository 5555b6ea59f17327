/* SPDX-License-Identifier: MIT */
/*
 * The quick way through a range of a PT stream: the packets say which way branches went and what
 * happened (pt_query.h), and the code is followed block by block (flow_blocks.h). What comes out is
 * compact: taken branches, and marks between them (times, begin and end of tracing, interrupts);
 * the instructions follow from these and the code.
 *
 * Code that is missing is a gap up to the next packet that tells where the code is (pt_entry.h).
 * Other than that it answers in the ordinary case only. Whatever is not ordinary (an error, an
 * overflow, a transaction, 32-bit code, power events, PTWRITE) makes it give the range back, and
 * the instruction decoder (pt_stream.h) decodes it from its begin: so an error is told in one
 * place, and the two ways give the same items wherever both give any. Their times agree, but that
 * libipt gives instructions before an event the event's time, which it has read ahead.
 */
#ifndef TY_FLOW_WALK_H
#define TY_FLOW_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow_blocks.h"
#include "flow_memo.h"
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

/* What is not decoded, from `off` in the range. */
struct ty_walk_gap {
	uint64_t off, bytes, until; /* until: a TSC; 0: not known, or when tracing begins again */
	uint64_t resume;	    /* where it goes on executing; 0: it does not */
	const char *text;	    /* static */
};

/*
 * Instructions executed one after the other, from ip to `last`, between which functions were
 * neither called nor returned from nor left; its time is that of the first.
 */
struct ty_walk_run {
	uint64_t ip, last, tsc;
	uint64_t until;	       /* the time of the last; 0: not known */
	uint32_t insns, marks; /* marks: number of marks before it */
	uint8_t size, cls;     /* of the last: enum ty_flow_class, TY_BLOCK_INDIRECT */
	uint8_t flags;	       /* TY_FF_* */
};

enum { TY_WALK_END = 255 }; /* the range ends at `upto` */

struct ty_walked {
	bool on; /* at its begin, at ip */
	bool timed;
	uint64_t ip;
	VEC(struct ty_taken) taken;
	VEC(struct ty_walk_time) times;
	VEC(struct ty_walk_mark) marks;
	VEC(struct ty_walk_gap) gaps;
	VEC(struct ty_walk_run) runs; /* in place of taken and times, where it is counted */
};

struct ty_walk_range {
	const struct ty_pt_cpu *cpu;
	const uint8_t *bytes; /* from its PSB on, and of a PSB at its end what belongs to it */
	size_t n;
	size_t end; /* there stands the next range's PSB (n: none) */
	bool stops; /* tracing is on at end, and the code goes on at: */
	uint64_t stop_ip;
	/*
	 * Count: runs and marks come out. A run ends where what its instructions' times tell
	 * changes: whether they are within [from_ns, to_ns], by which switch of threads the kernel
	 * runs, or (each_time) any of them. Marks of CBR do not come out.
	 */
	struct ty_memos *count; /* of the blocks; NULL: taken branches */
	uint64_t from_ns, to_ns;
	bool each_time;
	/* The process that runs at time tsc (timed: it is known), from there on, and (which not
	 * NULL) by which switch of threads. t_ns of a TSC. */
	int32_t (*pid_at)(void *ctx, bool timed, uint64_t tsc, size_t *which);
	uint64_t (*ns_of)(void *ctx, bool timed, uint64_t tsc);
	void *ctx;
};

/* 0; -TY_EUNSUPPORTED: it is not ordinary; -TY_ENOMEM. out: reset before, freed with
 * ty_walked_fini. */
int ty_flow_walk(struct ty_blocks *b, const struct ty_walk_range *r, struct ty_walked *out);
void ty_walked_fini(struct ty_walked *w);

#endif
