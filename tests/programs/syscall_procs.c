/* SPDX-License-Identifier: MIT */
/*
 * Processes, threads and execs whose system calls are the same in every run: fork, vfork, clone,
 * pipes, a signal handler, an exec by a thread that is not the leader. Used by
 * tests/e2e/dump_syscalls.sh, which compares the counts with strace's.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int to_main[2], to_thread[2];
static char *self;

static void on_signal(int sig)
{
	syscall(SYS_getppid);
}

static void reap(void)
{
	int st;

	if (wait(&st) < 0)
		abort();
}

static void forks(void)
{
	char c = 'x';
	int p[2];

	for (int i = 0; i < 5; i++) {
		if (pipe(p))
			abort();
		if (!fork()) {
			close(p[1]);
			while (read(p[0], &c, 1) == 1)
				syscall(SYS_getpid);
			_exit(i);
		}
		close(p[0]);
		for (int k = 0; k < 10 * i; k++)
			if (write(p[1], &c, 1) != 1)
				abort();
		close(p[1]);
		reap();
	}
	if (!vfork())
		_exit(1);
	reap();
	if (!vfork()) {
		execl(self, self, "leaf", (char *)NULL);
		_exit(2);
	}
	reap();
	if (!syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) {
		syscall(SYS_getuid);
		_exit(3);
	}
	reap();
	if (!fork()) { /* a grandchild, and a failing exec */
		execl("/nonexistent", "x", (char *)NULL);
		if (!fork())
			_exit(4);
		reap();
		_exit(5);
	}
	reap();
}

static void *thread(void *arg)
{
	char c;

	for (int i = 0; i < 20; i++) {
		syscall(SYS_getppid);
		if (write(to_main[1], "t", 1) != 1 || read(to_thread[0], &c, 1) != 1)
			abort();
	}
	if (arg) { /* the last one replaces the program; the leader sits in read() */
		execl(self, self, "leaf", (char *)NULL);
		abort();
	}
	write(to_main[1], "e", 1);
	for (;;)
		pause();
	return NULL;
}

static void threads(void)
{
	pthread_t t;
	char c;

	if (pipe(to_main) || pipe(to_thread))
		abort();
	for (long k = 0; k < 3; k++) {
		pthread_create(&t, NULL, thread, k == 2 ? &k : NULL);
		for (int i = 0; i < 20; i++)
			if (read(to_main[0], &c, 1) != 1 || write(to_thread[1], "m", 1) != 1)
				abort();
		if (read(to_main[0], &c, 1) != 1)
			abort();
	}
}

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 1) {
		for (int i = 0; i < 7; i++)
			syscall(SYS_getgid);
		return 7;
	}
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	forks();
	threads();
	return 1;
}
