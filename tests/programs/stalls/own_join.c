/* SPDX-License-Identifier: MIT */
/*
 * Two threads contend for a lock of a runtime's own (a semaphore), and their maker waits for their
 * ends by semaphores, too: a wait for last words is explained by what held those up.
 */
#include <semaphore.h>

#include "plant.h"

static sem_t lock, ended[2];

static void culprit(void)
{
	plant_be(&plant->culprit, the.culprit);
	sem_wait(&lock);
	plant_turn(1);
	plant_spend_ms(the.way, the.ms);
	sem_post(&lock);
	sem_post(&ended[0]);
}

static void victim(void)
{
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_await(1);
	t = plant_begin();
	sem_wait(&lock);
	plant_end(t);
	sem_post(&lock);
	plant_work(the.after / 2);
	sem_post(&ended[1]);
}

int main(int argc, char **argv)
{
	struct plant_part c, v;

	if (plant_init(argc, argv))
		return 0;
	sem_init(&lock, 0, 1);
	sem_init(&ended[0], 0, 0);
	sem_init(&ended[1], 0, 0);
	plant_start(&c, PLANT_THREAD, culprit);
	plant_start(&v, PLANT_THREAD, victim);
	sem_wait(&ended[1]);
	sem_wait(&ended[0]);
	plant_finish(&v);
	plant_finish(&c);
	plant_truth("semaphore", "futex");
	return 0;
}
