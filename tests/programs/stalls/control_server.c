/* SPDX-License-Identifier: MIT */
/* No stall: a client that thinks between its requests, a server that answers each at once. */
#include <arpa/inet.h>
#include <sys/socket.h>

#include "plant.h"

static int listening, n;
static struct sockaddr_in a = {.sin_family = AF_INET};

static void server(void)
{
	char c;
	int s;

	plant_be(NULL, the.culprit);
	s = accept(listening, NULL, NULL);
	while (recv(s, &c, 1, 0) == 1) {
		plant_work(1);
		if (send(s, &c, 1, 0) != 1)
			err(1, "server");
	}
	close(s);
}

static void client(void)
{
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char c = 'q';

	plant_be(NULL, the.victim);
	plant_sleep_us(the.ms * 500);
	if (connect(s, (void *)&a, sizeof(a)))
		err(1, "connect");
	for (int i = 0; i < n; i++) {
		if (send(s, &c, 1, 0) != 1 || recv(s, &c, 1, 0) != 1)
			err(1, "client");
		plant_sleep_us(the.ms * 1000);
	}
	close(s);
}

int main(int argc, char **argv)
{
	socklen_t len = sizeof(a);

	if (plant_init(argc, argv))
		return 0;
	n = (int)plant_between(1, 3);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listening, (void *)&a, len) || listen(listening, 5) ||
	    getsockname(listening, (void *)&a, &len))
		err(1, "listen");
	plant_run(client, server);
	plant_truth("none", NULL);
	return 0;
}
