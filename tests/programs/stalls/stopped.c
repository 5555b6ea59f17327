/* SPDX-License-Identifier: MIT */
/* Another process stops the victim with SIGSTOP and continues it later. */
#include "plant.h"

static _Atomic int *victim_pid;

static void culprit(void)
{
	plant_be(&plant->culprit, the.culprit);
	plant_await(1);
	plant_work(the.before);
	kill(atomic_load(victim_pid), SIGSTOP);
	plant_spend_ms(the.way, the.ms);
	kill(atomic_load(victim_pid), SIGCONT);
	plant_turn(2);
}

static void victim(void)
{
	plant_be(&plant->victim, the.victim);
	atomic_store(victim_pid, getpid());
	plant_turn(1);
	plant_watch(2);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	victim_pid = (void *)plant->own;
	if (plant_pick(2))
		plant_run_as(PLANT_MAIN, victim, PLANT_CHILD, culprit);
	else
		plant_run_as(PLANT_CHILD, victim, plant_pick(2), culprit);
	plant_truth("stopped", NULL);
	return 0;
}
