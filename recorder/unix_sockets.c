/* SPDX-License-Identifier: MIT */
/*
 * See unix_sockets.h. Messages: linux/unix_diag.h. The kernel would load its module unix_diag to
 * answer, and keep it: it is queried only where that cannot happen.
 */
#include "unix_sockets.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { LISTENS = 10 /* TCP_LISTEN, of unix sockets, too */, PATH_BYTES = 108 };

/* Built in, loaded already, or there are no modules. */
static bool is_there(void)
{
	char line[256];
	struct utsname u;
	bool built_in = false;
	FILE *f;

	if (access("/proc/modules", F_OK) || !access("/sys/module/unix_diag", F_OK))
		return true;
	uname(&u);
	snprintf(line, sizeof(line), "/lib/modules/%s/modules.builtin", u.release);
	f = fopen(line, "re");
	while (f && !built_in && fgets(line, sizeof(line), f))
		built_in = strstr(line, "/unix_diag.ko");
	if (f)
		fclose(f);
	return built_in;
}

static void name(const struct nlmsghdr *h, char *text, size_t size)
{
	const struct unix_diag_msg *m = NLMSG_DATA(h);
	int left = (int)(h->nlmsg_len - NLMSG_LENGTH(sizeof(*m))), n = 0;
	const char *path = NULL, *type = m->udiag_type == SOCK_STREAM  ? "STREAM"
					 : m->udiag_type == SOCK_DGRAM ? "DGRAM"
								       : "SEQPACKET";
	uint32_t peer = 0;
	size_t at;

	for (struct rtattr *a = (void *)(m + 1); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(a) >= sizeof(peer))
			memcpy(&peer, RTA_DATA(a), sizeof(peer));
		if (a->rta_type == UNIX_DIAG_NAME && RTA_PAYLOAD(a) <= PATH_BYTES) {
			path = RTA_DATA(a);
			n = (int)RTA_PAYLOAD(a);
		}
	}
	at = (size_t)snprintf(text, size, "UNIX-%s:[%u", type, m->udiag_ino);
	if (peer)
		at += (size_t)snprintf(text + at, size - at, "->%u", peer);
	if (n && !*path)
		at += (size_t)snprintf(text + at, size - at, ",@\"%.*s\"", n - 1, path + 1);
	else if (n)
		at += (size_t)snprintf(text + at, size - at, ",\"%.*s\"", n, path);
	snprintf(text + at, size - at, "%s]", m->udiag_state == LISTENS ? " listening" : "");
}

/* changed: sockets came or went meanwhile, so that some may be missing. */
static int read_all(int fd, int (*each)(void *ctx, unsigned long inode, const char *text),
		    void *ctx, bool *changed)
{
	_Alignas(struct nlmsghdr) char buf[32768];
	char text[256];
	int r = 0;

	while (!r) {
		ssize_t got = recv(fd, buf, sizeof(buf), 0);
		unsigned left = (unsigned)got;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1;
		for (struct nlmsghdr *h = (void *)buf; NLMSG_OK(h, left) && !r;
		     h = NLMSG_NEXT(h, left)) {
			const struct unix_diag_msg *m = NLMSG_DATA(h);

			*changed |= h->nlmsg_flags & NLM_F_DUMP_INTR;
			if (h->nlmsg_type == NLMSG_DONE)
				return 0;
			if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
			    h->nlmsg_len < NLMSG_LENGTH(sizeof(*m)))
				return -1;
			name(h, text, sizeof(text));
			r = each(ctx, m->udiag_ino, text);
		}
	}
	return r;
}

int ty_unix_sockets(int (*each)(void *ctx, unsigned long inode, const char *text), void *ctx)
{
	const struct {
		struct nlmsghdr h;
		struct unix_diag_req r;
	} ask = {{.nlmsg_len = sizeof(ask),
		  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		 {.sdiag_family = AF_UNIX,
		  .udiag_states = UINT32_MAX,
		  .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER}};
	bool again = true;
	int fd, r = -1;

	if (!is_there())
		return -1;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	for (unsigned tries = 0; fd >= 0 && again && r <= 0 && tries < 2; tries++) {
		again = false;
		r = send(fd, &ask, sizeof(ask), 0) == (ssize_t)sizeof(ask)
			    ? read_all(fd, each, ctx, &again)
			    : -1;
	}
	if (fd >= 0)
		close(fd);
	return r;
}
