/* SPDX-License-Identifier: MIT */
/* One long write holds the file's lock in the kernel; another writer waits for it, uninterruptibly.
 * The long call is the cause, not a stall beside it. */
#include <sys/uio.h>

#include "plant.h"

#define SIZE ((size_t)96 << 20)

static int fd;
static char *bytes;
static uint64_t took_ns;

static void writer(void)
{
	struct iovec v[] = {{bytes, SIZE}, {bytes, SIZE}};
	uint64_t t = plant_begin();

	plant_be(&plant->culprit, the.culprit);
	plant_turn(1);
	if (pwritev(fd, v, 2, 0) != (ssize_t)SIZE * 2)
		err(1, "pwritev");
	took_ns = plant_begin() - t;
}

static void victim(void)
{
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_await(1);
	t = plant_begin();
	if (pwrite(fd, "x", 1, 0) != 1)
		err(1, "pwrite");
	plant_end(t);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	fd = plant_file("big", O_RDWR | O_CREAT | O_TRUNC);
	bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		     -1, 0);
	if (bytes == MAP_FAILED)
		err(1, "mmap");
	plant_run_as(PLANT_THREAD, victim, PLANT_THREAD, writer);
	if (plant->duration_ns < took_ns / 8 * 5)
		plant_skip("the victim came too late");
	plant_truth("kernel", "pwrite64");
	return 0;
}
