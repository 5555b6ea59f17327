/* SPDX-License-Identifier: MIT */
/* Datagrams, of UNIX or UDP, sent and received by sendmsg and recvmsg; the answer comes late. */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "plant.h"

static ssize_t message(int fd, bool send)
{
	char buf[64] = "datagram";
	struct iovec v = {buf, sizeof(buf)};
	struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1};

	return send ? sendmsg(fd, &h, 0) : recvmsg(fd, &h, 0);
}

static void udp_pair(int fd[2])
{
	struct sockaddr_in a[2];
	socklen_t n = sizeof(a[0]);

	for (int i = 0; i < 2; i++) {
		a[i] = (struct sockaddr_in){.sin_family = AF_INET,
					    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		fd[i] = socket(AF_INET, SOCK_DGRAM, 0);
		if (bind(fd[i], (void *)&a[i], n) || getsockname(fd[i], (void *)&a[i], &n))
			err(1, "bind");
	}
	for (int i = 0; i < 2; i++)
		if (connect(fd[i], (void *)&a[1 - i], n))
			err(1, "connect");
}

int main(int argc, char **argv)
{
	uint64_t t;
	pid_t p;
	int fd[2];

	if (plant_init(argc, argv))
		return 0;
	if (plant_pick(2))
		udp_pair(fd);
	else if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fd))
		err(1, "socketpair");
	p = fork();
	if (!p) {
		plant_be(&plant->culprit, the.culprit);
		if (message(fd[1], false) < 0)
			err(1, "server");
		plant_spend_ms(the.way, the.ms);
		if (message(fd[1], true) < 0)
			err(1, "server");
		_exit(0);
	}
	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	t = plant_begin();
	if (message(fd[0], true) < 0 || message(fd[0], false) < 0)
		err(1, "client");
	plant_end(t);
	waitpid(p, NULL, 0);
	plant_truth("socket", "recvmsg");
	return 0;
}
