/* SPDX-License-Identifier: MIT */
/*
 * No stall: a thread that was made for a task hands its result over by a pipe, then waits for more,
 * by futex, as those of an event loop's executor do. There is none: it is requested to exit, by its
 * creator or by another thread.
 */
#include <semaphore.h>

#include "plant.h"

static sem_t more;
static int result[2];

static void executor(void)
{
	plant_be(NULL, the.culprit);
	plant_work(1);
	if (write(result[1], "r", 1) != 1)
		err(1, "write");
	if (sem_wait(&more))
		err(1, "semaphore");
}

static void ends(void)
{
	if (sem_post(&more))
		err(1, "semaphore");
}

int main(int argc, char **argv)
{
	struct plant_part p, q;
	bool by_other;
	char c;

	if (plant_init(argc, argv))
		return 0;
	by_other = plant_pick(2);
	plant_be(NULL, the.victim);
	sem_init(&more, 0, 0);
	if (pipe(result))
		err(1, "pipe");
	plant_start(&p, PLANT_THREAD, executor);
	if (poll(&(struct pollfd){.fd = result[0], .events = POLLIN}, 1, -1) != 1 ||
	    read(result[0], &c, 1) != 1)
		err(1, "read");
	plant_spin_ms(the.ms);
	if (by_other) {
		plant_start(&q, PLANT_THREAD, ends);
		plant_finish(&q);
	} else {
		ends();
	}
	plant_finish(&p);
	plant_truth("none", NULL);
	return 0;
}
