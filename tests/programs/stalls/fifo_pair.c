/* SPDX-License-Identifier: MIT */
/*
 * Requests go through one FIFO, answers come through another one, of a server that is its own
 * process. To open them both sides wait for each other, which is no message.
 */
#include <sys/stat.h>

#include "plant.h"

static char path[2][4200];
static unsigned requests, slow;

static int side(int i, int flags)
{
	int fd = open(path[i], flags);

	if (fd < 0)
		err(1, "%s", path[i]);
	return fd;
}

static void server(void)
{
	int in = side(0, O_RDONLY), out = side(1, O_WRONLY);
	char c;

	plant_be(&plant->culprit, the.culprit);
	for (unsigned i = 0; read(in, &c, 1) == 1; i++) {
		if (i == slow)
			plant_spend_ms(the.way, the.ms);
		if (write(out, &c, 1) != 1)
			err(1, "server");
	}
	plant_sleep_us(1000);
}

static void client(void)
{
	int out = side(0, O_WRONLY), in = side(1, O_RDONLY);
	char c = 'q';

	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	for (unsigned i = 0; i < requests; i++) {
		uint64_t t;

		if (write(out, &c, 1) != 1)
			err(1, "client");
		t = plant_begin();
		if (read(in, &c, 1) != 1)
			err(1, "client");
		if (i == slow)
			plant_end(t);
		plant_work(1);
	}
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	struct plant_part c, s;

	if (plant_init(argc, argv))
		return 0;
	requests = plant_between(1, 4);
	slow = plant_pick(requests);
	for (int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "%s.fifo%d", plant_path, i);
		if (mkfifo(path[i], 0600))
			err(1, "%s", path[i]);
	}
	plant_start(&s, PLANT_CHILD, server);
	plant_start(&c, PLANT_CHILD, client);
	plant_finish(&c);
	plant_finish(&s);
	plant_truth("pipe", "read");
	return 0;
}
