/* SPDX-License-Identifier: MIT */
/* A pool of threads takes jobs from a queue; a wait for all of them is a wait for the one slow job.
 */
#include "plant.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, all = PTHREAD_COND_INITIALIZER;
static int queued, left;
static unsigned jobs, slow, workers, taken;
static bool over;

static void worker(void)
{
	pthread_mutex_lock(&m);
	for (;;) {
		unsigned mine;

		while (!queued && !over)
			pthread_cond_wait(&work, &m);
		if (!queued)
			break;
		queued--;
		mine = taken++;
		pthread_mutex_unlock(&m);
		if (mine == slow) {
			plant_be(&plant->culprit, the.culprit);
			plant_spend_ms(the.way, the.ms);
		} else {
			plant_work(1);
		}
		pthread_mutex_lock(&m);
		if (!--left)
			pthread_cond_signal(&all);
	}
	pthread_mutex_unlock(&m);
}

static void boss(void)
{
	struct plant_part p[4];
	uint64_t t;

	for (unsigned i = 0; i < workers; i++)
		plant_start(&p[i], PLANT_THREAD, worker);
	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	pthread_mutex_lock(&m);
	queued = left = (int)jobs;
	pthread_cond_broadcast(&work);
	t = plant_begin();
	while (left)
		pthread_cond_wait(&all, &m);
	plant_end(t);
	over = true;
	pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&m);
	for (unsigned i = 0; i < workers; i++)
		plant_finish(&p[i]);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	struct plant_part p;

	if (plant_init(argc, argv))
		return 0;
	workers = plant_between(2, 4);
	jobs = plant_between(1, 12);
	slow = plant_pick(jobs);
	plant_start(&p, plant_pick(3), boss);
	plant_finish(&p);
	plant_truth("futex", "futex");
	return 0;
}
