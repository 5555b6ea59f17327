/* SPDX-License-Identifier: MIT */
/* timed OUT CMD...: run CMD, write "WALL_NS CPU_NS" of it to OUT: the load's own time, without the
 * start and the end of the tool it runs under. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct timespec a, b;
	struct rusage u;
	int status;
	pid_t p;
	FILE *f;

	if (argc < 3)
		errx(2, "usage: timed OUT CMD...");
	clock_gettime(CLOCK_MONOTONIC, &a);
	p = fork();
	if (!p) {
		execvp(argv[2], argv + 2);
		err(127, "%s", argv[2]);
	}
	if (p < 0 || wait4(p, &status, 0, &u) < 0)
		err(1, "fork or wait");
	clock_gettime(CLOCK_MONOTONIC, &b);
	f = fopen(argv[1], "w");
	if (!f)
		err(1, "%s", argv[1]);
	fprintf(f, "%lld %lld\n", (b.tv_sec - a.tv_sec) * 1000000000ll + b.tv_nsec - a.tv_nsec,
		(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000ll +
			(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000ll);
	fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
