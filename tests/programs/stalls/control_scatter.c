/* SPDX-License-Identifier: MIT */
/* No stall: pieces of work are handed out to several workers, by a socket or two FIFOs each, and
 * their results collected one after the other; round by round. */
#include <sys/socket.h>
#include <sys/stat.h>

#include "plant.h"

#define WORKERS 3

static struct {
	int hand, collect, take, give;
} s[WORKERS];
static unsigned piece[WORKERS];
static _Atomic unsigned *next;

static void worker(void)
{
	unsigned i = atomic_fetch_add(next, 1);
	char c;

	while (read(s[i].take, &c, 1) == 1 && c != 'q') {
		plant_spin_ms(piece[i]);
		if (write(s[i].give, &c, 1) != 1)
			err(1, "worker");
	}
}

static int fifo(const char *what, unsigned i)
{
	char name[16], path[4200];
	int fd;

	snprintf(name, sizeof(name), "%s%u", what, i);
	snprintf(path, sizeof(path), "%s.%s", plant_path, name);
	if (mkfifo(path, 0600))
		err(1, "%s", path);
	fd = plant_file(name, O_RDWR);
	unlink(path);
	return fd;
}

static void channel(unsigned i, bool by_path)
{
	int v[2];

	if (by_path) {
		s[i].hand = s[i].take = fifo("to", i);
		s[i].collect = s[i].give = fifo("back", i);
		return;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, v))
		err(1, "socketpair");
	s[i].hand = s[i].collect = v[0];
	s[i].take = s[i].give = v[1];
}

int main(int argc, char **argv)
{
	struct plant_part p[WORKERS];
	enum plant_as as;
	unsigned rounds;
	bool by_path;
	char c = 'w';

	if (plant_init(argc, argv))
		return 0;
	as = plant_pick(2) ? PLANT_THREAD : PLANT_CHILD;
	rounds = plant_between(1, 3);
	by_path = plant_pick(2);
	next = (void *)plant->own;
	for (unsigned i = 0; i < WORKERS; i++) {
		piece[i] = the.ms / 6 + plant_pick(the.ms / 20);
		channel(i, by_path);
	}
	for (unsigned i = 0; i < WORKERS; i++)
		plant_start(&p[i], as, worker);
	plant_be(NULL, the.victim);
	for (unsigned n = 0; n < rounds; n++) {
		for (unsigned i = 0; i < WORKERS; i++)
			if (write(s[i].hand, &c, 1) != 1)
				err(1, "hand out");
		for (unsigned i = 0; i < WORKERS; i++)
			if (read(s[i].collect, &c, 1) != 1)
				err(1, "collect");
		plant_work(2);
	}
	c = 'q';
	for (unsigned i = 0; i < WORKERS; i++)
		if (write(s[i].hand, &c, 1) != 1)
			err(1, "end");
	for (unsigned i = 0; i < WORKERS; i++)
		plant_finish(&p[i]);
	plant_truth("none", NULL);
	return 0;
}
