/* SPDX-License-Identifier: MIT */
/* See cfs_throttle.h. Memory: a small multiple of the section's size for any content. */
#include "cfs_throttle.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "int_set.h"
#include "field_text.h"
#include "partition.h"
#include "snapshot_text.h"
#include "strtab.h"
#include "vec.h"

#define TIDS   8192  /* of a line */
#define LATEST 256   /* groups whose last line before a time is found */
#define LOOKS  65536 /* lines, from that time backward */
#define GROUPS 8     /* nested groups in which one thread is searched */

struct tids {
	size_t first, n; /* in order, each once */
};

struct line {
	uint64_t from_ns, to_ns, ns, quota_us, period_us; /* quota 0: unknown, or none */
	struct tids tids;
	uint32_t path;
	bool unknown;	 /* ns is */
	bool taken_away; /* the quota, before to_ns */
};

/* From the last line of a path. */
struct last {
	struct tids tids;
	uint64_t quota_us, period_us; /* 0: none */
};

struct ty_throttle_lines {
	struct ty_strtab *paths;
	VEC(struct last) last; /* of each path */
	VEC(struct line) v;
	VEC(int32_t) tids;
};

ORDER(by_end, struct line, compare(a->to_ns, b->to_ns))

static int add_tids(struct ty_throttle_lines *h, struct ty_snap_field tids, struct tids *out)
{
	int32_t tid;

	*out = (struct tids){.first = h->tids.n};
	for (unsigned n = 0; n < TIDS && ty_snap_tid(&tids, &tid); n++)
		if (vec_push(&h->tids, tid))
			return -TY_ENOMEM;
	out->n = h->tids.n - out->first;
	if (!out->n)
		return 0;
	out->n = ty_int_set(h->tids.v + out->first, out->n);
	h->tids.n = out->first + out->n;
	return 0;
}

/* path: room for one. */
static int add_line(struct ty_throttle_lines *h, const struct ty_snap_quota *q, char *path)
{
	struct line l = {.from_ns = q->from_ns,
			 .to_ns = q->to_ns,
			 .ns = q->throttled_ns,
			 .quota_us = q->quota_us,
			 .period_us = q->period_us,
			 .unknown = q->unknown,
			 .taken_away = !q->quota_us};
	struct last *last;

	l.path = ty_strtab_add(h->paths, path,
			       ty_unescape_field(q->path.s, q->path.n, path, q->path.n + 1));
	if (l.path == UINT32_MAX)
		return -TY_ENOMEM;
	while (h->last.n <= l.path)
		if (vec_push(&h->last, (struct last){0}))
			return -TY_ENOMEM;
	last = &h->last.v[l.path];
	if (q->same_tids)
		l.tids = last->tids;
	else if (add_tids(h, q->tids, &l.tids))
		return -TY_ENOMEM;
	/* What such a line counts is of the quota until then. */
	if (l.taken_away) {
		l.quota_us = last->quota_us;
		l.period_us = last->period_us;
	}
	*last = (struct last){.tids = l.tids, .quota_us = q->quota_us, .period_us = q->period_us};
	return vec_push(&h->v, l);
}

struct ty_throttle_lines *ty_throttle_lines_new(const char *section)
{
	struct ty_throttle_lines *h = calloc(1, sizeof(*h));
	struct ty_snap_quota line;
	char *path;
	int r;

	section = section ? section : "";
	path = malloc(strlen(section) + 1); /* a path is shorter than its line */
	if (h)
		h->paths = ty_strtab_new();
	r = h && path && h->paths ? 0 : -TY_ENOMEM;
	while (!r && ty_snap_quota(&section, &line))
		r = add_line(h, &line, path);
	free(path);
	if (r) {
		ty_throttle_lines_free(h);
		return NULL;
	}
	vec_sort(&h->v, by_end);
	return h;
}

void ty_throttle_lines_free(struct ty_throttle_lines *h)
{
	if (!h)
		return;
	ty_strtab_free(h->paths);
	vec_fini(&h->last);
	vec_fini(&h->v);
	vec_fini(&h->tids);
	free(h);
}

static bool has_tid(const struct ty_throttle_lines *h, const struct line *l, int32_t tid)
{
	return l->tids.n &&
	       bsearch(&tid, h->tids.v + l->tids.first, l->tids.n, sizeof(tid), ty_int_order);
}

bool ty_throttle_lines_find(const struct ty_throttle_lines *h, int32_t tid, uint64_t from_ns,
			    uint64_t to_ns, struct ty_throttled *out)
{
	struct ty_throttled group[GROUPS] = {0};
	uint32_t path[GROUPS];
	size_t first = partition_point(i, 0, h->v.n, h->v.v[i].to_ns <= from_ns);
	unsigned n = 0, most = 0;

	for (size_t i = first; i < h->v.n && h->v.v[i].from_ns < to_ns; i++) {
		const struct line *l = &h->v.v[i];
		uint64_t so_far = (l->to_ns < to_ns ? l->to_ns : to_ns) - from_ns;
		unsigned k = 0;

		if (!l->quota_us || !has_tid(h, l, tid))
			continue;
		while (k < n && path[k] != l->path)
			k++;
		if (k == GROUPS)
			continue;
		n += k == n;
		path[k] = l->path;
		group[k].path = ty_strtab_get(h->paths, l->path);
		/* The kernel counts a time when it is over, and for each CPU; a thread has one. */
		group[k].ns = l->ns < so_far - group[k].ns ? group[k].ns + l->ns : so_far;
		group[k].quota_us = l->quota_us;
		group[k].period_us = l->period_us;
		group[k].unknown |= l->unknown;
		group[k].tids = h->tids.v + l->tids.first;
		group[k].tids_n = l->tids.n;
		most = group[k].ns > group[most].ns || !group[most].tids ? k : most;
	}
	*out = group[most];
	return n;
}

bool ty_throttle_lines_quota(const struct ty_throttle_lines *h, int32_t tid, uint64_t from_ns,
			     uint64_t to_ns, struct ty_throttled *out)
{
	uint32_t path[LATEST]; /* groups that are settled */
	unsigned n = 0;
	size_t i = partition_point(k, 0, h->v.n, h->v.v[k].to_ns < to_ns);

	/* One sample may end after `to`: the state of a group at `to` is known from an earlier one
	 * or from that one. */
	while (i < h->v.n && h->v.v[i].from_ns < to_ns)
		i++;
	for (unsigned looks = 0; i && n < LATEST && looks < LOOKS; looks++) {
		const struct line *l = &h->v.v[--i];
		bool settled = false, before = l->to_ns <= from_ns, may;

		for (unsigned k = 0; k < n && !settled; k++)
			settled = path[k] == l->path;
		if (settled || l->from_ns >= to_ns)
			continue;
		/* The last threads of a removed group left it before the end of its line. */
		may = !l->taken_away && has_tid(h, l, tid) && !(l->unknown && l->to_ns < to_ns);
		/* The quota of the last line before `from` still applies: the later lines did not
		 * change it. */
		if (may && before) {
			*out = (struct ty_throttled){.quota_us = l->quota_us,
						     .period_us = l->period_us,
						     .path = ty_strtab_get(h->paths, l->path),
						     .tids = h->tids.v + l->tids.first,
						     .tids_n = l->tids.n};
			return true;
		}
		if (!may)
			path[n++] = l->path;
	}
	return false;
}
