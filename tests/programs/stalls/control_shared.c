/* SPDX-License-Identifier: MIT */
/*
 * No stall: the program waits while its threads or children, each with its share of the work, all
 * compute; or for the output of another program that computes.
 */
#include "plant.h"

#define WORKERS 2

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, all = PTHREAD_COND_INITIALIZER;
static unsigned jobs, left;
static bool over;
static int results[2];

static void in_pool(void)
{
	pthread_mutex_lock(&m);
	for (;;) {
		while (!jobs && !over)
			pthread_cond_wait(&work, &m);
		if (!jobs)
			break;
		jobs--;
		pthread_mutex_unlock(&m);
		plant_spin_ms(the.ms / 2);
		pthread_mutex_lock(&m);
		if (!--left)
			pthread_cond_signal(&all);
	}
	pthread_mutex_unlock(&m);
}

static void pool(void)
{
	struct plant_part p[WORKERS];

	for (unsigned i = 0; i < WORKERS; i++)
		plant_start(&p[i], PLANT_THREAD, in_pool);
	plant_sleep_us(5000);
	pthread_mutex_lock(&m);
	jobs = left = 2 * WORKERS;
	pthread_cond_broadcast(&work);
	while (left)
		pthread_cond_wait(&all, &m);
	over = true;
	pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&m);
	plant_work(the.after);
	for (unsigned i = 0; i < WORKERS; i++)
		plant_finish(&p[i]);
}

static void child(void)
{
	for (unsigned i = 0; i < 4; i++) {
		plant_spin_ms(the.ms / 4);
		if (write(results[1], "r", 1) != 1)
			err(1, "write");
	}
}

static void children(void)
{
	struct plant_part p[WORKERS];
	char c;

	if (pipe(results))
		err(1, "pipe");
	for (unsigned i = 0; i < WORKERS; i++)
		plant_start(&p[i], PLANT_CHILD, child);
	for (unsigned i = 0; i < 4 * WORKERS; i++)
		if (read(results[0], &c, 1) != 1)
			err(1, "read");
	plant_work(the.after);
	for (unsigned i = 0; i < WORKERS; i++)
		plant_finish(&p[i]);
}

/* The other program is this one under another name. */
static void output(void)
{
	char ms[16], c;
	pid_t p;

	snprintf(ms, sizeof(ms), "%u", the.ms);
	if (pipe(results))
		err(1, "pipe");
	p = fork();
	if (!p) {
		dup2(results[1], 1);
		close(results[0]);
		close(results[1]);
		execl("/proc/self/exe", "compute", ms, NULL);
		_exit(1);
	}
	close(results[1]);
	while (read(results[0], &c, 1) == 1)
		;
	plant_work(5 + the.after);
	waitpid(p, NULL, 0);
}

int main(int argc, char **argv)
{
	if (!strcmp(argv[0], "compute")) {
		plant_spin_ms((unsigned)atoi(argv[1]));
		return write(1, "done", 4) != 4;
	}
	if (plant_init(argc, argv))
		return 0;
	plant_be(NULL, the.victim);
	switch (plant_pick(3)) {
	case 0: pool(); break;
	case 1: children(); break;
	default: output();
	}
	plant_truth("none", NULL);
	return 0;
}
