/* SPDX-License-Identifier: MIT */
/* Two words are waited for at once, with futex_waitv or each by its own thread's semaphore. */
#include <linux/futex.h>

#include "plant.h"

static _Atomic unsigned words[2];

static void *late(void *arg)
{
	plant_be(&plant->culprit, the.culprit);
	plant_spend_ms(the.way, the.ms);
	atomic_store(&words[1], 1);
	syscall(SYS_futex, &words[1], FUTEX_WAKE, 9, NULL, NULL, 0);
	return arg;
}

int main(int argc, char **argv)
{
	struct futex_waitv v[2] = {{.uaddr = (uintptr_t)&words[0], .flags = FUTEX_32},
				   {.uaddr = (uintptr_t)&words[1], .flags = FUTEX_32}};
	pthread_t l;
	uint64_t t;

	if (plant_init(argc, argv))
		return 0;
	if (syscall(SYS_futex_waitv, v, 0, 0, NULL, 0) < 0 && errno == ENOSYS)
		plant_skip("no futex_waitv here");
	plant_be(&plant->victim, the.victim);
	if (pthread_create(&l, NULL, late, NULL))
		errx(1, "pthread_create");
	t = plant_begin();
	while (!atomic_load(&words[1]))
		if (syscall(SYS_futex_waitv, v, 2, 0, NULL, 0) < 0 && errno != EINTR &&
		    errno != EAGAIN)
			err(1, "futex_waitv");
	plant_end(t);
	plant_work(the.after);
	pthread_join(l, NULL);
	plant_truth("futex", "futex_waitv");
	return 0;
}
