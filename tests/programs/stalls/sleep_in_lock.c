/* SPDX-License-Identifier: MIT */
/* The holder of a lock sleeps: the victim's chain must end in that sleep. */
#include <sys/file.h>

#include "plant.h"

static pthread_mutex_t *m;
static bool file;

static void culprit(void)
{
	int fd = plant_file("lock", O_RDWR | O_CREAT);

	plant_be(&plant->culprit, the.culprit);
	plant_work(the.before);
	file ? flock(fd, LOCK_EX) : pthread_mutex_lock(m);
	plant_turn(1);
	plant_work(the.before % 4);
	plant_sleep_us(the.ms * 1000);
	plant_work(the.after % 4);
	file ? flock(fd, LOCK_UN) : pthread_mutex_unlock(m);
	close(fd);
}

static void victim(void)
{
	int fd = plant_file("lock", O_RDWR | O_CREAT);
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_await(1);
	t = plant_begin();
	file ? flock(fd, LOCK_EX) : pthread_mutex_lock(m);
	plant_end(t);
	file ? flock(fd, LOCK_UN) : pthread_mutex_unlock(m);
	plant_work(the.after);
	close(fd);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	file = plant_pick(2);
	m = (void *)plant->own;
	plant_mutex(m, PTHREAD_PRIO_NONE);
	plant_run(victim, culprit);
	plant_truth("lock", file ? "flock" : "futex");
	return 0;
}
