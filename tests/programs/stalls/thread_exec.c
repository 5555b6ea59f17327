/* SPDX-License-Identifier: MIT */
/*
 * The culprit is one thread of several, and becomes another program once it let the lock go: from
 * then on it has its process's number, but then it had another.
 */
#include <sys/file.h>

#include "plant.h"

static void culprit(void)
{
	int fd = plant_file("lock", O_RDWR | O_CREAT);

	plant_be(&plant->culprit, the.culprit);
	flock(fd, LOCK_EX);
	plant_turn(1);
	plant_spend_ms(the.way, the.ms);
	flock(fd, LOCK_UN);
	plant_sleep_us(2000);
	execl("/bin/true", "true", NULL);
	_exit(1);
}

static void process(void)
{
	struct plant_part p;

	plant_start(&p, PLANT_THREAD, culprit);
	plant_finish(&p);
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
	plant_run_as(plant_pick(3), victim, PLANT_CHILD, process);
	plant_truth("lock", "flock");
	return 0;
}
