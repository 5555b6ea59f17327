/* SPDX-License-Identifier: MIT */
/*
 * No stall: threads take turns at waiting for what comes: at a descriptor, or for a time. The one
 * that got it wakes another one to wait in its stead, each by a word of its own; then it works, and
 * waits to be woken.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "plant.h"

#define N 3

static struct park {
	pthread_mutex_t m;
	pthread_cond_t c;
	bool go;
} park[N];
static unsigned threads, events, served;
static int ep = -1, source;
static _Atomic unsigned me;

static void unpark(struct park *p)
{
	pthread_mutex_lock(&p->m);
	p->go = true;
	pthread_cond_signal(&p->c);
	pthread_mutex_unlock(&p->m);
}

/* Until it is woken, or for ms; 0: however long. */
static void wait_here(struct park *p, unsigned ms)
{
	struct timespec t;
	int r = 0;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000l;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	pthread_mutex_lock(&p->m);
	while (!p->go && !r)
		r = ms ? pthread_cond_timedwait(&p->c, &p->m, &t) : pthread_cond_wait(&p->c, &p->m);
	if (!ms)
		p->go = false;
	pthread_mutex_unlock(&p->m);
}

static void worker(void)
{
	unsigned own = atomic_fetch_add(&me, 1);
	struct epoll_event e;
	eventfd_t v;

	plant_be(NULL, the.culprit);
	for (;;) {
		wait_here(&park[own], 0);
		if (served == events)
			break;
		if (ep >= 0) {
			epoll_wait(ep, &e, 1, -1);
			eventfd_read(source, &v);
		} else {
			wait_here(&park[own], the.ms);
		}
		served++;
		unpark(&park[(own + 1) % threads]);
		plant_work(3);
	}
	unpark(&park[(own + 1) % threads]);
}

int main(int argc, char **argv)
{
	struct epoll_event e = {.events = EPOLLIN};
	struct plant_part p[N];
	bool timed;

	if (plant_init(argc, argv))
		return 0;
	threads = plant_between(2, N);
	events = plant_between(threads, 5);
	timed = plant_pick(2);
	for (unsigned i = 0; i < N; i++) {
		pthread_mutex_init(&park[i].m, NULL);
		pthread_cond_init(&park[i].c, NULL);
	}
	source = eventfd(0, EFD_CLOEXEC);
	if (!timed) {
		ep = epoll_create1(EPOLL_CLOEXEC);
		epoll_ctl(ep, EPOLL_CTL_ADD, source, &e);
	}
	for (unsigned i = 0; i < threads; i++)
		plant_start(&p[i], PLANT_THREAD, worker);
	plant_be(NULL, the.victim);
	plant_sleep_us(5000);
	unpark(&park[0]);
	for (unsigned i = 0; !timed && i < events; i++) {
		plant_sleep_us(the.ms * 700);
		eventfd_write(source, 1);
	}
	/* The last one joined is the command's path. */
	for (unsigned i = 0; i < threads; i++)
		plant_finish(&p[the.way % 2 ? i : threads - 1 - i]);
	plant_truth("none", NULL);
	return 0;
}
