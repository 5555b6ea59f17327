/* SPDX-License-Identifier: MIT */
/* Analysis in a thread; see background.h. */
#include "background.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

static void *run(void *arg)
{
	struct ty_background *a = arg;

	a->run(a->ctx);
	sem_post(&a->done);
	return NULL;
}

void ty_background_start(struct ty_background *a, bool threaded, void (*f)(void *ctx), void *ctx)
{
	sigset_t all, old;

	a->run = f;
	a->ctx = ctx;
	a->on = true;
	atomic_store(&a->stop, false);
	sem_init(&a->done, 0, 0);
	a->threaded = false;
	if (threaded) { /* signals (resize, termination) are handled by the main thread */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &old);
		a->threaded = !pthread_create(&a->thread, NULL, run, a);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	if (!a->threaded)
		run(a);
}

static void ended(struct ty_background *a)
{
	if (a->threaded)
		pthread_join(a->thread, NULL);
	sem_destroy(&a->done);
	a->on = false;
}

bool ty_background_wait(struct ty_background *a, unsigned ms)
{
	struct timespec ts;
	int r;

	if (!a->on)
		return false;
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += (long)(ms % 1000) * 1000000;
	ts.tv_sec += (time_t)(ms / 1000) + ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	do {
		r = sem_timedwait(&a->done, &ts);
	} while (r && errno == EINTR);
	if (r)
		return false;
	ended(a);
	return true;
}

bool ty_background_stop(struct ty_background *a)
{
	if (!a->on)
		return false;
	atomic_store(&a->stop, true);
	ended(a);
	return true;
}
