/* SPDX-License-Identifier: MIT */
/*
 * The demo's victim and culprit: "webserver" answers a request every 10 ms, each under a file lock.
 * After half a second "backup", another process, takes the lock, writes and fsyncs a file and
 * sleeps: one request hangs for 3 s. Then all continues as before.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_until(double t)
{
	double left = t - now();

	if (left > 0)
		usleep((useconds_t)(left * 1e6));
}

static void backup(const char *lock, const char *file, double from, double held)
{
	static char block[1 << 16];
	int fd, out;

	prctl(PR_SET_NAME, "backup");
	sleep_until(from);
	fd = open(lock, O_RDWR | O_CLOEXEC);
	out = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || out < 0 || flock(fd, LOCK_EX))
		err(1, "backup");
	from = now();
	for (int i = 0; i < 256; i++)
		if (write(out, block, sizeof(block)) != sizeof(block))
			err(1, "%s", file);
	fsync(out);
	sleep_until(from + held);
	flock(fd, LOCK_UN);
	_exit(0);
}

int main(int argc, char **argv)
{
	char dir[4096], lock[4200], file[4200];
	double start = now(), worst = 0;
	int fd, requests = 0, status;
	pid_t child;

	snprintf(dir, sizeof(dir), "%s/tarry-demo-XXXXXX", argc > 1 ? argv[1] : ".");
	if (!mkdtemp(dir))
		err(1, "%s", dir);
	snprintf(lock, sizeof(lock), "%s/journal", dir);
	snprintf(file, sizeof(file), "%s/backup", dir);
	fd = open(lock, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		err(1, "%s", lock);
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child)
		backup(lock, file, start + 0.5, 3.0);
	prctl(PR_SET_NAME, "webserver");
	while (now() < start + 4.0) {
		double t = now();

		if (flock(fd, LOCK_EX) || write(fd, "request\n", 8) != 8 || flock(fd, LOCK_UN))
			err(1, "%s", lock);
		t = now() - t;
		worst = t > worst ? t : worst;
		requests++;
		usleep(10000);
	}
	waitpid(child, &status, 0);
	unlink(lock);
	unlink(file);
	rmdir(dir);
	printf("webserver: %d requests, the slowest took %.3f s\n", requests, worst);
	return 0;
}
