/* SPDX-License-Identifier: MIT */
/*
 * See perf_queue.h. Rounds can be a few records long: their ends are only noted, and records are
 * flushed once WORTH_BYTES have accumulated.
 */
#include "perf_queue.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "checked_read.h"

#define WORTH_BYTES (4u << 20)
#define HOLD_BYTES  (256u << 20)

struct entry {
	uint64_t ts;
	uint32_t at, n; /* of bytes; LOST: a count of 8 bytes */
};
#define LOST (1u << 31) /* in n */

struct cpu {
	VEC(struct entry) entries;
	struct ty_buf bytes, spare;
	bool unsorted;
	uint64_t given; /* time of the last record flushed */
	bool any;	/* a record was flushed */
	struct ty_page_writer out;
};

struct ty_perf_queue {
	struct ty_page_sink *sink;
	struct cpu *cpu;
	uint32_t cpus;
	uint64_t newest, round_newest; /* newest time; the same before the last round */
	uint64_t limit;		       /* no older record can follow */
	uint64_t held;		       /* bytes */
	uint64_t late;
};

struct ty_perf_queue *ty_perf_queue_new(struct ty_page_sink *k)
{
	struct ty_perf_queue *q = calloc(1, sizeof(*q));

	if (q)
		q->sink = k;
	return q;
}

void ty_perf_queue_free(struct ty_perf_queue *q)
{
	if (!q)
		return;
	for (uint32_t i = 0; i < q->cpus; i++) {
		vec_fini(&q->cpu[i].entries);
		ty_buf_fini(&q->cpu[i].bytes);
		ty_buf_fini(&q->cpu[i].spare);
		vec_fini(&q->cpu[i].out.data.chunks);
		ty_page_writer_fini(&q->cpu[i].out);
	}
	free(q->cpu);
	free(q);
}

static int no_memory(const struct ty_perf_queue *q, struct ty_err *err)
{
	return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", q->sink->t->path);
}

/* Equal times keep the order of the file. */
ORDER(by_time, struct entry, compare(a->ts, b->ts) ?: compare(a->at, b->at))

static void sort(struct cpu *c)
{
	if (c->unsorted)
		vec_sort(&c->entries, by_time);
	c->unsorted = false;
}

static int give(struct ty_perf_queue *q, struct cpu *c, const struct entry *e, struct ty_err *err)
{
	const uint8_t *p = (const uint8_t *)c->bytes.p + e->at;

	if (e->n & LOST) {
		uint64_t n = ty_load(p, 8, false);

		c->out.missed = c->out.missed + n < n ? UINT64_MAX : c->out.missed + n;
		return 0;
	}
	if (c->any && e->ts < c->given) {
		c->out.missed++;
		q->late++;
		return 0;
	}
	c->given = e->ts;
	c->any = true;
	return ty_page_writer_add(&c->out, q->sink, e->ts, p, e->n, err);
}

/* Flushes records that are not later than limit. */
static int give_until(struct ty_perf_queue *q, struct cpu *c, uint64_t limit, struct ty_err *err)
{
	size_t i = 0, left = 0;
	struct ty_buf was;
	int r = 0;

	sort(c);
	for (; i < c->entries.n && c->entries.v[i].ts <= limit; i++) {
		r = give(q, c, &c->entries.v[i], err);
		if (r)
			return r;
	}
	if (!i)
		return 0;
	q->held -= c->bytes.len + c->entries.n * sizeof(struct entry);
	ty_buf_reset(&c->spare);
	for (; i < c->entries.n; i++) {
		struct entry e = c->entries.v[i];
		size_t at = c->spare.len;

		if (ty_buf_add(&c->spare, c->bytes.p + e.at, e.n & ~LOST))
			return no_memory(q, err);
		e.at = (uint32_t)at;
		c->entries.v[left++] = e;
	}
	c->entries.n = left;
	was = c->bytes;
	c->bytes = c->spare;
	c->spare = was;
	q->held += c->bytes.len + left * sizeof(struct entry);
	return 0;
}

static int give_all(struct ty_perf_queue *q, uint64_t limit, struct ty_err *err)
{
	int r = 0;

	for (uint32_t i = 0; i < q->cpus && !r; i++)
		if (q->cpu[i].entries.n)
			r = give_until(q, &q->cpu[i], limit, err);
	return r;
}

