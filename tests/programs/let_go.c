/* SPDX-License-Identifier: MIT */
/*
 * Everything at once that a tracer may find a thread doing when it lets go of it: threads that come
 * and go, fork, vfork and exec, a handled signal every other millisecond, system calls, the flags
 * pushed and popped. Says its pid, and ends with status 0 and "on" when each part has ended as it
 * should.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_alarm(int sig)
{
}

static void *worker(void *arg)
{
	long n = (long)(intptr_t)arg;

	for (volatile long i = 0; i < n; i++)
		if (!(i & 63)) {
			__asm__ volatile("pushf; popf" ::: "cc", "memory");
			getppid();
		}
	return NULL;
}

static int child(int how)
{
	pid_t p = how ? vfork() : fork();
	int status = 1;

	if (!p) {
		if (how)
			execl("/proc/self/exe", "let_go", "child", NULL);
		_exit(3);
	}
	while (p > 0 && waitpid(p, &status, 0) < 0)
		;
	return status == (how ? 0 : 3 << 8);
}

static void *spawner(void *arg)
{
	int good = 1;

	for (int i = 0; i < 12; i++)
		good &= child(i & 1);
	return (void *)(intptr_t)good;
}

int main(int argc, char **argv)
{
	struct itimerval every = {{.tv_usec = 2000}, {.tv_usec = 2000}};
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	pthread_t s, t;
	void *good = NULL;

	if (argc > 1) {
		worker((void *)100);
		return 0;
	}
	printf("%d\n", (int)getpid());
	fflush(stdout);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	if (pthread_create(&s, NULL, spawner, NULL))
		return 1;
	for (int i = 0; i < 100; i++)
		if (pthread_create(&t, NULL, worker, (void *)(intptr_t)(200 * i)) ||
		    pthread_join(t, NULL))
			return 1;
	if (pthread_join(s, &good) || !good)
		return 1;
	puts("on");
	return 0;
}
