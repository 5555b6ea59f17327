/* SPDX-License-Identifier: MIT */
/*
 * Executed instructions of a recording: all its PT streams on one time axis, each item with thread,
 * process, CPU and time. The reader of the file fills it (flow_perf.h, the command line), then
 * items are read. Time stamps are those of perf's clock, which is the trace clock, when the
 * recording relates TSC and clock.
 *
 * The time of an item is that of the last time stamp before it in its stream; TY_FF_EXACT marks the
 * items to which a time stamp belongs. Items between two of them happened between their times, in
 * this order; no finer time is invented.
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
	uint64_t ts_ns;	  /* TY_FLOW_NO_TIME: unknown */
	uint64_t last_ns; /* RUN: time of its last instruction, likewise */
	int32_t tid, pid; /* -1: unknown */
	int32_t cpu;	  /* -1: unknown (a per-thread stream) */
	uint32_t stream;
};

struct ty_flow;

/* load, ctx: as in code_map.h. NULL: out of memory. */
struct ty_flow *ty_flow_new(ty_code_load *load, void *ctx);
void ty_flow_free(struct ty_flow *f);

/* What decoding may hold, and sums of it (analysis/flow_sums.h): cached code, ranges decoded ahead,
 * those of earlier windows. 0, the default: no limit but the fixed ones of these. Before the first
 * seek. */
void ty_flow_set_memory(struct ty_flow *f, uint64_t bytes);
uint64_t ty_flow_memory(const struct ty_flow *f);
/* The code map, to be filled, and to be queried for names and symbols. */
struct ty_code *ty_flow_code(struct ty_flow *f);

void ty_flow_set_cpu(struct ty_flow *f, const struct ty_pt_cpu *cpu);
/* ns = zero + tsc * mult / 2^shift, as perf's TIME_CONV and mmap page. */
void ty_flow_set_time(struct ty_flow *f, uint64_t zero, uint32_t mult, uint16_t shift);
/* True when that conversion is known. ty_flow_ns: the time of a TSC. */
bool ty_flow_timed(const struct ty_flow *f);
uint64_t ty_flow_ns(const struct ty_flow *f, uint64_t tsc);
/* The stream was made by the software branch tracer. */
void ty_flow_set_software(struct ty_flow *f);
bool ty_flow_software(const struct ty_flow *f);
/*
 * Adds bytes of a stream: of a CPU (tid -1) or of a thread (cpu -1 or its first CPU). Pieces of one
 * stream (equal cpu, tid and idx) are joined when `off`, their position in the AUX stream,
 * continues the previous one; otherwise the data between them is lost. p: borrowed until the flow
 * is freed. 0 or -TY_E...
 */
int ty_flow_add(struct ty_flow *f, int32_t cpu, int32_t tid, uint32_t idx, const void *p, size_t n,
		uint64_t off);
/* Reads n bytes at `place` on demand: 0 or -TY_E... Called by several threads at once. */
typedef int ty_flow_read(void *ctx, uint64_t place, void *buf, size_t n);
void ty_flow_set_read(struct ty_flow *f, ty_flow_read *read, void *ctx);
/* The same as ty_flow_add for bytes to be read on demand. */
int ty_flow_add_place(struct ty_flow *f, int32_t cpu, int32_t tid, uint32_t idx, uint64_t place,
		      size_t n, uint64_t off);
/* Records a loss at this offset of the AUX stream of a CPU (for per-thread streams, of tid): the
 * buffer was full. */
int ty_flow_loss(struct ty_flow *f, int32_t cpu, int32_t tid, uint64_t off);
/* From t on, this thread runs on the CPU (tid 0: idle). */
int ty_flow_switch(struct ty_flow *f, int32_t cpu, uint64_t t_ns, int32_t pid, int32_t tid);
/* tid belongs to process pid. */
int ty_flow_thread(struct ty_flow *f, int32_t pid, int32_t tid);
/* tid has this name from t on. A thread forked from parent inherits its name. The name is copied. 0
 * or -TY_E... */
int ty_flow_comm(struct ty_flow *f, int32_t tid, uint64_t t_ns, const char *name);
int ty_flow_fork(struct ty_flow *f, int32_t tid, int32_t parent, uint64_t t_ns);
/* The name of tid at a time of a started flow, and the end of its validity; NULL: unknown. log(all
 * names). */
const char *ty_flow_comm_at(const struct ty_flow *f, int32_t tid, uint64_t t_ns,
			    uint64_t *until_ns);
/*
 * Part of a flow to decode. Packet ranges that cannot contain any of it are skipped: opening a
 * window costs its content plus up to two ranges (PSB to PSB, 32 KB and more) around it.
 */
