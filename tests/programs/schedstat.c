/* SPDX-License-Identifier: MIT */
/*
 * Threads that say how long they ran, by the kernel's own account (/proc/thread-self/schedstat):
 * one that computes, one that sleeps and computes, two that hand a byte to each other. Prints
 * "TID NAME RAN_NS" per thread. Usage: schedstat CPU (-1: any)
 *
 * Bursts are 3 ms: the kernel charges a woken thread from the wakeup on when it takes the CPU at
 * once, a few microseconds before it is switched in; that must stay below the 1% that is tested.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BURST_US 3000

static int cpu, ab[2], ba[2];

struct worker {
	const char *name;
	void (*work)(void);
	pthread_t th;
	long tid;
	unsigned long long ran;
};

static long us_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* CPU time, not time: others may use the CPU meanwhile. Few system calls. */
static void burn(long us)
{
	long end = us_of(CLOCK_THREAD_CPUTIME_ID) + us;

	while (us_of(CLOCK_THREAD_CPUTIME_ID) < end)
		for (long t = us_of(CLOCK_MONOTONIC) + 200; us_of(CLOCK_MONOTONIC) < t;)
			;
}

static void busy(void)
{
	burn(300000);
}

static void sleeper(void)
{
	for (int i = 0; i < 60; i++) {
		usleep(1500);
		burn(BURST_US);
	}
}

static void ping(void)
{
	char c = 0;

	for (int i = 0; i < 50; i++) {
		burn(BURST_US);
		if (write(ab[1], &c, 1) != 1 || read(ba[0], &c, 1) != 1)
			abort();
	}
}

static void pong(void)
{
	char c;

	for (int i = 0; i < 50; i++) {
		if (read(ab[0], &c, 1) != 1)
			abort();
		burn(BURST_US);
		if (write(ba[1], &c, 1) != 1)
			abort();
	}
}

static void *thread(void *arg)
{
	struct worker *w = arg;
	char text[128] = "";
	FILE *f;

	pthread_setname_np(pthread_self(), w->name);
	w->work();
	w->tid = syscall(SYS_gettid);
	sched_yield(); /* brings the account up to date */
	f = fopen("/proc/thread-self/schedstat", "r");
	if (!f || !fgets(text, sizeof(text), f))
		abort();
	fclose(f);
	w->ran = strtoull(text, NULL, 10);
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker w[] = {{.name = "busy", .work = busy},
			     {.name = "sleeper", .work = sleeper},
			     {.name = "ping", .work = ping},
			     {.name = "pong", .work = pong}};

	cpu = argc > 1 ? atoi(argv[1]) : -1;
	if (cpu >= 0) {
		cpu_set_t s;

		CPU_ZERO(&s);
		CPU_SET(cpu, &s);
		if (sched_setaffinity(0, sizeof(s), &s))
			return 3;
	}
	if (pipe(ab) || pipe(ba))
		return 1;
	/* One after the other, so that the CPU is idle between a sleeper's bursts; ping and pong
	 * together. */
	for (int i = 0; i < 2; i++) {
		pthread_create(&w[i].th, NULL, thread, &w[i]);
		pthread_join(w[i].th, NULL);
	}
	for (int i = 2; i < 4; i++)
		pthread_create(&w[i].th, NULL, thread, &w[i]);
	for (int i = 2; i < 4; i++)
		pthread_join(w[i].th, NULL);
	for (int i = 0; i < 4; i++)
		printf("%ld %s %llu\n", w[i].tid, w[i].name, w[i].ran);
	return 0;
}
