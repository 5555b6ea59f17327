/* SPDX-License-Identifier: MIT */
/*
 * The streams of memory samples and their merge by time (mem_stream.h). mem_sideband.c reads the
 * sideband, mem_queue.c one stream, mem_prefetch.c decodes ahead in threads. A heap holds the next
 * item of every stream; budget per item: its decoding, log2(streams) comparisons, and a step along
 * the CPU's list of switches.
 */
#include "mem_stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "mem_prefetch.h"
#include "mem_sideband.h"

#define BUF_BYTES (128u << 10)

static int sample_next(struct ty_mem_stream *s, struct ty_err *err)
{
	const struct ty_mem_sample *p;
	struct ty_mem *m = &s->sample_item;
	const void *item;
	int r = s->samples ? ty_sorted_runs_next(s->samples, &item, err) : 0;

	if (r <= 0)
		return r;
	p = item;
	memset(m, 0, sizeof(*m));
	m->has = p->have;
	m->ts_ns = p->ts;
	m->pc = p->ip;
	m->va = p->addr;
	m->pa = p->phys;
	m->off = p->off;
	m->cpu = p->cpu;
	m->pid = p->pid;
	m->tid = p->tid;
	m->who = p->tid >= 0 ? TY_MEM_THREAD_CONTEXT : TY_MEM_THREAD_UNKNOWN;
	m->lat_total = p->weight;
	m->lat_insn = p->insn;
	m->lat_retire = p->retire;
	ty_mem_set_data_src(m, p->data_src, s->facts.arm);
	return 1;
}

/* The heap: smallest key first, then the lower queue. */
static uint64_t key(const struct ty_mem_stream *s, uint32_t i)
{
	return i < s->queues.n ? s->queues.v[i].item->key : s->sample_item.ts_ns;
}

static bool before(const struct ty_mem_stream *s, const uint32_t *a, const uint32_t *b)
{
	uint64_t x = key(s, *a), y = key(s, *b);

	return x != y ? x < y : *a < *b;
}

static int advance(struct ty_mem_stream *s, uint32_t i, struct ty_err *err)
{
	return i < s->queues.n ? ty_mem_prefetch_next(s, &s->queues.v[i], err)
			       : sample_next(s, err);
}

static int start(struct ty_mem_stream *s, struct ty_err *err)
{
	int r = ty_mem_sideband_samples(s, err);

	if (!r && s->samples)
		r = ty_sorted_runs_rewind(s->samples, err);
	s->heap_n = 0;
	if (r)
		return r;
	if (ty_mem_prefetch_start(s, s->threads))
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
			       "out of memory for the batches of %u streams",
			       (unsigned)s->queues.n);
	for (uint32_t i = 0; i <= s->queues.n; i++) {
		r = advance(s, i, err);
		if (r < 0)
			return r;
		if (r)
			s->heap[s->heap_n++] = i;
	}
	heap_order(s->heap, s->heap_n, before, s);
	s->started = true;
	return 0;
}

int ty_mem_next(struct ty_mem_stream *s, const struct ty_mem **out, struct ty_err *err)
{
	int r;

	if (!s->started) {
		r = start(s, err);
		if (r)
			return r;
	} else if (s->heap_n) {
		r = advance(s, s->heap[0], err);
		if (r < 0)
			return r;
		if (!r)
			s->heap[0] = s->heap[--s->heap_n];
		if (s->heap_n > 1)
			heap_down(s->heap, s->heap_n, 0, before, s);
	}
	if (!s->heap_n)
		return 0;
	*out = s->heap[0] < s->queues.n ? &s->queues.v[s->heap[0]].item->m : &s->sample_item;
	return 1;
}

void ty_mem_threads(struct ty_mem_stream *s, unsigned threads)
{
	s->threads = threads;
}

void ty_mem_rewind(struct ty_mem_stream *s)
{
	ty_mem_prefetch_stop(s);
	vec_each (q, &s->queues) {
		q->dec = (struct ty_spe_decoder){
			.off = q->pieces.n ? q->pieces.v[0].aux_off : 0,
			.midr = ty_mem_midr(s, q->cpu >= 0 ? (uint32_t)q->cpu : UINT32_MAX),
		};
		q->pos = q->n = q->piece = q->flag = q->switch_at = 0;
		q->piece_pos = q->key = 0;
		q->expect = UINT64_MAX;
		q->hole = q->timed = false;
	}
	s->started = false;
}

