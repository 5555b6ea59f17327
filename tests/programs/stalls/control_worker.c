/* SPDX-License-Identifier: MIT */
/*
 * No stall: one thread is a pool of its own. It waits until the program, after a while, gives it a
 * job; then it computes, reports that it is done, and returns for more.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "plant.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static int done, jobs;
static bool over;

static void worker(void)
{
	plant_be(NULL, the.culprit);
	pthread_mutex_lock(&m);
	for (;;) {
		while (!jobs && !over)
			pthread_cond_wait(&work, &m);
		if (!jobs)
			break;
		jobs--;
		pthread_mutex_unlock(&m);
		plant_work(4);
		eventfd_write(done, 1);
		pthread_mutex_lock(&m);
	}
	pthread_mutex_unlock(&m);
}

int main(int argc, char **argv)
{
	struct epoll_event e = {.events = EPOLLIN};
	struct plant_part p;
	eventfd_t v;
	int ep;

	if (plant_init(argc, argv))
		return 0;
	done = eventfd(0, EFD_CLOEXEC);
	ep = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(ep, EPOLL_CTL_ADD, done, &e);
	plant_start(&p, PLANT_THREAD, worker);
	plant_be(NULL, the.victim);
	plant_spend_ms(the.way, the.ms);
	pthread_mutex_lock(&m);
	jobs++;
	pthread_cond_signal(&work);
	pthread_mutex_unlock(&m);
	plant_work(the.before);
	epoll_wait(ep, &e, 1, -1);
	eventfd_read(done, &v);
	plant_work(the.after);
	pthread_mutex_lock(&m);
	over = true;
	pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&m);
	plant_finish(&p);
	plant_truth("none", NULL);
	return 0;
}
