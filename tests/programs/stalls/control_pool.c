/* SPDX-License-Identifier: MIT */
/* No stall: a pool of threads without work for most of the time. */
#include "plant.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static int jobs;
static bool over;

static void worker(void)
{
	plant_be(NULL, the.culprit);
	pthread_mutex_lock(&m);
	for (;;) {
		while (!jobs && !over)
			pthread_cond_wait(&work, &m);
		if (!jobs)
			break;
		jobs--;
		pthread_mutex_unlock(&m);
		plant_work(2);
		pthread_mutex_lock(&m);
	}
	pthread_mutex_unlock(&m);
}

int main(int argc, char **argv)
{
	struct plant_part p[4];

	if (plant_init(argc, argv))
		return 0;
	for (int i = 0; i < 4; i++)
		plant_start(&p[i], PLANT_THREAD, worker);
	plant_be(NULL, the.victim);
	for (int i = 0; i < 3; i++) {
		plant_sleep_us(the.ms * 700);
		pthread_mutex_lock(&m);
		jobs++;
		pthread_cond_signal(&work);
		pthread_mutex_unlock(&m);
	}
	pthread_mutex_lock(&m);
	over = true;
	pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 4; i++)
		plant_finish(&p[i]);
	plant_truth("none", NULL);
	return 0;
}
