/* SPDX-License-Identifier: MIT */
/*
 * Memory samples as points, in the merge order of the streams: the input of all memory analyses.
 * One table (table.h) with one track in a store (store.h): a point takes 20 to 30 bytes, memory is
 * bounded by the store's budget, and a finished store is an index file (mem_index.c). Column 0 is
 * the merge time, which never decreases; a point's own time is `back` before it.
 *
 * Filled by ty_mem_points_add, finished by ty_mem_points_end, then const and readable. A property
 * that the samples do not have has no flag. Numbers from an index file are checked when they are
 * read.
 */
#ifndef TY_MEM_POINTS_H
#define TY_MEM_POINTS_H

#include <stdatomic.h>

#include "err.h"
#include "mem_access.h"
#include "mem_ids.h"
#include "mem_stream.h"
#include "table.h"
#include "vec.h"

#define TY_MEM_NO_THREAD UINT32_MAX

/* ty_mem_point.flags */
#define TY_MP_WRITES	 0x01
#define TY_MP_HAS_VA	 0x02
#define TY_MP_HAS_PA	 0x04
#define TY_MP_HAS_LAT	 0x08 /* total */
#define TY_MP_HAS_SPLIT	 0x10 /* issue */
#define TY_MP_HAS_XLAT	 0x20
#define TY_MP_HAS_TIME	 0x40
#define TY_MP_HAS_TARGET 0x80 /* va is the target of a branch */

struct ty_mem_point {
	uint64_t ts_ns, va, pa;
	uint32_t pc;	 /* instruction: index into code; UINT32_MAX: not recorded */
	uint32_t thread; /* index into thread; TY_MEM_NO_THREAD */
	uint32_t events; /* the low 32 bits */
	uint16_t total;	 /* in cycles, whole access; saturated at 65535 */
	union {
		uint16_t issue;
		uint16_t insn; /* without TY_MP_HAS_SPLIT: the instruction's latency; 0: none */
	};
	uint16_t xlat;
	uint16_t cpu; /* UINT16_MAX: unknown */
	union {
		uint32_t what; /* the fields above as stored in the table */
		struct {
			uint8_t kind : 2;  /* enum ty_mem_kind, except gaps */
			uint8_t level : 5; /* as in ty_mem */
			uint8_t core : 1;  /* the core's data source codes are known */
			uint8_t src_flags; /* as in ty_mem */
			uint8_t flags;	   /* TY_MP_* */
			uint8_t size;	   /* bytes; 0: unknown */
		};
	};
};

/* Fields that a bulk reader can request; kind, level, src_flags, size, flags and core are always
 * included. */
#define TY_MEM_WANT_TIME   0x001u
#define TY_MEM_WANT_VA	   0x002u
#define TY_MEM_WANT_PA	   0x004u
#define TY_MEM_WANT_PC	   0x008u /* and the access size of its instruction */
#define TY_MEM_WANT_THREAD 0x010u
#define TY_MEM_WANT_EVENTS 0x020u
#define TY_MEM_WANT_TOTAL  0x040u
#define TY_MEM_WANT_ISSUE  0x080u
#define TY_MEM_WANT_XLAT   0x100u
#define TY_MEM_WANT_CPU	   0x200u
#define TY_MEM_WANT_ALL	   0x3ffu

/* An instruction: the same offset of the same file, wherever it is mapped; code without a file
 * belongs to its process. Fields describe its first sample. */
struct ty_mem_code {
	uint64_t addr, ts_ns;
	int32_t pid; /* -1: unknown */
	uint32_t pad;
};

struct ty_mem_thread {
	int32_t tid, pid; /* pid -1: unknown */
	const char *comm; /* "": unknown */
};

/* True when the code's address is that of another process than the thread's, which may have the
 * same instruction at a different address. */
static inline bool ty_mem_code_elsewhere(const struct ty_mem_code *c, const struct ty_mem_thread *t)
{
	return !(c->addr >> 55) && c->pid != t->pid;
}

struct ty_mem_gap_point {
	uint64_t ts_ns, off, bytes;
	const char *why;
	uint16_t cpu;
};
#define TY_MEM_GAPS_MAX 65536u

/* Powers of two of a latency: 0 for 0, 1, 2 for 2 and 3 ... 16. */
#define TY_MEM_OCTAVES 17
static inline unsigned ty_mem_octave(uint32_t cycles)
{
	return cycles ? 32u - (unsigned)__builtin_clz(cycles) : 0;
}

/* How far the data came from, nearest first. */
enum ty_mem_far { TY_MEM_FAR_UNKNOWN, TY_MEM_FAR_CACHE, TY_MEM_FAR_RAM, TY_MEM_FAR_OTHER };
enum ty_mem_far ty_mem_far(const struct ty_mem_point *o);

/* Aggregates of the points of one block (TY_BLOCK_ROWS) that have a time, for zoomed-out views. */
struct ty_mem_group {
	uint64_t first_ns, last_ns; /* least and greatest time */
	uint16_t timed;
	uint16_t count[TY_MEM_OCTAVES]; /* number of points with a latency */
	uint8_t far[TY_MEM_OCTAVES];	/* the farthest */
	uint8_t pad[3];
};

