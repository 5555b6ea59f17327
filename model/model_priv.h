/* SPDX-License-Identifier: MIT */
/*
 * The columns behind model.h. Filled by finish.c, const afterwards.
 *
 * Thread spans are three columns (12 bytes a span): the end of a span is the start of the next one
 * of the same thread, or the thread's end. Its thread is found from its index (a thread's spans are
 * contiguous); its edge and its system call are found by time. Edges and system calls are sorted by
 * thread, then time, in the same way.
 */
#ifndef TY_MODEL_PRIV_H
#define TY_MODEL_PRIV_H

#include "forest.h"
#include "model.h"
#include "points.h"
#include "strtab.h"
#include "vec.h"

#define TY_NO_CPU 0xffffu /* in 16-bit CPU columns */

/* One more life under another tid: exec by a thread that is not the leader. */
struct ty_tid_entry {
	int32_t tid;
	uint32_t thread;
	uint64_t from_ns, to_ns;
};

struct ty_irq_packed {
	uint64_t start_ns, end_ns;
	uint32_t vec, name;
	uint8_t kind, flags;
} __attribute__((packed));

struct ty_cpu_track {
	VEC(uint64_t) start;
	VEC(uint32_t) thread;
	VEC(uint8_t) state;
	VEC(uint8_t) flags;
	VEC(struct ty_irq_packed) irq;
	VEC(struct ty_point_packed) point;
	struct ty_forest *forest; /* NULL: small */
};

struct ty_model {
	struct ty_summary sum;
	struct ty_strtab *strs;
	struct ty_thread *thread;
	uint32_t threads;
	struct ty_name_at *name;
	uint32_t names;
	struct ty_tid_entry *tid; /* by tid, then from_ns */
	uint32_t tids;

	uint32_t spans;
	uint64_t *span_start;
	uint16_t *span_cpu;
	uint8_t *span_state, *span_flags;

	uint32_t syscalls;
	uint64_t *sc_start, *sc_end;
	int64_t *sc_ret;
	ty_loc *sc_loc;
	int32_t *sc_nr;
	uint8_t *sc_flags, *sc_abi;
	uint16_t *sc_cpu;

	uint32_t edges;
	uint32_t *edge_first; /* per thread + 1 */
	uint64_t *edge_ts;
	ty_loc *edge_loc;
	uint32_t *edge_waker;
	uint16_t *edge_cpu, *edge_target_cpu;
	uint8_t *edge_context;

	uint32_t *mig_first; /* per thread + 1 */
	uint64_t *mig_ts;
	uint32_t migs;

	struct ty_cpu_track *cpu;		     /* sum.cpus */
	struct ty_forest **span_forest, **sc_forest; /* per thread; NULL: small */

	VEC(struct ty_io) io;
	VEC(struct ty_gap_span) gaps;
	VEC(struct ty_clock_point) clock;
	uint64_t *event_count;
	uint32_t event_ids;
};

/* Columns with more spans than this get a forest. */
#define TY_FOREST_SMALL 64

#endif
