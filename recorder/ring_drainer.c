/* SPDX-License-Identifier: MIT */
/* See ring_drainer.h. */
#include "ring_drainer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TICK_MS = 100 };

static void *move_main(void *arg)
{
	struct ty_ring_drainer *m = arg;
	struct pollfd *polls = calloc(m->n + 1u, sizeof(*polls));
	bool stop;

	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20);
	for (unsigned i = 0; polls && i <= m->n; i++)
		polls[i] = (struct pollfd){.fd = i < m->n ? m->fd_of(m->ctx, i) : m->wake,
					   .events = POLLIN};
	do {
		if (polls)
			poll(polls, m->n + 1u, TICK_MS);
		else
			usleep(TICK_MS * 1000);
		/* An event whose thread or CPU no longer exists would be ready for ever. */
		for (unsigned i = 0; polls && i < m->n; i++)
			if (polls[i].revents & (POLLHUP | POLLERR))
				polls[i].fd = -1;
		stop = atomic_load(&m->stop);
		m->move(m->ctx, stop);
	} while (!stop);
	free(polls);
	return NULL;
}

bool ty_ring_drainer_init(struct ty_ring_drainer *m)
{
	*m = (struct ty_ring_drainer){.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	return m->wake >= 0;
}

bool ty_ring_drainer_start(struct ty_ring_drainer *m, unsigned n,
			   int (*fd_of)(const void *ctx, unsigned i),
			   void (*move)(void *ctx, bool last), void *ctx)
{
	m->n = n;
	m->fd_of = fd_of;
	m->move = move;
	m->ctx = ctx;
	errno = pthread_create(&m->thread, NULL, move_main, m);
	m->started = !errno;
	return m->started;
}

void ty_ring_drainer_stop(struct ty_ring_drainer *m)
{
	const uint64_t one = 1;

	if (!m->started)
		return;
	atomic_store(&m->stop, true);
	(void)!write(m->wake, &one, sizeof(one));
	pthread_join(m->thread, NULL);
	m->started = false;
}

void ty_ring_drainer_fini(struct ty_ring_drainer *m)
{
	if (m->wake >= 0)
		close(m->wake);
}