/* Buffers and heap; s->queues is complete. */
static int prepare(struct ty_mem_stream *s, const char *path, struct ty_err *err)
{
	s->heap = malloc((s->queues.n + 1) * sizeof(*s->heap));
	if (!s->heap)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	vec_each (q, &s->queues) {
		q->cap = q->bytes < BUF_BYTES ? (size_t)q->bytes : BUF_BYTES;
		q->buf = malloc(q->cap ? q->cap : 1);
		if (!q->buf)
			return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
		s->facts.aux_bytes += q->bytes;
	}
	s->facts.streams = (uint32_t)s->queues.n;
	s->facts.core = ty_mem_core_name(s->facts.midr);
	ty_mem_rewind(s);
	return 0;
}

static int perf_read(void *ctx, uint64_t off, void *dst, size_t n, struct ty_err *err)
{
	return ty_perf_read(ctx, off, dst, n, err);
}

int ty_mem_open(struct ty_perf *p, struct ty_mem_stream **out, struct ty_err *err)
{
	struct ty_mem_stream *s = calloc(1, sizeof(*s));
	int r;

	*out = NULL;
	if (!s)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", p->path);
	s->perf = p;
	s->read = perf_read;
	s->ctx = p;
	r = ty_mem_sideband_read(s, err);
	if (!r && !s->facts.spe && !s->facts.samples)
		r = ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			    "%s: has no memory samples (Arm SPE, or samples of `perf mem record`)",
			    p->path);
	if (!r)
		r = prepare(s, p->path, err);
	if (r) {
		ty_mem_close(s);
		return r;
	}
	*out = s;
	return 0;
}

int ty_mem_open_raw(const char *path, ty_mem_read_fn *read, void *ctx, uint64_t n, uint64_t midr,
		    struct ty_mem_stream **out, struct ty_err *err)
{
	struct ty_mem_stream *s = calloc(1, sizeof(*s));
	int r = 0;

	*out = NULL;
	if (!s || !(s->strs = ty_strtab_new()) ||
	    vec_push(&s->queues,
		     (struct ty_mem_queue){.cpu = -1, .tid = -1, .ring_tid = -1, .bytes = n}) ||
	    vec_push(&s->queues.v[0].pieces, (struct ty_mem_piece){.n = n}))
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	if (!r) {
		s->read = read;
		s->ctx = ctx;
		s->facts.midr = midr;
		s->facts.spe = true;
		s->facts.line_bytes = 64;
		r = prepare(s, path, err);
	}
	if (r) {
		ty_mem_close(s);
		return r;
	}
	*out = s;
	return 0;
}

void ty_mem_close(struct ty_mem_stream *s)
{
	if (!s)
		return;
	ty_mem_prefetch_stop(s);
	vec_each (q, &s->queues) {
		vec_fini(&q->pieces);
		vec_fini(&q->flags);
		free(q->buf);
	}
	vec_each (c, &s->cpus)
		vec_fini(&c->runs);
	vec_fini(&s->queues);
	vec_fini(&s->aux_flags);
	ty_pair_map_fini(&s->queue_of);
	vec_fini(&s->cpus);
	vec_fini(&s->names);
	vec_fini(&s->tids);
	vec_fini(&s->maps);
	vec_fini(&s->map_names);
	ty_mem_map_index_fini(&s->map_index);
	vec_fini(&s->lives);
	ty_sorted_runs_free(s->samples);
	vec_fini(&s->by_event);
	ty_strtab_free(s->strs);
	free(s->heap);
	free(s);
}

const struct ty_mem_facts *ty_mem_facts(const struct ty_mem_stream *s)
{
	return &s->facts;
}

uint64_t ty_mem_midr(const struct ty_mem_stream *s, uint32_t cpu)
{
	return cpu < s->cpus.n && s->cpus.v[cpu].midr ? s->cpus.v[cpu].midr : s->facts.midr;
}
