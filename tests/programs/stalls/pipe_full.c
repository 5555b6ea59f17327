/* SPDX-License-Identifier: MIT */
/* A pipe that is full because its reader does something else. */
#include "plant.h"

static int fd[2];

static void culprit(void)
{
	static char buf[65536];

	plant_be(&plant->culprit, the.culprit);
	plant_work(the.before);
	plant_turn(1);
	plant_spend_ms(the.way, the.ms);
	for (size_t left = 128 << 10; left;) {
		ssize_t n = read(fd[0], buf, sizeof(buf) < left ? sizeof(buf) : left);

		if (n <= 0)
			err(1, "pipe");
		left -= (size_t)n;
	}
}

static void victim(void)
{
	static char buf[128 << 10];
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_await(1);
	t = plant_begin();
	if (write(fd[1], buf, sizeof(buf)) != sizeof(buf))
		err(1, "pipe");
	plant_end(t);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	if (pipe(fd))
		err(1, "pipe");
	plant_run(victim, culprit);
	plant_truth("pipe", "write");
	return 0;
}
