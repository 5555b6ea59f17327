/* SPDX-License-Identifier: MIT */
/* While a lock is kept, others make so many system calls that a small ring loses events. */
#include "plant.h"

static pthread_mutex_t *m;

static void flood(void)
{
	while (atomic_load(&plant->turn) < 2)
		for (int i = 0; i < 100; i++)
			getppid();
}

static void culprit(void)
{
	plant_be(&plant->culprit, the.culprit);
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
	plant_turn(2);
}

int main(int argc, char **argv)
{
	struct plant_part f[2], v, c;

	if (plant_init(argc, argv))
		return 0;
	m = (void *)plant->own;
	plant_mutex(m, PTHREAD_PRIO_NONE);
	for (int i = 0; i < 2; i++)
		plant_start(&f[i], PLANT_CHILD, flood);
	plant_start(&c, plant_pick(2), culprit);
	plant_start(&v, plant_pick(3), victim);
	plant_finish(&v);
	plant_finish(&c);
	for (int i = 0; i < 2; i++)
		plant_finish(&f[i]);
	plant_truth("lost", "futex");
	return 0;
}
