/* SPDX-License-Identifier: MIT */
/* What a region costs (tests/bench/regions): ns per start and end of tarry.h; with an argument,
 * also of a bare write of a line to that file (trace_marker). The least of many rounds that are
 * shorter than a turn on the CPU. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../include/tarry.h"

enum { ROUNDS = 200, WRITES = 300 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static __attribute__((noinline)) void regions(int n)
{
	for (int i = 0; i < n; i++) {
		tarry_begin("a region of mine");
		tarry_end();
	}
}

int main(int argc, char **argv)
{
	static const char line[] = "B|1|a region of mine";
	int n = tarry_recording() ? 150 : 200000, fd = argc > 1 ? open(argv[1], O_WRONLY) : -1;
	double best = 1e18, ns;

	for (int r = 0; r < ROUNDS; r++) {
		ns = now();
		regions(n);
		ns = (now() - ns) / n / 2;
		best = ns < best ? ns : best;
	}
	printf("%s %.2f\n", tarry_recording() ? "recorded" : "idle", best);
	best = 1e18;
	for (int r = 0; r < ROUNDS && fd >= 0; r++) {
		ns = now();
		for (int i = 0; i < WRITES; i++)
			if (write(fd, line, sizeof(line) - 1) < 0)
				return 1;
		ns = (now() - ns) / WRITES;
		best = ns < best ? ns : best;
	}
	if (fd >= 0)
		printf("marker %.2f\n", best);
	return 0;
}
