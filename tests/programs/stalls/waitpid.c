/* SPDX-License-Identifier: MIT */
/* A parent that waits for its child. */
#include "plant.h"

static void child(void)
{
	plant_be(&plant->culprit, the.culprit);
	/* Not by computing: to wait for a child that works is no stall. */
	plant_spend_ms(the.way == 1 ? 0 : the.way, the.ms);
}

static void victim(void)
{
	struct plant_part p;
	siginfo_t si;
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	plant_start(&p, PLANT_CHILD, child);
	t = plant_begin();
	if (the.after % 2)
		waitid(P_PID, (id_t)p.pid, &si, WEXITED);
	else
		waitpid(p.pid, NULL, 0);
	plant_end(t);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	struct plant_part p;

	if (plant_init(argc, argv))
		return 0;
	plant_start(&p, plant_pick(3), victim);
	plant_finish(&p);
	plant_truth("child", the.after % 2 ? "waitid" : "wait4");
	return 0;
}
