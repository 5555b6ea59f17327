/* SPDX-License-Identifier: MIT */
/*
 * A service and its client: the client sends requests and waits for each answer; all are quick but
 * one. The server waits for requests, which is no stall. How both talk is the program's: it gives
 * ask (client: send), take (client: wait for the answer), hear (server: wait for a request) and
 * answer. Or there is no request: the client waits for the one thing that it cannot go on without,
 * and the program not without the client.
 */
#ifndef TY_SERVICE_H
#define TY_SERVICE_H

#include "plant.h"

static void ask(void), take(void), hear(void), answer(void);
static unsigned requests, slow;
static bool unasked, naps; /* naps: sleeps by futex waits with a timeout, as in runtimes */

static inline void service_nap(unsigned ms)
{
	static _Thread_local pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	static _Thread_local pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ms % 1000 * 1000000l;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	pthread_mutex_lock(&m);
	while (pthread_cond_timedwait(&c, &m, &t) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&m);
}

static void server(void)
{
	plant_be(&plant->culprit, the.culprit);
	plant_turn(1);
	for (unsigned i = 0; i < requests; i++) {
		if (!unasked)
			hear();
		if (i == slow && naps)
			service_nap(the.ms);
		else if (i == slow)
			plant_spend_ms(the.way, the.ms);
		answer();
	}
}

static void client(void)
{
	plant_be(&plant->victim, the.victim);
	/* A request before the server waits for it wakes no thread, so it is not recorded as a
	 * wakeup. */
	plant_await(1);
	for (unsigned i = 0; i < requests; i++) {
		uint64_t t;

		plant_work(1 + the.before % 3);
		if (naps)
			service_nap(3);
		t = plant_begin();
		if (!unasked)
			ask();
		take();
		if (i == slow)
			plant_end(t);
	}
	plant_work(the.after);
}

static inline void service_run(void)
{
	enum plant_as c = plant_pick(3), s = plant_pick(c == PLANT_MAIN ? 2 : 3);

	unasked = s != PLANT_MAIN && plant_pick(3) == 0;
	requests = unasked ? 1 : plant_between(1, 8);
	/* Before the first one the server may not wait yet: then no thread is woken.
	 */
	slow = plant_pick(requests);
	plant_run_as(c, client, s, server);
}

#endif
