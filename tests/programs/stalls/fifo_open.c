/* SPDX-License-Identifier: MIT */
/* To open a FIFO waits for its other side. */
#include <sys/stat.h>

#include "plant.h"

int main(int argc, char **argv)
{
	char path[4200];
	uint64_t t;
	pid_t p;
	int fd;

	if (plant_init(argc, argv))
		return 0;
	snprintf(path, sizeof(path), "%s.fifo", plant_path);
	if (mkfifo(path, 0600))
		err(1, "%s", path);
	p = fork();
	if (!p) {
		plant_be(&plant->culprit, the.culprit);
		plant_spend_ms(the.way, the.ms);
		fd = open(path, the.after % 2 ? O_RDONLY : O_WRONLY);
		plant_await(1);
		_exit(fd < 0);
	}
	plant_be(&plant->victim, the.victim);
	t = plant_begin();
	fd = open(path, the.after % 2 ? O_WRONLY : O_RDONLY);
	plant_end(t);
	if (fd < 0)
		err(1, "%s", path);
	plant_work(the.after);
	plant_turn(1);
	waitpid(p, NULL, 0);
	plant_truth("fd", "open|openat");
	return 0;
}
