/* SPDX-License-Identifier: MIT */
/* No stall: three stages that work all the time and hand on through pipes. */
#include "plant.h"

static int ab[2], bc[2];
static unsigned n;

static void a(void)
{
	plant_be(NULL, the.victim);
	for (unsigned i = 0; i < n; i++) {
		plant_spin_ms(1);
		if (write(ab[1], &i, sizeof(i)) != sizeof(i))
			err(1, "a");
	}
}

static void b(void)
{
	unsigned v;

	plant_be(NULL, the.culprit);
	for (unsigned i = 0; i < n; i++) {
		if (read(ab[0], &v, sizeof(v)) != sizeof(v))
			err(1, "b");
		for (int k = 0; k < 1000; k++)
			v = v * 31 + 7;
		if (write(bc[1], &v, sizeof(v)) != sizeof(v))
			err(1, "b");
	}
}

static void c(void)
{
	unsigned v;

	for (unsigned i = 0; i < n; i++)
		if (read(bc[0], &v, sizeof(v)) != sizeof(v))
			err(1, "c");
}

int main(int argc, char **argv)
{
	struct plant_part pa, pb, pc;

	if (plant_init(argc, argv))
		return 0;
	n = plant_between(100, 300);
	if (pipe(ab) || pipe(bc))
		err(1, "pipe");
	plant_start(&pa, plant_pick(2), a);
	plant_start(&pb, plant_pick(2), b);
	plant_start(&pc, plant_pick(3), c);
	plant_finish(&pa);
	plant_finish(&pb);
	plant_finish(&pc);
	plant_truth("none", NULL);
	return 0;
}
