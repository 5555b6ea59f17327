/* SPDX-License-Identifier: MIT */
/*
 * Threads that say how long they ran, by the kernel's own account (/proc/thread-self/schedstat):
 * one that computes, one that sleeps and computes, two that hand a byte to each other; bursts are
 * of 3 ms. Then two that hand a byte to each other in bursts of 10 us (tick, tock).
 *
 * The kernel charges a woken thread that takes the CPU at once from the wakeup on, some
 * microseconds before it is switched in, and the thread that ran there as much less: the account of
 * tick and tock is only known to lie between running and running + runnable; that of the others
 * lacks some microseconds of each time they were preempted.
 *
 * Prints "TID NAME RAN_NS STILL_NS PREEMPTED" per thread: STILL is the time of its 3 ms bursts that
 * the kernel charges neither as running nor as waiting for a CPU: the host of a virtual machine had
 * it (much of it never makes a tick of "steal"); PREEMPTED is how often it was switched out while
 * it could run.
 * Usage: schedstat CPU (-1: any)
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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
	unsigned long long ran, still;
	long preempted;
};

/* Of this thread. */
static __thread unsigned long long still;
static __thread int schedstat;

static long ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* How long this thread waited for a CPU, by the kernel's account. */
static long waited(void)
{
	char text[128] = "";

	if (pread(schedstat, text, sizeof(text) - 1, 0) <= 0)
		abort();
	return strtol(strchr(text, ' '), NULL, 10);
}

static void spin(long ns)
{
	long end = ns_of(CLOCK_MONOTONIC) + ns;

	while (ns_of(CLOCK_MONOTONIC) < end)
		;
}

/* CPU time, not time: others may use the CPU meanwhile. Few system calls. */
static void burn(long us)
{
	long ran = ns_of(CLOCK_THREAD_CPUTIME_ID), end = ran + us * 1000, now;
	long start = ns_of(CLOCK_MONOTONIC), before = waited(), uncharged;

	while ((now = ns_of(CLOCK_THREAD_CPUTIME_ID)) < end)
		spin(200000);
	uncharged = ns_of(CLOCK_MONOTONIC) - start - (now - ran) - (waited() - before);
	if (uncharged > 0)
		still += (unsigned long long)uncharged;
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

/* 10 us at a time. */
static void hand_on(int in, int out, bool first)
{
	char c = 0;

	for (int i = 0; i < 8000; i++) {
		if ((!first || i) && read(in, &c, 1) != 1)
			abort();
		spin(10000);
		if (write(out, &c, 1) != 1)
			abort();
	}
}

static void tick(void)
{
	hand_on(ba[0], ab[1], true);
}

static void tock(void)
{
	hand_on(ab[0], ba[1], false);
}

static void *thread(void *arg)
{
	struct worker *w = arg;
	char text[128] = "";
	struct rusage used;

	pthread_setname_np(pthread_self(), w->name);
	schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
	w->work();
	w->tid = syscall(SYS_gettid);
	sched_yield(); /* brings the account up to date */
	if (pread(schedstat, text, sizeof(text) - 1, 0) <= 0)
		abort();
	w->ran = strtoull(text, NULL, 10);
	getrusage(RUSAGE_THREAD, &used);
	w->still = still;
	w->preempted = used.ru_nivcsw;
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker w[] = {{.name = "busy", .work = busy}, {.name = "sleeper", .work = sleeper},
			     {.name = "ping", .work = ping}, {.name = "pong", .work = pong},
			     {.name = "tick", .work = tick}, {.name = "tock", .work = tock}};

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
	/* One after the other, so that the CPU is idle between a sleeper's bursts; pairs together.
	 */
	for (int i = 0; i < 2; i++) {
		pthread_create(&w[i].th, NULL, thread, &w[i]);
		pthread_join(w[i].th, NULL);
	}
	for (int i = 2; i < 6; i += 2) {
		pthread_create(&w[i].th, NULL, thread, &w[i]);
		pthread_create(&w[i + 1].th, NULL, thread, &w[i + 1]);
		pthread_join(w[i].th, NULL);
		pthread_join(w[i + 1].th, NULL);
	}
	for (int i = 0; i < 6; i++)
		printf("%ld %s %llu %llu %ld\n", w[i].tid, w[i].name, w[i].ran, w[i].still,
		       w[i].preempted);
	return 0;
}
