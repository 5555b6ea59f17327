/* SPDX-License-Identifier: MIT */
/* sendmmsg and recvmmsg: several datagrams with addresses, and descriptors of FILE and a pipe. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { N = 3 };

static int udp(struct sockaddr_in *a)
{
	const int s = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t n = sizeof(*a);

	*a = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	return bind(s, (void *)a, sizeof(*a)) || getsockname(s, (void *)a, &n) ? -1 : s;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to, own, from[N];
	const int in = udp(&to), out = udp(&own);
	char bytes[N][40], *text[N] = {"messages", "a\0\"b", "c"};
	struct timespec limit = {5, 0};
	struct iovec v[N], w[N];
	struct mmsghdr sent[N] = {0}, got[N] = {0};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} rights = {0};
	int pair[2], fds[2], ends[2], r;

	for (unsigned i = 0; i < N; i++) {
		v[i] = (struct iovec){text[i], i == 1 ? 4 : strlen(text[i])};
		w[i] = (struct iovec){bytes[i], sizeof(bytes[i])};
		sent[i].msg_hdr = (struct msghdr){&to, sizeof(to), &v[i], 1, NULL, 0, 0};
		got[i].msg_hdr = (struct msghdr){&from[i], sizeof(from[i]), &w[i], 1, NULL, 0, 0};
	}
	if (sendmmsg(out, sent, N, 0) != N || recvmmsg(in, got, N, MSG_WAITFORONE, &limit) != N)
		return 1;
	sendmmsg(-1, sent, 1, 0);
	recvmmsg(in, got, N, MSG_DONTWAIT, NULL);
	if (argc < 2 || pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	fds[0] = open(argv[1], O_RDONLY);
	fds[1] = ends[0];
	rights.head = (struct cmsghdr){CMSG_LEN(sizeof(fds)), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(&rights.head), fds, sizeof(fds));
	sent[1].msg_hdr = (struct msghdr){NULL, 0, &v[1], 1, &rights, sizeof(rights), 0};
	if (sendmmsg(pair[0], sent + 1, 1, 0) != 1)
		return 1;
	memset(&rights, 0, sizeof(rights));
	got[0].msg_hdr = (struct msghdr){NULL, 0, w, 1, &rights, sizeof(rights), 0};
	r = recvmmsg(pair[1], got, 1, MSG_CMSG_CLOEXEC, NULL);
	memcpy(fds, CMSG_DATA(&rights.head), sizeof(fds));
	return r != 1 || read(fds[0], bytes[0], 1) != 1;
}
