/* SPDX-License-Identifier: MIT */
/*
 * Others write and sync as fast as they can; the victim's many small
 * ones wait for the device. So do theirs.
 */
#include "plant.h"

static unsigned mb;

static void storm(void)
{
	static char block[1 << 20];
	char name[32];
	int fd;

	plant_be(&plant->hop[atomic_fetch_add((_Atomic int *)plant->own, 1)], the.culprit);
	snprintf(name, sizeof(name), "storm%d", getpid());
	fd = plant_file(name, O_RDWR | O_CREAT);
	while (atomic_load(&plant->turn) < 1) {
		for (unsigned i = 0; i < mb; i++)
			if (pwrite(fd, block, sizeof(block), (off_t)(i * sizeof(block))) < 0)
				err(1, "storm");
		fsync(fd);
	}
	close(fd);
}

static void victim(void)
{
	char text[4096] = "record";
	int fd = plant_file("journal", O_RDWR | O_CREAT | O_APPEND);
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_sleep_us(30000);
	t = plant_begin();
	for (unsigned i = 0; i < 400 && plant_begin() - t < the.ms * 1000000ull; i++) {
		if (write(fd, text, sizeof(text)) < 0)
			err(1, "journal");
		if (the.way % 2 ? fsync(fd) : fdatasync(fd))
			err(1, "fsync");
	}
	plant_end(t);
	plant_turn(1);
	close(fd);
}

int main(int argc, char **argv)
{
	struct plant_part s[2], v;

	if (plant_init(argc, argv))
		return 0;
	mb = plant_between(8, 24);
	plant_start(&s[0], PLANT_CHILD, storm);
	plant_start(&s[1], PLANT_CHILD, storm);
	plant_start(&v, plant_pick(2) ? PLANT_MAIN : PLANT_THREAD, victim);
	plant_finish(&v);
	plant_finish(&s[0]);
	plant_finish(&s[1]);
	plant_truth("storm", "fsync|fdatasync|write");
	return 0;
}
