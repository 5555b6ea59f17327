/* SPDX-License-Identifier: MIT */
/* A hog of high priority on the only CPU of a nice victim. */
#include <sys/resource.h>

#include "plant.h"

static int cpu;

static void culprit(void)
{
	uint64_t t;
	int shared;

	plant_be(&plant->culprit, the.culprit);
	plant_pin(cpu);
	if (setpriority(PRIO_PROCESS, 0, -20))
		plant_skip("a nice value of -20 is not permitted here");
	plant_await(1);
	plant_sleep_us(the.before * 1000);
	t = plant_ns(CLOCK_THREAD_CPUTIME_ID);
	plant_spin_ms(the.ms + 200);
	/* Where others had the CPU as long, it was not the hog's. */
	shared = plant_ns(CLOCK_THREAD_CPUTIME_ID) - t < (the.ms + 200) * 750000ull;
	atomic_store((_Atomic int *)plant->own, shared);
	plant_turn(2);
}

static void victim(void)
{
	plant_be(&plant->victim, the.victim);
	plant_pin(cpu);
	setpriority(PRIO_PROCESS, 0, 19);
	plant_turn(1);
	plant_watch(2);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	cpu = plant_cpu();
	plant_run_as(plant_pick(3), victim, plant_pick(2), culprit);
	if (atomic_load((_Atomic int *)plant->own))
		plant->duration_ns = 0;
	plant_truth("runqueue", NULL);
	return 0;
}
