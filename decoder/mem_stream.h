/* SPDX-License-Identifier: MIT */
/*
 * All memory samples of a recording, in time order: the AUX streams of Arm SPE (of a perf.data
 * file, or one bare stream), and perf samples with ADDR and DATA_SRC, merged. Bytes come from a
 * callback. The open reads the rest in one pass: time conversion, cores, context switches, names,
 * mappings, losses.
 *
 * Records of a stream without a known time keep their position in it. Memory: the sideband, a
 * buffer and two batches of items per AUX stream, and 16 MB of perf samples, which are unsorted in
 * the file: more of them are sorted in an unnamed file before the first is returned.
 */
#ifndef TY_MEM_STREAM_H
#define TY_MEM_STREAM_H

#include "err.h"
#include "mem_access.h"

struct ty_mem_stream;
struct ty_perf;

/* What is known of the recording as a whole. */
struct ty_mem_facts {
	const char *arch, *cpuid, *host, *kernel, *cmdline0; /* NULL: unknown */
	uint64_t midr;					     /* of the first CPU; 0: unknown */
	const char *core; /* its name, when its data sources are known */
	uint32_t streams; /* AUX streams */
	uint64_t period;  /* operations per sample; 0: unknown */
	uint64_t aux_bytes;
	uint64_t samples;		       /* perf samples used */
	bool has_clock;			       /* a conversion to perf's clock */
	bool spe, perf;			       /* kinds of samples */
	bool arm;			       /* recorded on AArch64 */
	bool stores;			       /* stores are known to be sampled */
	bool shared_maps;		       /* mappings of shared writable memory are recorded */
	uint32_t truncated, collided, partial; /* AUX records with such a flag */
	uint64_t lost;			       /* lost records according to the kernel */
	uint32_t line_bytes; /* cache line size, when the file states it; else 64 */
};

/* Opens a perf.data file. It belongs to the caller and must outlive the stream; its records must
 * not be read by others meanwhile. 0 or -TY_E...; -TY_ENOTFOUND: it has no memory samples. */
int ty_mem_open(struct ty_perf *p, struct ty_mem_stream **out, struct ty_err *err);

/* Exactly n bytes at off: 0 or -TY_E... with err. */
typedef int ty_mem_read_fn(void *ctx, uint64_t off, void *dst, size_t n, struct ty_err *err);
/* One bare SPE stream of n bytes. path: for messages. */
int ty_mem_open_raw(const char *path, ty_mem_read_fn *read, void *ctx, uint64_t n, uint64_t midr,
		    struct ty_mem_stream **out, struct ty_err *err);
void ty_mem_close(struct ty_mem_stream *s);

/* Decodes the AUX streams ahead in this many additional threads, which then call the callback, too.
 * Takes effect at the next rewind. */
void ty_mem_threads(struct ty_mem_stream *s, unsigned threads);
/* Returns the next sample or gap; valid until the next call. 1, 0 at the end, -TY_E.... */
int ty_mem_next(struct ty_mem_stream *s, const struct ty_mem **out, struct ty_err *err);
/* Starts again. */
void ty_mem_rewind(struct ty_mem_stream *s);

const struct ty_mem_facts *ty_mem_facts(const struct ty_mem_stream *s);
/* MIDR of a CPU (TY_MEM_HAS_CPU clear: pass UINT32_MAX); 0: unknown. */
uint64_t ty_mem_midr(const struct ty_mem_stream *s, uint32_t cpu);
/* Name of a thread at a time according to COMM records; NULL. */
const char *ty_mem_comm(const struct ty_mem_stream *s, int32_t tid, uint64_t ts_ns);

/* mem_maps.c ---------------------------------------------------------------------------------- */

#define TY_MEM_NOT_SHARED UINT32_MAX
struct ty_mem_map {
	uint64_t addr, len, pgoff, ts_ns;
	const char *name;
	uint64_t inode; /* 0: not recorded */
	int32_t pid;
	uint32_t prot;
	uint32_t order;	    /* in the file */
	uint32_t file;	    /* equal for the same build id, otherwise for the same name and inode */
	uint32_t shared;    /* number of shared memory, equal for the same device and inode;
			     * TY_MEM_NOT_SHARED */
	uint8_t build_id_n; /* 0: not recorded */
	uint8_t build_id[20];
};
/* Validity of an answer: from_ns <= time < to_ns. */
struct ty_mem_when {
	uint64_t from_ns, to_ns;
};
/* The mapping that contained an address of a process at a time; NULL: none recorded. A process has
 * its parent's mappings as of the fork, and none from before an exec. When nothing else is known,
 * the result is a mapping recorded only later: its ts_ns is after the time, and it is only likely.
 * Kernel addresses have pid -1. when: NULL, or the validity of the answer. */
const struct ty_mem_map *ty_mem_map_when(const struct ty_mem_stream *s, int32_t pid, uint64_t addr,
					 uint64_t ts_ns, struct ty_mem_when *when);
static inline const struct ty_mem_map *ty_mem_map_find(const struct ty_mem_stream *s, int32_t pid,
						       uint64_t addr, uint64_t ts_ns)
{
	return ty_mem_map_when(s, pid, addr, ts_ns, NULL);
}
/* An address of a process at a time. */
struct ty_mem_place {
	uint64_t addr, ts_ns;
	int32_t pid;
};
/* Finds the address at which process `pid` has the same offset of the same file as `there`, at
 * ts_ns. False: nowhere, or not found by a bounded search in its mappings. */
bool ty_mem_map_same_place(const struct ty_mem_stream *s, struct ty_mem_place there, int32_t pid,
			   uint64_t ts_ns, uint64_t *addr);
/* The process's own mappings, *n of them, in file order. */
const struct ty_mem_map *ty_mem_maps_of(const struct ty_mem_stream *s, int32_t pid, size_t *n);
/* The process whose mappings it had copied at that time, and when (updates *ts_ns); -1: none. */
int32_t ty_mem_map_parent(const struct ty_mem_stream *s, int32_t pid, uint64_t *ts_ns);

#endif
