/* SPDX-License-Identifier: MIT */
/*
 * See batch_prefetch.h. One mutex guards all state; it is held for a few instructions per chunk. A
 * stream's queue holds its batches in chunk order, in progress or ready. The next chunk to prepare
 * is the one that begins first: its time is in the file's directory, or estimated from the previous
 * one.
 */
#include "batch_prefetch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define WORKERS_MAX 64
/* Per worker: one in the making, one ready, and some for uneven chunks. */
#define AHEAD_PER_WORKER 4

struct queue {
	struct ty_batch *head, *tail;
	uint32_t claim, chunks;	   /* next chunk to be made */
	uint64_t begin_ns, len_ns; /* estimated begin of that chunk, length of the last one known */
};

struct ty_batch_prefetch {
	struct ty_batch_source src;
	struct queue *queue;
	uint32_t n;
	struct ty_chunk_scratch scratch; /* the consumer's */
	pthread_mutex_t lock;
	pthread_cond_t work, ready;
	struct ty_batch *spare;
	pthread_t thread[WORKERS_MAX];
	unsigned want, workers, busy;
	uint64_t limit_bytes, bytes; /* of batches in queues */
	unsigned queued;
	bool going, quit;
};

struct ty_batch_prefetch *ty_batch_prefetch_new(const struct ty_batch_source *source)
{
	struct ty_batch_prefetch *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->src = *source;
	a->n = (uint32_t)source->trace->streams.n;
	a->queue = calloc(a->n + 1, sizeof(*a->queue));
	if (!a->queue) {
		free(a);
		return NULL;
	}
	for (uint32_t i = 0; i < a->n; i++)
		a->queue[i].chunks = source->trace->streams.v[i].chunks;
	ty_chunk_scratch_init(&a->scratch);
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->work, NULL);
	pthread_cond_init(&a->ready, NULL);
	return a;
}

void ty_batch_prefetch_free(struct ty_batch_prefetch *a)
{
	if (!a)
		return;
	ty_batch_prefetch_rest(a);
	pthread_cond_destroy(&a->ready);
	pthread_cond_destroy(&a->work);
	pthread_mutex_destroy(&a->lock);
	ty_chunk_scratch_fini(&a->scratch);
	free(a->queue);
	free(a);
}

void ty_batch_prefetch_workers(struct ty_batch_prefetch *a, unsigned workers, uint64_t memory_bytes)
{
	a->want = workers < WORKERS_MAX ? workers : WORKERS_MAX;
	a->limit_bytes = memory_bytes;
}

/* making (with the lock held, but for make) ---------------------------------------------------- */

static struct ty_batch *spare_or_new(struct ty_batch_prefetch *a)
{
	struct ty_batch *b = a->spare;

	if (!b)
		return ty_batch_new();
	a->spare = b->next;
	return b;
}

static uint64_t begin_of(const struct ty_batch_prefetch *a, uint32_t stream)
{
	const struct queue *q = &a->queue[stream];
	uint64_t t = ty_trace_chunk(a->src.trace, stream, q->claim).first_ns;

	return t ? t : q->begin_ns;
}

/* What a chunk's batch holds, roughly: bytes and as many in items. */
static uint64_t cost(const struct ty_batch_prefetch *a, uint32_t stream, uint32_t chunk)
{
	return 2ull * ty_trace_chunk(a->src.trace, stream, chunk).raw_bytes;
}

/* Put the stream's next chunk into its queue, to be made by the caller. NULL: out of memory. */
static struct ty_batch *claim(struct ty_batch_prefetch *a, uint32_t stream)
{
	struct ty_batch *b = spare_or_new(a);
	struct queue *q = &a->queue[stream];

	if (!b)
		return NULL;
	b->next = NULL;
	b->ready = false;
	b->stream = stream;
	b->chunk = q->claim++;
	q->begin_ns += q->len_ns;
	if (q->tail)
		q->tail->next = b;
	else
		q->head = b;
	q->tail = b;
	a->queued++;
	a->bytes += cost(a, stream, b->chunk);
	return b;
}

/* The chunk that is worth making next; NULL: none within the limits. */
static struct ty_batch *claim_ahead(struct ty_batch_prefetch *a)
{
	uint64_t first = UINT64_MAX;
	uint32_t stream = UINT32_MAX;

	if (!a->going || a->queued >= AHEAD_PER_WORKER * (a->workers + 1))
		return NULL;
	for (uint32_t i = 0; i < a->n; i++) {
		uint64_t t;

		if (a->queue[i].claim >= a->queue[i].chunks)
			continue;
		t = begin_of(a, i);
		if (t < first || stream == UINT32_MAX) {
			first = t;
			stream = i;
		}
	}
	if (stream == UINT32_MAX ||
	    a->bytes + cost(a, stream, a->queue[stream].claim) > a->limit_bytes)
		return NULL;
	return claim(a, stream);
}

