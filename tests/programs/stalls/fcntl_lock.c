/* SPDX-License-Identifier: MIT */
/* fcntl(2) locks: of a process (F_SETLKW) or of an open file (F_OFD_SETLKW). */
#include "plant.h"

static bool ofd;

static int take(int fd, short type)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_len = the.before % 2 ? 0 : 10};

	return fcntl(fd, ofd ? F_OFD_SETLKW : F_SETLKW, &l);
}

static void culprit(void)
{
	int fd = plant_file("lock", O_RDWR | O_CREAT);

	plant_be(&plant->culprit, the.culprit);
	plant_work(the.before);
	if (take(fd, F_WRLCK))
		err(1, "fcntl");
	plant_turn(1);
	plant_spend_ms(the.way, the.ms);
	take(fd, F_UNLCK);
}

static void victim(void)
{
	int fd = plant_file("lock", O_RDWR | O_CREAT);
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_await(1);
	t = plant_begin();
	take(fd, the.after % 2 ? F_WRLCK : F_RDLCK);
	plant_end(t);
	plant_work(the.after);
	close(fd);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	ofd = plant_pick(2);
	plant_run_as(plant_pick(3), victim, ofd ? plant_pick(2) : PLANT_CHILD, culprit);
	plant_truth("lock", "fcntl");
	return 0;
}
