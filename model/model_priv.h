/* SPDX-License-Identifier: MIT */
/*
 * The model's internals: tables (table.h) and a few small arrays, all in one store (store.h),
 * identical whether just built or loaded from an index file (index_file.h). build_finish.c writes
 * them, model_load.c loads them and checks every number; then const.
 */
#ifndef TY_MODEL_PRIV_H
#define TY_MODEL_PRIV_H

#include "index_file.h"
#include "model.h"
#include "process_titles.h"
#include "table.h"

#define TY_NO_CPU 0xffffu /* in 16-bit CPU columns */

/* A further life under another tid: exec by a thread other than the leader. */
struct ty_tid_entry {
	int32_t tid;
	uint32_t thread;
	uint64_t from_ns, to_ns;
};

/* The tables. Tracks of SPANS, CALLS, EDGES (the target's) and MIGS are threads, the others' are
 * CPUs. */
enum ty_table_id {
	TY_T_SPANS,
	TY_T_CPU,
	TY_T_CALLS,
	TY_T_EDGES,
	TY_T_MIGS,
	TY_T_IRQS,
	TY_T_POINTS,
	TY_TABLES
};
extern const struct ty_table_kind ty_table_kinds[TY_TABLES];

/*
 * Their rows, as passed to ty_table_push. "1" at the end of a name: the value plus one, so that
 * "none" (all ones) becomes 0 and columns stay narrow. A ty_loc is stored as two columns for the
 * same reason.
 */
struct ty_span_row {
	uint64_t start;
	uint16_t cpu1;
	uint8_t state, flags;
} __attribute__((packed));

struct ty_cpu_row {
	uint64_t start;
	uint32_t thread1;
	uint8_t state, flags;
} __attribute__((packed));

#define TY_LOC_LOW ((UINT64_C(1) << 52) - 1)

struct ty_call_row {
	uint64_t start, length;
	int64_t ret;
	uint64_t loc1; /* & TY_LOC_LOW */
	uint16_t loc1_high;
	int32_t nr;
	uint16_t cpu1;
	uint8_t flags, abi;
	uint64_t arg; /* ty_call_arg; 0: not kept */
	uint32_t arg1, arg2;
} __attribute__((packed));

/* The first argument of a call, of which n (1 to 3) are kept. */
static inline uint64_t ty_call_arg(uint64_t first, unsigned n)
{
	return first << 2 | n;
}

struct ty_edge_row {
	uint64_t ts;
	uint64_t loc1;
	uint16_t loc1_high;
	uint32_t waker1;
	uint16_t cpu1, target_cpu1;
	uint8_t context;
} __attribute__((packed));

struct ty_mig_row {
	uint64_t ts;
} __attribute__((packed));

struct ty_irq_row {
	uint64_t start, length;
	uint32_t vec, name;
	uint8_t kind, flags, state;
} __attribute__((packed));

struct ty_point_row {
	uint64_t ts, a, b;
	uint32_t thread1;
	uint8_t kind, context;
} __attribute__((packed));

/* Columns by name, in the order of ty_table_kinds. */
enum { TY_SPAN_START, TY_SPAN_CPU, TY_SPAN_STATE, TY_SPAN_FLAGS };
enum { TY_CPU_START, TY_CPU_THREAD, TY_CPU_STATE, TY_CPU_FLAGS };
enum {
	TY_CALL_START,
	TY_CALL_LENGTH,
	TY_CALL_RET,
	TY_CALL_LOC,
	TY_CALL_LOC_HIGH,
	TY_CALL_NR,
	TY_CALL_CPU,
	TY_CALL_FLAGS,
	TY_CALL_ABI,
	TY_CALL_ARG,
	TY_CALL_ARG1,
	TY_CALL_ARG2
};
enum {
	TY_EDGE_TS,
	TY_EDGE_LOC,
	TY_EDGE_LOC_HIGH,
	TY_EDGE_WAKER,
	TY_EDGE_CPU,
	TY_EDGE_TARGET_CPU,
	TY_EDGE_CONTEXT
};
enum {
	TY_IRQ_START,
	TY_IRQ_LENGTH,
	TY_IRQ_VEC,
	TY_IRQ_NAME,
	TY_IRQ_KIND,
	TY_IRQ_FLAGS,
	TY_IRQ_STATE /* RUNNING; for a nested interrupt UNKNOWN: its time is counted in the outer
		      * one */
};
enum { TY_POINT_TS, TY_POINT_A, TY_POINT_B, TY_POINT_THREAD, TY_POINT_KIND, TY_POINT_CONTEXT };

/* The small arrays. */
#define TY_SECTIONS(X)                                                                             \
	X(THREADS, struct ty_thread, thread, threads)                                              \
	X(NAMES, struct ty_name_at, name, names)                                                   \
	X(TIDS, struct ty_tid_entry, tid, tids)                                                    \
	X(GAPS, struct ty_gap_span, gap, gaps)                                                     \
	X(CLOCK, struct ty_clock_point, clock, clocks)                                             \
	X(IOS, struct ty_io, io, ios)                                                              \
	X(REGIONS, struct ty_region, region, regions)                                              \
	X(CALL_NRS, uint64_t, call_nr, call_nrs)                                                   \
	X(STR_OFFSETS, uint32_t, str_off, strs)                                                    \
	X(STR_BYTES, char, str, str_bytes)

enum ty_section_id {
#define X(id, type, v, n) TY_S_##id,
	TY_SECTIONS(X)
#undef X
		TY_SECTION_IDS
};

/* Offsets of everything in the store. */
struct ty_index_body {
	struct ty_summary sum;
	struct ty_index_part table[TY_TABLES], section[TY_SECTION_IDS];
};

struct ty_model {
	struct ty_summary sum;
	struct ty_store *store;
	struct ty_index_body body;
	struct ty_table t[TY_TABLES];
#define X(id, type, v, n)                                                                          \
	const type *v;                                                                             \
	uint32_t n;
	TY_SECTIONS(X)
#undef X
	uint64_t origin_ns;	  /* 0: the start */
	bool part;		  /* of a longer recording */
	struct ty_titles *titles; /* NULL: none */
	bool damaged;		  /* a block of the index is damaged */
};

/*
 * Loads the model from m->store and m->body: finds tables and sections and checks all values used
 * as indices. check: the store is an index file, so compare its hashes. 0, -TY_EFORMAT, -TY_ENOMEM;
 * on failure the caller frees m.
 */
int ty_model_load(struct ty_model *m, bool check);

#endif
