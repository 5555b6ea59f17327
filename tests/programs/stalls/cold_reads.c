/* SPDX-License-Identifier: MIT */
/* A file that is not in memory is read in small pieces: many short waits for the device. */
#include "plant.h"

#define FILE_BYTES (24u << 20)

static bool maps;

static void victim(void)
{
	static char buf[65536];
	int fd = plant_file("data", O_RDONLY);
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	t = plant_begin();
	if (maps) {
		volatile char *p = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
		unsigned sum = 0;

		if (p == MAP_FAILED)
			err(1, "mmap");
		madvise((void *)p, FILE_BYTES, MADV_RANDOM);
		for (unsigned i = 0; i < FILE_BYTES; i += 8192)
			sum += (unsigned)p[i];
		munmap((void *)p, FILE_BYTES);
		plant->own[0] = (char)sum;
	} else {
		for (unsigned i = 0; i < FILE_BYTES; i += sizeof(buf))
			if (the.way % 2 ? pread(fd, buf, sizeof(buf), i) < 0
					: read(fd, buf, sizeof(buf)) < 0)
				err(1, "read");
	}
	plant_end(t);
	close(fd);
	plant_work(the.after);
}

static void prepare(void)
{
	static char block[1 << 20];
	int fd = plant_file("data", O_RDWR | O_CREAT);

	for (unsigned i = 0; i < FILE_BYTES / sizeof(block); i++)
		if (write(fd, block, sizeof(block)) != sizeof(block))
			err(1, "write");
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

int main(int argc, char **argv)
{
	struct plant_part p;

	if (plant_init(argc, argv)) {
		prepare();
		return 0;
	}
	maps = plant_pick(3) == 0;
	plant_start(&p, plant_pick(3), victim);
	plant_finish(&p);
	plant_truth(maps ? "fault" : "io", maps ? NULL : the.way % 2 ? "pread64" : "read");
	return 0;
}
