/* SPDX-License-Identifier: MIT */
/* No stall: a client subscribes, which is confirmed before it waits for that, and receives the news
 * whenever there are some. */
#include <sys/socket.h>

#include "plant.h"

static int s[2];

static void subscriber(void)
{
	char b[64];

	plant_be(NULL, the.victim);
	if (send(s[1], "subscribe", 9, 0) != 9)
		err(1, "subscribe");
	plant_await(1);
	while (recv(s[1], b, sizeof(b), 0) > 0)
		plant_work(1);
}

int main(int argc, char **argv)
{
	struct plant_part p;
	unsigned news;
	char b[64];

	if (plant_init(argc, argv))
		return 0;
	news = plant_between(3, 6);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s))
		err(1, "socketpair");
	plant_start(&p, PLANT_THREAD, subscriber);
	plant_be(NULL, the.culprit);
	if (recv(s[0], b, sizeof(b), 0) != 9 || send(s[0], "confirmed", 9, 0) != 9)
		err(1, "confirm");
	plant_turn(1);
	for (unsigned i = 0; i < news; i++) {
		plant_sleep_us(the.ms * 500);
		if (send(s[0], "news", 4, 0) != 4)
			err(1, "news");
	}
	shutdown(s[0], SHUT_WR);
	plant_finish(&p);
	plant_truth("none", NULL);
	return 0;
}
