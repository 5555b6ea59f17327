/* SPDX-License-Identifier: MIT */
/*
 * Data behind a pointer, as strace prints it: strings in quotes with C escapes, other bytes in
 * octal (with as few digits as the next byte allows), paths in full, arguments truncated to 32
 * bytes each; truncation is marked by "...". Socket addresses: sockaddr(3type), ip(7), ipv6(7),
 * unix(7), netlink(7).
 */
#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "call_data_index.h"

enum { ARG_MAX_BYTES = 32, ARGS_SHOWN = 32 };

static void add_byte(struct ty_buf *b, unsigned char c, bool digit_follows)
{
	static const char escapes[] = "\t\n\v\f\r\"\\", names[] = "tnvfr\"\\";
	const char *e = c ? strchr(escapes, c) : NULL;

	if (e) {
		ty_buf_addc(b, '\\');
		ty_buf_addc(b, names[e - escapes]);
	} else if (c >= ' ' && c < 0x7f) {
		ty_buf_addc(b, (char)c);
	} else {
		ty_buf_addf(b, digit_follows ? "\\%03o" : "\\%o", c);
	}
}

static void add_quoted(struct ty_buf *b, const char *p, size_t n, bool more)
{
	ty_buf_addc(b, '"');
	for (size_t i = 0; i < n; i++)
		add_byte(b, (unsigned char)p[i], i + 1 < n && p[i + 1] >= '0' && p[i + 1] <= '9');
	ty_buf_addc(b, '"');
	if (more)
		ty_buf_adds(b, "...");
}

/* ["ls", "-l", ...] */
static void add_argv(struct ty_buf *b, const struct ty_call_data_item *it)
{
	unsigned shown = 0;

	ty_buf_addc(b, '[');
	for (size_t at = 0; at < it->len; shown++) {
		size_t n = strnlen(it->p + at, it->len - at);
		bool cut = at + n == it->len; /* its NUL is not there */

		if (at)
			ty_buf_adds(b, ", ");
		if (shown == ARGS_SHOWN) {
			ty_buf_adds(b, "...");
			break;
		}
		add_quoted(b, it->p + at, n < ARG_MAX_BYTES ? n : ARG_MAX_BYTES,
			   cut || n > ARG_MAX_BYTES);
		at += n + 1;
	}
	if (shown < ARGS_SHOWN && it->flags & TY_EVF_CUT)
		ty_buf_adds(b, ", ...");
	ty_buf_addc(b, ']');
}

static void add_bytes(struct ty_buf *b, const char *p, size_t n)
{
	add_quoted(b, p, n < ARG_MAX_BYTES ? n : ARG_MAX_BYTES, n > ARG_MAX_BYTES);
}

