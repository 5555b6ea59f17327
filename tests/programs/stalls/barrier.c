/* SPDX-License-Identifier: MIT */
/* A barrier that one party reaches late. */
#include "plant.h"

static pthread_barrier_t *bar;

static void culprit(void)
{
	plant_be(&plant->culprit, the.culprit);
	plant_spend_ms(the.way, the.ms);
	pthread_barrier_wait(bar);
}

static void victim(void)
{
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	t = plant_begin();
	pthread_barrier_wait(bar);
	plant_end(t);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	pthread_barrierattr_t a;

	if (plant_init(argc, argv))
		return 0;
	bar = (void *)plant->own;
	pthread_barrierattr_init(&a);
	pthread_barrierattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(bar, &a, 2);
	plant_run(victim, culprit);
	plant_truth("futex", "futex");
	return 0;
}
