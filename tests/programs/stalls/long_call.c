/* SPDX-License-Identifier: MIT */
/*
 * One system call that computes for long: random bytes, far too many at once. Where others had the
 * CPU for a good part of it, nothing was planted.
 */
#include <sys/uio.h>

#include "plant.h"

static void victim(void)
{
	static char buf[1 << 16];
	static struct iovec v[1024];
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	unsigned n = 64;
	uint64_t t, cpu;

	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	for (int i = 0; i < 1024; i++)
		v[i] = (struct iovec){buf, sizeof(buf)};
	/* How much takes that long here? */
	t = plant_ns(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned i = 0; i < n; i++)
		if (readv(fd, v, 1) <= 0)
			err(1, "readv");
	t = (plant_ns(CLOCK_THREAD_CPUTIME_ID) - t) / n;
	n = t ? (unsigned)(the.ms * 1000000ull / t) : 1024;
	cpu = plant_ns(CLOCK_THREAD_CPUTIME_ID);
	t = plant_begin();
	if (readv(fd, v, n < 1024 ? (int)n : 1024) <= 0)
		err(1, "readv");
	plant_end(t);
	if (plant_ns(CLOCK_THREAD_CPUTIME_ID) - cpu < plant->duration_ns / 20 * 17)
		plant->duration_ns = 0;
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
