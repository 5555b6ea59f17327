/* SPDX-License-Identifier: MIT */
/*
 * No stall: threads of an interpreter. Only the holder of its one lock computes; it is handed over
 * by a condition variable with a short timeout, is released for every wait, and a new thread says
 * that it has begun. Each worker then waits for its own jobs, which come now and then.
 */
#include <semaphore.h>

#include "plant.h"

#define WORKERS 3

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t let_go = PTHREAD_COND_INITIALIZER;
static bool taken;
static sem_t begun, jobs[WORKERS];
static _Atomic int next, over;

static void take(void)
{
	pthread_mutex_lock(&m);
	while (taken) {
		struct timespec t;

		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += 5000000;
		t.tv_sec += t.tv_nsec / 1000000000;
		t.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&let_go, &m, &t);
	}
	taken = true;
	pthread_mutex_unlock(&m);
}

static void drop(void)
{
	pthread_mutex_lock(&m);
	taken = false;
	pthread_cond_signal(&let_go);
	pthread_mutex_unlock(&m);
}

static void await(sem_t *s)
{
	drop();
	while (sem_wait(s))
		;
	take();
}

static void worker(void)
{
	int own = atomic_fetch_add(&next, 1);

	take();
	sem_post(&begun);
	for (;;) {
		await(&jobs[own]);
		if (atomic_load(&over))
			break;
		plant_spin_ms(1);
	}
	drop();
}

int main(int argc, char **argv)
{
	struct plant_part p[WORKERS];

	if (plant_init(argc, argv))
		return 0;
	sem_init(&begun, 0, 0);
	for (int i = 0; i < WORKERS; i++)
		sem_init(&jobs[i], 0, 0);
	plant_be(NULL, the.victim);
	take();
	for (int i = 0; i < WORKERS; i++) {
		plant_start(&p[i], PLANT_THREAD, worker);
		await(&begun);
	}
	for (int i = 0; i < WORKERS * 3; i++) {
		drop();
		plant_sleep_us(the.ms * 150);
		take();
		sem_post(&jobs[i % WORKERS]);
		plant_spin_ms(2); /* the worker wants the lock meanwhile */
	}
	atomic_store(&over, 1);
	for (int i = 0; i < WORKERS; i++)
		sem_post(&jobs[i]);
	drop();
	for (int i = 0; i < WORKERS; i++)
		plant_finish(&p[i]);
	plant_truth("none", NULL);
	return 0;
}
