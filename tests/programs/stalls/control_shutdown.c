/* SPDX-License-Identifier: MIT */
/* No stall: threads that wait for work at one semaphore are requested to exit, and each requests
 * the next one.
 */
#include <semaphore.h>

#include "plant.h"

#define WORKERS 3

static sem_t items;
static _Atomic bool over;

static void worker(void)
{
	plant_work(1);
	while (sem_wait(&items) || !over)
		;
	sem_post(&items);
}

int main(int argc, char **argv)
{
	struct plant_part p[WORKERS];

	if (plant_init(argc, argv))
		return 0;
	sem_init(&items, 0, 0);
	for (unsigned i = 0; i < WORKERS; i++)
		plant_start(&p[i], PLANT_THREAD, worker);
	plant_be(NULL, the.victim);
	plant_spend_ms(the.way, the.ms);
	over = true;
	sem_post(&items);
	for (unsigned i = 0; i < WORKERS; i++)
		plant_finish(&p[i]);
	plant_truth("none", NULL);
	return 0;
}
