/* SPDX-License-Identifier: MIT */
/* A client and its server over loopback TCP; the client waits in recv, read, or poll before it. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "service.h"

static int listening, cfd, sfd;
static unsigned how;

static void receive(int s, bool polls)
{
	char c[100];
	struct pollfd p = {.fd = s, .events = POLLIN};

	if (polls)
		poll(&p, 1, -1);
	if ((how == 0 ? read(s, c, sizeof(c)) : recv(s, c, sizeof(c), 0)) <= 0)
		err(1, "tcp");
}

static void give(int s)
{
	char c[100] = "message";

	if (send(s, c, sizeof(c), 0) != sizeof(c))
		err(1, "tcp");
}

static void ask(void)
{
	give(cfd);
}

static void take(void)
{
	receive(cfd, how == 2);
}

static void hear(void)
{
	receive(sfd, false);
}

static void answer(void)
{
	give(sfd);
}

int main(int argc, char **argv)
{
	socklen_t len = sizeof(struct sockaddr_in);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	if (plant_init(argc, argv))
		return 0;
	how = plant_pick(3);
	listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cfd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listening, (struct sockaddr *)&a, len) || listen(listening, 5) ||
	    getsockname(listening, (struct sockaddr *)&a, &len) ||
	    connect(cfd, (struct sockaddr *)&a, len))
		err(1, "connect");
	sfd = accept(listening, NULL, NULL);
	if (sfd < 0)
		err(1, "accept");
	setsockopt(cfd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	service_run();
	plant_truth("socket", how == 0 ? "read" : how == 1 ? "recvfrom" : "poll");
	return 0;
}
