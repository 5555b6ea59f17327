/* SPDX-License-Identifier: MIT */
/* Priority inversion: the lock's holder is ready but a SCHED_FIFO thread keeps its CPU. */
#include "plant.h"

static pthread_mutex_t *m;
static const char *holder_name;
static int cpu;

static void culprit(void)
{
	struct sched_param p = {.sched_priority = 10};

	plant_be(&plant->culprit, the.culprit);
	plant_pin(cpu);
	if (sched_setscheduler(0, SCHED_FIFO, &p))
		plant_skip("SCHED_FIFO is not permitted here");
	plant_await(1);
	plant_spin_ms(the.ms);
}

static void holder(void)
{
	plant_be(&plant->hop[0], holder_name);
	plant_pin(cpu);
	plant_sleep_us(20000);
	pthread_mutex_lock(m);
	plant_turn(1);
	plant_work(5);
	pthread_mutex_unlock(m);
}

static void victim(void)
{
	struct plant_part h;
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_start(&h, PLANT_CHILD, holder);
	plant_await(1);
	t = plant_begin();
	pthread_mutex_lock(m);
	plant_end(t);
	pthread_mutex_unlock(m);
	plant_work(the.after);
	plant_finish(&h);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	cpu = plant_cpu();
	holder_name = plant_new_name();
	m = (void *)plant->own;
	plant_mutex(m, PTHREAD_PRIO_NONE);
	plant_run_as(plant_pick(3), victim, PLANT_CHILD, culprit);
	plant_truth("starved", NULL);
	return 0;
}
