/* SPDX-License-Identifier: MIT */
/*
 * Batches of decoded items (mem_prefetch.h). A queue's decoder is used by one thread at a time:
 * each queue has at most one batch to fill, and the thread that takes it owns the decoder until it
 * is full. The merging thread takes it itself rather than wait for a thread that has not started
 * it. Budget: a lock and a wakeup per batch.
 */
#include "mem_prefetch.h"

#include <pthread.h>
#include <stdlib.h>

#define ITEMS_ALL 8192u /* of all batches together, a third of a kilobyte each */
#define ITEMS_MIN 16u
#define ITEMS_MAX 1024u
#define THREADS	  16u

struct ty_mem_prefetch {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	pthread_t thread[THREADS];
	unsigned threads;
	bool end;
	uint32_t *fifo; /* queues with a batch to fill, each once at most */
	uint32_t first, n;
	uint32_t items; /* of a batch */
};

static void fill_batch(struct ty_mem_stream *s, struct ty_mem_queue *q, struct ty_mem_batch *b,
		       uint32_t items)
{
	b->more = 1;
	for (b->n = 0; b->n < items && b->more > 0; b->n += b->more > 0)
		b->more = ty_mem_queue_next(s, q, &b->item[b->n], &b->err);
}

/* Under the lock: the queue's other batch is to be filled. */
static void submit(struct ty_mem_stream *s, struct ty_mem_queue *q)
{
	struct ty_mem_prefetch *a = s->ahead;

	q->fill = TY_MEM_FILL_WAITS;
	if (q->listed || !a->threads)
		return;
	q->listed = true;
	a->fifo[(a->first + a->n++) % s->queues.n] = (uint32_t)(q - s->queues.v);
	pthread_cond_signal(&a->work);
}

static void *worker(void *ctx)
{
	struct ty_mem_stream *s = ctx;
	struct ty_mem_prefetch *a = s->ahead;

	pthread_mutex_lock(&a->lock);
	while (!a->end) {
		struct ty_mem_queue *q;

		if (!a->n) {
			pthread_cond_wait(&a->work, &a->lock);
			continue;
		}
		q = &s->queues.v[a->fifo[a->first]];
		a->first = (a->first + 1) % (uint32_t)s->queues.n;
		a->n--;
		q->listed = false;
		if (q->fill != TY_MEM_FILL_WAITS)
			continue;
		q->fill = TY_MEM_FILL_GOES;
		pthread_mutex_unlock(&a->lock);
		fill_batch(s, q, &q->batch[!q->current], a->items);
		pthread_mutex_lock(&a->lock);
		q->fill = TY_MEM_FILL_DONE;
		pthread_cond_signal(&a->done);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* The other batch is full, and becomes the current one. */
static void turn(struct ty_mem_stream *s, struct ty_mem_queue *q)
{
	struct ty_mem_prefetch *a = s->ahead;

	pthread_mutex_lock(&a->lock);
	if (q->fill == TY_MEM_FILL_WAITS) {
		q->fill = TY_MEM_FILL_GOES;
		pthread_mutex_unlock(&a->lock);
		fill_batch(s, q, &q->batch[!q->current], a->items);
		pthread_mutex_lock(&a->lock);
		q->fill = TY_MEM_FILL_DONE;
	}
	while (q->fill != TY_MEM_FILL_DONE)
		pthread_cond_wait(&a->done, &a->lock);
	q->current = !q->current;
	q->at = 0;
	if (q->batch[q->current].more > 0)
		submit(s, q);
	pthread_mutex_unlock(&a->lock);
}

int ty_mem_prefetch_turn(struct ty_mem_stream *s, struct ty_mem_queue *q, struct ty_err *err)
{
	const struct ty_mem_batch *b = &q->batch[q->current];

	if (b->more > 0) {
		turn(s, q);
		b = &q->batch[q->current];
	}
	if (b->n > q->at) {
		q->item = &b->item[q->at++];
		return 1;
	}
	if (b->more < 0 && err)
		*err = b->err;
	return b->more;
}

int ty_mem_prefetch_start(struct ty_mem_stream *s, unsigned threads)
{
	uint32_t n = (uint32_t)s->queues.n, items = n ? ITEMS_ALL / 2 / n : 0;
	struct ty_mem_prefetch *a = calloc(1, sizeof(*a));

	if (!a)
		return -TY_ENOMEM;
	ty_mem_prefetch_stop(s);
	s->ahead = a;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->work, NULL);
	pthread_cond_init(&a->done, NULL);
	a->items = items < ITEMS_MIN ? ITEMS_MIN : items > ITEMS_MAX ? ITEMS_MAX : items;
	a->fifo = malloc((n + 1) * sizeof(*a->fifo));
	if (!a->fifo)
		return -TY_ENOMEM;
	vec_each (q, &s->queues) {
		q->current = q->at = 0;
		q->listed = false;
		for (unsigned i = 0; i < 2; i++) {
			q->batch[i] = (struct ty_mem_batch){
				.more = 1, .item = malloc(a->items * sizeof(struct ty_mem_item))};
			if (!q->batch[i].item)
				return -TY_ENOMEM;
		}
		q->fill = TY_MEM_FILL_WAITS;
	}
	while (a->threads < threads && a->threads < THREADS && a->threads < n &&
	       !pthread_create(&a->thread[a->threads], NULL, worker, s))
		a->threads++;
	pthread_mutex_lock(&a->lock);
	vec_each (q, &s->queues)
		submit(s, q);
	pthread_mutex_unlock(&a->lock);
	return 0;
}

void ty_mem_prefetch_stop(struct ty_mem_stream *s)
{
	struct ty_mem_prefetch *a = s->ahead;

	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->end = true;
	pthread_cond_broadcast(&a->work);
	pthread_mutex_unlock(&a->lock);
	for (unsigned i = 0; i < a->threads; i++)
		pthread_join(a->thread[i], NULL);
	vec_each (q, &s->queues)
		for (unsigned i = 0; i < 2; i++) {
			free(q->batch[i].item);
			q->batch[i] = (struct ty_mem_batch){0};
		}
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->work);
	pthread_cond_destroy(&a->done);
	free(a->fifo);
	free(a);
	s->ahead = NULL;
}
