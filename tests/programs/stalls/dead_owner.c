/* SPDX-License-Identifier: MIT */
/* The owner of a robust lock, another process, dies with it. */
#include "plant.h"

int main(int argc, char **argv)
{
	pthread_mutex_t *m;
	pthread_mutexattr_t a;
	uint64_t t;
	pid_t p;

	if (plant_init(argc, argv))
		return 0;
	m = (void *)plant->own;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	if (pthread_mutex_init(m, &a))
		errx(1, "pthread_mutex_init");
	p = fork();
	if (!p) {
		plant_be(&plant->culprit, the.culprit);
		pthread_mutex_lock(m);
		plant_turn(1);
		plant_spend_ms(the.way, the.ms);
		_exit(0);
	}
	plant_be(&plant->victim, the.victim);
	plant_await(1);
	t = plant_begin();
	if (pthread_mutex_lock(m) != EOWNERDEAD)
		errx(1, "the owner did not die");
	plant_end(t);
	plant_work(the.after);
	waitpid(p, NULL, 0);
	plant_truth("lock", "futex");
	return 0;
}
