/* SPDX-License-Identifier: MIT */
/* A SCHED_FIFO thread that keeps the victim's only CPU. */
#include "plant.h"

static int cpu, priority;

static void culprit(void)
{
	struct sched_param p = {.sched_priority = priority};

	plant_be(&plant->culprit, the.culprit);
	plant_pin(cpu);
	if (sched_setscheduler(0, SCHED_FIFO, &p))
		plant_skip("SCHED_FIFO is not permitted here");
	plant_await(1);
	plant_sleep_us(the.before * 1000);
	plant_spin_ms(the.ms);
	plant_turn(2);
}

static void victim(void)
{
	plant_be(&plant->victim, the.victim);
	plant_pin(cpu);
	plant_turn(1);
	plant_watch(2);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	cpu = plant_cpu();
	priority = (int)plant_between(1, 50);
	plant_run_as(plant_pick(3), victim, PLANT_CHILD, culprit);
	plant_truth("runqueue", NULL);
	return 0;
}
