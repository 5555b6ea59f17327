/* SPDX-License-Identifier: MIT */
/* See fd_names.h. Two allocations as large as the section, whatever is in it. */
#include "fd_names.h"

#include "partition.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SETFD 2 /* fcntl's F_SETFD, on all machines */

struct ty_fd_names {
	char *text; /* targets, each ended by NUL */
	struct ty_fd_name *v;
	uint32_t n;
	uint64_t since_ns, taken_ns, lost_ns; /* lost_ns: UINT64_MAX none */
	bool left_out;
};

static int by_fd(const void *pa, const void *pb)
{
	const struct ty_fd_name *a = pa, *b = pb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->fd < b->fd ? -1 : a->fd > b->fd;
}

/* A number up to INT_MAX with a TAB behind it; NULL: it is none. */
static const char *number(const char *p, int32_t *out)
{
	char *end;
	unsigned long v = strtoul(p, &end, 10);

	if (*p < '0' || *p > '9' || *end != '\t' || v > INT_MAX)
		return NULL;
	*out = (int32_t)v;
	return end + 1;
}

/* The target up to the end of its line, without escapes, to *to. */
static void unescape(const char *p, char **to)
{
	char *o = *to;

	for (; *p && *p != '\n'; p++) {
		if (*p == '\\' && p[1] && p[1] != '\n') {
			p++;
			*o++ = (char)(*p == 't' ? '\t' : *p == 'n' ? '\n' : *p);
		} else {
			*o++ = *p;
		}
	}
	*o++ = 0;
	*to = o;
}

static void parse(struct ty_fd_names *n, const char *p)
{
	char *to = n->text;

	for (const char *next; *p; p = next) {
		struct ty_fd_name f;
		const char *q;

		next = p + strcspn(p, "\n");
		next += *next == '\n';
		if (!strncmp(p, "taken ", 6)) {
			char *end;

			n->since_ns = strtoull(p + 6, &end, 10);
			n->taken_ns = strtoull(end, &end, 10);
			continue;
		}
		n->left_out |= !strncmp(p, "left_out\t", 9);
		q = number(p, &f.pid);
		q = q ? number(q, &f.fd) : NULL;
		if (!q)
			continue;
		f.cloexec = !strncmp(q, "cloexec\t", 8);
		q += strcspn(q, "\t\n");
		if (*q != '\t')
			continue;
		f.gone_ns = UINT64_MAX;
		f.target = to;
		unescape(q + 1, &to);
		n->v[n->n++] = f;
	}
	if (n->n)
		qsort(n->v, n->n, sizeof(*n->v), by_fd);
}

struct ty_fd_names *ty_fd_names_new(const char *section)
{
	struct ty_fd_names *n = calloc(1, sizeof(*n));
	size_t lines = 0;

	section = section ? section : "";
	for (const char *p = section; (p = strchr(p, '\n')); p++)
		lines++;
	if (n) {
		/* A target is never longer than its line with the newline (or NUL) behind it. */
		n->text = malloc(strlen(section) + 1);
		n->v = calloc(lines + 1, sizeof(*n->v));
		n->lost_ns = UINT64_MAX;
	}
	if (!n || !n->text || !n->v) {
		ty_fd_names_free(n);
		return NULL;
	}
	parse(n, section);
	return n;
}

void ty_fd_names_free(struct ty_fd_names *n)
{
	if (!n)
		return;
	free(n->text);
	free(n->v);
	free(n);
}

const struct ty_fd_name *ty_fd_names_find(const struct ty_fd_names *n, int32_t pid, int32_t fd)
{
	struct ty_fd_name key = {.pid = pid, .fd = fd};

	return n && n->n ? bsearch(&key, n->v, n->n, sizeof(*n->v), by_fd) : NULL;
}

uint64_t ty_fd_names_taken_ns(const struct ty_fd_names *n)
{
	return n ? n->taken_ns : 0;
}

uint64_t ty_fd_names_since_ns(const struct ty_fd_names *n)
{
	return n ? n->since_ns : 0;
}

bool ty_fd_names_left_out(const struct ty_fd_names *n)
{
	return n && n->left_out;
}

static struct ty_fd_name *first_of(const struct ty_fd_names *n, int32_t pid, int64_t fd)
{
	size_t lo = partition_point(i, 0, n->n,
				    n->v[i].pid < pid || (n->v[i].pid == pid && n->v[i].fd < fd));

	return n->v + lo;
}

const char *ty_fd_names_at(const struct ty_fd_names *n, int32_t pid, int32_t fd, uint64_t ts_ns)
{
	const struct ty_fd_name *f = ty_fd_names_find(n, pid, fd);

	return f && ts_ns >= n->taken_ns && ts_ns < f->gone_ns && ts_ns < n->lost_ns ? f->target
										     : NULL;
}

/* Those of the process in [from, to] are gone; cloexec: only with that flag. */
static void gone(struct ty_fd_names *n, int32_t pid, uint32_t from, uint32_t to, bool cloexec,
		 uint64_t ts_ns)
{
	struct ty_fd_name *f = first_of(n, pid, from), *end = n->v + n->n;

	for (; f < end && f->pid == pid && (uint32_t)f->fd <= to; f++)
		if ((!cloexec || f->cloexec) && ts_ns < f->gone_ns)
			f->gone_ns = ts_ns + 1; /* the call itself was still about it */
}

void ty_fd_names_call(struct ty_fd_names *n, const struct ty_sysarch *arch, const struct ty_call *c,
		      int32_t pid)
{
	uint32_t fd = (uint32_t)c->args[0];
	struct ty_fd_name *f;
	const char *name;
	char buf[32];

	/* What began before may have been anything. */
	if (ty_call_end_only(c) || (c->how == TY_CALL_RETURNED && c->ret < 0))
		return;
	if (ty_syscall_class(arch, c->abi, c->nr) == TY_SC_EXEC) {
		gone(n, pid, 0, UINT32_MAX, true, c->start_ns);
		return;
	}
	name = ty_syscall_name(arch, c->abi, c->nr, buf);
	f = first_of(n, pid, fd);
	if (!strncmp(name, "fcntl", 5) && c->args[1] == SETFD && f < n->v + n->n && f->pid == pid &&
	    (uint32_t)f->fd == fd)
		f->cloexec = c->args[2] & 1;
	else if (!strcmp(name, "close"))
		gone(n, pid, fd, fd, false, c->start_ns);
	else if (!strcmp(name, "dup2") || !strcmp(name, "dup3"))
		gone(n, pid, (uint32_t)c->args[1], (uint32_t)c->args[1], false, c->start_ns);
	else if (!strcmp(name, "close_range"))
		gone(n, pid, fd, (uint32_t)c->args[1], false, c->start_ns);
}

void ty_fd_names_lost(struct ty_fd_names *n, uint64_t from_ns)
{
	if (n && from_ns < n->lost_ns)
		n->lost_ns = from_ns;
}
