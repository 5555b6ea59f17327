/* SPDX-License-Identifier: MIT */
/* A program that requests to be traced (PTRACE_TRACEME), as sandboxes and debuggers do, in one of
 * several ways: traceme WAY. Exit status 7 when all went as it does without a tracer. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void on_signal(int sig)
{
	handled++;
}

static int trace_me(void)
{
	return ptrace(PTRACE_TRACEME, 0, 0, 0) ? 1 : 0;
}

static void *in_thread(void *arg)
{
	if (trace_me())
		exit(1);
	if (arg)
		pthread_kill(pthread_self(), SIGUSR1);
	return NULL;
}

static int with_thread(const char *raises)
{
	pthread_t t;

	if (pthread_create(&t, NULL, in_thread, (void *)raises) || pthread_join(t, NULL))
		return 1;
	return !raises || handled == 1 ? 7 : 2;
}

/* What gdb does: a child that is traced by its parent, and not by another process. */
static int debugger(void)
{
	int status;
	pid_t p = fork();

	if (!p) {
		if (trace_me())
			_exit(1);
		raise(SIGSTOP);
		_exit(handled ? 2 : 3);
	}
	if (waitpid(p, &status, 0) != p || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP)
		return 1;
	if (ptrace(PTRACE_CONT, p, 0, 0) || waitpid(p, &status, 0) != p)
		return 2;
	return WIFEXITED(status) && WEXITSTATUS(status) == 3 ? 7 : 4;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	signal(SIGUSR1, on_signal);
	signal(SIGTRAP, on_signal);
	if (!strcmp(way, "debugger"))
		return debugger();
	if (!strcmp(way, "thread"))
		return with_thread(NULL);
	if (!strcmp(way, "thread-signal"))
		return with_thread("");
	if (!strcmp(way, "end"))
		return 7;
	if (trace_me())
		return 1;
	if (!strcmp(way, "exec")) {
		execl("/proc/self/exe", "traceme", "end", (char *)NULL);
		return 1;
	}
	if (!strcmp(way, "handled"))
		raise(SIGUSR1);
	else if (!strcmp(way, "trap"))
		kill(getpid(), SIGTRAP);
	else if (!strcmp(way, "killed"))
		raise(SIGTERM);
	else if (!strcmp(way, "stop"))
		raise(SIGSTOP);
	else if (strcmp(way, "exit"))
		return 2;
	if (!strcmp(way, "handled") || !strcmp(way, "trap"))
		return handled == 1 ? 7 : 3;
	return 7;
}