struct ty_flow_window {
	uint64_t from_ns, to_ns; /* both inclusive; 0 and UINT64_MAX: everything, including items
				  * without a time */
};

/*
 * Ends the input: samples the streams for positions where decoding can start; others are searched
 * for when a window needs them. Decodes nothing; ty_flow_next without a seek begins with all
 * instructions. 0; -TY_ENOTFOUND when there is no stream; errors of reading a stream; as ty_pt_new.
 */
int ty_flow_start(struct ty_flow *f, struct ty_err *err);
/*
 * Starts again with the items of a window; may be repeated. branches: return taken branches
 * (TY_FLOW_BRANCH, with the time of the branch instruction) instead of instructions, several times
 * as fast. 0 or -TY_ENOMEM.
 *
 * To get the calls of a window, feed its items to flow_calls.h in analysis/; functions entered
 * before it are marked. Decoding a stream as a whole or in windows gives the same result.
 */
int ty_flow_seek(struct ty_flow *f, const struct ty_flow_window *w, bool branches,
		 struct ty_err *err);
/*
 * Starts again for counting: runs of instructions (TY_FLOW_RUN) are returned instead of
 * instructions wherever the packets are ordinary. Within a run no function is called, returned from
 * or left, and a run is either inside the window or outside. Much faster for loops: executions seen
 * before are added up, not followed.
 */
struct ty_flow_count {
	ty_extent_of *extent_of; /* function of an address; must stay valid until the next seek */
	void *ctx;
	bool each_time; /* all instructions of a run have the same time */
};
int ty_flow_seek_runs(struct ty_flow *f, const struct ty_flow_window *w,
		      const struct ty_flow_count *c, struct ty_err *err);
/* Stops decoding: the arguments of the last seek are no longer used. The next seek starts again. */
void ty_flow_stop(struct ty_flow *f);
/* Returns the next item of all streams in time order: 1; 0 at the end; -TY_ENOMEM; errors of
 * reading a stream. */
int ty_flow_next(struct ty_flow *f, struct ty_flow_at *out);

struct ty_walk_run; /* flow_walk.h */
/*
 * As ty_flow_next, for a flow that counts. After a run, also returns the n runs that are the next
 * items and belong to the same thread, valid until the next call. None for a window.
 */
int ty_flow_next_runs(struct ty_flow *f, struct ty_flow_at *out, const struct ty_walk_run **runs,
		      size_t *n);
/* Bytes of packets of thread tid in each of n equal parts of [from, to), of a started flow. Decodes
 * nothing: see flow_density.c. Seek again afterwards. False: it was stopped (stop NULL: it cannot
 * be). */
bool ty_flow_density(struct ty_flow *f, int32_t tid, uint64_t from_ns, uint64_t to_ns, uint32_t n,
		     uint64_t *bytes, const atomic_bool *stop);
/* Times of the first and last timed PSB among those sampled at the start; false when there is
 * none. */
bool ty_flow_span(struct ty_flow *f, uint64_t *first_ns, uint64_t *last_ns);
/* Describes a gap or an overflow: what is missing, and why. */
struct ty_flow_gap {
	const char *text;	    /* static */
	bool sized;		    /* the size is known: */
	uint64_t off, bytes;	    /* undecoded bytes of the stream */
	uint64_t lost;		    /* bytes never recorded; 0: none or unknown */
	uint64_t from_ns, until_ns; /* TY_FLOW_NO_TIME: unknown */
	uint64_t to;		    /* address where decoding resumes; 0: unknown */
};
struct ty_flow_gap ty_flow_gap(const struct ty_flow *f, const struct ty_flow_at *at);
/* "812 B not decoded, 3.2 us, resumes at 0x401000", truncated to n; returns out. */
const char *ty_flow_gap_size(const struct ty_flow_gap *g, char *out, size_t n);
/* Bytes of packets to decode for the last seek; gaps count with their share. */
uint64_t ty_flow_window_bytes(const struct ty_flow *f);
/* Further bytes before the first PSB of a stream, where packet boundaries are unknown: a snapshot,
 * a ring that did not fill up. */
uint64_t ty_flow_headless_bytes(const struct ty_flow *f);
/* Number of gaps so far that may be due to an erratum, because the CPU model is unknown. */
uint64_t ty_flow_errata(const struct ty_flow *f);
/* Code missing in gaps so far, the first files; NULL: no more. */
struct ty_flow_missing {
	int file;    /* of ty_flow_code; -1: no mapping of ip is known */
	uint64_t ip; /* of the first gap */
	uint64_t gaps;
};
const struct ty_flow_missing *ty_flow_missing(const struct ty_flow *f, size_t i);
uint64_t ty_flow_bytes(const struct ty_flow *f);

#endif
