/* SPDX-License-Identifier: MIT */
/* See map_reader.h. */
#include "map_reader.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "now.h"
#include "vec.h"

enum { READERS = 4, PROC_MAX = 16 << 20 };

struct map_request {
	uint32_t pid, number;
};

struct ty_map_reader {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	ty_map_read *read;
	bool stop;
	VEC(struct map_request) queue;
	size_t taken; /* of the queue */
	VEC(struct ty_map_reading) ready;
	unsigned threads, waiting, reading;
};

struct ty_map_reader *ty_map_reader_new(ty_map_read *read)
{
	struct ty_map_reader *r = calloc(1, sizeof(*r));
	pthread_condattr_t a;

	if (!r)
		return NULL;
	r->read = read;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->work, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&r->done, &a);
	pthread_condattr_destroy(&a);
	return r;
}

static void free_all(struct ty_map_reader *r)
{
	vec_each (m, &r->ready)
		ty_buf_fini(&m->maps);
	vec_fini(&r->ready);
	vec_fini(&r->queue);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->work);
	pthread_cond_destroy(&r->done);
	free(r);
}

static void on_map(void *ctx, const struct ty_stk_map *map, const char *path)
{
	struct ty_map_reading *m = ctx;

	if (m->full || m->maps.len + sizeof(*map) + strlen(path) + 1 > PROC_MAX ||
	    ty_buf_add(&m->maps, map, sizeof(*map)) || ty_buf_add(&m->maps, path, strlen(path) + 1))
		m->full = true;
}

static void *read_main(void *arg)
{
	struct ty_map_reader *r = arg;
	bool last;

	pthread_mutex_lock(&r->lock);
	while (!r->stop) {
		struct ty_map_reading m = {0};

		if (r->taken == r->queue.n) {
			r->taken = r->queue.n = 0;
			r->waiting++;
			pthread_cond_wait(&r->work, &r->lock);
			r->waiting--;
			continue;
		}
		m.pid = r->queue.v[r->taken].pid;
		m.number = r->queue.v[r->taken++].number;
		ty_buf_init(&m.maps, PROC_MAX + 1);
		r->reading++;
		pthread_mutex_unlock(&r->lock);
		r->read((int)m.pid, on_map, &m);
		pthread_mutex_lock(&r->lock);
		r->reading--;
		if (r->stop || vec_push(&r->ready, m))
			ty_buf_fini(&m.maps);
		pthread_cond_broadcast(&r->done);
	}
	last = !--r->threads;
	pthread_mutex_unlock(&r->lock);
	if (last)
		free_all(r);
	return NULL;
}

bool ty_map_reader_request(struct ty_map_reader *r, uint32_t pid, uint32_t number)
{
	pthread_attr_t detached;
	pthread_t thread;
	bool good;

	pthread_mutex_lock(&r->lock);
	good = !vec_push(&r->queue, ((struct map_request){pid, number}));
	if (good && r->waiting < r->queue.n - r->taken && r->threads < READERS) {
		pthread_attr_init(&detached);
		pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
		if (!pthread_create(&thread, &detached, read_main, r))
			r->threads++;
		pthread_attr_destroy(&detached);
	}
	pthread_cond_signal(&r->work);
	pthread_mutex_unlock(&r->lock);
	return good;
}

bool ty_map_reader_take(struct ty_map_reader *r, unsigned wait_ms, struct ty_map_reading *out)
{
	const struct timespec until = ty_in_ms(wait_ms);
	bool good;

	pthread_mutex_lock(&r->lock);
	while (wait_ms && !r->ready.n && (r->reading || (r->threads && r->taken < r->queue.n)) &&
	       !pthread_cond_timedwait(&r->done, &r->lock, &until))
		;
	good = r->ready.n;
	if (good)
		*out = r->ready.v[--r->ready.n];
	pthread_mutex_unlock(&r->lock);
	return good;
}

size_t ty_map_reader_left(struct ty_map_reader *r)
{
	size_t n;

	pthread_mutex_lock(&r->lock);
	n = r->reading + (r->queue.n - r->taken) + r->ready.n;
	pthread_mutex_unlock(&r->lock);
	return n;
}

void ty_map_reader_free(struct ty_map_reader *r)
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
