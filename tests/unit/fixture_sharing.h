/* SPDX-License-Identifier: MIT */
/* Recordings of accesses to memory, written as SPE or perf samples, and their shared lines.
 * Included behind cmocka.h. */
#ifndef TY_FIXTURE_SHARING_H
#define TY_FIXTURE_SHARING_H

#include <sys/mman.h>

#include "mem_stream.h"
#include "memory.h"
#include "perf_write.h"
#include "sharing.h"
#include "spe_encode.h"

enum { LD = 0, ST = 1, ATOMIC = 0x06, LD_EXCL = 0x0a };

#define PEER 9
#define L1   0
#define A    0xaaab00001000ull
#define P    0x80000040000ull

struct access {
	int tid; /* pid: tid / 100 * 100; CPU: tid % 4 */
	unsigned op;
	uint64_t va, pa; /* pa 0: not recorded */
	int source;	 /* -1: none */
};

struct result {
	struct ty_perf *perf;
	struct ty_mem_stream *stream;
	struct ty_mem_points points;
	struct ty_sharing s;
};

static inline void load(struct result *r, struct ty_buf *file)
{
	struct ty_err err = {0};
	const struct ty_mem *m;
	char path[32];
	int e;

	*r = (struct result){0};
	pw_save(file, path);
	if (ty_perf_open(path, &r->perf, &err) || ty_mem_open(r->perf, &r->stream, &err))
		fail_msg("%s", err.msg);
	unlink(path);
	assert_int_equal(ty_mem_points_begin(&r->points, r->stream, 0), 0);
	while ((e = ty_mem_next(r->stream, &m, &err)) > 0)
		assert_int_equal(ty_mem_points_add(&r->points, m, "", true), 0);
	assert_int_equal(e, 0);
	assert_int_equal(ty_mem_points_end(&r->points), 0);
	assert_int_equal(ty_sharing_find(&r->points, 64, NULL, &r->s), 0);
}

static inline void done(struct result *r)
{
	ty_sharing_fini(&r->s);
	ty_mem_points_fini(&r->points);
	ty_mem_close(r->stream);
	ty_perf_close(r->perf);
}

enum {
	NO_CONTEXT = 1,
	SWITCHES = 2,
	UNKNOWN_CORE = 4,
	STORES = 8,
	MAPPED = 16,
	FORKED = 32,
	EXECED = 64
};

static inline void header(struct perf_write *w, const struct access *a, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		pw_comm(w,
			(struct pw_at){.pid = a[i].tid / 100 * 100,
				       .tid = a[i].tid,
				       .time = 1,
				       .cpu = (uint32_t)a[i].tid % 4},
			"worker");
}

/* The accesses ten times over, 100 ns apart. */
static inline void spe(struct result *r, const struct access *a, unsigned n, unsigned how)
{
	struct perf_write w;
	struct ty_buf file, cpu[4];
	uint64_t words[2] = {8, 1}, t = 1000;

	pw_init(&w);
	if (how & UNKNOWN_CORE)
		w.cpuid = "0x00000000990fd0c0";
	if (how & STORES) /* are sampled, too */
		w.config |= 1ull << 34;
	pw_time_conv(&w, 0, 1, 0);
	pw_words(&w, TY_PERF_AUXTRACE_ARM_SPE, words, 2);
	header(&w, a, n);
	if (how & MAPPED) {
		const struct pw_at one = {.pid = 100, .tid = 101, .time = 5},
				   two = {.pid = 200, .tid = 201, .time = 5};

		pw_mmap2_shared(&w, one, A, 0x10000, 0, 7, "/dev/zero (deleted)");
		pw_mmap2_shared(&w, two, 0xbbbb00000000, 0x10000, 0x1000, 7, "/dev/zero (deleted)");
		pw_mmap2_shared(&w, two, 0xcccc00000000, 0x10000, 0, 8, "/dev/zero (deleted)");
		pw_mmap2_of(&w, two, 0xdddd00000000, 0x10000, 0, (struct pw_inode){9, 7},
			    PROT_READ | PROT_WRITE, MAP_SHARED, "/dev/zero (deleted)");
	}
	if (how & FORKED) { /* process 300 of 100 */
		const uint32_t body[6] = {300, 100, 300, 101, 7, 0};

		pw_rec_at(&w, TY_PERF_FORK, 0, body, sizeof(body),
			  (struct pw_at){.pid = 300, .tid = 300, .time = 7});
	}
	if (how & EXECED) {
		const uint32_t body[4] = {300, 300, 'c', 0};

		pw_rec_at(&w, TY_PERF_COMM, TY_PERF_MISC_COMM_EXEC, body, sizeof(body),
			  (struct pw_at){.pid = 300, .tid = 300, .time = 8});
	}
	for (unsigned c = 0; c < 4; c++)
		ty_buf_init(&cpu[c], 1 << 20);
	for (unsigned i = 0; i < 10 * n; i++, t += 100) {
		const struct access *x = &a[i % n];
		unsigned c = (unsigned)x->tid % 4;

		if (how & SWITCHES)
			pw_switch(&w,
				  (struct pw_at){.pid = x->tid / 100 * 100,
						 .tid = x->tid,
						 .time = t - 10,
						 .cpu = c},
				  false, 0, 0);
		spe_mem(&cpu[c], (struct spe_mem){.pc = 0x4000 + 16 * (i % n),
						  .va = x->va,
						  .pa = x->pa,
						  .has_pa = x->pa,
						  .ts = t,
						  .ctx = how & NO_CONTEXT ? -1 : x->tid,
						  .source = x->source,
						  .op = x->op,
						  .total = x->source == PEER ? 200 : 12,
						  .issue = 4});
	}
	for (unsigned c = 0; c < 4; c++) {
		if (cpu[c].len)
			pw_auxtrace(&w, 0, (int)c, -1, cpu[c].p, cpu[c].len);
		ty_buf_fini(&cpu[c]);
	}
	ty_buf_init(&file, 1 << 22);
	pw_file(&w, &file);
	load(r, &file);
	ty_buf_fini(&file);
	pw_fini(&w);
}

