/* SPDX-License-Identifier: MIT */
/* See fd_names.h. Two allocations as large as the section, whatever is in it. */
#include "fd_names.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct ty_fd_names {
	char *text; /* targets, each ended by NUL */
	struct ty_fd_name *v;
	uint32_t n;
	uint64_t taken_ns;
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

			strtoull(p + 6, &end, 10);
			n->taken_ns = strtoull(end, &end, 10);
			continue;
		}
		q = number(p, &f.pid);
		q = q ? number(q, &f.fd) : NULL;
		if (!q)
			continue;
		f.cloexec = !strncmp(q, "cloexec\t", 8);
		q += strcspn(q, "\t\n");
		if (*q != '\t')
			continue;
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
