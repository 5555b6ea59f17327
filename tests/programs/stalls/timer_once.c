/* SPDX-License-Identifier: MIT */
/* A timer that expires once: nothing else ends the wait, and the program works afterwards. */
#include <sys/time.h>
#include <sys/timerfd.h>

#include "plant.h"

static void nothing(int sig)
{
	(void)sig;
}

static const char *wait_for_it(unsigned how)
{
	struct itimerspec it = {.it_value.tv_nsec = the.ms * 1000000l};
	struct itimerval iv = {.it_value.tv_usec = the.ms * 1000};
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	struct timespec t;
	uint64_t n;
	int fd;

	switch (how) {
	case 0:
		fd = timerfd_create(CLOCK_MONOTONIC, 0);
		timerfd_settime(fd, 0, &it, NULL);
		if (read(fd, &n, sizeof(n)) != sizeof(n))
			err(1, "timerfd");
		return "read";
	case 1:
		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += the.ms * 1000000l;
		t.tv_sec += t.tv_nsec / 1000000000;
		t.tv_nsec %= 1000000000;
		pthread_mutex_lock(&m);
		if (pthread_cond_timedwait(&c, &m, &t) != ETIMEDOUT)
			errx(1, "somebody came");
		pthread_mutex_unlock(&m);
		return "futex";
	default:
		signal(SIGALRM, nothing);
		setitimer(ITIMER_REAL, &iv, NULL);
		pause();
		return "pause";
	}
}

int main(int argc, char **argv)
{
	const char *call;
	uint64_t t;

	if (plant_init(argc, argv))
		return 0;
	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	t = plant_begin();
	call = wait_for_it(plant_pick(3));
	plant_end(t);
	plant_work(5 + the.after);
	plant_truth("timer", call);
	return 0;
}
