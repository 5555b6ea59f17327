/* SPDX-License-Identifier: MIT */
/* See held_back.h. Memory: a small multiple of the section, whatever is in it. */
#include "held_back.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "partition.h"
#include "vec.h"

#define TIDS   8192 /* of a line */
#define GROUPS 8    /* that one thread is looked for in: those above each other */

struct line {
	uint64_t from_ns, to_ns, ns, quota_us, period_us;
	size_t tids, tids_n; /* sorted */
	const char *path;
	bool unknown; /* ns is */
};

struct ty_held_lines {
	char *text; /* paths, each ended by NUL */
	VEC(struct line) v;
	VEC(int32_t) tids;
};

static int by_number(const void *pa, const void *pb)
{
	int32_t a = *(const int32_t *)pa, b = *(const int32_t *)pb;

	return a < b ? -1 : a > b;
}

static int by_end(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	return a->to_ns < b->to_ns ? -1 : a->to_ns > b->to_ns;
}

/* A number with a TAB behind it. */
static bool number(const char **p, uint64_t *out)
{
	char *end;

	if (**p < '0' || **p > '9')
		return false;
	*out = strtoull(*p, &end, 10);
	*p = end + 1;
	return *end == '\t';
}

/* 0, 1 where the line was none, or -TY_ENOMEM. */
static int parse_line(struct ty_held_lines *h, const char *p, const char *end, char **to)
{
	struct line l = {.path = *to, .tids = h->tids.n};
	const char *tab;

	if (!number(&p, &l.from_ns) || !number(&p, &l.to_ns))
		return 1;
	l.unknown = !strncmp(p, "-\t", 2);
	p += l.unknown ? 2 : 0;
	if ((!l.unknown && !number(&p, &l.ns)) || !number(&p, &l.quota_us) ||
	    !number(&p, &l.period_us) || !(tab = memchr(p, '\t', (size_t)(end - p))) ||
	    l.from_ns >= l.to_ns)
		return 1;
	for (; p < tab; p++) {
		bool escaped = *p == '\\' && p + 1 < tab;

		p += escaped;
		*(*to)++ = (char)(!escaped ? *p : *p == 't' ? '\t' : *p == 'n' ? '\n' : *p);
	}
	*(*to)++ = 0;
	for (p = tab + 1; p < end && *p == ' ' && h->tids.n - l.tids < TIDS;) {
		char *over;
		unsigned long tid = strtoul(p + 1, &over, 10);

		if (tid && tid <= INT_MAX && vec_push(&h->tids, (int32_t)tid))
			return -TY_ENOMEM;
		p = over;
	}
	l.tids_n = h->tids.n - l.tids;
	if (l.tids_n)
		qsort(h->tids.v + l.tids, l.tids_n, sizeof(int32_t), by_number);
	return vec_push(&h->v, l);
}

struct ty_held_lines *ty_held_lines_new(const char *section)
{
	struct ty_held_lines *h = calloc(1, sizeof(*h));
	char *to;

	section = section ? section : "";
	if (h)
		to = h->text = malloc(strlen(section) + 1); /* a path is shorter than its line */
	if (!h || !h->text) {
		free(h);
		return NULL;
	}
	for (const char *p = section, *end; *p; p = *end ? end + 1 : end) {
		end = p + strcspn(p, "\n");
		if (parse_line(h, p, end, &to) < 0) {
			ty_held_lines_free(h);
			return NULL;
		}
	}
	if (h->v.n)
		qsort(h->v.v, h->v.n, sizeof(*h->v.v), by_end);
	return h;
}

void ty_held_lines_free(struct ty_held_lines *h)
{
	if (!h)
		return;
	free(h->text);
	vec_fini(&h->v);
	vec_fini(&h->tids);
	free(h);
}

bool ty_held_lines_find(const struct ty_held_lines *h, int32_t tid, uint64_t from_ns,
			uint64_t to_ns, struct ty_held_back *out)
{
	struct ty_held_back group[GROUPS] = {0};
	size_t first = partition_point(i, 0, h->v.n, h->v.v[i].to_ns <= from_ns);
	unsigned n = 0, most = 0;

	for (const struct line *l = h->v.v + first; l < h->v.v + h->v.n && l->from_ns < to_ns;
	     l++) {
		unsigned k = 0;

		if (!bsearch(&tid, h->tids.v + l->tids, l->tids_n, sizeof(tid), by_number))
			continue;
		while (k < n && strcmp(group[k].path, l->path))
			k++;
		if (k == GROUPS)
			continue;
		n += k == n;
		group[k].path = l->path;
		group[k].ns += l->ns;
		group[k].quota_us = l->quota_us;
		group[k].period_us = l->period_us;
		group[k].unknown |= l->unknown;
		group[k].tids = h->tids.v + l->tids;
		group[k].tids_n = l->tids_n;
		most = group[k].ns > group[most].ns || !group[most].tids ? k : most;
	}
	*out = group[most];
	return n;
}
