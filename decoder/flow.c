/* SPDX-License-Identifier: MIT */
/* See flow.h. A merge of pulled streams: each holds one item ahead. */
#include "flow.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "vec.h"

#define STREAM_MAX (4ull << 30)
enum { STREAMS_MAX = 65536, PADDING = 8 };

struct sw {
	uint64_t t_ns;
	int32_t cpu, pid, tid;
	uint32_t order;
};

struct tid_pid {
	int32_t tid, pid;
	uint32_t order;
};

struct stream {
	struct ty_flow *flow;
	int32_t cpu, tid;
	uint32_t idx;
	struct ty_buf bytes;
	uint64_t base;	  /* place of the first byte in the AUX stream */
	VEC(size_t) cuts; /* offsets in bytes; what was there is lost */
	size_t cut;	  /* of the segment that is decoded: its number */
	bool lost;	  /* the item before was a gap */
	struct ty_pt *pt;
	struct ty_code_at code_at;
	size_t sw, sw_end; /* next switch of this CPU */
	int32_t now_pid, now_tid;
	struct ty_flow_at head;
	bool has;
};

struct loss {
	uint64_t off;
	int32_t cpu, tid;
};

struct ty_flow {
	struct ty_code *code;
	struct ty_pt_cpu cpu;
	bool timed, software;
	uint64_t zero;
	uint32_t mult;
	uint16_t shift;
	VEC(struct stream) streams;
	VEC(struct sw) sws;
	VEC(struct tid_pid) tids;
	VEC(struct loss) losses;
};

struct ty_flow *ty_flow_new(ty_code_load *load, void *ctx)
{
	struct ty_flow *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
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
	vec_each (s, &f->streams) {
		ty_pt_free(s->pt);
		ty_buf_fini(&s->bytes);
		vec_fini(&s->cuts);
	}
	vec_fini(&f->streams);
	vec_fini(&f->sws);
	vec_fini(&f->tids);
	vec_fini(&f->losses);
	ty_code_free(f->code);
	free(f);
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

void ty_flow_set_software(struct ty_flow *f)
{
	f->software = true;
}

bool ty_flow_software(const struct ty_flow *f)
{
	return f->software;
}

uint32_t ty_flow_streams(const struct ty_flow *f)
{
	return (uint32_t)f->streams.n;
}

uint64_t ty_flow_bytes(const struct ty_flow *f)
{
	uint64_t n = 0;

	vec_each (s, &f->streams)
		n += s->bytes.len;
	return n;
}

static uint64_t to_ns(const struct ty_flow *f, uint64_t tsc)
{
	uint64_t quot = tsc >> f->shift, rem = tsc & ((1ull << f->shift) - 1);

	return f->zero + quot * f->mult + ((rem * f->mult) >> f->shift);
}

static struct stream *stream_of(struct ty_flow *f, int32_t cpu, int32_t tid, uint32_t idx)
{
	struct stream fresh = {.cpu = cpu, .tid = tid, .idx = idx};

