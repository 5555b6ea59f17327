/* SPDX-License-Identifier: MIT */
/* Requests and answers over a pair of Unix sockets: streams, datagrams or packets. */
#include <sys/socket.h>

#include "service.h"

static int fd[2];
static unsigned how;

static void receive(int s)
{
	char c[8];
	struct iovec v = {c, sizeof(c)};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

	if ((how == 0	? read(s, c, sizeof(c))
	     : how == 1 ? recv(s, c, sizeof(c), 0)
			: recvmsg(s, &m, 0)) <= 0)
		err(1, "socket");
}

static void give(int s)
{
	char c[8] = "message";

	if ((how == 0 ? write(s, c, sizeof(c)) : send(s, c, sizeof(c), 0)) != sizeof(c))
		err(1, "socket");
}

static void ask(void)
{
	give(fd[0]);
}

static void take(void)
{
	receive(fd[0]);
}

static void hear(void)
{
	receive(fd[1]);
}

static void answer(void)
{
	give(fd[1]);
}

int main(int argc, char **argv)
{
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};

	if (plant_init(argc, argv))
		return 0;
	how = plant_pick(3);
	if (socketpair(AF_UNIX, types[plant_pick(3)], 0, fd))
		err(1, "socketpair");
	service_run();
	plant_truth("socket", how == 0 ? "read" : how == 1 ? "recvfrom" : "recvmsg");
	return 0;
}
