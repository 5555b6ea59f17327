/* SPDX-License-Identifier: MIT */
/* No stall: a thread prepares a batch of work alone, gives it to all workers of a pool at once, and
 * waits until the last of them is done. */
#include "plant.h"

#define N 3

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static int batch, left;
static bool over;

static void worker(void)
{
	int seen = 0;

	plant_be(NULL, the.culprit);
	pthread_mutex_lock(&m);
	for (;;) {
		while (batch == seen && !over)
			pthread_cond_wait(&work, &m);
		if (over)
			break;
		seen = batch;
		pthread_mutex_unlock(&m);
		plant_work(3 + the.before);
		pthread_mutex_lock(&m);
		if (!--left)
			pthread_cond_signal(&done);
	}
	pthread_mutex_unlock(&m);
}

int main(int argc, char **argv)
{
	struct plant_part p[N];

	if (plant_init(argc, argv))
		return 0;
	for (int i = 0; i < N; i++)
		plant_start(&p[i], PLANT_THREAD, worker);
	plant_be(NULL, the.victim);
	for (int i = 0; i < 4; i++) {
		plant_spin_ms(the.ms);
		pthread_mutex_lock(&m);
		batch++;
		left = N;
		pthread_cond_broadcast(&work);
		while (left)
			pthread_cond_wait(&done, &m);
		pthread_mutex_unlock(&m);
	}
	pthread_mutex_lock(&m);
	over = true;
	pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&m);
	for (int i = 0; i < N; i++)
		plant_finish(&p[i]);
	plant_truth("none", NULL);
	return 0;
}
