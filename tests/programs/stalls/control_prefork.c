/* SPDX-License-Identifier: MIT */
/* No stall: servers forked ahead that wait for few clients, and are requested to exit at the end.
 */
#include <arpa/inet.h>
#include <sys/socket.h>

#include "plant.h"

#define SERVERS 3

int main(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(a);
	pid_t p[SERVERS];
	char c = 'c';
	int l;

	if (plant_init(argc, argv))
		return 0;
	l = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(l, (struct sockaddr *)&a, size) || listen(l, 5) ||
	    getsockname(l, (struct sockaddr *)&a, &size))
		err(1, "listen");
	for (int i = 0; i < SERVERS; i++) {
		p[i] = fork();
		while (!p[i]) {
			int fd = accept(l, NULL, NULL);

			if (recv(fd, &c, 1, 0) == 1)
				send(fd, &c, 1, 0);
			close(fd);
		}
	}
	plant_be(NULL, the.victim);
	for (int i = 0; i < 6; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (connect(fd, (struct sockaddr *)&a, size) || send(fd, &c, 1, 0) != 1 ||
		    recv(fd, &c, 1, 0) != 1)
			err(1, "client");
		close(fd);
		plant_sleep_us(the.ms * 200);
	}
	for (int i = 0; i < SERVERS; i++)
		kill(p[i], SIGTERM);
	for (int i = 0; i < SERVERS; i++)
		waitpid(p[i], NULL, 0);
	plant_truth("none", NULL);
	return 0;
}
