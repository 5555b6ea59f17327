/* SPDX-License-Identifier: MIT */
/* See read_pool.h. */
#include "read_pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "now.h"
#include "vec.h"

enum { BYTES_MAX = 16 << 20 };

struct request {
	uint32_t pid, number;
};

struct ty_read_pool {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	ty_read_fn *read;
	void (*free_ctx)(void *ctx);
	void *ctx;
	bool stop;
	VEC(struct request) queue;
	size_t taken; /* of the queue */
	VEC(struct ty_reading) ready;
	unsigned threads_max, threads, waiting, reading;
};

struct ty_read_pool *ty_read_pool_new(unsigned threads, ty_read_fn *read, void (*done)(void *ctx),
				      void *ctx)
{
	struct ty_read_pool *r = calloc(1, sizeof(*r));
	pthread_condattr_t a;

	if (!r)
		return NULL;
	r->threads_max = threads;
	r->read = read;
	r->free_ctx = done;
	r->ctx = ctx;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->work, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&r->done, &a);
	pthread_condattr_destroy(&a);
	return r;
}

static void free_all(struct ty_read_pool *r)
{
	vec_each (m, &r->ready)
		ty_buf_fini(&m->bytes);
	vec_fini(&r->ready);
	vec_fini(&r->queue);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->work);
	pthread_cond_destroy(&r->done);
	if (r->free_ctx)
		r->free_ctx(r->ctx);
	free(r);
}

static void *read_main(void *arg)
{
	struct ty_read_pool *r = arg;
	bool last;

	pthread_mutex_lock(&r->lock);
	while (!r->stop) {
		struct ty_reading m = {0};

		if (r->taken == r->queue.n) {
			r->taken = r->queue.n = 0;
			r->waiting++;
			pthread_cond_wait(&r->work, &r->lock);
			r->waiting--;
			continue;
		}
		m.pid = r->queue.v[r->taken].pid;
		m.number = r->queue.v[r->taken++].number;
		ty_buf_init(&m.bytes, BYTES_MAX);
		r->reading++;
		pthread_mutex_unlock(&r->lock);
		m.began_ns = ty_now_ns(CLOCK_MONOTONIC);
		r->read(r->ctx, &m);
		pthread_mutex_lock(&r->lock);
		r->reading--;
		if (r->stop || vec_push(&r->ready, m))
			ty_buf_fini(&m.bytes);
		pthread_cond_broadcast(&r->done);
	}
	last = !--r->threads;
	pthread_mutex_unlock(&r->lock);
	if (last)
		free_all(r);
	return NULL;
}

/* With the lock: one more thread where there is work for it. Where that fails, the next call tries
 * again. */
static void add_thread(struct ty_read_pool *r)
{
	pthread_attr_t detached;
	pthread_t thread;

	if (r->waiting >= r->queue.n - r->taken || r->threads >= r->threads_max)
		return;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	if (!pthread_create(&thread, &detached, read_main, r))
		r->threads++;
	pthread_attr_destroy(&detached);
}

bool ty_read_pool_request(struct ty_read_pool *r, uint32_t pid, uint32_t number)
{
	bool good;

	pthread_mutex_lock(&r->lock);
	good = !vec_push(&r->queue, ((struct request){pid, number}));
	add_thread(r);
	pthread_cond_signal(&r->work);
	pthread_mutex_unlock(&r->lock);
	return good;
}

bool ty_read_pool_take(struct ty_read_pool *r, unsigned wait_ms, struct ty_reading *out)
{
	const struct timespec until = ty_in_ms(wait_ms);
	bool good;

	pthread_mutex_lock(&r->lock);
	if (!r->threads)
		add_thread(r);
	while (wait_ms && !r->ready.n && (r->reading || (r->threads && r->taken < r->queue.n)) &&
	       !pthread_cond_timedwait(&r->done, &r->lock, &until))
		;
	good = r->ready.n;
	if (good)
		*out = r->ready.v[--r->ready.n];
	pthread_mutex_unlock(&r->lock);
	return good;
}

size_t ty_read_pool_left(struct ty_read_pool *r)
{
	size_t n;

	pthread_mutex_lock(&r->lock);
	n = r->reading + (r->queue.n - r->taken) + r->ready.n;
	pthread_mutex_unlock(&r->lock);
	return n;
}

void ty_read_pool_free(struct ty_read_pool *r)
{
	bool last;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	last = !r->threads;
	pthread_cond_broadcast(&r->work);
	pthread_mutex_unlock(&r->lock);
	if (last)
		free_all(r);
}
