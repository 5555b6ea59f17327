/* SPDX-License-Identifier: MIT */
/* A reader that keeps a writer out, or a writer that keeps a reader or writer out. */
#include "plant.h"

static pthread_rwlock_t *lock;
static unsigned which;

static void culprit(void)
{
	plant_be(&plant->culprit, the.culprit);
	plant_work(the.before);
	which == 0 ? pthread_rwlock_rdlock(lock) : pthread_rwlock_wrlock(lock);
	plant_turn(1);
	plant_spend_ms(the.way, the.ms);
	pthread_rwlock_unlock(lock);
}

static void victim(void)
{
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_await(1);
	t = plant_begin();
	which == 1 ? pthread_rwlock_rdlock(lock) : pthread_rwlock_wrlock(lock);
	plant_end(t);
	pthread_rwlock_unlock(lock);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	pthread_rwlockattr_t a;

	if (plant_init(argc, argv))
		return 0;
	which = plant_pick(3);
	lock = (void *)plant->own;
	pthread_rwlockattr_init(&a);
	pthread_rwlockattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(lock, &a);
	plant_run(victim, culprit);
	plant_truth("lock", "futex");
	return 0;
}