/* Kinds over all points, and the span of their times (0, 0: none has one). */
struct ty_memory_sum {
	uint64_t samples, loads, stores, branches, others;
	uint64_t no_thread, no_time, with_pa, with_source, by_events;
	uint64_t part_pa; /* 1: some accesses have a physical address, others only a virtual one */
	uint64_t unaligned;  /* 1: some samples have this flag (Arm SPE) */
	uint64_t loads_only; /* 1: no sampled operation is known to write */
	uint64_t first_ns, last_ns;
};

struct ty_mem_build;

struct ty_mem_points {
	uint64_t n;
	uint64_t first; /* first point of a window borrowed from other points; else 0 */
	struct ty_memory_sum sum;
	uint64_t back_ns;		    /* maximum distance of a point's time before its merge
					     * time */
	const struct ty_mem_stream *stream; /* its mappings show what processes share; or NULL */
	struct ty_table table;
	const struct ty_mem_group *group; /* by block */
	const struct ty_mem_code *code;
	const struct ty_mem_thread *thread;
	uint32_t codes, threads;
	uint64_t gaps_n, unreadable_bytes;
	VEC(struct ty_mem_gap_point) gaps; /* the first TY_MEM_GAPS_MAX */
	bool gaps_cut;			   /* there are more gaps than stored */
	const uint8_t *width; /* access size in bytes by code, 0 unknown; NULL. Borrowed */
	bool damaged;	      /* a block of the index is damaged */
	/* Owned: */
	struct ty_store *store;
	VEC(struct ty_mem_thread) own_threads;
	VEC(struct ty_mem_code) own_code;
	VEC(struct ty_mem_group) own_groups;
	struct ty_mem_build *build;
};

/*
 * Begins empty points for samples of `stream` (its mappings identify equal instructions; NULL: each
 * process's addresses are its own). memory_bytes: approximate memory limit; 0: none. 0 or
 * -TY_ENOMEM; call fini in any state.
 */
int ty_mem_points_begin(struct ty_mem_points *p, const struct ty_mem_stream *stream,
			uint64_t memory_bytes);
/* Begins a selection of other, finished points. It borrows their codes and threads and must not
 * outlive them. */
int ty_mem_points_part(struct ty_mem_points *p, const struct ty_mem_points *whole,
		       uint64_t memory_bytes);
/* Adds a sample. comm: name of its thread, "" unknown, borrowed until the end. 0, -TY_ENOMEM,
 * -TY_ELIMIT (the instruction table alone exceeds memory_bytes; 2^32 samples). */
int ty_mem_points_add(struct ty_mem_points *p, const struct ty_mem *m, const char *comm, bool core);
/* Adds a point of the whole to a selection. 0, -TY_ENOMEM. */
int ty_mem_points_take(struct ty_mem_points *part, const struct ty_mem_point *o);
/* Finishes the points. 0 or -TY_E.... */
int ty_mem_points_end(struct ty_mem_points *p);
void ty_mem_points_fini(struct ty_mem_points *p);

/*
 * Reads points [at, at + the number returned), at most TY_BLOCK_ROWS, with the fields in `want`;
 * others are undefined. 0: there is no such point.
 */
uint32_t ty_mem_points_rows(const struct ty_mem_points *p, uint64_t at, unsigned want,
			    struct ty_mem_point out[TY_BLOCK_ROWS]);
/* Reads one point with the fields in `want`; at < n. */
struct ty_mem_point ty_mem_points_pick(const struct ty_mem_points *p, uint64_t at, unsigned want);
static inline struct ty_mem_point ty_mem_points_get(const struct ty_mem_points *p, uint64_t at)
{
	return ty_mem_points_pick(p, at, TY_MEM_WANT_ALL);
}
/* The points [*first, *first + *n) include all those with a time in [from, to), and others. */
void ty_mem_points_between(const struct ty_mem_points *p, uint64_t from_ns, uint64_t to_ns,
			   uint64_t *first, uint64_t *n);

/* Limits for computations over points; NULL is the same as all 0. */
struct ty_mem_work {
	uint64_t bytes;		 /* approximate working memory; 0: 64 MB */
	const atomic_bool *stop; /* set by another thread to cancel with -TY_EINTR; NULL */
};
static inline bool ty_mem_stopped(const struct ty_mem_work *w)
{
	return w && w->stop && atomic_load_explicit(w->stop, memory_order_relaxed);
}
static inline uint64_t ty_mem_work_bytes(const struct ty_mem_work *w)
{
	return w && w->bytes ? w->bytes : 64u << 20;
}

/* mem_index.c: index files (index_file.h), of the file that is open as fd. ----------------------
 */

/* Opens the index file: 1, or 0 when none matches. midr: core given by the user for a bare stream;
 * else 0. */
int ty_mem_points_open(struct ty_mem_points *p, const char *path, int fd, uint64_t midr);
/* For points without samples so far: writes an index file while they are filled. It gets its name
 * when they are finished and large enough (a megabyte). */
void ty_mem_points_index(struct ty_mem_points *p, const char *path, int fd, uint64_t midr);

#endif
