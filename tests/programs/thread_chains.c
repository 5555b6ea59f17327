/* SPDX-License-Identifier: MIT */
/*
 * thread_chains CHAINS LIFE_US LINKS: chains of threads, each of which lives for LIFE_US, makes its
 * successor and ends. After SIGUSR1 every chain has LINKS links more, each with one getppid, and
 * the program ends: CHAINS * LINKS calls in all.
 */
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t counting;
static long life_us, links;
static pthread_attr_t detached;

static void begin(int sig)
{
	counting = sig;
}

/* arg: links done since counting began */
static void *link_main(void *arg)
{
	intptr_t done = (intptr_t)arg;
	pthread_t next;

	if (life_us)
		usleep((useconds_t)life_us);
	if (counting) {
		syscall(SYS_getppid);
		done++;
	}
	if (done < links && pthread_create(&next, &detached, link_main, (void *)done))
		err(1, "pthread_create");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t first;

	if (argc < 4)
		errx(2, "usage: thread_chains CHAINS LIFE_US LINKS");
	life_us = atol(argv[2]);
	links = atol(argv[3]);
	signal(SIGUSR1, begin);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&detached, 64 << 10);
	for (long i = 0; i < atol(argv[1]); i++)
		if (pthread_create(&first, &detached, link_main, NULL))
			err(1, "pthread_create");
	pthread_exit(NULL); /* the process ends with its last thread */
}
