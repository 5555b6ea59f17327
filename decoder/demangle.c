/* SPDX-License-Identifier: MIT */
/* See demangle.h. */
#include "demangle.h"

#include "err.h"

#ifdef TY_HAVE_IBERTY

#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LONGEST 4096 /* mangled, or as shown */

struct job {
	char text[LONGEST];
	size_t n;
	sigjmp_buf end;
};

/* While libiberty reads a name of C++: it holds nothing but its stack, and may be left anywhere. */
static __thread struct job *volatile running;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void leave(struct job *j, int why)
{
	running = NULL;
	siglongjmp(j->end, why);
}

static void too_long(int sig)
{
	(void)sig;
	if (running)
		leave(running, -TY_ELIMIT);
}

static void handle(void)
{
	const struct sigaction a = {.sa_handler = too_long, .sa_flags = SA_RESTART};

	sigaction(SIGVTALRM, &a, NULL);
}

static void add(const char *p, size_t n, void *ctx)
{
	struct job *j = ctx;

	if (n > sizeof(j->text) - j->n)
		leave(j, TY_ELIMIT);
	memcpy(j->text + j->n, p, n);
	j->n += n;
}

/* 1: j->text has it; 0; -TY_ELIMIT. */
static int timed(const char *name, struct job *j, timer_t timer)
{
	const struct itimerspec most = {.it_value.tv_nsec = TY_DEMANGLE_NS};
	int r = sigsetjmp(j->end, 1);

	if (r)
		return r == -TY_ELIMIT ? r : 0;
	/* It allocates, so it may not be left at any time; its time is that of its text. */
	if (rust_demangle_callback(name, DMGL_NO_OPTS, add, j))
		return 1;
	if (timer_settime(timer, 0, &most, NULL))
		return 0;
	j->n = 0;
	running = j;
	r = cplus_demangle_v3_callback(name, DMGL_NO_OPTS, add, j);
	running = NULL;
	return r;
}

int ty_demangle(const char *name, struct ty_buf *out)
{
	struct sigevent by = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGVTALRM};
	const size_t before = out->len, n = strcspn(name, "@");
	char own[LONGEST + 1];
	sigset_t one, old;
	timer_t timer;
	struct job j;
	int r;

	if (!ty_is_mangled(name) || n > LONGEST)
		return 0;
	memcpy(own, name, n);
	own[n] = 0;
	j.n = 0;
	by._sigev_un._tid = gettid();
	pthread_once(&once, handle);
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &by, &timer))
		return 0;
	sigemptyset(&one);
	sigaddset(&one, SIGVTALRM);
	pthread_sigmask(SIG_UNBLOCK, &one, &old);
	r = timed(own, &j, timer);
	timer_delete(timer);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r != 1 || !j.n)
		return r < 0 ? r : 0;
	if (!ty_buf_add(out, j.text, j.n) && !ty_buf_adds(out, name + n))
		return 1;
	out->len = before;
	if (out->p)
		out->p[before] = 0;
	return 0;
}

#else

int ty_demangle(const char *name, struct ty_buf *out)
{
	(void)name, (void)out;
	return 0;
}

#endif
