/* SPDX-License-Identifier: MIT */
/* Requests and answers are counts in two eventfds. */
#include <sys/eventfd.h>

#include "service.h"

static int there, back;

static void count(int fd)
{
	eventfd_t v;

	if (eventfd_read(fd, &v))
		err(1, "eventfd");
}

static void ask(void)
{
	eventfd_write(there, 1);
}

static void take(void)
{
	count(back);
}

static void hear(void)
{
	count(there);
}

static void answer(void)
{
	eventfd_write(back, 1);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	there = eventfd(0, EFD_CLOEXEC);
	back = eventfd(0, plant_pick(2) ? EFD_SEMAPHORE : 0);
	if (there < 0 || back < 0)
		err(1, "eventfd");
	service_run();
	plant_truth("eventfd", "read");
	return 0;
}
