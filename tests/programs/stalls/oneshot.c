/* SPDX-License-Identifier: MIT */
/*
 * A pool of workers on one epoll, each event for one of them; each client has a socket. One request
 * of many is slow, and holds up its client alone.
 */
#include <sys/epoll.h>
#include <sys/socket.h>

#include "plant.h"

#define N 3

static int ep, fd[N][2];
static unsigned requests, slow;

static void *worker(void *arg)
{
	struct epoll_event e;
	char c;

	while (epoll_wait(ep, &e, 1, -1) == 1) {
		int own = fd[e.data.u32][1];

		if (read(own, &c, 1) != 1 || c == 'x')
			break;
		if (c == 's') {
			plant_be(&plant->culprit, the.culprit);
			plant_spend_ms(the.way, the.ms);
		}
		if (write(own, &c, 1) != 1)
			err(1, "worker");
		e.events = EPOLLIN | EPOLLONESHOT;
		epoll_ctl(ep, EPOLL_CTL_MOD, own, &e);
	}
	return arg;
}

static void *client(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;

	if (!me)
		plant_be(&plant->victim, the.victim);
	for (unsigned i = 0; i < requests; i++) {
		char c = !me && i == slow ? 's' : 'q';
		uint64_t t = plant_begin();

		if (write(fd[me][0], &c, 1) != 1 || read(fd[me][0], &c, 1) != 1)
			err(1, "client");
		if (c == 's')
			plant_end(t);
		plant_sleep_us(2000);
	}
	if (write(fd[me][0], "x", 1) != 1)
		err(1, "client");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t w[N], c[N];

	if (plant_init(argc, argv))
		return 0;
	requests = plant_between(2, 20);
	slow = plant_pick(requests);
	ep = epoll_create1(0);
	for (unsigned i = 0; i < N; i++) {
		struct epoll_event e = {.events = EPOLLIN | EPOLLONESHOT, .data.u32 = i};

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd[i]) ||
		    epoll_ctl(ep, EPOLL_CTL_ADD, fd[i][1], &e))
			err(1, "socketpair");
	}
	for (uintptr_t i = 0; i < N; i++)
		if (pthread_create(&w[i], NULL, worker, NULL) ||
		    pthread_create(&c[i], NULL, client, (void *)i))
			errx(1, "pthread_create");
	for (unsigned i = 0; i < N; i++)
		pthread_join(c[i], NULL);
	for (unsigned i = 0; i < N; i++)
		pthread_join(w[i], NULL);
	plant_truth("socket", "read");
	return 0;
}
