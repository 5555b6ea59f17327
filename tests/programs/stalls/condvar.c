/* SPDX-License-Identifier: MIT */
/* The client waits on a condition variable until its request is done. */
#include "service.h"

static struct {
	pthread_mutex_t m;
	pthread_cond_t asked, done;
	int request, reply;
} * q;

static void ask(void)
{
	pthread_mutex_lock(&q->m);
	q->request = 1;
	pthread_cond_signal(&q->asked);
	pthread_mutex_unlock(&q->m);
}

static void take(void)
{
	pthread_mutex_lock(&q->m);
	while (!q->reply)
		pthread_cond_wait(&q->done, &q->m);
	q->reply = 0;
	pthread_mutex_unlock(&q->m);
}

static void hear(void)
{
	pthread_mutex_lock(&q->m);
	while (!q->request)
		pthread_cond_wait(&q->asked, &q->m);
	q->request = 0;
	pthread_mutex_unlock(&q->m);
}

static void answer(void)
{
	pthread_mutex_lock(&q->m);
	q->reply = 1;
	pthread_cond_broadcast(&q->done);
	pthread_mutex_unlock(&q->m);
}

int main(int argc, char **argv)
{
	pthread_condattr_t a;

	if (plant_init(argc, argv))
		return 0;
	q = (void *)plant->own;
	plant_mutex(&q->m, PTHREAD_PRIO_NONE);
	pthread_condattr_init(&a);
	pthread_condattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&q->asked, &a);
	pthread_cond_init(&q->done, &a);
	service_run();
	plant_truth("futex", "futex");
	return 0;
}
