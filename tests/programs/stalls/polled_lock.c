/* SPDX-License-Identifier: MIT */
/* A lock that is polled: the try fails, the thread sleeps a little, and tries again. Locks of
 * fcntl, of flock, and files that only one can make. */
#include "plant.h"

#include <sys/file.h>

static unsigned how, pause_us;

static const char *lock_path(void)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s.lock", plant_path);
	return path;
}

/* 0, or -1 while another process has it. */
static int try(int fd)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (how == 0)
		return fcntl(fd, F_SETLK, &l);
	if (how == 1)
		return flock(fd, LOCK_EX | LOCK_NB);
	fd = open(lock_path(), O_CREAT | O_EXCL | O_WRONLY, 0600);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

static void release(int fd)
{
	struct flock l = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

	if (how == 0)
		fcntl(fd, F_SETLK, &l);
	else if (how == 1)
		flock(fd, LOCK_UN);
	else
		unlink(lock_path());
}

static void culprit(void)
{
	int fd = plant_file("data", O_RDWR | O_CREAT);

	plant_be(&plant->culprit, the.culprit);
	if (try(fd))
		err(1, "the lock is taken");
	plant_turn(1);
	plant_spend_ms(the.way, the.ms);
	release(fd);
}

static void victim(void)
{
	int fd = plant_file("data", O_RDWR | O_CREAT);
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_await(1);
	t = plant_begin();
	while (try(fd))
		plant_sleep_us(pause_us);
	plant_end(t);
	plant_work(the.after);
	release(fd);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	how = plant_pick(3);
	pause_us = plant_between(1000, 20000);
	unlink(lock_path());
	plant_run_as(plant_pick(3), victim, PLANT_CHILD, culprit);
	plant_truth("lock", "fcntl|flock|open|openat");
	return 0;
}