static inline void one(const char *name, struct result *r, unsigned kind, unsigned evidence,
		       unsigned threads)
{
	const struct ty_sharing_line *l = r->s.lines;

	if (r->s.lines_n != 1 || l->kind != kind || l->evidence != evidence ||
	    l->threads != threads)
		fail_msg("%s: %u lines; %s, %s, %u threads", name, r->s.lines_n,
			 r->s.lines_n ? ty_sharing_kind_name(l->kind) : "-",
			 r->s.lines_n ? ty_sharing_evidence_name(l->evidence) : "-",
			 r->s.lines_n ? l->threads : 0);
	done(r);
}

static inline void none(const char *name, struct result *r)
{
	if (r->s.lines_n)
		fail_msg("%s: %u lines", name, r->s.lines_n);
	done(r);
}

#define N(a) (sizeof(a) / sizeof(*(a)))

/* What a point is, for cases that the encoders do not make. */
struct point {
	int tid; /* of pid tid / 100 * 100 */
	int cpu; /* -1: not known */
	uint64_t va, pa;
	unsigned kind, flags; /* TY_MEM_SRC_* */
	unsigned size, latency;
	uint64_t events;
};

static inline void put(struct ty_mem_points *p, uint64_t ts, const struct point *x)
{
	struct ty_mem m = {.ts_ns = ts,
			   .va = x->va,
			   .pa = x->pa,
			   .pc = 0x4000,
			   .pid = x->tid / 100 * 100,
			   .tid = x->tid,
			   .cpu = (uint32_t)x->cpu,
			   .who = TY_MEM_THREAD_CONTEXT,
			   .kind = (uint8_t)x->kind,
			   .level = TY_MEM_LV_L1,
			   .src_flags = (uint8_t)x->flags,
			   .size = (uint8_t)x->size,
			   .events = x->events,
			   .lat_total = x->latency,
			   .has = TY_MEM_HAS_TIME | TY_MEM_HAS_PC | TY_MEM_HAS_VA |
				  (x->pa ? TY_MEM_HAS_PA : 0) | (x->cpu < 0 ? 0 : TY_MEM_HAS_CPU) |
				  (x->latency ? TY_MEM_HAS_TOTAL : 0)};

	assert_int_equal(ty_mem_points_add(p, &m, "", true), 0);
}

/* The points so many times over. */
static inline void points(struct result *r, const struct point *x, unsigned n, unsigned times)
{
	*r = (struct result){0};
	assert_int_equal(ty_mem_points_begin(&r->points, NULL, 0), 0);
	for (unsigned i = 0; i < n * times; i++)
		put(&r->points, 1000 + i, &x[i % n]);
	assert_int_equal(ty_mem_points_end(&r->points), 0);
	assert_int_equal(ty_sharing_find(&r->points, 64, NULL, &r->s), 0);
}

#define L TY_MEM_LOAD
#define S TY_MEM_STORE
#define M (TY_MEM_SRC_HITM | TY_MEM_SRC_PEER)

#endif
