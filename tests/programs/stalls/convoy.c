/* SPDX-License-Identifier: MIT */
/* Several threads and processes wait for one lock at the same time; each is as much a victim. */
#include <sys/file.h>

#include "plant.h"

static pthread_mutex_t *m;
static bool file;
static unsigned waiters;
static const char *names[PLANT_MAX_HOPS];
static _Atomic unsigned *next;

static void culprit(void)
{
	int fd = plant_file("lock", O_RDWR | O_CREAT);

	plant_be(&plant->culprit, the.culprit);
	plant_work(the.before);
	file ? flock(fd, LOCK_EX) : pthread_mutex_lock(m);
	plant_turn(1);
	plant_spend_ms(the.way, the.ms);
	file ? flock(fd, LOCK_UN) : pthread_mutex_unlock(m);
	close(fd);
}

static void wait_for_lock(void)
{
	int fd = plant_file("lock", O_RDWR | O_CREAT);

	plant_await(1);
	file ? flock(fd, LOCK_EX) : pthread_mutex_lock(m);
	file ? flock(fd, LOCK_UN) : pthread_mutex_unlock(m);
	close(fd);
}

static void other(void)
{
	unsigned i = atomic_fetch_add(next, 1);

	plant_be(&plant->hop[i], names[i]);
	wait_for_lock();
}

static void victim(void)
{
	struct plant_part p[PLANT_MAX_HOPS];
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	for (unsigned i = 0; i < waiters; i++)
		plant_start(&p[i], i % 2 ? PLANT_CHILD : PLANT_THREAD, other);
	plant_await(1);
	t = plant_begin();
	wait_for_lock();
	plant_end(t);
	plant_work(the.after);
	for (unsigned i = 0; i < waiters; i++)
		plant_finish(&p[i]);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	file = plant_pick(2);
	waiters = plant_between(1, PLANT_MAX_HOPS);
	for (unsigned i = 0; i < waiters; i++)
		names[i] = plant_new_name();
	m = (void *)plant->own;
	next = (void *)(plant->own + 1024);
	plant_mutex(m, PTHREAD_PRIO_NONE);
	plant_run(victim, culprit);
	plant_truth("convoy", file ? "flock" : "futex");
	return 0;
}