/* Flushes the older half of the time span held. */
static uint64_t half(struct ty_perf_queue *q)
{
	uint64_t oldest = UINT64_MAX;

	for (uint32_t i = 0; i < q->cpus; i++) {
		struct cpu *c = &q->cpu[i];

		if (!c->entries.n)
			continue;
		sort(c);
		if (c->entries.v[0].ts < oldest)
			oldest = c->entries.v[0].ts;
	}
	return oldest + (q->newest - oldest) / 2;
}

/* Time of the median byte that a CPU holds. */
static uint64_t middle(struct cpu *c)
{
	size_t half = (c->bytes.len + c->entries.n * sizeof(struct entry)) / 2, sum = 0, i = 0;

	sort(c);
	for (; i + 1 < c->entries.n && sum < half; i++)
		sum += (c->entries.v[i].n & ~LOST) + sizeof(struct entry);
	return c->entries.v[i].ts;
}

/* Half of the time span may hold few bytes. In that case flushes half of each CPU's bytes, so that
 * the cost of sorting and moving is spread over many records for any distribution of times. */
static int give_half(struct ty_perf_queue *q, struct ty_err *err)
{
	int r = give_all(q, half(q), err);

	if (r || q->held <= HOLD_BYTES / 4 * 3)
		return r;
	for (uint32_t i = 0; i < q->cpus && !r; i++)
		if (q->cpu[i].entries.n)
			r = give_until(q, &q->cpu[i], middle(&q->cpu[i]), err);
	return r;
}

static int make_room(struct ty_perf_queue *q, struct ty_err *err)
{
	int r = 0;

	if (q->held >= WORTH_BYTES && q->limit) {
		r = give_all(q, q->limit, err);
		q->limit = 0;
	}
	while (!r && q->held >= HOLD_BYTES)
		r = give_half(q, err);
	return r;
}

static int grow(struct ty_perf_queue *q, uint32_t cpu, struct ty_err *err)
{
	uint32_t n = cpu + 1;
	struct cpu *c = realloc(q->cpu, n * sizeof(*c));

	if (!c)
		return no_memory(q, err);
	memset(c + q->cpus, 0, (n - q->cpus) * sizeof(*c));
	for (uint32_t i = q->cpus; i < n; i++) {
		ty_buf_init(&c[i].bytes, 2 * HOLD_BYTES);
		ty_buf_init(&c[i].spare, 2 * HOLD_BYTES);
	}
	q->cpu = c;
	q->cpus = n;
	return 0;
}

static int add(struct ty_perf_queue *q, uint32_t cpu, uint64_t ts, const void *p, uint32_t n,
	       uint32_t flag, struct ty_err *err)
{
	struct cpu *c;
	struct entry e = {.ts = ts, .n = n | flag};

	if (cpu >= q->cpus && grow(q, cpu, err))
		return -TY_ENOMEM;
	c = &q->cpu[cpu];
	e.at = (uint32_t)c->bytes.len;
	if (c->entries.n && ts < c->entries.v[c->entries.n - 1].ts)
		c->unsorted = true;
	if (ty_buf_add(&c->bytes, p, n) || vec_push(&c->entries, e))
		return no_memory(q, err);
	q->held += n + sizeof(e);
	if (ts > q->newest)
		q->newest = ts;
	return q->held >= HOLD_BYTES ? make_room(q, err) : 0;
}

int ty_perf_queue_add(struct ty_perf_queue *q, uint32_t cpu, uint64_t ts, const void *p, uint32_t n,
		      struct ty_err *err)
{
	return add(q, cpu, ts, p, n, 0, err);
}

int ty_perf_queue_lost(struct ty_perf_queue *q, uint32_t cpu, uint64_t ts, uint64_t count,
		       struct ty_err *err)
{
	uint8_t le[8];

	for (unsigned i = 0; i < 8; i++)
		le[i] = (uint8_t)(count >> 8 * i);
	return add(q, cpu, ts, le, 8, LOST, err);
}

int ty_perf_queue_round(struct ty_perf_queue *q, struct ty_err *err)
{
	q->limit = q->round_newest;
	q->round_newest = q->newest;
	return q->held >= WORTH_BYTES ? make_room(q, err) : 0;
}

int ty_perf_queue_finish(struct ty_perf_queue *q, uint64_t *late, struct ty_err *err)
{
	int r = give_all(q, UINT64_MAX, err);

	for (uint32_t i = 0; i < q->cpus && !r; i++) {
		struct ty_page_writer *o = &q->cpu[i].out;

		if (!o->raw && !o->missed)
			continue;
		r = ty_page_writer_finish(o, q->sink, i, err);
		o->data = (struct ty_stream_data){0}; /* owned by the trace now */
	}
	*late = q->late;
	return r;
}
