/* SPDX-License-Identifier: MIT */
/* A parent that waits for a child which computes all the time, only for it. */
#include "plant.h"

int main(int argc, char **argv)
{
	uint64_t t;
	pid_t p;

	if (plant_init(argc, argv))
		return 0;
	plant_be(&plant->victim, the.victim);
	p = fork();
	if (!p) {
		plant_be(&plant->culprit, the.culprit);
		plant_spin_ms(the.ms);
		_exit(0);
	}
	t = plant_begin();
	waitpid(p, NULL, 0);
	plant_end(t);
	plant_truth("child", "wait4");
	return 0;
}
