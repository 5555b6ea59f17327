/* SPDX-License-Identifier: MIT */
/*
 * No stall: workers wait until a futex word that counts is another one, as condition variables of
 * Rust and of newer C libraries do it. Some of the values are those that locks have.
 */
#include <linux/futex.h>

#include "plant.h"

static _Atomic int count;
static _Atomic bool over;
static unsigned rounds, first;

static void worker(void)
{
	int seen = (int)first;

	while (!over) {
		while (count == seen && !over)
			syscall(SYS_futex, &count,
				the.way % 2 ? FUTEX_WAIT_PRIVATE
					    : FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG,
				seen, NULL, NULL, FUTEX_BITSET_MATCH_ANY);
		seen = count;
		plant_work(2);
	}
}

static void wake_all(void)
{
	count++;
	syscall(SYS_futex, &count, FUTEX_WAKE_PRIVATE, 99, NULL, NULL, 0);
}

int main(int argc, char **argv)
{
	struct plant_part p[3];
	unsigned n;

	if (plant_init(argc, argv))
		return 0;
	n = plant_between(1, 3);
	rounds = plant_between(4, 7);
	first = plant_pick(2);
	count = (int)first;
	plant_be(NULL, the.victim);
	for (unsigned i = 0; i < n; i++)
		plant_start(&p[i], PLANT_THREAD, worker);
	for (unsigned i = 0; i < rounds; i++) {
		plant_spend_ms(the.way, 60 + the.ms / 5);
		over = i + 1 == rounds;
		wake_all();
	}
	for (unsigned i = 0; i < n; i++)
		plant_finish(&p[i]);
	plant_truth("none", NULL);
	return 0;
}
