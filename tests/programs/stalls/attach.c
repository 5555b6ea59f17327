/* SPDX-License-Identifier: MIT */
/*
 * The victim waits before the recording begins. TRUTH.ready holds the victim's process id once it
 * does; the culprit keeps the lock until TRUTH.go exists, and a while longer.
 */
#include <sys/file.h>

#include "plant.h"

static pthread_mutex_t *m;
static bool file;

static void culprit(void)
{
	char go[4200];
	int fd = plant_file("lock", O_RDWR | O_CREAT);

	plant_be(&plant->culprit, the.culprit);
	file ? flock(fd, LOCK_EX) : pthread_mutex_lock(m);
	plant_turn(1);
	snprintf(go, sizeof(go), "%s.go", plant_path);
	while (access(go, F_OK))
		plant_sleep_us(5000);
	plant_spend_ms(the.way, the.ms);
	file ? flock(fd, LOCK_UN) : pthread_mutex_unlock(m);
	close(fd);
}

static void victim(void)
{
	int fd = plant_file("lock", O_RDWR | O_CREAT),
	    ready = plant_file("ready.new", O_WRONLY | O_CREAT);
	char from[4200], to[4200];
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_await(1);
	dprintf(ready, "%d\n", getpid());
	snprintf(from, sizeof(from), "%s.ready.new", plant_path);
	snprintf(to, sizeof(to), "%s.ready", plant_path);
	rename(from, to);
	t = plant_begin();
	file ? flock(fd, LOCK_EX) : pthread_mutex_lock(m);
	plant_end(t);
	file ? flock(fd, LOCK_UN) : pthread_mutex_unlock(m);
	plant_work(the.after);
	close(fd);
	close(ready);
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
