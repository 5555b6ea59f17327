/* SPDX-License-Identifier: MIT */
/* A writer of perf.data files for tests: records into a buffer, then the file around them. */
#ifndef PERF_WRITE_H
#define PERF_WRITE_H

#include "buf.h"
#include "perf_data.h"

/* Ids of the two events that every file has: the one that samples, and the dummy of the sideband.
 */
enum { PW_ID = 101, PW_DUMMY = 201 };

struct perf_write {
	struct ty_buf rec;    /* records */
	uint64_t sample_type; /* of event 0 */
	uint64_t dummy_type;  /* of event 1 */
	uint32_t type;	      /* PMU type of event 0 */
	uint64_t config, period, branch_type;
	const char *cpuid, *arch; /* NULL: no such feature */
	uint32_t cpus;
	bool no_id_all;
	bool switches; /* the dummy reports them */
	bool unnamed;  /* the file has no names of its events */
};

struct pw_at { /* the tail of a record */
	int32_t pid, tid;
	uint64_t time;
	uint32_t cpu;
};

void pw_init(struct perf_write *w);
void pw_fini(struct perf_write *w);
/* A record without a tail; with the dummy's tail. */
void pw_rec(struct perf_write *w, uint32_t type, uint16_t misc, const void *body, size_t n);
void pw_rec_at(struct perf_write *w, uint32_t type, uint16_t misc, const void *body, size_t n,
	       struct pw_at at);
void pw_comm(struct perf_write *w, struct pw_at at, const char *comm);
void pw_mmap2(struct perf_write *w, struct pw_at at, uint64_t addr, uint64_t len, uint64_t pgoff,
	      uint32_t prot, const char *name);
struct pw_inode {
	uint32_t major; /* of its device */
	uint64_t inode;
};
void pw_mmap2_of(struct perf_write *w, struct pw_at at, uint64_t addr, uint64_t len, uint64_t pgoff,
		 struct pw_inode of, uint32_t prot, uint32_t flags, const char *name);
/* Of memory that is shared (MAP_SHARED), by its inode. */
void pw_mmap2_shared(struct perf_write *w, struct pw_at at, uint64_t addr, uint64_t len,
		     uint64_t pgoff, uint64_t inode, const char *name);
void pw_switch(struct perf_write *w, struct pw_at at, bool out, int32_t other_pid,
	       int32_t other_tid);
void pw_time_conv(struct perf_write *w, uint64_t shift, uint64_t mult, uint64_t zero);
void pw_words(struct perf_write *w, uint32_t type, const uint64_t *words, unsigned n);
/* AUXTRACE with its data behind it. */
void pw_auxtrace(struct perf_write *w, uint64_t offset, int32_t cpu, int32_t tid, const void *data,
		 size_t n);
void pw_aux(struct perf_write *w, struct pw_at at, uint64_t offset, uint64_t size, uint64_t flags);
/* The whole file into `out` (initialised). */
void pw_file(const struct perf_write *w, struct ty_buf *out);
void pw_pipe(const struct perf_write *w, struct ty_buf *out);
/* Bytes into a fresh file; path is filled. */
void pw_save(const struct ty_buf *b, char path[32]);

#endif