static void add_sockaddr(struct ty_buf *b, const char *p, size_t n)
{
	char text[INET6_ADDRSTRLEN];
	uint16_t family = 0, port = 0;
	uint32_t w[2];

	if (n < 2) {
		ty_buf_adds(b, "{...}");
		return;
	}
	memcpy(&family, p, 2);
	if (n >= 4)
		memcpy(&port, p + 2, 2);
	if (family == AF_INET && n >= 8) {
		inet_ntop(AF_INET, p + 4, text, sizeof(text));
		ty_buf_addf(b,
			    "{sa_family=AF_INET, sin_port=htons(%u), sin_addr=inet_addr(\"%s\")}",
			    ntohs(port), text);
	} else if (family == AF_INET6 && n >= 24) {
		inet_ntop(AF_INET6, p + 8, text, sizeof(text));
		memcpy(&w[0], p + 4, 4);
		w[1] = 0;
		if (n >= 28)
			memcpy(&w[1], p + 24, 4);
		ty_buf_addf(b,
			    "{sa_family=AF_INET6, sin6_port=htons(%u), sin6_flowinfo=htonl(%u), "
			    "inet_pton(AF_INET6, \"%s\", &sin6_addr), sin6_scope_id=%u}",
			    ntohs(port), ntohl(w[0]), text, w[1]);
	} else if (family == AF_UNIX && n > 2 && !p[2]) {
		ty_buf_adds(b, "{sa_family=AF_UNIX, sun_path=@");
		add_quoted(b, p + 3, n - 3, false);
		ty_buf_addc(b, '}');
	} else if (family == AF_UNIX && n > 2) {
		ty_buf_adds(b, "{sa_family=AF_UNIX, sun_path=");
		add_quoted(b, p + 2, strnlen(p + 2, n - 2), false);
		ty_buf_addc(b, '}');
	} else if (family == AF_UNIX) {
		ty_buf_adds(b, "{sa_family=AF_UNIX}");
	} else if (family == AF_NETLINK && n >= 12) {
		memcpy(w, p + 4, 8);
		ty_buf_addf(b, "{sa_family=AF_NETLINK, nl_pid=%d, nl_groups=%#08x}", (int)w[0],
			    w[1]);
	} else if (family == AF_UNSPEC) {
		ty_buf_adds(b, "{sa_family=AF_UNSPEC, sa_data=");
		add_bytes(b, p + 2, n - 2);
		ty_buf_addc(b, '}');
	} else {
		ty_buf_addf(b, "{sa_family=%u, sa_data=", family);
		add_bytes(b, p + 2, n - 2);
		ty_buf_addc(b, '}');
	}
}

bool ty_call_data_fd(const struct ty_call_data_item *it, unsigned i, struct ty_ev_fd *out)
{
	if (!it->p || it->kind != TY_EVK_FDS || it->len < (i + 1) * sizeof(*out))
		return false;
	memcpy(out, it->p + i * sizeof(*out), sizeof(*out));
	return true;
}

/* "127.0.0.1:80"; false: there is no such address. */
static bool add_address(struct ty_buf *b, const uint8_t a[24], bool peer)
{
	char text[INET6_ADDRSTRLEN];
	uint16_t family, port;

	memcpy(&family, a, 2);
	memcpy(&port, a + 2, 2);
	if ((family != AF_INET && family != AF_INET6) || !port)
		return false;
	inet_ntop(family, a + (family == AF_INET ? 4 : 8), text, sizeof(text));
	ty_buf_addf(b, family == AF_INET ? "%s%s:%u" : "%s[%s]:%u", peer ? "->" : "", text,
		    ntohs(port));
	return true;
}

static void add_inet(struct ty_buf *b, const struct ty_ev_fd *f)
{
	const char *six = f->family == AF_INET6 ? "v6" : "";

	if (f->protocol == IPPROTO_TCP || f->protocol == IPPROTO_UDP)
		ty_buf_addf(b, "%s%s:[", f->protocol == IPPROTO_TCP ? "TCP" : "UDP", six);
	else
		ty_buf_addf(b, "socket%s %u:[", six, f->protocol);
	if (!add_address(b, f->own, false))
		ty_buf_addf(b, "%llu", (unsigned long long)f->inode);
	else
		add_address(b, f->peer, true);
	ty_buf_adds(b, f->listens ? " listening]" : "]");
}

static void add_unix(struct ty_buf *b, const struct ty_ev_fd *f)
{
	const char *type = f->type == SOCK_STREAM  ? "STREAM"
			   : f->type == SOCK_DGRAM ? "DGRAM"
						   : "SEQPACKET";
	unsigned n = f->path_len < sizeof(f->path) ? f->path_len : sizeof(f->path);
	const bool abstract = n && !f->path[0];

	ty_buf_addf(b, "UNIX-%s:[%llu", type, (unsigned long long)f->inode);
	if (f->peer_inode)
		ty_buf_addf(b, "->%llu", (unsigned long long)f->peer_inode);
	if (n) {
		ty_buf_adds(b, f->path_is_peers ? " to " : ",");
		ty_buf_adds(b, abstract ? "@" : "");
		add_quoted(b, f->path + abstract, abstract ? n - 1 : (unsigned)strnlen(f->path, n),
			   false);
	}
	ty_buf_adds(b, f->listens ? " listening" : "");
	if (f->peer_pid && !f->listens)
		ty_buf_addf(b, " process %u", f->peer_pid);
	ty_buf_addc(b, ']');
}

