/* SPDX-License-Identifier: MIT */
/* A wait in many short tries, each with a time-out: for a condition, a semaphore, a byte. */
#include <semaphore.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "plant.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static sem_t s;
static int fd[2];
static bool is_ready;
static unsigned how, step_ms;

static struct timespec later(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += step_ms * 1000000l;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void culprit(void)
{
	plant_be(&plant->culprit, the.culprit);
	plant_await(1);
	plant_spend_ms(the.way, the.ms);
	if (how == 0) {
		pthread_mutex_lock(&m);
		is_ready = true;
		pthread_cond_signal(&ready);
		pthread_mutex_unlock(&m);
	} else if (how == 1) {
		sem_post(&s);
	} else if (write(fd[1], "x", 1) != 1) {
		err(1, "write");
	}
	plant_work(the.before);
}

static void await(void)
{
	struct pollfd p = {.fd = fd[0], .events = POLLIN};
	struct timespec t;
	char c;

	if (how == 0) {
		pthread_mutex_lock(&m);
		while (!is_ready)
			t = later(), pthread_cond_timedwait(&ready, &m, &t);
		pthread_mutex_unlock(&m);
	} else if (how == 1) {
		do
			t = later();
		while (sem_timedwait(&s, &t));
	} else if (how == 2) {
		while (poll(&p, 1, (int)step_ms) != 1)
			;
	}
	while (how >= 2 && recv(fd[0], &c, 1, 0) != 1)
		;
}

static void victim(void)
{
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_turn(1);
	t = plant_begin();
	await();
	plant_end(t);
	plant_work(3 + the.after);
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = {"futex", "semaphore", "socket", "socket"};
	struct timeval tv = {0};

	if (plant_init(argc, argv))
		return 0;
	how = plant_pick(4);
	step_ms = plant_between(30, 70);
	tv.tv_usec = step_ms * 1000;
	sem_init(&s, 0, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) ||
	    (how == 3 && setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv))))
		err(1, "socketpair");
	plant_run_as(PLANT_THREAD, victim, PLANT_THREAD, culprit);
	plant_truth(kinds[how], "futex|poll|recvfrom");
	return 0;
}
