/* SPDX-License-Identifier: MIT */
/* No stall: a script that starts a program which sleeps, again and again. */
#include "plant.h"

int main(int argc, char **argv)
{
	unsigned n;

	if (plant_init(argc, argv))
		return 0;
	plant_be(NULL, the.victim);
	n = plant_between(3, 6);
	for (unsigned i = 0; i < n; i++) {
		pid_t p = fork();

		if (!p) {
			plant_sleep_us(the.ms * 400);
			_exit(0);
		}
		waitpid(p, NULL, 0);
		plant_work(2);
	}
	plant_truth("none", NULL);
	return 0;
}
