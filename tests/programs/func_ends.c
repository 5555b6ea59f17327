/* SPDX-License-Identifier: MIT */
/*
 * A function (traced) that ends in many ways. What it does itself and calls is called inside (or
 * runs on other stacks meanwhile: between); what comes after it, outside. Prints how often traced
 * and inside were called; outside must not be seen if only traced is traced.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline, noclone))
#define KEEP	 __asm__ volatile("" ::: "memory")
enum { STACK = 65536, RETURNS, RECURSES, JUMPS, HANDLED, SIGNAL_OUT, SIGNAL_IN, SWITCHES };

static int tracked, insides, outsides;
static __thread sigjmp_buf out, in;
static __thread ucontext_t own, other;
static __thread volatile int leave;

NOINLINE static void inside(void)
{
	insides++;
	KEEP;
}

NOINLINE static void outside(void)
{
	outsides++;
	KEEP;
}

NOINLINE static void between(void)
{
	KEEP;
}

/* Writes over what lies below. */
NOINLINE static void writes_over(void)
{
	char buf[8192];

	memset(buf, 1, sizeof(buf));
	__asm__ volatile("" ::"r"(buf) : "memory");
}

NOINLINE static void traced(int how)
{
	tracked++;
	inside();
	switch (how) {
	case RECURSES: traced(RETURNS); break;
	case JUMPS: siglongjmp(out, 1);
	case HANDLED:
		leave = 0;
		raise(SIGUSR1);
		break;
	case SIGNAL_OUT:
		leave = 1;
		raise(SIGUSR1);
		break;
	case SIGNAL_IN:
		leave = 2;
		if (!sigsetjmp(in, 1))
			raise(SIGUSR1);
		break;
	case SWITCHES: swapcontext(&other, &own); break;
	default: break;
	}
	inside();
}

NOINLINE static void on_signal(int sig)
{
	inside();
	if (leave)
		siglongjmp(leave == 1 ? out : in, 1);
	KEEP;
}

NOINLINE static void coroutine(void)
{
	traced(RETURNS);
	outside();
	traced(SWITCHES);
	outside();
	if (!sigsetjmp(out, 1))
		traced(JUMPS);
	writes_over();
	__asm__ volatile("call 1f\njmp 2f\n1: ret\n2:" ::: "memory"); /* noticed at a return */
	outside();
	/* To the end of all. */
	traced(SWITCHES);
}

/* All that is in use of a stack with this end; each byte is a step. Its return is where that is
 * noticed. */
NOINLINE static void clears(char *end)
{
	memset(end - 4096, 0, 4096);
	KEEP;
}

static void *run(void *arg)
{
	stack_t alt = {.ss_size = STACK};
	char *mine = malloc(STACK);

	/* Above all that is called, below what called. */
	alt.ss_sp = alloca(STACK);
	sigaltstack(&alt, NULL);
	for (int how = RETURNS; how < SWITCHES; how++) {
		if (!sigsetjmp(out, 1))
			traced(how);
		outside();
	}
	getcontext(&other);
	other.uc_stack = (stack_t){.ss_sp = mine, .ss_size = STACK};
	other.uc_link = NULL;
	makecontext(&other, coroutine, 0);
	swapcontext(&own, &other);
	between();
	swapcontext(&own, &other);
	clears(mine + STACK); /* never to be gone back to */
	between();
	outside();
	free(mine);
	alt.ss_flags = SS_DISABLE;
	sigaltstack(&alt, NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	pthread_t t;

	sigaction(SIGUSR1, &sa, NULL);
	run(NULL);
	if (pthread_create(&t, NULL, run, NULL))
		return 1;
	pthread_join(t, NULL);
	printf("traced %d inside %d outside %d\n", tracked, insides, outsides);
	return 0;
}
