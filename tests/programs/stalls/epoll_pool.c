/* SPDX-License-Identifier: MIT */
/*
 * A server in two parts: a loop that waits in epoll for whatever comes takes the request and hands
 * it to a handler thread, which answers the client itself. One request is slow in the handler.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "plant.h"

static int fd[2], jobs;
static unsigned requests, slow;
static bool by_cond;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static int queued;

static void hand_over(void)
{
	if (!by_cond) {
		eventfd_write(jobs, 1);
		return;
	}
	pthread_mutex_lock(&m);
	queued++;
	pthread_cond_signal(&work);
	pthread_mutex_unlock(&m);
}

static void take_job(void)
{
	eventfd_t v;

	if (!by_cond) {
		eventfd_read(jobs, &v);
		return;
	}
	pthread_mutex_lock(&m);
	while (!queued)
		pthread_cond_wait(&work, &m);
	queued--;
	pthread_mutex_unlock(&m);
}

static void handler(void)
{
	plant_be(&plant->culprit, the.culprit);
	for (unsigned i = 0; i < requests; i++) {
		take_job();
		if (i == slow)
			plant_spend_ms(the.way, the.ms);
		if (write(fd[1], "a", 1) != 1)
			err(1, "handler");
	}
}

static void server(void)
{
	struct epoll_event e = {.events = EPOLLIN};
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct plant_part p;
	char c;

	plant_start(&p, PLANT_THREAD, handler);
	epoll_ctl(ep, EPOLL_CTL_ADD, fd[1], &e);
	for (unsigned i = 0; i < requests; i++) {
		if (epoll_wait(ep, &e, 1, -1) != 1 || read(fd[1], &c, 1) != 1)
			err(1, "server");
		hand_over();
	}
	plant_finish(&p);
}

static void client(void)
{
	char c = 'q';

	plant_be(&plant->victim, the.victim);
	for (unsigned i = 0; i < requests; i++) {
		uint64_t t;

		plant_work(1 + the.before % 3);
		t = plant_begin();
		if (send(fd[0], &c, 1, 0) != 1 || recv(fd[0], &c, 1, 0) != 1)
			err(1, "client");
		if (i == slow)
			plant_end(t);
	}
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	requests = plant_between(1, 6);
	slow = plant_pick(requests);
	by_cond = plant_pick(2);
	jobs = eventfd(0, EFD_CLOEXEC);
	if (jobs < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		err(1, "socketpair");
	plant_run(client, server);
	plant_truth("socket", "recvfrom");
	return 0;
}
