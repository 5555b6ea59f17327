/* SPDX-License-Identifier: MIT */
/*
 * A client whose event loop waits for the one reply it has requested; what it reads next says of
 * which descriptor. Its server is slow.
 */
#include <sys/epoll.h>
#include <sys/socket.h>

#include "plant.h"

static void server(int fd)
{
	char c;

	plant_be(&plant->culprit, the.culprit);
	for (bool first = true; read(fd, &c, 1) == 1; first = false) {
		if (first)
			plant_spend_ms(the.way, the.ms);
		if (write(fd, &c, 1) != 1)
			err(1, "server");
	}
}

int main(int argc, char **argv)
{
	struct epoll_event e = {.events = EPOLLIN};
	unsigned requests;
	int fd[2], ep;
	uint64_t t;
	pid_t p;
	char c = 'q';

	if (plant_init(argc, argv))
		return 0;
	requests = plant_between(1, 4);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		err(1, "socketpair");
	p = fork();
	if (!p) {
		close(fd[0]);
		server(fd[1]);
		_exit(0);
	}
	close(fd[1]);
	plant_be(&plant->victim, the.victim);
	ep = epoll_create1(0);
	epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &e);
	plant_sleep_us(20000);
	for (unsigned i = 0; i < requests; i++) {
		if (write(fd[0], &c, 1) != 1)
			err(1, "client");
		t = plant_begin();
		if (epoll_wait(ep, &e, 1, -1) != 1)
			err(1, "epoll_wait");
		if (!i)
			plant_end(t);
		if (read(fd[0], &c, 1) != 1)
			err(1, "client");
		plant_work(3);
	}
	close(fd[0]);
	waitpid(p, NULL, 0);
	plant_truth("socket", "epoll_wait");
	return 0;
}
