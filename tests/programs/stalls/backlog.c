/* SPDX-License-Identifier: MIT */
/* A server that does not accept: its queue is full, and connect waits. */
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "plant.h"

static struct sockaddr_un name = {.sun_family = AF_UNIX};
static socklen_t len;

static void server(int fd, int clients)
{
	plant_be(&plant->culprit, the.culprit);
	plant_await(1);
	plant_spend_ms(the.way, the.ms);
	for (int i = 0; i < clients; i++)
		close(accept(fd, NULL, NULL));
}

int main(int argc, char **argv)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	uint64_t t;
	pid_t p;

	if (plant_init(argc, argv))
		return 0;
	/* Abstract: no file. */
	snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "tarry-%s-%d", the.culprit,
		 getpid());
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name.sun_path + 1));
	if (bind(fd, (void *)&name, len) || listen(fd, 0))
		err(1, "listen");
	p = fork();
	if (!p) {
		server(fd, 2);
		_exit(0);
	}
	plant_be(&plant->victim, the.victim);
	for (int i = 0; i < 2; i++) {
		int s = socket(AF_UNIX, SOCK_STREAM, 0);

		plant_work(the.before);
		plant_turn(i);
		t = plant_begin();
		if (connect(s, (void *)&name, len))
			err(1, "connect");
		plant_end(t);
	}
	plant_work(the.after);
	waitpid(p, NULL, 0);
	plant_truth("socket", "connect");
	return 0;
}