/* Without the lock. */
static void make(struct ty_batch_prefetch *a, struct ty_batch *b, struct ty_chunk_scratch *scratch)
{
	ty_batch_read(b, &a->src, b->stream, b->chunk, scratch);
	if (b->loaded)
		ty_batch_more(b, &a->src);
}

static void made(struct ty_batch_prefetch *a, struct ty_batch *b)
{
	struct queue *q = &a->queue[b->stream];
	uint64_t first = 0, last = 0;

	b->ready = true;
	for (uint32_t i = 0; i < b->n && !first; i++)
		first = b->item[i].ts_ns;
	for (uint32_t i = b->n; i > 0 && !last; i--)
		last = b->item[i - 1].ts_ns;
	if (last > first)
		q->len_ns = last - first;
	if (b == q->tail && last)
		q->begin_ns = last;
}

static void *worker(void *arg)
{
	struct ty_batch_prefetch *a = arg;
	struct ty_chunk_scratch scratch;

	ty_chunk_scratch_init(&scratch);
	pthread_mutex_lock(&a->lock);
	while (!a->quit) {
		struct ty_batch *b = claim_ahead(a);

		if (!b) {
			pthread_cond_wait(&a->work, &a->lock);
			continue;
		}
		a->busy++;
		pthread_mutex_unlock(&a->lock);
		make(a, b, &scratch);
		pthread_mutex_lock(&a->lock);
		made(a, b);
		a->busy--;
		pthread_cond_signal(&a->ready);
	}
	pthread_mutex_unlock(&a->lock);
	ty_chunk_scratch_fini(&scratch);
	return NULL;
}

/* As many as there can be: fewer threads are no failure. They take no signals. */
static void start_workers(struct ty_batch_prefetch *a)
{
	sigset_t all, was;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	while (a->workers < a->want && !pthread_create(&a->thread[a->workers], NULL, worker, a))
		a->workers++;
	pthread_sigmask(SIG_SETMASK, &was, NULL);
}

/* the interface ------------------------------------------------------------------------------- */

void ty_batch_prefetch_stop(struct ty_batch_prefetch *a)
{
	pthread_mutex_lock(&a->lock);
	a->going = false;
	while (a->busy)
		pthread_cond_wait(&a->ready, &a->lock);
	for (uint32_t i = 0; i < a->n; i++) {
		struct queue *q = &a->queue[i];

		while (q->head) {
			struct ty_batch *b = q->head;

			q->head = b->next;
			b->next = a->spare;
			a->spare = b;
		}
		q->tail = NULL;
		q->begin_ns = q->len_ns = 0;
	}
	a->queued = 0;
	a->bytes = 0;
	pthread_mutex_unlock(&a->lock);
}

void ty_batch_prefetch_from(struct ty_batch_prefetch *a, uint32_t stream, uint32_t chunk)
{
	a->queue[stream].claim = chunk;
}

void ty_batch_prefetch_go(struct ty_batch_prefetch *a)
{
	pthread_mutex_lock(&a->lock);
	a->going = a->want > 0;
	if (a->going)
		start_workers(a);
	pthread_cond_broadcast(&a->work);
	pthread_mutex_unlock(&a->lock);
}

struct ty_batch *ty_batch_prefetch_take(struct ty_batch_prefetch *a, uint32_t stream)
{
	struct queue *q = &a->queue[stream];
	struct ty_batch *b;

	pthread_mutex_lock(&a->lock);
	if (!q->head) {
		b = claim(a, stream);
		if (!b)
			goto out;
		pthread_mutex_unlock(&a->lock);
		make(a, b, &a->scratch);
		pthread_mutex_lock(&a->lock);
		made(a, b);
	}
	b = q->head;
	while (!b->ready) {
		struct ty_batch *other = claim_ahead(a);

		if (!other) {
			pthread_cond_wait(&a->ready, &a->lock);
			continue;
		}
		pthread_mutex_unlock(&a->lock);
		make(a, other, &a->scratch);
		pthread_mutex_lock(&a->lock);
		made(a, other);
	}
	q->head = b->next;
	if (!q->head)
		q->tail = NULL;
	a->queued--;
	a->bytes -= cost(a, stream, b->chunk);
	if (a->going)
		pthread_cond_signal(&a->work);
out:
	pthread_mutex_unlock(&a->lock);
	return b;
}

void ty_batch_prefetch_give(struct ty_batch_prefetch *a, struct ty_batch *b)
{
	if (!b)
		return;
	pthread_mutex_lock(&a->lock);
	b->next = a->spare;
	a->spare = b;
	pthread_mutex_unlock(&a->lock);
}

void ty_batch_prefetch_rest(struct ty_batch_prefetch *a)
{
	ty_batch_prefetch_stop(a);
	pthread_mutex_lock(&a->lock);
	a->quit = true;
	pthread_cond_broadcast(&a->work);
	pthread_mutex_unlock(&a->lock);
	while (a->workers)
		pthread_join(a->thread[--a->workers], NULL);
	a->quit = false;
	while (a->spare) {
		struct ty_batch *b = a->spare;

		a->spare = b->next;
		ty_batch_free(b);
	}
}
