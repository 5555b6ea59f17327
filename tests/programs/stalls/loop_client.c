/* SPDX-License-Identifier: MIT */
/*
 * A client over loopback TCP that waits for its replies by select, poll or epoll. The server is its
 * own thread and had its first request before it ever slept: the first wakeup does not show which
 * side is the client, the descriptor's own calls do.
 */
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "plant.h"

static unsigned how, slow, requests;
static int listener, fd;

static void server(void)
{
	int c = accept(listener, NULL, NULL);
	char q;

	plant_be(&plant->culprit, the.culprit);
	for (unsigned i = 0; read(c, &q, 1) == 1; i++) {
		if (i == slow)
			plant_spend_ms(the.way, the.ms);
		if (write(c, &q, 1) != 1)
			err(1, "server");
	}
	close(c);
}

static void await_answer(int ep)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct timeval tv = {20, 0};
	struct epoll_event e;
	fd_set set;
	int n;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	if (how == 0)
		n = select(fd + 1, &set, NULL, NULL, &tv);
	else
		n = how == 1 ? poll(&p, 1, 20000) : epoll_wait(ep, &e, 1, 20000);
	if (n != 1)
		err(1, "client");
}

static void client(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	struct epoll_event e = {.events = EPOLLIN};
	int ep = epoll_create1(0);
	socklen_t size = sizeof(a);
	char q = 'q';

	plant_be(&plant->victim, the.victim);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (getsockname(listener, (struct sockaddr *)&a, &size) ||
	    connect(fd, (struct sockaddr *)&a, size))
		err(1, "connect");
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
	for (unsigned i = 0; i < requests; i++) {
		uint64_t t;

		plant_sleep_us(2000);
		if (write(fd, &q, 1) != 1)
			err(1, "client");
		t = plant_begin();
		await_answer(ep);
		if (i == slow)
			plant_end(t);
		if (read(fd, &q, 1) != 1)
			err(1, "client");
	}
	close(fd);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	if (plant_init(argc, argv))
		return 0;
	how = plant_pick(3);
	requests = plant_between(2, 8);
	slow = plant_pick(requests);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 1))
		err(1, "listen");
	plant_run_as(PLANT_MAIN, client, PLANT_THREAD, server);
	plant_truth("socket", "select|pselect6|poll|epoll_wait|epoll_pwait");
	return 0;
}
