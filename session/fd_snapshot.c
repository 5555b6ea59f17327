/* SPDX-License-Identifier: MIT */
/*
 * See fd_snapshot.h. Two allocations of the section's size, for any content.
 */
#include "fd_snapshot.h"

#include "compare.h"
#include "field_text.h"
#include "int_set.h"
#include "snapshot_text.h"
#include "trace.h"
#include "vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ty_fd_snapshot {
	char *text; /* targets, each ended by NUL */
	struct ty_fd_name *v;
	uint32_t n;
	uint64_t since_ns, taken_ns;
	bool left_out;
	VEC(struct ty_text) listening; /* addresses, sorted */
	VEC(int) cut; /* a set: whose lists are not whole; empty in older recordings */
};

ORDER(by_fd, struct ty_fd_name, compare(a->pid, b->pid) ?: compare(a->fd, b->fd))

ORDER(by_bytes, struct ty_text,
      memcmp(a->s, b->s, a->n < b->n ? a->n : b->n) ?: compare(a->n, b->n))

/* "TCP:[127.0.0.1:80 listening]" */
static int add_listening(struct ty_fd_snapshot *n, const char *target)
{
	static const char listening[] = " listening]";
	const char *end = strstr(target, listening);

	if (strncmp(target, "TCP:[", 5) || !end || end[sizeof(listening) - 1])
		return 0;
	return vec_push(&n->listening, ((struct ty_text){target + 5, (size_t)(end - target) - 5}));
}

static int parse(struct ty_fd_snapshot *n, const char *text)
{
	char *to = n->text;
	struct ty_snap_fd d;

	ty_snap_taken(text, &n->since_ns, &n->taken_ns);
	while ((d = ty_snap_fd(&text)).is != TY_SNAP_FD_END) {
		struct ty_fd_name f = {
			.pid = d.pid, .fd = d.fd, .cloexec = d.cloexec, .target = to};

		if (d.is == TY_SNAP_FD_OPEN) {
			to += ty_unescape_field(d.target.s, d.target.n, to, d.target.n + 1) + 1;
			n->v[n->n++] = f;
			if (add_listening(n, f.target))
				return -TY_ENOMEM;
			continue;
		}
		if (d.is != TY_SNAP_FD_LEFT_OUT)
			continue;
		n->left_out |= d.pid < 0;
		if (d.pid >= 0 && vec_push(&n->cut, d.pid))
			return -TY_ENOMEM;
	}
	vec_sort(n, by_fd);
	vec_sort(&n->listening, by_bytes);
	n->cut.n = ty_int_set(n->cut.v, n->cut.n);
	return 0;
}

struct ty_fd_snapshot *ty_fd_snapshot_new(const char *section)
{
	struct ty_fd_snapshot *n = calloc(1, sizeof(*n));
	size_t lines = 0;

	section = section ? section : "";
	for (const char *p = section; (p = strchr(p, '\n')); p++)
		lines++;
	if (n) {
		/* A target is never longer than its line with the newline (or NUL) behind it. */
		n->text = malloc(strlen(section) + 1);
		n->v = calloc(lines + 1, sizeof(*n->v));
	}
	if (!n || !n->text || !n->v) {
		ty_fd_snapshot_free(n);
		return NULL;
	}
	if (parse(n, section)) {
		ty_fd_snapshot_free(n);
		return NULL;
	}
	return n;
}

void ty_fd_snapshot_free(struct ty_fd_snapshot *n)
{
	if (!n)
		return;
	vec_fini(&n->listening);
	vec_fini(&n->cut);
	free(n->text);
	free(n->v);
	free(n);
}

const struct ty_fd_name *ty_fd_snapshot_find(const struct ty_fd_snapshot *n, int32_t pid,
					     int32_t fd)
{
	struct ty_fd_name key = {.pid = pid, .fd = fd};

	return n && n->n ? bsearch(&key, n->v, n->n, sizeof(*n->v), by_fd) : NULL;
}

int32_t ty_fd_snapshot_from(const struct ty_fd_snapshot *n, int32_t pid, int32_t fd)
{
	const struct ty_fd_name key = {.pid = pid, .fd = fd};
	uint32_t lo = 0, hi = n ? n->n : 0;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (by_fd(&n->v[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return n && lo < n->n && n->v[lo].pid == pid ? n->v[lo].fd : INT32_MAX;
}

uint64_t ty_fd_snapshot_taken_ns(const struct ty_fd_snapshot *n)
{
	return n ? n->taken_ns : 0;
}

uint64_t ty_fd_snapshot_since_ns(const struct ty_fd_snapshot *n)
{
	return n ? n->since_ns : 0;
}

bool ty_fd_snapshot_left_out(const struct ty_fd_snapshot *n, int32_t pid)
{
	if (!n || !n->left_out)
		return false;
	return !n->cut.n || bsearch(&pid, n->cut.v, n->cut.n, sizeof(*n->cut.v), ty_int_order);
}

static bool listed(const struct ty_fd_snapshot *n, const char *at, size_t len)
{
	struct ty_text key = {at, len};

	return bsearch(&key, n->listening.v, n->listening.n, sizeof(*n->listening.v), by_bytes);
}

bool ty_fd_snapshot_listens(const struct ty_fd_snapshot *n, const char *at, size_t len)
{
	static const char *const any[] = {"0.0.0.0", "[::]"};
	const char *port = at + len;
	char text[32];

	if (!n || !n->listening.n)
		return false;
	while (port > at && *port != ':')
		port--;
	for (unsigned i = 0; i < 2; i++) {
		int k = snprintf(text, sizeof(text), "%s%.*s", any[i], (int)(at + len - port),
				 port);

		if (k > 0 && (size_t)k < sizeof(text) && listed(n, text, (size_t)k))
			return true;
	}
	return listed(n, at, len);
}
