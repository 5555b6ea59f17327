/* SPDX-License-Identifier: MIT */
/* No stall: consumers of a queue that wait for work, which comes now and then from a timer's beat.
 */
#include <semaphore.h>
#include <sys/timerfd.h>

#include "plant.h"

static sem_t *items;
static int fds[2];
static unsigned n, how;

static void consumer(void)
{
	char c;

	plant_be(NULL, the.culprit);
	for (unsigned i = 0; i < n; i++) {
		if (how == 0)
			sem_wait(items);
		else if (read(fds[0], &c, 1) != 1)
			err(1, "consumer");
		plant_work(2);
	}
}

static void producer(void)
{
	struct itimerspec t = {.it_interval.tv_nsec = the.ms * 1000000l,
			       .it_value.tv_nsec = the.ms * 1000000l};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	uint64_t beats;

	plant_be(NULL, the.victim);
	timerfd_settime(fd, 0, &t, NULL);
	for (unsigned i = 0; i < n; i++) {
		if (read(fd, &beats, sizeof(beats)) != sizeof(beats))
			err(1, "producer");
		plant_work(1);
		if (how == 0)
			sem_post(items);
		else if (write(fds[1], "i", 1) != 1)
			err(1, "producer");
	}
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	n = plant_between(2, 5);
	how = plant_pick(2);
	the.ms = plant_between(80, 250);
	items = (void *)plant->own;
	sem_init(items, 1, 0);
	if (pipe(fds))
		err(1, "pipe");
	plant_run(consumer, producer);
	plant_truth("none", NULL);
	return 0;
}
