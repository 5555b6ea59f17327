/* SPDX-License-Identifier: MIT */
/* Several threads or children wait for one start, which their creator gives late, to all at once;
 * then each works, and none returns. */
#include "plant.h"

#define N 3

static struct {
	pthread_mutex_t m;
	pthread_cond_t c;
	bool open;
} * gate;
static _Atomic unsigned *there;

static void party(void)
{
	unsigned i = atomic_fetch_add(there, 1);
	uint64_t t;

	if (i)
		plant_be(&plant->hop[i - 1], the.victim);
	else
		plant_be(&plant->victim, the.victim);
	t = plant_begin();
	pthread_mutex_lock(&gate->m);
	while (!gate->open)
		pthread_cond_wait(&gate->c, &gate->m);
	pthread_mutex_unlock(&gate->m);
	if (!i)
		plant_end(t);
	plant_work(5 + the.after);
}

static void opener(void)
{
	struct plant_part p[N];
	enum plant_as as = plant_pick(2);

	for (unsigned i = 0; i < N; i++)
		plant_start(&p[i], as, party);
	plant_be(&plant->culprit, the.culprit);
	plant_spend_ms(the.way, the.ms);
	pthread_mutex_lock(&gate->m);
	gate->open = true;
	pthread_cond_broadcast(&gate->c);
	/* Each of them needs the lock to see that it is open. */
	if (plant_pick(2))
		plant_spin_ms(the.ms / 4);
	pthread_mutex_unlock(&gate->m);
	for (unsigned i = 0; i < N; i++)
		plant_finish(&p[i]);
	plant_work(the.before);
}

int main(int argc, char **argv)
{
	struct plant_part p;
	pthread_condattr_t a;

	if (plant_init(argc, argv))
		return 0;
	gate = (void *)plant->own;
	there = (void *)(gate + 1);
	plant_mutex(&gate->m, PTHREAD_PRIO_NONE);
	pthread_condattr_init(&a);
	pthread_condattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&gate->c, &a);
	plant_start(&p, plant_pick(2) ? PLANT_MAIN : PLANT_THREAD, opener);
	plant_finish(&p);
	plant_truth("gate", "futex");
	return 0;
}
