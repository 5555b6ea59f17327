/* SPDX-License-Identifier: MIT */
/* flock(2): the lock belongs to an open file, so that threads and processes keep each other out. */
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
	/* Not by close: a child forked meanwhile has the same open file. */
	flock(fd, LOCK_UN);
	close(fd);
}

static void victim(void)
{
	int fd = plant_file("lock", O_RDWR | O_CREAT);
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_await(1);
	t = plant_begin();
	flock(fd, the.after % 2 ? LOCK_EX : LOCK_SH);
	plant_end(t);
	close(fd);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	plant_run(victim, culprit);
	plant_truth("lock", "flock");
	return 0;
}
