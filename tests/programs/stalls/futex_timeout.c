/* SPDX-License-Identifier: MIT */
/* A futex wait without a waker, until its timeout, and then work: a failed lock attempt, or a
 * runtime's sleep, which looks the same. */
#include <linux/futex.h>
#include <sys/syscall.h>

#include "plant.h"

int main(int argc, char **argv)
{
	static uint32_t word;
	struct timespec t;
	uint64_t begin;

	if (plant_init(argc, argv))
		return 0;
	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	t = (struct timespec){the.ms / 1000, the.ms % 1000 * 1000000};
	begin = plant_begin();
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
	plant_end(begin);
	plant_spin_ms(5);
	plant_truth("timer", "futex");
	return 0;
}
