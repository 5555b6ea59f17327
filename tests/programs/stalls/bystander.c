/* SPDX-License-Identifier: MIT */
/* A client, which may write a log, waits for its server, while another thread of the program, which
 * has nothing to do with either, computes all the time. */
#include <semaphore.h>

#include "service.h"

static int there[2], back[2];
static sem_t *sem; /* or NULL: two pipes */
static int logged = -1;

static void give(int fd, sem_t *s)
{
	if (sem ? sem_post(s) : write(fd, "x", 1) != 1)
		err(1, "give");
}

static void get(int fd, sem_t *s)
{
	char c;

	if (sem ? sem_wait(s) : read(fd, &c, 1) != 1)
		err(1, "get");
}

static void ask(void)
{
	if (logged >= 0 && write(logged, "asks\n", 5) != 5)
		err(1, "log");
	give(there[1], sem);
}

static void hear(void)
{
	get(there[0], sem);
}

static void answer(void)
{
	give(back[1], sem ? sem + 1 : NULL);
}

static void take(void)
{
	get(back[0], sem ? sem + 1 : NULL);
}

static void compute(void)
{
	struct sched_param none = {0};

	/* Where CPUs are few the server is not to wait for this one. */
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		err(1, "sched_setscheduler");
	while (!atomic_load(&plant->over))
		;
}

int main(int argc, char **argv)
{
	struct plant_part busy;

	if (plant_init(argc, argv))
		return 0;
	the.way = 1; /* the server computes, too */
	if (pipe(there) || pipe(back))
		err(1, "pipe");
	if (plant_pick(2)) {
		sem = (void *)plant->own;
		sem_init(sem, 1, 0);
		sem_init(sem + 1, 1, 0);
	}
	if (plant_pick(2))
		logged = plant_file("log", O_WRONLY | O_CREAT | O_APPEND);
	plant_start(&busy, PLANT_THREAD, compute);
	service_run();
	plant_finish(&busy);
	plant_truth(sem ? "semaphore" : "pipe", sem ? "futex" : "read");
	return 0;
}
