/* SPDX-License-Identifier: MIT */
/* A parent whose vfork(2) child takes its time before it execs or exits. */
#include "plant.h"

static void victim(void)
{
	pid_t pid;
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	t = plant_begin();
	pid = vfork();
	if (pid < 0)
		err(1, "vfork");
	if (!pid) {
		plant_be(&plant->culprit, the.culprit);
		plant_spend_ms(the.way, the.ms);
		if (the.after % 2)
			execl("/bin/true", "true", NULL);
		_exit(0);
	}
	plant_end(t);
	waitpid(pid, NULL, 0);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	struct plant_part p;

	if (plant_init(argc, argv))
		return 0;
	plant_start(&p, plant_pick(3), victim);
	plant_finish(&p);
	plant_truth("child", "vfork|clone|clone3");
	return 0;
}
