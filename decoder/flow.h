/* SPDX-License-Identifier: MIT */
/*
 * Executed instructions of a recording: all its PT streams on one time axis, each item with thread,
 * process, CPU and time. Filled by whoever reads the file (flow_perf.h, the command line), then
 * pulled. Time stamps are those of perf's clock, which is the trace clock, where the recording says
 * how TSC and clock belong together.
 *
 * The time of an item is that of the last time stamp before it in its stream; TY_FF_EXACT marks the
 * items to which a time stamp belongs. What lies between two of them happened between their times,
 * in this order; no finer time is made up.
 */
#ifndef TY_FLOW_H
#define TY_FLOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_map.h"
#include "err.h"
#include "flow_blocks.h"
#include "pt_stream.h"

#define TY_FLOW_NO_TIME UINT64_MAX

struct ty_flow_at {
	struct ty_flow_item item;
	uint64_t ts_ns;	  /* TY_FLOW_NO_TIME: not known */
	uint64_t last_ns; /* of a RUN: the time of its last instruction, in the same way */
	int32_t tid, pid; /* -1: not known */
	int32_t cpu;	  /* -1: not known (a stream of one thread) */
	uint32_t stream;
};

struct ty_flow;

/* load, ctx: as in code_map.h. NULL: out of memory. */
struct ty_flow *ty_flow_new(ty_code_load *load, void *ctx);
void ty_flow_free(struct ty_flow *f);

/* Where code is put in, and taken out for names and symbols. */
struct ty_code *ty_flow_code(struct ty_flow *f);

void ty_flow_set_cpu(struct ty_flow *f, const struct ty_pt_cpu *cpu);
/* ns = zero + tsc * mult / 2^shift, as perf's TIME_CONV and mmap page. */
void ty_flow_set_time(struct ty_flow *f, uint64_t zero, uint32_t mult, uint16_t shift);
/* Is it known how? And the time of a TSC, where it is. */
bool ty_flow_timed(const struct ty_flow *f);
uint64_t ty_flow_ns(const struct ty_flow *f, uint64_t tsc);
/* The stream was made by the software branch tracer. */
void ty_flow_set_software(struct ty_flow *f);
bool ty_flow_software(const struct ty_flow *f);
/*
 * Bytes of a stream: of a CPU (tid -1) or of a thread (cpu -1 or where it ran first). Pieces of one
 * stream (equal cpu, tid and idx) are joined where `off`, their place in the AUX stream, continues
 * the one before; where it does not, what was between them is lost. p: borrowed until the flow is
 * freed. 0 or -TY_E...
 */
int ty_flow_add(struct ty_flow *f, int32_t cpu, int32_t tid, uint32_t idx, const void *p, size_t n,
		uint64_t off);
/* n bytes that are read from `place` when they are wanted, whole: 0 or -TY_E... Several threads
 * call it at once. */
typedef int ty_flow_read(void *ctx, uint64_t place, void *buf, size_t n);
void ty_flow_set_read(struct ty_flow *f, ty_flow_read *read, void *ctx);
/* The same as ty_flow_add, of bytes to be read. */
int ty_flow_add_place(struct ty_flow *f, int32_t cpu, int32_t tid, uint32_t idx, uint64_t place,
		      size_t n, uint64_t off);
/* The trace of a CPU (or, of streams by thread, of tid) lost what came at this place of its AUX
 * stream: the buffer was full. */
int ty_flow_loss(struct ty_flow *f, int32_t cpu, int32_t tid, uint64_t off);
/* From t on, this thread runs on the CPU (tid 0: idle). */
int ty_flow_switch(struct ty_flow *f, int32_t cpu, uint64_t t_ns, int32_t pid, int32_t tid);
/* tid belongs to process pid. */
int ty_flow_thread(struct ty_flow *f, int32_t pid, int32_t tid);
/* tid is called so from t on; it is forked from parent then, and called as that one. The name is
 * copied. 0 or -TY_E... */
int ty_flow_comm(struct ty_flow *f, int32_t tid, uint64_t t_ns, const char *name);
int ty_flow_fork(struct ty_flow *f, int32_t tid, int32_t parent, uint64_t t_ns);
/* What tid is called at a time of a started flow, and until when; NULL: no record tells. log(all
 * names). */
const char *ty_flow_comm_at(const struct ty_flow *f, int32_t tid, uint64_t t_ns,
			    uint64_t *until_ns);
/*
 * What of a flow to decode. Ranges of packets that cannot hold any of it are not looked at: opening
 * a window costs what the window holds, and up to two ranges (PSB to PSB, 32 KB and more) around
 * it.
 */
struct ty_flow_window {
	uint64_t from_ns, to_ns; /* both within; 0 and UINT64_MAX: all, also what has no time */
};

