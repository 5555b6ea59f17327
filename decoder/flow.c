/* SPDX-License-Identifier: MIT */
/* See flow.h and flow_priv.h: what is in a recording. */

#include <stdlib.h>

#include "flow_priv.h"

#include "compare.h"
#include "partition.h"

enum { STREAMS_MAX = 65536, PADDING = 8 };
/* A compressed file may describe a thousand times more data than its size. */
enum { SWITCHES_MAX = 1 << 25, THREADS_MAX = 1 << 24 };

struct ty_flow *ty_flow_new(ty_code_load *load, void *ctx)
{
	struct ty_flow *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	ty_buf_init(&f->bytes, SIZE_MAX / 2);
	f->read_max = TY_FLOW_READ_MAX;
	f->code = ty_code_new(load, ctx);
	if (!f->code) {
		free(f);
		return NULL;
	}
	return f;
}

void ty_flow_free(struct ty_flow *f)
{
	if (!f)
		return;
	ty_flow_pull_stop(f);
	ty_flow_work_forget(f);
	ty_memos_free(f->memos);
	ty_blocks_free(f->blocks);
	ty_buf_fini(&f->bytes);
	ty_flow_ahead_fini(&f->ahead);
	vec_fini(&f->ranges);
	vec_fini(&f->missing);
	vec_each (s, &f->streams) {
		ty_buf_fini(&s->bytes);
		vec_fini(&s->pieces);
		vec_fini(&s->cuts);
	}
	vec_fini(&f->streams);
	ty_pair_map_fini(&f->stream_ids);
	vec_fini(&f->sws);
	vec_fini(&f->tids);
	vec_fini(&f->lost_cpu);
	vec_fini(&f->lost_tid);
	vec_fini(&f->comms);
	ty_strtab_free(f->comm_names);
	ty_code_free(f->code);
	free(f);
}

void ty_flow_set_memory(struct ty_flow *f, uint64_t bytes)
{
	f->memory = bytes;
}

uint64_t ty_flow_memory(const struct ty_flow *f)
{
	return f->memory;
}

struct ty_code *ty_flow_code(struct ty_flow *f)
{
	return f->code;
}

void ty_flow_set_cpu(struct ty_flow *f, const struct ty_pt_cpu *cpu)
{
	f->cpu = *cpu;
}

void ty_flow_set_time(struct ty_flow *f, uint64_t zero, uint32_t mult, uint16_t shift)
{
	f->zero = zero;
	f->mult = mult;
	f->shift = shift < 64 ? shift : 63;
	f->timed = mult != 0;
}

bool ty_flow_timed(const struct ty_flow *f)
{
	return f->timed;
}

void ty_flow_set_software(struct ty_flow *f)
{
	f->software = true;
}

bool ty_flow_software(const struct ty_flow *f)
{
	return f->software;
}

bool ty_flow_span(struct ty_flow *f, uint64_t *first_ns, uint64_t *last_ns)
{
	*first_ns = UINT64_MAX;
	*last_ns = 0;
	vec_each (r, &f->ranges) {
		/* Of all that was found at start: it is the same whatever was split. */
		uint64_t t = f->timed && r->at.timed && !r->inner ? ty_flow_ns(f, r->at.tsc) : 0;

		if (t && t < *first_ns)
			*first_ns = t;
		if (t > *last_ns)
			*last_ns = t;
	}
	return *last_ns != 0;
}

uint64_t ty_flow_bytes(const struct ty_flow *f)
{
	uint64_t n = 0;

	vec_each (s, &f->streams)
		n += s->size;
	return n;
}

static struct ty_flow_stream *stream_of(struct ty_flow *f, int32_t cpu, int32_t tid, uint32_t idx)
{
	struct ty_flow_stream *last = f->streams.n ? &f->streams.v[f->streams.n - 1] : NULL;
	struct ty_flow_stream fresh;

	/* Of many pieces mostly the same. */
	if (last && last->cpu == cpu && last->tid == tid && last->idx == idx)
		return last;
	fresh = (struct ty_flow_stream){.cpu = cpu, .tid = tid, .idx = idx};
	ty_buf_init(&fresh.bytes, SIZE_MAX / 2);
	return pair_element(&f->stream_ids, (uint64_t)(uint32_t)cpu << 32 | (uint32_t)tid, idx,
			    &f->streams, fresh);
}

static int add(struct ty_flow *f, int32_t cpu, int32_t tid, uint32_t idx,
	       struct ty_flow_piece piece, size_t n)
{
	struct ty_flow_stream *s = f->streams.n < STREAMS_MAX ? stream_of(f, cpu, tid, idx) : NULL;
	const struct ty_flow_piece *last;
	uint64_t end;

	if (!s)
		return f->streams.n < STREAMS_MAX ? -TY_ENOMEM : -TY_ELIMIT;
	if (!n)
		return 0;
	if (n > SIZE_MAX / 2 - s->size)
		return -TY_ELIMIT;
	last = s->pieces.n ? &s->pieces.v[s->pieces.n - 1] : NULL;
	end = last ? last->off + (s->size - last->at) : 0;
	/* perf fills its pieces up to whole words. */
	if (last && piece.off < end && end - piece.off < PADDING &&
	    end - piece.off < s->size - last->at)
		s->size -= end - piece.off;
	piece.at = s->size;
	s->size += n;
	return vec_push(&s->pieces, piece);
}

