/* SPDX-License-Identifier: MIT */
/* No stall: a loop that works a little and sleeps because it wants to. */
#include "plant.h"

int main(int argc, char **argv)
{
	unsigned n;

	if (plant_init(argc, argv))
		return 0;
	plant_be(NULL, the.victim);
	n = plant_between(2, 10);
	for (unsigned i = 0; i < n; i++) {
		plant_sleep_us(the.ms * 1000 / n * 2);
		plant_work(2);
	}
	plant_truth("none", NULL);
	return 0;
}