	/* The newest first: pieces of one stream come close together. */
	for (size_t i = f->streams.n; i-- > 0;)
		if (f->streams.v[i].cpu == cpu && f->streams.v[i].tid == tid &&
		    f->streams.v[i].idx == idx)
			return &f->streams.v[i];
	ty_buf_init(&fresh.bytes, STREAM_MAX);
	return vec_push(&f->streams, fresh) ? NULL : &f->streams.v[f->streams.n - 1];
}

int ty_flow_add(struct ty_flow *f, int32_t cpu, int32_t tid, uint32_t idx, const void *p, size_t n,
		uint64_t off)
{
	struct stream *s = f->streams.n < STREAMS_MAX ? stream_of(f, cpu, tid, idx) : NULL;
	uint64_t end;

	if (!s)
		return f->streams.n < STREAMS_MAX ? -TY_ENOMEM : -TY_ELIMIT;
	if (!s->bytes.len)
		s->base = off;
	end = s->base + s->bytes.len;
	if (off < end && end - off < PADDING && end - off <= s->bytes.len)
		s->bytes.len -= end - off; /* perf fills its pieces up to whole words */
	else if (off != end) {
		if (vec_push(&s->cuts, s->bytes.len))
			return -TY_ENOMEM;
		s->base = off - s->bytes.len;
	}
	return ty_buf_add(&s->bytes, p, n);
}

int ty_flow_loss(struct ty_flow *f, int32_t cpu, int32_t tid, uint64_t off)
{
	return f->losses.n >= UINT32_MAX
		       ? -TY_ELIMIT
		       : vec_push(&f->losses, (struct loss){.off = off, .cpu = cpu, .tid = tid});
}

int ty_flow_switch(struct ty_flow *f, int32_t cpu, uint64_t t_ns, int32_t pid, int32_t tid)
{
	struct sw s = {
		.t_ns = t_ns, .cpu = cpu, .pid = pid, .tid = tid, .order = (uint32_t)f->sws.n};

	return f->sws.n >= UINT32_MAX ? -TY_ELIMIT : vec_push(&f->sws, s);
}

int ty_flow_thread(struct ty_flow *f, int32_t pid, int32_t tid)
{
	struct tid_pid t = {.tid = tid, .pid = pid, .order = (uint32_t)f->tids.n};

	if (f->tids.n && f->tids.v[f->tids.n - 1].tid == tid && f->tids.v[f->tids.n - 1].pid == pid)
		return 0;
	return f->tids.n >= UINT32_MAX ? -TY_ELIMIT : vec_push(&f->tids, t);
}

static int by_cpu_time(const void *a, const void *b)
{
	const struct sw *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_tid(const void *a, const void *b)
{
	const struct tid_pid *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int32_t pid_of(const struct ty_flow *f, int32_t tid)
{
	size_t lo = 0, hi = f->tids.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (f->tids.v[mid].tid < tid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->tids.n && f->tids.v[lo].tid == tid ? f->tids.v[lo].pid : -1;
}

static void thread_at(struct stream *s, uint64_t ts_ns)
{
	while (s->sw < s->sw_end && s->flow->sws.v[s->sw].t_ns <= ts_ns) {
		s->now_pid = s->flow->sws.v[s->sw].pid;
		s->now_tid = s->flow->sws.v[s->sw].tid;
		s->sw++;
	}
}

static size_t read_code(void *ctx, uint64_t tsc, uint64_t ip, void *buf, size_t n)
{
	struct stream *s = ctx;
	struct ty_flow *f = s->flow;
	uint64_t t = f->timed && tsc ? to_ns(f, tsc) : UINT64_MAX - 1;

	return ty_code_read(f->code, s->now_pid, t, ip, buf, n, &s->code_at);
}

/* Segment number s->cut of the stream: from the loss before it to the next. */
static int begin_segment(struct stream *s, struct ty_err *err)
{
	size_t from = s->cut ? s->cuts.v[s->cut - 1] : 0;
	size_t to = s->cut < s->cuts.n ? s->cuts.v[s->cut] : s->bytes.len;

	ty_pt_free(s->pt);
	s->pt = NULL;
	return ty_pt_new(&s->flow->cpu, (const uint8_t *)s->bytes.p + from, to - from, read_code, s,
			 &s->pt, err);
}

/* The stream's next item; at a loss a gap, then what is behind it. False at the end. */
static bool next_item(struct stream *s, struct ty_flow_item *it)
{
	uint64_t tsc = it->tsc;
	uint8_t no_time = it->flags & TY_FF_NO_TIME;

	for (;;) {
		if (s->pt && ty_pt_next(s->pt, it) > 0) {
			if (it->kind == TY_FLOW_GAP && s->cut)
				it->off += s->cuts.v[s->cut - 1];
			return true;
		}
		if (s->cut >= s->cuts.n)
			return false;
		*it = (struct ty_flow_item){.kind = TY_FLOW_GAP,
					    .text = "trace data was lost here (AUX buffer full or "
						    "not read in time)",
					    .off = s->cuts.v[s->cut],
					    .tsc = tsc,
					    .flags = no_time};
		s->cut++;
		if (begin_segment(s, NULL))
			s->cut = s->cuts.n;
		return true;
	}
}

/*
 * Threads change in the kernel: where that is not traced, only while tracing is off. The time of an
 * item in user mode may be that of what follows it (libipt reads ahead) and changes nothing.
 */
static bool may_switch(struct stream *s, const struct ty_flow_item *it)
{
	bool lost = s->lost;

	s->lost = it->kind == TY_FLOW_GAP || it->kind == TY_FLOW_OVERFLOW;
	return lost || it->kind == TY_FLOW_START ||
	       (it->kind == TY_FLOW_INSN && it->ip >> 63 && it->flags & TY_FF_EXACT);
}

/* Pull the stream's next item into its head. */
static void pull(struct stream *s)
{
	struct ty_flow *f = s->flow;
	struct ty_flow_at *h = &s->head;

	s->has = next_item(s, &h->item);
	if (!s->has)
		return;
	if (f->timed && !(h->item.flags & TY_FF_NO_TIME)) {
		h->ts_ns = to_ns(f, h->item.tsc);
		if (may_switch(s, &h->item))
			thread_at(s, h->ts_ns);
	} else {
		h->ts_ns = TY_FLOW_NO_TIME;
	}
	h->pid = s->now_pid;
	h->tid = s->now_tid;
	h->cpu = s->cpu;
}

static int by_size(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The places of what was lost, from AUX records and from jumps, in order and once each. */
static int place_losses(struct ty_flow *f, struct stream *s)
{
	size_t n = 0;

	vec_each (l, &f->losses) {
		bool mine = s->tid < 0 ? s->cpu == l->cpu : s->tid == l->tid;

		if (mine && l->off > s->base && l->off - s->base < s->bytes.len &&
		    vec_push(&s->cuts, (size_t)(l->off - s->base)))
			return -TY_ENOMEM;
	}
	if (s->cuts.n)
		qsort(s->cuts.v, s->cuts.n, sizeof(*s->cuts.v), by_size);
	for (size_t i = 0; i < s->cuts.n; i++)
		if (!n || s->cuts.v[n - 1] != s->cuts.v[i])
			s->cuts.v[n++] = s->cuts.v[i];
	s->cuts.n = n;
	return 0;
}

int ty_flow_start(struct ty_flow *f, struct ty_err *err)
{
	if (!f->streams.n)
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "there are no executed instructions in this file: record with "
			       "--flow (Intel PT) or --flow=step (any x86-64 machine, slow)");
	ty_code_ready(f->code);
	if (f->sws.n)
		qsort(f->sws.v, f->sws.n, sizeof(*f->sws.v), by_cpu_time);
	if (f->tids.n)
		qsort(f->tids.v, f->tids.n, sizeof(*f->tids.v), by_tid);
	vec_each (s, &f->streams) {
		int r;

		s->flow = f;
		s->now_tid = s->tid;
		s->now_pid = s->tid >= 0 ? pid_of(f, s->tid) : -1;
		/* A bare stream with the context switches of one CPU is that CPU's. */
		if (s->tid < 0 && s->cpu < 0 && f->sws.n &&
		    f->sws.v[0].cpu == f->sws.v[f->sws.n - 1].cpu)
			s->cpu = f->sws.v[0].cpu;
		if (s->tid < 0 && s->cpu >= 0) {
			while (s->sw < f->sws.n && f->sws.v[s->sw].cpu < s->cpu)
				s->sw++;
			s->sw_end = s->sw;
			while (s->sw_end < f->sws.n && f->sws.v[s->sw_end].cpu == s->cpu)
				s->sw_end++;
		}
		if (place_losses(f, s))
			return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
		r = begin_segment(s, err);
		if (r)
			return r;
		s->head.item.flags = TY_FF_NO_TIME;
		s->lost = true;
		s->head.stream = (uint32_t)(s - f->streams.v);
	}
	vec_each (s, &f->streams)
		pull(s);
	return 0;
}

int ty_flow_next(struct ty_flow *f, struct ty_flow_at *out)
{
	struct stream *best = NULL;

	/* What has no time comes first: it lies before its stream's first time stamp. */
	vec_each (s, &f->streams) {
		if (!s->has)
			continue;
		if (s->head.ts_ns == TY_FLOW_NO_TIME) {
			best = s;
			break;
		}
		if (!best || s->head.ts_ns < best->head.ts_ns)
			best = s;
	}
	if (!best)
		return 0;
	*out = best->head;
	pull(best);
	return 1;
}
