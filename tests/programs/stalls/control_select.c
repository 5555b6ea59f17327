/* SPDX-License-Identifier: MIT */
/* No stall: a loop around select with a timeout, for input that never comes. */
#include "plant.h"

int main(int argc, char **argv)
{
	unsigned n;
	int fd[2];

	if (plant_init(argc, argv))
		return 0;
	plant_be(NULL, the.victim);
	if (pipe(fd))
		err(1, "pipe");
	n = plant_between(2, 8);
	for (unsigned i = 0; i < n; i++) {
		struct timeval tv = {0, 800000 / n};
		fd_set s;

		FD_ZERO(&s);
		FD_SET(fd[0], &s);
		select(fd[0] + 1, &s, NULL, NULL, &tv);
		plant_work(2);
	}
	plant_truth("none", NULL);
	return 0;
}
