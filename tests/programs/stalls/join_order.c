/* SPDX-License-Identifier: MIT */
/*
 * A lock of C11 or one with a timeout, held by a thread that sleeps; the program joins the holder
 * first, and so waits longer than the victim: that is reported second.
 */
#include <threads.h>

#include "plant.h"

static mtx_t lock;

static int keeper(void *arg)
{
	(void)arg;
	plant_be(&plant->culprit, the.culprit);
	mtx_lock(&lock);
	plant_turn(1);
	plant_sleep_us(the.ms * 1000);
	mtx_unlock(&lock);
	return 0;
}

static int victim(void *arg)
{
	struct timespec t;
	uint64_t begin;

	(void)arg;
	plant_be(&plant->victim, the.victim);
	plant_await(1);
	timespec_get(&t, TIME_UTC);
	t.tv_sec += 60;
	begin = plant_begin();
	if (the.way % 2 ? mtx_timedlock(&lock, &t) : mtx_lock(&lock))
		errx(1, "mtx_lock");
	plant_end(begin);
	mtx_unlock(&lock);
	return 0;
}

int main(int argc, char **argv)
{
	thrd_t k, v;

	if (plant_init(argc, argv))
		return 0;
	mtx_init(&lock, the.way % 2 ? mtx_timed : mtx_plain);
	if (thrd_create(&k, keeper, NULL) || thrd_create(&v, victim, NULL))
		errx(1, "thrd_create");
	thrd_join(k, NULL);
	thrd_join(v, NULL);
	plant_truth("lock", "futex");
	return 0;
}
