/* SPDX-License-Identifier: MIT */
/*
 * See sigbus.h. The handler may run in any thread at any time, so the watched files are a list that
 * only grows at its head, with each entry complete before it is linked; a forgotten entry covers no
 * byte. State of the process, as the signal is.
 */
#include "sigbus.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct watched {
	struct watched *next;
	uintptr_t lo;
	atomic_size_t n;
	size_t text_n;
	char text[];
};

static _Atomic(struct watched *) watched;
static char text[4600] = "tarry: an input file was truncated or became unreadable: try "
			 "again\n";
static bool caught;

static void on_bus(int sig, siginfo_t *si, void *ctx)
{
	uintptr_t at = (uintptr_t)si->si_addr;
	ssize_t n = -1;

	if (si->si_code == BUS_ADRERR || si->si_code == BUS_OBJERR) {
		for (const struct watched *w = atomic_load(&watched); w && n < 0; w = w->next)
			if (at >= w->lo && at - w->lo < atomic_load(&w->n))
				n = write(STDERR_FILENO, w->text, w->text_n);
		if (n < 0)
			n = write(STDERR_FILENO, text, strlen(text));
		_exit(EXIT_FAILURE);
	}
	signal(sig, SIG_DFL);
	raise(sig);
}

static void handle(void)
{
	struct sigaction sa = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};

	if (!caught)
		sigaction(SIGBUS, &sa, NULL);
	caught = true;
}

void ty_sigbus_catch(const char *path)
{
	int n = snprintf(text, sizeof(text),
			 "tarry: %s: its index file, or a temporary file, was truncated or cannot "
			 "be read any more. Try again, or use --no-index.\n",
			 path);

	if (n >= (int)sizeof(text))
		text[sizeof(text) - 2] = '\n';
	handle();
}

void ty_sigbus_watch(const void *p, size_t n, const char *path)
{
	static const char what[] = "tarry: %s was truncated while tarry read it, or cannot be "
				   "read any more. Try again when nothing writes to it.\n";
	size_t size = sizeof(what) + strlen(path);
	struct watched *w = malloc(sizeof(*w) + size);

	handle();
	if (!w)
		return;
	w->text_n = (size_t)snprintf(w->text, size, what, path);
	w->lo = (uintptr_t)p;
	atomic_init(&w->n, n);
	w->next = atomic_load(&watched);
	while (!atomic_compare_exchange_weak(&watched, &w->next, w))
		;
}

void ty_sigbus_forget(const void *p)
{
	for (struct watched *w = atomic_load(&watched); w; w = w->next)
		if (w->lo == (uintptr_t)p)
			atomic_store(&w->n, 0);
}
