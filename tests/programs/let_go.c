/* SPDX-License-Identifier: MIT */
/*
 * Everything at once that a tracer may find a thread doing when it lets go of it: threads that come
 * and go, fork, vfork and exec, a handled signal every other millisecond, system calls, the flags
 * pushed and popped. Says its pid, and ends with status 0 and "on" when each part has ended as it
 * should; else says which did not.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/ucontext.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_alarm(int sig)
{
}

/* The flags that the signal came upon; with TF, single-stepping shows. */
static volatile long long flags_seen;
static void look(int sig, siginfo_t *info, void *context)
{
	flags_seen = ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
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
	if (status == (how ? 0 : 3 << 8))
		return 1;
	printf("the child of a %s ended with status %#x\n", how ? "vfork" : "fork",
	       (unsigned)status);
	return 0;
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
		sa.sa_sigaction = look;
		sa.sa_flags = SA_SIGINFO;
		sigaction(SIGUSR1, &sa, NULL);
		worker((void *)100);
		raise(SIGUSR1);
		worker((void *)100);
		return flags_seen & 0x100 || !child(0);
	}
	printf("%d\n", (int)getpid());
	fflush(stdout);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	if (pthread_create(&s, NULL, spawner, NULL))
		return 1;
	for (int i = 0; i < 100; i++) {
		int e = pthread_create(&t, NULL, worker, (void *)(intptr_t)(200 * i));

		if (e || pthread_join(t, NULL)) {
			printf("thread %d: %s\n", i, strerror(e));
			return 1;
		}
	}
	if (pthread_join(s, &good) || !good)
		return 1;
	puts("on");
	return 0;
}
