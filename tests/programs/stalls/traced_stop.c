/* SPDX-License-Identifier: MIT */
/* A tracer stops a thread that had work, and looks at it for long. */
#include <sys/ptrace.h>

#include "plant.h"

static _Atomic int *victim_pid;

static void culprit(void)
{
	int pid, status;

	plant_be(&plant->culprit, the.culprit);
	plant_await(1);
	pid = atomic_load(victim_pid);
	if (the.way % 2) {
		if (ptrace(PTRACE_ATTACH, pid, NULL, NULL))
			err(1, "ptrace");
	} else if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) ||
		   ptrace(PTRACE_INTERRUPT, pid, NULL, NULL)) {
		err(1, "ptrace");
	}
	waitpid(pid, &status, __WALL);
	plant_spend_ms(the.way / 2, the.ms);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	plant_turn(2);
}

static void victim(void)
{
	plant_be(&plant->victim, the.victim);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	atomic_store(victim_pid, getpid());
	plant_turn(1);
	plant_watch(2);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	struct plant_part v, c;
	bool main_is_victim;

	if (plant_init(argc, argv))
		return 0;
	the.way = plant_pick(8);
	victim_pid = (void *)plant->own;
	main_is_victim = plant_pick(2);
	plant_start(&c, PLANT_CHILD, main_is_victim ? culprit : victim);
	plant_start(&v, PLANT_MAIN, main_is_victim ? victim : culprit);
	plant_finish(&c);
	plant_truth("stopped", NULL);
	return 0;
}
