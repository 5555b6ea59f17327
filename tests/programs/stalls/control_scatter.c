/* SPDX-License-Identifier: MIT */
/* No stall: pieces of work are handed out to several workers, by a socket each, and their results
 * collected one after the other; round by round. */
#include <sys/socket.h>

#include "plant.h"

#define WORKERS 3

static int s[WORKERS][2];
static unsigned piece[WORKERS];
static _Atomic unsigned *next;

static void worker(void)
{
	unsigned i = atomic_fetch_add(next, 1);
	char c;

	while (read(s[i][1], &c, 1) == 1) {
		plant_spin_ms(piece[i]);
		if (write(s[i][1], &c, 1) != 1)
			err(1, "worker");
	}
}

int main(int argc, char **argv)
{
	struct plant_part p[WORKERS];
	enum plant_as as;
	unsigned rounds;
	char c = 'w';

	if (plant_init(argc, argv))
		return 0;
	as = plant_pick(2) ? PLANT_THREAD : PLANT_CHILD;
	rounds = plant_between(1, 3);
	next = (void *)plant->own;
	for (unsigned i = 0; i < WORKERS; i++) {
		piece[i] = the.ms / 6 + plant_pick(the.ms / 20);
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, s[i]))
			err(1, "socketpair");
	}
	for (unsigned i = 0; i < WORKERS; i++)
		plant_start(&p[i], as, worker);
	plant_be(NULL, the.victim);
	for (unsigned n = 0; n < rounds; n++) {
		for (unsigned i = 0; i < WORKERS; i++)
			if (write(s[i][0], &c, 1) != 1)
				err(1, "hand out");
		for (unsigned i = 0; i < WORKERS; i++)
			if (read(s[i][0], &c, 1) != 1)
				err(1, "collect");
		plant_work(2);
	}
	for (unsigned i = 0; i < WORKERS; i++)
		shutdown(s[i][0], SHUT_WR);
	for (unsigned i = 0; i < WORKERS; i++)
		plant_finish(&p[i]);
	plant_truth("none", NULL);
	return 0;
}