/*
 * All is in: it is looked, here and there, where streams can be decoded from; the other places are
 * searched for in what a window wants.
 * Nothing is decoded yet; ty_flow_next without a seek begins with all instructions. 0;
 * -TY_ENOTFOUND when there is no stream; what reading a stream failed with; as ty_pt_new.
 */
int ty_flow_start(struct ty_flow *f, struct ty_err *err);
/*
 * Begin again, with the items of a window; as often as liked. branches: taken branches
 * (TY_FLOW_BRANCH, with the time of the instruction that branched) in place of instructions, which
 * is several times as fast. 0 or -TY_ENOMEM.
 *
 * Calls of a window: feed its items to analysis' flow_calls.h; what was entered before it is marked
 * so. One stream is decoded as a whole or in windows with the same result.
 */
int ty_flow_seek(struct ty_flow *f, const struct ty_flow_window *w, bool branches,
		 struct ty_err *err);
/*
 * Begin again, to count: runs of instructions (TY_FLOW_RUN) come in place of instructions, wherever
 * the packets are ordinary; between those of a run, no function is called, returned from or left.
 * All of a run are within the window, or none. Much faster where code loops: what was executed
 * before is added, not followed.
 */
struct ty_flow_count {
	ty_extent_of *extent_of; /* which function an address is of; kept until the next seek */
	void *ctx;
	bool each_time; /* all instructions of a run have one time */
};
int ty_flow_seek_runs(struct ty_flow *f, const struct ty_flow_window *w,
		      const struct ty_flow_count *c, struct ty_err *err);
/* Stop decoding: what a seek was given is not used any more. The next one begins again. */
void ty_flow_stop(struct ty_flow *f);
/* The next item, over all streams in time order: 1; 0 at the end; -TY_ENOMEM; what reading a stream
 * failed with. */
int ty_flow_next(struct ty_flow *f, struct ty_flow_at *out);

struct ty_walk_run; /* flow_walk.h */
/*
 * As ty_flow_next, of a flow that counts; where it gives a run, the n runs behind it that are the
 * next items, too, and of the same thread. They stay until the next call. Of a window there are
 * none.
 */
int ty_flow_next_runs(struct ty_flow *f, struct ty_flow_at *out, const struct ty_walk_run **runs,
		      size_t *n);
/* Instructions of runs. */
uint64_t ty_flow_runs_insns(const struct ty_walk_run *runs, size_t n);
/* Bytes of packets that thread tid made in each of n equal parts of [from, to), of a started flow.
 * Nothing is decoded: see flow_density.c. What was begun has to be sought again. False: it was
 * stopped (stop NULL: it cannot be). */
bool ty_flow_density(struct ty_flow *f, int32_t tid, uint64_t from_ns, uint64_t to_ns, uint32_t n,
		     uint64_t *bytes, const atomic_bool *stop);
/* The times of the first and the last PSB that has one, of those that were looked at when it was
 * started; false when none has. */
bool ty_flow_span(struct ty_flow *f, uint64_t *first_ns, uint64_t *last_ns);
/* Of a gap or an overflow: what is missing there, and why. */
struct ty_flow_gap {
	const char *text;    /* static */
	bool sized;	     /* it is known how much: */
	uint64_t off, bytes; /* of the stream, which are not decoded */
	uint64_t lost;	     /* bytes that never came into the recording; 0: none, or not known */
	uint64_t from_ns, until_ns; /* TY_FLOW_NO_TIME: not known */
	uint64_t to;		    /* where decoding goes on; 0: not told */
};
struct ty_flow_gap ty_flow_gap(const struct ty_flow *f, const struct ty_flow_at *at);
/* "812 B not decoded, 3.2 us, resumes at 0x401000", cut to n; out. */
const char *ty_flow_gap_size(const struct ty_flow_gap *g, char *out, size_t n);
/* Bytes of packets that what was sought is decoded from; gaps have their part of them. */
uint64_t ty_flow_window_bytes(const struct ty_flow *f);
/* Bytes besides before the first PSB of a stream, where nothing tells where a packet begins: a
 * snapshot, a ring that was not filled. */
uint64_t ty_flow_headless_bytes(const struct ty_flow *f);
/* Gaps so far that may come of an erratum, of a CPU that nothing names. */
uint64_t ty_flow_errata(const struct ty_flow *f);
/* Code that gaps so far have missed, the first files; NULL: no more. */
struct ty_flow_missing {
	int file;    /* of ty_flow_code; -1: nothing says what was mapped at ip */
	uint64_t ip; /* of the first gap */
	uint64_t gaps;
};
const struct ty_flow_missing *ty_flow_missing(const struct ty_flow *f, size_t i);
uint64_t ty_flow_bytes(const struct ty_flow *f);

#endif