int ty_call_data_fd_text(const struct ty_ev_fd *f, struct ty_buf *b)
{
	if (S_ISFIFO(f->mode))
		ty_buf_addf(b, "pipe:[%llu]", (unsigned long long)f->inode);
	else if (S_ISSOCK(f->mode) && (f->family == AF_INET || f->family == AF_INET6))
		add_inet(b, f);
	else if (S_ISSOCK(f->mode) && f->family == AF_UNIX)
		add_unix(b, f);
	else if (S_ISSOCK(f->mode))
		ty_buf_addf(b, "%s:[%llu]", f->family == AF_NETLINK ? "NETLINK" : "socket",
			    (unsigned long long)f->inode);
	return b->failed;
}

int ty_call_data_path(const char *parts, size_t n, bool deleted, struct ty_buf *out)
{
	const bool one = n && strnlen(parts, n) == n - 1;

	if (!n || parts[n - 1])
		return out->failed;
	/* What lies in no folder: files of the kernel's own. */
	if (one && deleted && *parts == '[')
		return ty_buf_addf(out, "anon_inode:%s", parts);
	for (size_t end = n - 1, at; end < n; end = at - 1) {
		at = end;
		while (at && parts[at - 1])
			at--;
		if (parts[at] != '/')
			ty_buf_addc(out, '/');
		ty_buf_adds(out, parts + at);
		if (!at)
			break;
	}
	if (deleted && !(one && *parts == '/'))
		ty_buf_adds(out, " (deleted)");
	return out->failed;
}

/* [3<pipe:[17]>, 4<pipe:[17]>] */
static void add_fds(struct ty_buf *b, const struct ty_call_data_item *it)
{
	struct ty_ev_fd f;

	for (unsigned i = 0; ty_call_data_fd(it, i, &f); i++) {
		ty_buf_addf(b, "%s%d<", i ? ", " : "[", f.fd);
		ty_call_data_fd_text(&f, b);
		ty_buf_addc(b, '>');
	}
	ty_buf_addc(b, ']');
}

bool ty_call_data_short(const struct ty_call_data_item *i, bool to, struct ty_buf *out)
{
	const char *arrow = to ? "->" : "";
	char text[INET6_ADDRSTRLEN];
	uint16_t family = 0, port = 0;
	const bool path = i->len > 2 && i->p[2];

	if (i->kind == TY_EVK_STRING)
		return !ty_buf_add(out, i->p, i->len) &&
		       !(i->flags & TY_EVF_CUT && ty_buf_adds(out, "..."));
	if (i->kind != TY_EVK_SOCKADDR || i->len < 3)
		return false;
	memcpy(&family, i->p, 2);
	if (family == AF_UNIX)
		return !ty_buf_addf(out, "UNIX:[%s%s%.*s]", arrow, path ? "" : "@",
				    (int)i->len - 2 - !path, i->p + 2 + !path);
	if ((family != AF_INET || i->len < 8) && (family != AF_INET6 || i->len < 24))
		return false;
	memcpy(&port, i->p + 2, 2);
	inet_ntop(family, i->p + (family == AF_INET ? 4 : 8), text, sizeof(text));
	return !ty_buf_addf(out, family == AF_INET ? "socket:[%s%s:%u]" : "socket:[%s[%s]:%u]",
			    arrow, text, ntohs(port));
}

int ty_call_data_text(const struct ty_call_data_item *i, struct ty_buf *out)
{
	switch (i->kind) {
	case TY_EVK_STRING: add_quoted(out, i->p, i->len, i->flags & TY_EVF_CUT); break;
	case TY_EVK_STRINGS: add_argv(out, i); break;
	case TY_EVK_SOCKADDR: add_sockaddr(out, i->p, i->len); break;
	case TY_EVK_FDS: add_fds(out, i); break;
	}
	return out->failed;
}
