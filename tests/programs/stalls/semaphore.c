/* SPDX-License-Identifier: MIT */
/* The client waits on a semaphore for its answer: POSIX (futex) or System V (semop). */
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/sem.h>

#include "service.h"

static sem_t *there, *back;
static int sysv = -1;

static void down(unsigned short which)
{
	struct sembuf op = {which, -1, 0};

	if (sysv >= 0 ? semop(sysv, &op, 1) : sem_wait(which ? back : there))
		err(1, "semaphore");
}

static void give(unsigned short which)
{
	struct sembuf op = {which, 1, 0};

	if (sysv >= 0 ? semop(sysv, &op, 1) : sem_post(which ? back : there))
		err(1, "semaphore");
}

static void ask(void)
{
	give(0);
}

static void take(void)
{
	down(1);
}

static void hear(void)
{
	down(0);
}

static void answer(void)
{
	give(1);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	there = (void *)plant->own, back = there + 1;
	if (plant_pick(2)) {
		sysv = semget(IPC_PRIVATE, 2, 0600);
		if (sysv < 0)
			plant_skip("this kernel has no System V semaphores");
	}
	sem_init(there, 1, 0);
	sem_init(back, 1, 0);
	service_run();
	if (sysv >= 0)
		semctl(sysv, 0, IPC_RMID);
	plant_truth("semaphore", sysv >= 0 ? "semop|semtimedop" : "futex");
	return 0;
}
