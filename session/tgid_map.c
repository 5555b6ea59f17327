/* SPDX-License-Identifier: MIT */
/*
 * See tgid_map.h. A table of pages indexed by tid: pages are allocated on first write, so memory is
 * bounded by 16 MB (the largest possible tid) and usually a few pages.
 */
#include "tgid_map.h"

#include <stdlib.h>

#include "err.h"
#include "snapshot_text.h"

#define TID_MAX		  4194304 /* PID_MAX_LIMIT of include/linux/threads.h */
#define PAGE_TIDS	  1024
#define CLONE_THREAD_FLAG 0x10000

struct ty_tgid_map {
	int32_t *pages[TID_MAX / PAGE_TIDS + 1]; /* tgid, 0 = not known */
};

static int set(struct ty_tgid_map *t, int32_t tid, int32_t tgid)
{
	int32_t **page;

	if (tid <= 0 || tid > TID_MAX || tgid < 0)
		return 0;
	page = &t->pages[tid / PAGE_TIDS];
	if (!*page) {
		if (!tgid)
			return 0;
		*page = calloc(PAGE_TIDS, sizeof(**page));
		if (!*page)
			return -TY_ENOMEM;
	}
	(*page)[tid % PAGE_TIDS] = tgid;
	return 0;
}

int32_t ty_tgid_map_get(const struct ty_tgid_map *t, int32_t tid)
{
	const int32_t *page = tid > 0 && tid <= TID_MAX ? t->pages[tid / PAGE_TIDS] : NULL;

	return page && page[tid % PAGE_TIDS] ? page[tid % PAGE_TIDS] : -1;
}

struct ty_tgid_map *ty_tgid_map_new(const char *threads)
{
	struct ty_tgid_map *t = calloc(1, sizeof(*t));
	struct ty_snap_thread line;

	while (t && ty_snap_thread(&threads, &line))
		if (line.tgid > 0 && line.tgid <= TID_MAX && set(t, line.tid, line.tgid)) {
			ty_tgid_map_free(t);
			return NULL;
		}
	return t;
}

void ty_tgid_map_free(struct ty_tgid_map *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < sizeof(t->pages) / sizeof(t->pages[0]); i++)
		free(t->pages[i]);
	free(t);
}

int ty_tgid_map_feed(struct ty_tgid_map *t, const struct ty_event *ev)
{
	int32_t tgid;

	if (ev->decode_error)
		return 0;
	switch (ev->kind) {
	case TY_EV_NEWTASK:
		if (!(ev->u.newtask.clone_flags & CLONE_THREAD_FLAG))
			return set(t, ev->u.newtask.tid, ev->u.newtask.tid);
		tgid = ty_tgid_map_get(t, ev->tid);
		return set(t, ev->u.newtask.tid, tgid > 0 ? tgid : 0);
	case TY_EV_EXEC: return set(t, ev->u.exec.tid, ev->u.exec.tid); /* now the leader */
	default: return 0;
	}
}
