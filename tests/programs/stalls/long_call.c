/* SPDX-License-Identifier: MIT */
/* One system call that computes for long: random bytes, far too many at once. */
#include <sys/uio.h>

#include "plant.h"

static void victim(void)
{
	static char buf[1 << 16];
	static struct iovec v[1024];
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	unsigned n = 64;
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	for (int i = 0; i < 1024; i++)
		v[i] = (struct iovec){buf, sizeof(buf)};
	/* How much takes that long here? */
	t = plant_ns(CLOCK_MONOTONIC);
	if (readv(fd, v, (int)n) <= 0)
		err(1, "readv");
	t = (plant_ns(CLOCK_MONOTONIC) - t) / n;
	n = t ? (unsigned)(the.ms * 1000000ull / t) : 1024;
	t = plant_begin();
	if (readv(fd, v, n < 1024 ? (int)n : 1024) <= 0)
		err(1, "readv");
	plant_end(t);
	plant_work(the.after);
	close(fd);
}

int main(int argc, char **argv)
{
	struct plant_part p;

	if (plant_init(argc, argv))
		return 0;
	plant_start(&p, plant_pick(3), victim);
	plant_finish(&p);
	plant_truth("cpu", "readv");
	return 0;
}
