/* SPDX-License-Identifier: MIT */
/*
 * wait_stacks SECONDS [LIBRARY|- [THREADS_SECONDS]]: waits that are planted in known functions,
 * each for that long: in a plain caller, below recursion, with a stack of variable size, in a
 * signal handler, in a vfork child, in 40 threads, in a callback of qsort and in wait_in_library of
 * LIBRARY. Writes a line for each before it waits: TID and the functions, the innermost first. Also
 * built static, as C++, and without position independence (tests/e2e/stacks.sh).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __clang__
#define PLANTED __attribute__((noinline))
#else
#define PLANTED __attribute__((noinline, noclone))
#endif
/* Nothing becomes a jump: what was called returns to here. */
#define RETURNS __asm__ volatile("" ::: "memory")

enum { THREADS = 40 };
static struct timespec length;

static void say(const char *functions)
{
	char line[200];
	int n = snprintf(line, sizeof(line), "%ld %s\n", (long)syscall(SYS_gettid), functions);

	(void)!write(1, line, (size_t)n);
}

PLANTED void plain_wait(void)
{
	nanosleep(&length, NULL);
	RETURNS;
}

PLANTED void plain_caller(void)
{
	say("plain_wait plain_caller main");
	plain_wait();
	RETURNS;
}

PLANTED int recursive_wait(int depth)
{
	int r;

	if (!depth) {
		say("recursive_wait recursive_wait recursive_wait recursive_wait main");
		nanosleep(&length, NULL);
		RETURNS;
		return 1;
	}
	r = recursive_wait(depth - 1) + depth;
	RETURNS;
	return r;
}

PLANTED void sized_wait(size_t n)
{
	volatile char *p = (volatile char *)__builtin_alloca(n);

	p[0] = p[n - 1] = 1;
	say("sized_wait main");
	nanosleep(&length, NULL);
	__asm__ volatile("" ::"r"(p) : "memory");
}

PLANTED void handler_wait(int sig)
{
	say("handler_wait raise_signal main"); /* what is between is libc's */
	nanosleep(&length, NULL);
	RETURNS;
}

PLANTED void raise_signal(void)
{
	raise(SIGUSR1);
	RETURNS;
}

PLANTED void vfork_wait(void)
{
	say("vfork_wait main");
	nanosleep(&length, NULL);
	RETURNS;
}

PLANTED void thread_wait(void)
{
	say("thread_wait thread_main");
	nanosleep(&length, NULL);
	RETURNS;
}

PLANTED void *thread_main(void *arg)
{
	thread_wait();
	RETURNS;
	return arg;
}

PLANTED int callback_wait(const void *a, const void *b)
{
	static int once;

	if (!once++) {
		say("callback_wait main"); /* behind qsort */
		nanosleep(&length, NULL);
	}
	return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 0.1;
	int sorted[2] = {2, 1};
	pthread_t threads[THREADS];
	void (*in_library)(const struct timespec *, void (*)(const char *));
	struct sigaction sa;
	void *library;
	pid_t child;

	length.tv_sec = (time_t)seconds;
	length.tv_nsec = (long)((seconds - (double)length.tv_sec) * 1e9);
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler_wait;
	sigaction(SIGUSR1, &sa, NULL);
	plain_caller();
	recursive_wait(3);
	sized_wait(100 + (size_t)argc);
	raise_signal();
	qsort(sorted, 2, sizeof(*sorted), callback_wait);
	child = vfork();
	if (!child) {
		vfork_wait();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	if (argc > 2 && strcmp(argv[2], "-")) {
		library = dlopen(argv[2], RTLD_NOW);
		*(void **)&in_library = library ? dlsym(library, "library_caller") : NULL;
		if (!in_library)
			return 1;
		in_library(&length, say);
	}
	if (argc > 3)
		length.tv_sec = atoi(argv[3]);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread_main, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
#ifdef __cplusplus
}
#endif
