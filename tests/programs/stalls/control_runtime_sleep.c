/* SPDX-License-Identifier: MIT */
/* No stall: a runtime whose threads sleep by a condition variable of their own that no thread
 * signals, one of them after it has handed out a job. */
#include <semaphore.h>

#include "plant.h"

static sem_t job;

static void nap(unsigned ms)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ms * 1000000l;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	pthread_mutex_lock(&m);
	while (pthread_cond_timedwait(&c, &m, &t) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&m);
}

static void helper(void)
{
	plant_be(NULL, the.culprit);
	for (int i = 0; i < 2; i++) {
		while (sem_wait(&job))
			;
		plant_work(2);
	}
}

static void giver(void)
{
	plant_be(NULL, the.victim);
	for (int i = 0; i < 2; i++) {
		plant_sleep_us(30000);
		sem_post(&job);
		plant_work(2);
		nap(i ? 30 : the.ms);
	}
}

int main(int argc, char **argv)
{
	struct plant_part h, g;

	if (plant_init(argc, argv))
		return 0;
	sem_init(&job, 0, 0);
	plant_start(&h, PLANT_THREAD, helper);
	plant_start(&g, PLANT_THREAD, giver);
	nap(the.ms + 100);
	plant_finish(&g);
	plant_finish(&h);
	plant_truth("none", NULL);
	return 0;
}
