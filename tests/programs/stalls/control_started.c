/* SPDX-License-Identifier: MIT */
/*
 * No stall: a helper thread notifies its creator that it has started, then waits for whatever
 * comes; that is the end of the program, or a request now and then.
 */
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "plant.h"

static sem_t begun;
static int fd;
static unsigned n;

static void *helper(void *arg)
{
	struct epoll_event e = {.events = EPOLLIN};
	int ep = epoll_create1(EPOLL_CLOEXEC);
	eventfd_t v;

	prctl(PR_SET_NAME, the.culprit);
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
	sem_post(&begun);
	for (unsigned i = 0; i < n; i++) {
		epoll_wait(ep, &e, 1, -1);
		eventfd_read(fd, &v);
		plant_work(1);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t h;

	if (plant_init(argc, argv))
		return 0;
	n = plant_between(1, 3);
	fd = eventfd(0, 0);
	sem_init(&begun, 0, 0);
	plant_be(NULL, the.victim);
	if (pthread_create(&h, NULL, helper, NULL))
		errx(1, "pthread_create");
	sem_wait(&begun);
	for (unsigned i = 0; i < n; i++) {
		plant_spend_ms(the.way, the.ms);
		eventfd_write(fd, 1);
	}
	pthread_join(h, NULL);
	plant_truth("none", NULL);
	return 0;
}
