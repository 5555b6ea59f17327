/* SPDX-License-Identifier: MIT */
/*
 * A thread that empties rings: whenever one of them can be read, ten times a second at least, and
 * once more at the end. It has the highest priority of ordinary threads.
 */
#ifndef TY_RING_DRAINER_H
#define TY_RING_DRAINER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct ty_ring_drainer {
	pthread_t thread;
	bool started;
	int wake; /* eventfd: readable, and stays so, once it is to end; -1: not initialised */
	atomic_bool stop;
	unsigned n;
	int (*fd_of)(const void *ctx, unsigned i); /* of n descriptors to poll */
	void (*move)(void *ctx, bool last);
	void *ctx;
};

/* false: errno says why not. fini in any case. */
bool ty_ring_drainer_init(struct ty_ring_drainer *m);
/* Call `move` from now on. The same. */
bool ty_ring_drainer_start(struct ty_ring_drainer *m, unsigned n,
			   int (*fd_of)(const void *ctx, unsigned i),
			   void (*move)(void *ctx, bool last), void *ctx);
/* Ends with a last move, if it was started. */
void ty_ring_drainer_stop(struct ty_ring_drainer *m);
void ty_ring_drainer_fini(struct ty_ring_drainer *m);

#endif
