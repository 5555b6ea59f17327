/* SPDX-License-Identifier: MIT */
/* A queue with few places: its producer waits for room while the consumer is busy with one item. */
#include "plant.h"

#define PLACES 4
#define ITEMS  40

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned held, slow;

static void step(bool producer)
{
	pthread_mutex_lock(&m);
	while (held == (producer ? PLACES : 0))
		pthread_cond_wait(&changed, &m);
	held += producer ? 1u : -1u;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&m);
}

static void *producer(void *arg)
{
	plant_be(&plant->victim, the.victim);
	for (unsigned i = 0; i < ITEMS; i++) {
		uint64_t t = plant_begin(), ns;

		step(true);
		ns = plant_begin() - t;
		if (ns > plant->duration_ns)
			plant_end(t);
		plant_spin_ms(1);
	}
	return arg;
}

static void *consumer(void *arg)
{
	plant_be(&plant->culprit, the.culprit);
	for (unsigned i = 0; i < ITEMS; i++) {
		step(false);
		if (i == slow)
			plant_spend_ms(the.way, the.ms);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t p, c;

	if (plant_init(argc, argv))
		return 0;
	slow = plant_between(2, ITEMS - 3 * PLACES);
	if (pthread_create(&c, NULL, consumer, NULL) || pthread_create(&p, NULL, producer, NULL))
		errx(1, "pthread_create");
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	plant_truth("futex", "futex");
	return 0;
}
