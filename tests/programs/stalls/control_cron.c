/* SPDX-License-Identifier: MIT */
/* No stall: something that a periodic timer starts. */
#include <sys/timerfd.h>

#include "plant.h"

int main(int argc, char **argv)
{
	struct itimerspec it;
	uint64_t count;
	unsigned period;
	int fd;

	if (plant_init(argc, argv))
		return 0;
	plant_be(NULL, the.victim);
	period = plant_between(50, 300);
	it.it_value = it.it_interval = (struct timespec){0, period * 1000000l};
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	timerfd_settime(fd, 0, &it, NULL);
	for (unsigned i = 0; i < 900 / period; i++) {
		if (read(fd, &count, sizeof(count)) != sizeof(count))
			err(1, "timerfd");
		plant_work(2);
	}
	plant_truth("none", NULL);
	return 0;
}
