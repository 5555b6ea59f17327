/* SPDX-License-Identifier: MIT */
/*
 * A program that samples itself: on each CPU in turn it gives what a CPU with Arm SPE would have
 * written of its own accesses to aux_replay.c: one record of 64 bytes each. On CPU 0 the records
 * name the thread (CONTEXT), on CPU 1 they do not: then the switches show it. Usage: spe_self
 * ROUNDS [THREADS FILE]: prints a line for each record, "tid cpu pc va store lat_total lat_issue
 * lat_xlat events". So many threads do it, which are there before, when the file is.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "spe_encode.h"

enum { CPUS = 2, RECORD = 64, WRITE = 16, THREADS_MAX = 16 };

static uint64_t counter(void)
{
#ifdef __x86_64__
	return __rdtsc();
#else
	uint64_t v;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(v));
	return v;
#endif
}

/* The i-th: which numbers does not matter, as long as they differ. */
static void sample(struct ty_buf *b, int cpu, unsigned i)
{
	uint64_t pc = (uint64_t)counter + 4 * (i % 8), va = (uint64_t)b + 8 * i;
	unsigned store = i % 3 == 0, total = 20 + i % 4000, issue = i % 19, xlat = i % 7;
	uint64_t events = 1 << 1 | (uint64_t)(i & 1) << 3 | (uint64_t)(i >> 1 & 1) << 5;
	size_t start = b->len;

	spe_address(b, 0, pc | 1ull << 63);
	spe_op(b, 1, store);
	spe_events(b, events, 2);
	spe_counter(b, 0, total);
	spe_counter(b, 1, issue);
	spe_counter(b, 2, xlat);
	spe_address(b, 2, va);
	if (!cpu)
		spe_context(b, 0, (uint32_t)gettid());
	spe_ts(b, counter());
	spe_pad(b, (unsigned)(start + RECORD - b->len));
	printf("%d %d %#" PRIx64 " %#" PRIx64 " %s %u %u %u %" PRIu64 "\n", gettid(), cpu, pc, va,
	       store ? "true" : "false", total, issue, xlat, events);
}

struct plan {
	unsigned rounds;
	const char *file; /* NULL: at once */
};

/* NULL: all was written. */
static void *write_all(void *arg)
{
	const struct plan *plan = arg;
	int fd = open("/dev/aux_replay", O_WRONLY);
	struct ty_buf b;

	if (fd < 0) {
		perror("/dev/aux_replay");
		return arg;
	}
	while (plan->file && access(plan->file, F_OK))
		usleep(100000);
	ty_buf_init(&b, RECORD * WRITE);
	for (int cpu = 0; cpu < CPUS; cpu++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			return arg;
		for (unsigned i = 0; i < plan->rounds; i++) {
			sample(&b, cpu, i);
			if (b.len < RECORD * WRITE && i + 1 < plan->rounds)
				continue;
			if (b.failed || write(fd, b.p, b.len) != (ssize_t)b.len) {
				perror("/dev/aux_replay");
				return arg;
			}
			ty_buf_reset(&b);
		}
	}
	ty_buf_fini(&b);
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	struct plan plan = {.rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 0,
			    .file = argc > 3 ? argv[3] : NULL};
	int n = argc > 3 ? atoi(argv[2]) : 0;
	pthread_t threads[THREADS_MAX];
	void *failed = NULL, *any = NULL;

	if (!plan.rounds || n > THREADS_MAX) {
		fprintf(stderr, "usage: spe_self ROUNDS [THREADS FILE]\n");
		return 2;
	}
	if (!n)
		return write_all(&plan) != NULL;
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, write_all, &plan))
			return 1;
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i], &failed);
		any = failed ? failed : any;
	}
	return any != NULL;
}
