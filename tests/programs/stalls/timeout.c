/* SPDX-License-Identifier: MIT */
/* The client's request is lost; only the timer of its wait expires, then it sends it again. */
#include <semaphore.h>
#include <sys/socket.h>

#include "plant.h"

static int fd[2];
static sem_t *there, *back;
static unsigned how;

static void server(void)
{
	char c;

	plant_be(&plant->hop[0], the.culprit);
	for (int i = 0; i < 2; i++) {
		if (how == 0)
			sem_wait(there);
		else if (read(fd[1], &c, 1) != 1)
			err(1, "server");
		if (i == 0)
			continue;
		if (how == 0)
			sem_post(back);
		else if (write(fd[1], &c, 1) != 1)
			err(1, "server");
	}
}

static bool ask(void)
{
	struct pollfd p = {.fd = fd[0], .events = POLLIN};
	struct timespec t;
	char c = 'q';

	if (how == 0) {
		sem_post(there);
		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += the.ms * 1000000l;
		t.tv_sec += t.tv_nsec / 1000000000;
		t.tv_nsec %= 1000000000;
		return !sem_timedwait(back, &t);
	}
	if (write(fd[0], &c, 1) != 1)
		err(1, "client");
	if (how == 1 && poll(&p, 1, (int)the.ms) <= 0)
		return false;
	return recv(fd[0], &c, 1, 0) == 1;
}

static void client(void)
{
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	t = plant_begin();
	if (ask())
		errx(1, "an answer");
	plant_end(t);
	if (!ask())
		errx(1, "no answer");
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	struct timeval tv;

	if (plant_init(argc, argv))
		return 0;
	how = plant_pick(3);
	there = (void *)plant->own, back = there + 1;
	sem_init(there, 1, 0);
	sem_init(back, 1, 0);
	tv = (struct timeval){0, the.ms * 1000};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) ||
	    (how == 2 && setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv))))
		err(1, "socketpair");
	plant_run(client, server);
	plant_truth("timer", how == 0 ? "futex" : how == 1 ? "poll" : "recvfrom");
	return 0;
}
