/* SPDX-License-Identifier: MIT */
/*
 * Runs one analysis function in a helper thread, so that input stays responsive. The function owns
 * its result until it finishes. It polls `stop` (explain.h) and returns early when that is set.
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
	bool on; /* started, and not yet collected */
	bool threaded;
	void (*run)(void *ctx);
	void *ctx;
};

/* Starts the function; no other may be running. Runs it synchronously in the caller when `threaded`
 * is false or no thread can be created. */
void ty_background_start(struct ty_background *a, bool threaded, void (*run)(void *ctx), void *ctx);
/* Waits at most `ms` milliseconds for the end. Returns true when the function was running and has
 * finished: its result then belongs to the caller. */
bool ty_background_wait(struct ty_background *a, unsigned ms);
/* Sets `stop` and waits for the end. Returns true when it was running: the caller then frees its
 * result. */
bool ty_background_stop(struct ty_background *a);

#endif
