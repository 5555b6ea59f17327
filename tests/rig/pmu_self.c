/* SPDX-License-Identifier: MIT */
/*
 * A program whose counters and samples are known (pmu_replay.c). Usage:
 *   pmu_self write THREADS BYTES: each thread, on a CPU of its own, writes BYTES; prints "TID
 * BYTES" of each; pmu_self spin MS: runs for MS of CPU time in `spin`, with a branch stack by which
 * spin was called by lbr_leaf, that by lbr_middle, that by main. None of those two ever runs.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1000 };

static unsigned long bytes;
static volatile unsigned long turns;

static void *writer(void *cpu)
{
	static const char zeros[PIECE];
	const int fd = open("/dev/pmu_replay", O_WRONLY);
	unsigned long n = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((int)(intptr_t)cpu, &set);
	if (fd < 0 || sched_setaffinity(0, sizeof(set), &set))
		exit(1);
	for (; n < bytes; n += PIECE) {
		if (write(fd, zeros, PIECE) != PIECE)
			exit(1);
		for (int i = 0; i < 2000; i++)
			turns++;
	}
	printf("%d %lu\n", gettid(), n);
	return NULL;
}

__attribute__((noinline)) static void spin(unsigned long ms)
{
	struct timespec t;

	do {
		for (int i = 0; i < 1000000; i++)
			turns++;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while ((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 < ms);
}

__attribute__((noinline)) static void lbr_leaf(unsigned long ms)
{
	spin(ms);
	turns++;
}

__attribute__((noinline)) static void lbr_middle(unsigned long ms)
{
	lbr_leaf(ms);
	turns++;
}

int main(int argc, char **argv)
{
	const unsigned long n = argc > 2 ? strtoul(argv[argc - 1], NULL, 10) : 0;
	/* From a call, to where it leads: the newest first. */
	struct perf_branch_entry calls[3] = {
		{.from = (uint64_t)(uintptr_t)lbr_leaf + 4, .to = (uint64_t)(uintptr_t)spin},
		{.from = (uint64_t)(uintptr_t)lbr_middle + 4, .to = (uint64_t)(uintptr_t)lbr_leaf},
		{.from = (uint64_t)(uintptr_t)main + 4, .to = (uint64_t)(uintptr_t)lbr_middle}};
	pthread_t threads[64];
	intptr_t k = 0;

	if (argc == 4 && !strcmp(argv[1], "write")) {
		bytes = n;
		for (; k < atoi(argv[2]) && k < 64; k++)
			pthread_create(&threads[k], NULL, writer, (void *)k);
		while (k--)
			pthread_join(threads[k], NULL);
	} else if (argc == 3 && !strcmp(argv[1], "spin")) {
		const int fd = open("/dev/lbr_replay", O_WRONLY);

		if (fd < 0 || write(fd, calls, sizeof(calls)) != sizeof(calls))
			return 1;
		spin(n);
	} else {
		return 2;
	}
	return 0;
}
