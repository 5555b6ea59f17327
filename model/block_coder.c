/* SPDX-License-Identifier: MIT */
/* See block_coder.h. A ring of jobs under one mutex; the builder waits when it is full. */
#include "block_coder.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "paged_pool.h"
#include "table.h"

#define JOBS 128u
/* The thread is woken when this many blocks are queued, and a builder that waits for space when
 * this many are done: a wakeup costs as much as several blocks. */
#define WAKE 48u

struct job {
	struct ty_table_fill *f;
	uint8_t *rows;
	uint64_t end_ns;
	uint32_t track, n;
	bool full;
};

struct ty_block_coder {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more, room;
	struct job job[JOBS];
	uint32_t first, n;
	bool closing;
	int failed;
};

static void *coder_main(void *arg)
{
	struct ty_block_coder *c = arg;

	pthread_mutex_lock(&c->lock);
	for (;;) {
		struct job j;
		bool failed = c->failed;
		int r;

		if (!c->n) {
			if (c->closing)
				break;
			pthread_cond_wait(&c->more, &c->lock);
			continue;
		}
		j = c->job[c->first];
		pthread_mutex_unlock(&c->lock);
		r = failed ? 0 : ty_table_code(j.f, j.track, j.rows, j.n, j.end_ns);
		pthread_mutex_lock(&c->lock);
		if (r && !c->failed)
			c->failed = r;
		if (j.full) {
			/* The first bytes of a free buffer lead to the next one. */
			memcpy(j.rows, &j.f->spare, sizeof(j.f->spare));
			j.f->spare = j.rows;
		} else {
			ty_paged_pool_free(j.f->pool, j.rows);
		}
		c->first = (c->first + 1) % JOBS;
		if (--c->n == JOBS - WAKE)
			pthread_cond_signal(&c->room);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

struct ty_block_coder *ty_block_coder_new(void)
{
	struct ty_block_coder *c = calloc(1, sizeof(*c));
	sigset_t all, was;
	int r;

	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->more, NULL);
	pthread_cond_init(&c->room, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	r = pthread_create(&c->thread, NULL, coder_main, c);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (!r)
		return c;
	pthread_cond_destroy(&c->room);
	pthread_cond_destroy(&c->more);
	pthread_mutex_destroy(&c->lock);
	free(c);
	return NULL;
}

int ty_block_coder_free(struct ty_block_coder *c)
{
	int r;

	if (!c)
		return 0;
	pthread_mutex_lock(&c->lock);
	c->closing = true;
	pthread_cond_signal(&c->more);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	r = c->failed;
	pthread_cond_destroy(&c->room);
	pthread_cond_destroy(&c->more);
	pthread_mutex_destroy(&c->lock);
	free(c);
	return r;
}

int ty_block_coder_put(struct ty_block_coder *c, struct ty_table_fill *f, uint32_t track,
		       uint8_t *rows, uint32_t n, uint64_t end_ns, bool full, uint8_t **spare)
{
	int r;

	pthread_mutex_lock(&c->lock);
	while (c->n == JOBS)
		pthread_cond_wait(&c->room, &c->lock);
	c->job[(c->first + c->n++) % JOBS] = (struct job){f, rows, end_ns, track, n, full};
	if (c->n == WAKE)
		pthread_cond_signal(&c->more);
	*spare = full ? f->spare : NULL;
	if (*spare)
		memcpy(&f->spare, *spare, sizeof(f->spare));
	r = c->failed;
	pthread_mutex_unlock(&c->lock);
	return r;
}