int ty_flow_add(struct ty_flow *f, int32_t cpu, int32_t tid, uint32_t idx, const void *p, size_t n,
		uint64_t off)
{
	return add(f, cpu, tid, idx, (struct ty_flow_piece){.off = off, .p = p}, n);
}

int ty_flow_add_place(struct ty_flow *f, int32_t cpu, int32_t tid, uint32_t idx, uint64_t place,
		      size_t n, uint64_t off)
{
	return add(f, cpu, tid, idx, (struct ty_flow_piece){.off = off, .place = place}, n);
}

void ty_flow_set_read(struct ty_flow *f, ty_flow_read *read, void *ctx)
{
	f->read = read;
	f->read_ctx = ctx;
}

int ty_flow_loss(struct ty_flow *f, int32_t cpu, int32_t tid, uint64_t off)
{
	if (f->lost_cpu.n >= UINT32_MAX)
		return -TY_ELIMIT;
	return vec_push(&f->lost_cpu, (struct ty_flow_lost){.off = off, .whose = cpu}) ||
			       vec_push(&f->lost_tid,
					(struct ty_flow_lost){.off = off, .whose = tid})
		       ? -TY_ENOMEM
		       : 0;
}

int ty_flow_switch(struct ty_flow *f, int32_t cpu, uint64_t t_ns, int32_t pid, int32_t tid)
{
	struct ty_flow_sw s = {
		.t_ns = t_ns, .cpu = cpu, .pid = pid, .tid = tid, .order = (uint32_t)f->sws.n};

	return f->sws.n >= SWITCHES_MAX ? -TY_ELIMIT : vec_push(&f->sws, s);
}

int ty_flow_thread(struct ty_flow *f, int32_t pid, int32_t tid)
{
	struct ty_flow_tid t = {.tid = tid, .pid = pid, .order = (uint32_t)f->tids.n};

	if (f->tids.n && f->tids.v[f->tids.n - 1].tid == tid && f->tids.v[f->tids.n - 1].pid == pid)
		return 0;
	return f->tids.n >= THREADS_MAX ? -TY_ELIMIT : vec_push(&f->tids, t);
}

ORDER(by_cpu_time, struct ty_flow_sw,
      compare(a->cpu, b->cpu) ?: compare(a->t_ns, b->t_ns) ?: compare(a->order, b->order))

ORDER(by_tid, struct ty_flow_tid, compare(a->tid, b->tid) ?: compare(a->order, b->order))

static int32_t pid_of(const struct ty_flow *f, int32_t tid)
{
	const size_t lo = partition_point(i, 0, f->tids.n, f->tids.v[i].tid < tid);

	return lo < f->tids.n && f->tids.v[lo].tid == tid ? f->tids.v[lo].pid : -1;
}

/* The first switch on this CPU or one behind it. */
static size_t sw_of(const struct ty_flow *f, int32_t cpu)
{
	return partition_point(i, 0, f->sws.n, f->sws.v[i].cpu < cpu);
}

int ty_flow_start(struct ty_flow *f, struct ty_err *err)
{
	struct ty_pt *probe;
	int r;

	if (!f->streams.n)
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "this file has no executed instructions. Record with --flow (Intel "
			       "PT) or --flow=step (any x86-64 machine, slow)");
	if (ty_code_ready(f->code))
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the mappings");
	ty_flow_comms_ready(f);
	vec_sort(&f->sws, by_cpu_time);
	vec_sort(&f->tids, by_tid);
	vec_each (s, &f->streams) {
		s->flow = f;
		s->head.stream = (uint32_t)(s - f->streams.v);
		s->first_pid = s->tid >= 0 ? pid_of(f, s->tid) : -1;
		/* A bare stream with the context switches of one CPU is that CPU's. */
		if (s->tid < 0 && s->cpu < 0 && f->sws.n &&
		    f->sws.v[0].cpu == f->sws.v[f->sws.n - 1].cpu)
			s->cpu = f->sws.v[0].cpu;
		if (s->tid < 0 && s->cpu >= 0) {
			s->sw = sw_of(f, s->cpu);
			s->sw_end = s->cpu < INT32_MAX ? sw_of(f, s->cpu + 1) : f->sws.n;
		}
	}
	r = ty_flow_find_ranges(f);
	if (r)
		return ty_fail(err, -r, TY_NO_OFFSET, "trace packets of executed instructions: %s",
			       ty_strerror(r));
	f->window = (struct ty_flow_window){.to_ns = UINT64_MAX};
	/* Without libipt: report that it is missing. */
	r = ty_pt_new(&f->cpu, (const uint8_t *)"", 0, NULL, NULL, &probe, err);
	if (!r)
		ty_pt_free(probe);
	return r;
}

int ty_flow_seek(struct ty_flow *f, const struct ty_flow_window *w, bool branches,
		 struct ty_err *err)
{
	ty_flow_pull_stop(f);
	f->window = *w;
	f->branches = branches;
	f->counts = false;
	return ty_flow_pull_start(f, err);
}

int ty_flow_seek_runs(struct ty_flow *f, const struct ty_flow_window *w,
		      const struct ty_flow_count *c, struct ty_err *err)
{
	ty_flow_pull_stop(f);
	/* What is kept are branches. */
	ty_flow_work_forget(f);
	f->window = *w;
	f->branches = false;
	f->counts = true;
	f->count = *c;
	return ty_flow_pull_start(f, err);
}

void ty_flow_stop(struct ty_flow *f)
{
	ty_flow_pull_stop(f);
}
