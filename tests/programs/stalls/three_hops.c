/* SPDX-License-Identifier: MIT */
/*
 * The victim waits for a lock of `a`, a thread; a waits for an answer of `b`, another process; b
 * waits for a lock that the culprit, a third process, keeps.
 */
#include <sys/file.h>
#include <sys/socket.h>

#include "plant.h"

static pthread_mutex_t *m;
static const char *names[2];
static int fd[2];
static bool first_is_file;

static void culprit(void)
{
	int lock = plant_file("lock", O_RDWR | O_CREAT);

	plant_be(&plant->culprit, the.culprit);
	plant_work(the.before);
	flock(lock, LOCK_EX);
	plant_turn(1);
	plant_spend_ms(the.way, the.ms);
	flock(lock, LOCK_UN);
}

static void b(void)
{
	int lock = plant_file("lock", O_RDWR | O_CREAT);
	char c;

	plant_be(&plant->hop[1], names[1]);
	if (read(fd[1], &c, 1) != 1)
		err(1, "b");
	flock(lock, LOCK_EX);
	flock(lock, LOCK_UN);
	if (write(fd[1], &c, 1) != 1)
		err(1, "b");
}

static void a(void)
{
	int file = plant_file("first", O_RDWR | O_CREAT);
	char c = 'q';

	plant_be(&plant->hop[0], names[0]);
	plant_await(1);
	first_is_file ? flock(file, LOCK_EX) : pthread_mutex_lock(m);
	plant_turn(2);
	if (write(fd[0], &c, 1) != 1 || read(fd[0], &c, 1) != 1)
		err(1, "a");
	first_is_file ? flock(file, LOCK_UN) : pthread_mutex_unlock(m);
	close(file);
}

static void victim(void)
{
	int file = plant_file("first", O_RDWR | O_CREAT);
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_await(2);
	t = plant_begin();
	first_is_file ? flock(file, LOCK_EX) : pthread_mutex_lock(m);
	plant_end(t);
	first_is_file ? flock(file, LOCK_UN) : pthread_mutex_unlock(m);
	plant_work(the.after);
	close(file);
}

int main(int argc, char **argv)
{
	struct plant_part pa, pb, pc, pv;

	if (plant_init(argc, argv))
		return 0;
	names[0] = plant_new_name(), names[1] = plant_new_name();
	first_is_file = plant_pick(2);
	m = (void *)plant->own;
	plant_mutex(m, PTHREAD_PRIO_NONE);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		err(1, "socketpair");
	plant_start(&pc, PLANT_CHILD, culprit);
	plant_start(&pb, PLANT_CHILD, b);
	plant_start(&pa, PLANT_THREAD, a);
	plant_start(&pv, plant_pick(2) ? PLANT_MAIN : PLANT_THREAD, victim);
	plant_finish(&pv);
	plant_finish(&pa);
	plant_finish(&pb);
	plant_finish(&pc);
	plant_truth("chain", NULL);
	return 0;
}
