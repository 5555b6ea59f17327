/* SPDX-License-Identifier: MIT */
/* Internals of ty_mem_stream, shared by mem_stream.c (samples) and mem_sideband.c (sideband). */
#ifndef TY_MEM_SIDEBAND_H
#define TY_MEM_SIDEBAND_H

#include "interval_tree.h"
#include "mem_stream.h"
#include "pair_map.h"
#include "perf_data.h"
#include "sorted_runs.h"
#include "spe_record.h"
#include "strtab.h"

/* A piece of an AUX stream in the file. */
struct ty_mem_piece {
	uint64_t off, n, aux_off;
};
/* An AUX record with flags: its data ends at `end` of the AUX stream. */
struct ty_mem_flag {
	uint64_t end, flags;
};

/* An item with its sort key: the last known time or counter. */
struct ty_mem_item {
	uint64_t key;
	struct ty_mem m;
};
/* Consecutive items, followed by more (1), the end (0) or an error. */
struct ty_mem_batch {
	struct ty_mem_item *item;
	uint32_t n;
	int more;
	struct ty_err err;
};
enum ty_mem_fill {
	TY_MEM_FILL_DONE,
	TY_MEM_FILL_WAITS, /* to be filled by any thread */
	TY_MEM_FILL_GOES,
};

/* One AUX stream. */
struct ty_mem_queue {
	int32_t cpu, tid; /* -1 */
	int32_t ring_tid; /* of the records with its data; -1 */
	VEC(struct ty_mem_piece) pieces;
	VEC(struct ty_mem_flag) flags;
	uint64_t bytes;
	/* Position: */
	struct ty_spe_decoder dec;
	uint8_t *buf;
	size_t cap, pos, n;
	size_t piece, flag, switch_at;
	uint64_t piece_pos;
	uint64_t expect; /* AUX offset after the content of buf; UINT64_MAX: none yet */
	bool hole;	 /* the next piece is not contiguous */
	bool timed;
	uint64_t key;
	/* What was decoded (mem_prefetch.h): */
	const struct ty_mem_item *item; /* the item returned last */
	struct ty_mem_batch batch[2];
	uint32_t at; /* in the current one */
	uint8_t current, fill;
	bool listed;
};

/* Thread running on a CPU from ts on; tid -1: unknown. */
struct ty_mem_run {
	uint64_t ts;
	int32_t pid, tid;
};
struct ty_mem_cpu {
	VEC(struct ty_mem_run) runs;
	uint64_t midr;
	uint64_t seen_ts; /* last sideband record */
};

struct ty_mem_name {
	int32_t tid;
	uint32_t str, order;
	uint64_t ts;
};
struct ty_mem_tid {
	int32_t tid, pid;
	uint32_t order;
};
/* When a process's mappings start: copied by a fork (parent), or new after an exec (-1). */
struct ty_mem_life {
	uint64_t ts;
	int32_t pid, parent;
	uint32_t order;
};
/* Boundaries of mappings by process and address, and the mappings between them (mem_maps.c). */
struct ty_mem_edge {
	int64_t pid;
	uint64_t addr;
};
struct ty_mem_map_index {
	struct ty_mem_edge *edge;
	uint32_t n;
	struct ty_interval_tree lists; /* of mappings, by time */
};
struct ty_mem_aux_flag {
	int32_t cpu, tid;
	struct ty_mem_flag flag;
};

/* Statistics of an event's samples: some are known memory accesses, or it is not a memory event. */
struct ty_mem_event {
	uint64_t samples;
	bool accesses;
};

/* A perf sample. */
struct ty_mem_sample {
	uint64_t ts, ip, addr, phys, data_src, off;
	uint32_t weight, cpu;
	int32_t pid, tid;
	uint32_t have;
	uint16_t insn, retire;
};

struct ty_mem_stream {
	struct ty_perf *perf;
	ty_mem_read_fn *read;
	void *ctx;
	struct ty_mem_facts facts;
	struct ty_perf_time_conv tc;
	VEC(struct ty_mem_queue) queues;
	struct ty_pair_map queue_of;	       /* by CPU and thread: an index of queues */
	VEC(struct ty_mem_aux_flag) aux_flags; /* until the pieces are known */
	VEC(struct ty_mem_cpu) cpus;
	VEC(struct ty_mem_name) names; /* by tid, time */
	VEC(struct ty_mem_tid) tids;   /* by tid; the last word counts */
	VEC(struct ty_mem_map) maps;   /* by pid, then file order */
	VEC(uint32_t) map_names;
	struct ty_mem_map_index map_index;
	VEC(struct ty_mem_life) lives;	/* by pid, time */
	struct ty_sorted_runs *samples; /* struct ty_mem_sample, by time, then offset; NULL: none,
					 * or not read yet */
	struct ty_mem sample_item;
	VEC(struct ty_mem_event) by_event;
	struct ty_strtab *strs;
	uint32_t *heap; /* of queue numbers; queues.n: the samples */
	uint32_t heap_n;
	bool started;
	unsigned threads;
	struct ty_mem_prefetch *ahead;
};

/* Decodes the queue's next item. 1, 0 at its end, or -TY_E.... Different queues may be decoded
 * concurrently. */
int ty_mem_queue_next(struct ty_mem_stream *s, struct ty_mem_queue *q, struct ty_mem_item *out,
		      struct ty_err *err);

/* Builds the index of all mappings, which must be sorted. 0 or -TY_ENOMEM. */
int ty_mem_map_index_make(struct ty_mem_stream *s);
void ty_mem_map_index_fini(struct ty_mem_map_index *x);

/* Reads the sideband of s->perf. 0 or -TY_E.... */
int ty_mem_sideband_read(struct ty_mem_stream *s, struct ty_err *err);
/* Reads and sorts s->samples, if there are any. 0 or -TY_E...; may be repeated. */
int ty_mem_sideband_samples(struct ty_mem_stream *s, struct ty_err *err);
/* The thread running on the CPU at ts. *at: cache of the last position (times mostly increase). */
bool ty_mem_sideband_run(const struct ty_mem_stream *s, uint32_t cpu, uint64_t ts, size_t *at,
			 struct ty_mem_run *out);
static inline bool ty_mem_sideband_has_runs(const struct ty_mem_stream *s, uint32_t cpu)
{
	return cpu < s->cpus.n && s->cpus.v[cpu].runs.n;
}
int32_t ty_mem_sideband_pid(const struct ty_mem_stream *s, int32_t tid);

#endif
