/* SPDX-License-Identifier: MIT */
/* No stall: a server that waits in epoll for requests which come now and then. */
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "plant.h"

static int fd;
static unsigned n;

static void server(void)
{
	struct epoll_event e = {.events = EPOLLIN};
	int ep = epoll_create1(EPOLL_CLOEXEC);
	eventfd_t v;

	plant_be(NULL, the.culprit);
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
	for (unsigned i = 0; i < n; i++) {
		epoll_wait(ep, &e, 1, -1);
		eventfd_read(fd, &v);
		plant_work(1);
	}
}

static void client(void)
{
	plant_be(NULL, the.victim);
	for (unsigned i = 0; i < n; i++) {
		plant_sleep_us(the.ms * 1000);
		eventfd_write(fd, 1);
		plant_work(3);
	}
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	/* Of a single one the program would need that event once, and then compute. */
	n = plant_between(2, 4);
	fd = eventfd(0, EFD_CLOEXEC);
	plant_run(client, server);
	plant_truth("none", NULL);
	return 0;
}
