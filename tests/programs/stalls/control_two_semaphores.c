/* SPDX-License-Identifier: MIT */
/* No stall: a server waits for requests, of which there are few, at one semaphore of a set, its
 * clients for answers at another one. */
#include <sys/ipc.h>
#include <sys/sem.h>

#include "plant.h"

static int set;
static unsigned requests;

/* The operation lies at the same place in parts that are processes. */
static void change(unsigned short which, short by)
{
	struct sembuf op = {which, by, 0};

	if (semop(set, &op, 1))
		err(1, "semop");
}

static void server(void)
{
	plant_be(NULL, the.culprit);
	for (unsigned i = 0; i < requests; i++) {
		change(0, -1);
		plant_work(3);
		change(1, 1);
	}
}

static void client(void)
{
	plant_be(NULL, the.victim);
	for (unsigned i = 0; i < requests; i++) {
		plant_spin_ms(i ? 5 : the.ms);
		change(0, 1);
		change(1, -1);
	}
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	requests = plant_between(2, 5);
	set = semget(IPC_PRIVATE, 2, 0600);
	if (set < 0)
		plant_skip("this kernel has no System V semaphores");
	plant_run_as(PLANT_CHILD, client, PLANT_CHILD, server);
	semctl(set, 0, IPC_RMID);
	plant_truth("none", NULL);
	return 0;
}
