/* SPDX-License-Identifier: MIT */
/* A client waits for its server; both let time go by in timed waits on words of their own, as
 * runtimes sleep. */
#include <semaphore.h>

#include "service.h"

static sem_t *sem;

static void give(sem_t *s)
{
	if (sem_post(s))
		err(1, "sem_post");
}

static void get(sem_t *s)
{
	if (sem_wait(s))
		err(1, "sem_wait");
}

static void ask(void)
{
	give(sem);
}

static void hear(void)
{
	get(sem);
}

static void answer(void)
{
	give(sem + 1);
}

static void take(void)
{
	get(sem + 1);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	naps = true;
	sem = (void *)plant->own;
	sem_init(sem, 1, 0);
	sem_init(sem + 1, 1, 0);
	service_run();
	plant_truth("semaphore", "futex");
	return 0;
}
