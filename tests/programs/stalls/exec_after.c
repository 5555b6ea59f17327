/* SPDX-License-Identifier: MIT */
/* The culprit becomes another program right after it let the lock go. */
#include <sys/file.h>

#include "plant.h"

static void culprit(void)
{
	int fd = plant_file("lock", O_RDWR | O_CREAT);

	plant_be(&plant->culprit, the.culprit);
	plant_work(the.before);
	flock(fd, LOCK_EX);
	plant_turn(1);
	plant_spend_ms(the.way, the.ms);
	if (the.after % 2)
		flock(fd, LOCK_UN);
	/* Else the exec itself lets go of it. */
	execl("/bin/true", "true", NULL);
	_exit(1);
}

static void victim(void)
{
	int fd = plant_file("lock", O_RDWR | O_CREAT);
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_await(1);
	t = plant_begin();
	flock(fd, LOCK_EX);
	plant_end(t);
	close(fd);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	plant_run_as(plant_pick(3), victim, PLANT_CHILD, culprit);
	plant_truth("lock", "flock");
	return 0;
}
