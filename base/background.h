/* SPDX-License-Identifier: MIT */
/*
 * Analysis beside the input: one function in a thread of its own, which owns what it makes until it
 * is done. It looks at `stop` now and then (explain.h) and ends early when that is set.
 */
#ifndef TY_BACKGROUND_H
#define TY_BACKGROUND_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

struct ty_background {
	pthread_t thread;
	sem_t done;
	atomic_bool stop;
	bool on; /* begun, and not yet seen to be done */
	bool threaded;
	void (*run)(void *ctx);
	void *ctx;
};

/* Begin; none may be on. Runs at once, in the caller, unless threaded (or no thread is to be had).
 */
void ty_background_start(struct ty_background *a, bool threaded, void (*run)(void *ctx), void *ctx);
/* Done, waiting for that at most so long: what it made is the caller's. True when it was on. */
bool ty_background_wait(struct ty_background *a, unsigned ms);
/* Let it end early, and wait for that. True when it was on: what it made is there to be freed. */
bool ty_background_stop(struct ty_background *a);

#endif
