/* SPDX-License-Identifier: MIT */
/* See proc_reader.h. */
#include "proc_reader.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "now.h"
#include "vec.h"

enum { READERS = 4, BYTES_MAX = 16 << 20 };

struct request {
	uint32_t pid, number;
};

struct ty_proc_reader {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	ty_proc_read *read;
	char proc[64];
	bool stop;
	VEC(struct request) queue;
	size_t taken; /* of the queue */
	VEC(struct ty_proc_reading) ready;
	unsigned threads, waiting, reading;
};

struct ty_proc_reader *ty_proc_reader_new(ty_proc_read *read, const char *proc)
{
	struct ty_proc_reader *r = calloc(1, sizeof(*r));
	pthread_condattr_t a;

	if (!r)
		return NULL;
	r->read = read;
	snprintf(r->proc, sizeof(r->proc), "%s", proc);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->work, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&r->done, &a);
	pthread_condattr_destroy(&a);
	return r;
}

static void free_all(struct ty_proc_reader *r)
{
	vec_each (m, &r->ready)
		ty_buf_fini(&m->bytes);
	vec_fini(&r->ready);
	vec_fini(&r->queue);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->work);
	pthread_cond_destroy(&r->done);
	free(r);
}

static void *read_main(void *arg)
{
	struct ty_proc_reader *r = arg;
	bool last;

	pthread_mutex_lock(&r->lock);
	while (!r->stop) {
		struct ty_proc_reading m = {0};

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
		r->read(r->proc, &m);
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

bool ty_proc_reader_request(struct ty_proc_reader *r, uint32_t pid, uint32_t number)
{
	pthread_attr_t detached;
	pthread_t thread;
	bool good;

	pthread_mutex_lock(&r->lock);
	good = !vec_push(&r->queue, ((struct request){pid, number}));
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

bool ty_proc_reader_take(struct ty_proc_reader *r, unsigned wait_ms, struct ty_proc_reading *out)
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

size_t ty_proc_reader_left(struct ty_proc_reader *r)
{
	size_t n;

	pthread_mutex_lock(&r->lock);
	n = r->reading + (r->queue.n - r->taken) + r->ready.n;
	pthread_mutex_unlock(&r->lock);
	return n;
}

void ty_proc_reader_free(struct ty_proc_reader *r)
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
