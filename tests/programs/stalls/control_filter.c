/* SPDX-License-Identifier: MIT */
/* No stall: a child that reads from one pipe and writes to another, and rarely gets anything.
 * It wakes its parent before that ever wakes it. */
#include "plant.h"

int main(int argc, char **argv)
{
	int in[2], out[2];
	char c = 'c';
	pid_t p;

	if (plant_init(argc, argv))
		return 0;
	if (pipe(in) || pipe(out))
		err(1, "pipe");
	p = fork();
	if (!p) {
		plant_be(NULL, the.culprit);
		close(in[1]);
		plant_sleep_us(5000);
		while (read(in[0], &c, 1) == 1)
			if (write(out[1], &c, 1) != 1)
				err(1, "child");
		_exit(0);
	}
	close(in[0]);
	plant_be(NULL, the.victim);
	for (int i = 0; i < 5; i++) {
		if (write(in[1], &c, 1) != 1 || read(out[0], &c, 1) != 1)
			err(1, "parent");
		plant_sleep_us(the.ms * 200);
	}
	close(in[1]);
	waitpid(p, NULL, 0);
	plant_truth("none", NULL);
	return 0;
}
