/* SPDX-License-Identifier: MIT */
/* A mutex with priority inheritance: the kernel knows its holder. */
#include "plant.h"

static pthread_mutex_t *m;

static void culprit(void)
{
	plant_be(&plant->culprit, the.culprit);
	plant_work(the.before);
	pthread_mutex_lock(m);
	plant_turn(1);
	plant_spend_ms(the.way, the.ms);
	pthread_mutex_unlock(m);
}

static void victim(void)
{
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_await(1);
	t = plant_begin();
	pthread_mutex_lock(m);
	plant_end(t);
	pthread_mutex_unlock(m);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	m = (void *)plant->own;
	plant_mutex(m, PTHREAD_PRIO_INHERIT);
	plant_run(victim, culprit);
	plant_truth("lock", "futex");
	return 0;
}
