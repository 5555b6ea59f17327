/* SPDX-License-Identifier: MIT */
/* See sorted_runs.h. The sort memory doubles as read buffers of the runs. */
#include "sorted_runs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "full_io.h"
#include "heap.h"
#include "temp_file.h"
#include "vec.h"

#define FIRST 64u /* initial capacity in items */

struct run {
	uint64_t first, n; /* items in the file */
	uint64_t read;	   /* of these, already read into the buffer */
	uint32_t at, held; /* of the buffer */
};

struct ty_sorted_runs {
	size_t size;
	int (*order)(const void *, const void *);
	uint8_t *item;
	uint64_t held, room, max; /* items in memory, allocated, allowed */
	uint64_t count;
	int fd; /* -1: none yet */
	const char *dir;
	VEC(struct run) runs;
	uint64_t part;	/* items per read buffer */
	uint32_t *heap; /* min-heap of runs by their next item */
	uint32_t heap_n;
	uint64_t at;	  /* without runs: the next item's index */
	bool sorted, any; /* any: heap[0]'s item was returned, and is popped next */
};

struct ty_sorted_runs *ty_sorted_runs_new(size_t size, uint64_t memory_bytes,
					  int (*order)(const void *, const void *))
{
	struct ty_sorted_runs *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->size = size;
	s->order = order;
	s->max = memory_bytes / size > FIRST ? memory_bytes / size : FIRST;
	s->fd = -1;
	return s;
}

void ty_sorted_runs_free(struct ty_sorted_runs *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	vec_fini(&s->runs);
	free(s->item);
	free(s->heap);
	free(s);
}

static int no_memory(struct ty_err *err)
{
	return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for sorting");
}

/* Writes the items in memory to the file as a sorted run. */
static int spill(struct ty_sorted_runs *s, struct ty_err *err)
{
	uint64_t bytes = s->held * s->size, off = (s->count - s->held) * s->size;

	if (s->fd < 0)
		s->fd = ty_temp_file(&s->dir);
	if (s->fd < 0)
		return ty_fail_errno(
			err, "%s: cannot create a temporary file (set TMPDIR to another directory)",
			s->dir);
	qsort(s->item, s->held, s->size, s->order);
	if (!ty_full_write(s->fd, s->item, bytes, off))
		return ty_fail_errno(
			err,
			"%s: cannot write to a temporary file (set TMPDIR to another directory)",
			s->dir);
	if (vec_push(&s->runs, (struct run){.first = s->count - s->held, .n = s->held}))
		return no_memory(err);
	s->held = 0;
	return 0;
}

int ty_sorted_runs_add(struct ty_sorted_runs *s, const void *item, struct ty_err *err)
{
	if (s->held == s->room && s->room < s->max) {
		uint64_t room = s->room ? 2 * s->room : FIRST;
		uint8_t *p;

		room = room < s->max ? room : s->max;
		p = realloc(s->item, room * s->size);
		if (!p)
			return no_memory(err);
		s->item = p;
		s->room = room;
	} else if (s->held == s->room) {
		int r = spill(s, err);

		if (r)
			return r;
	}
	memcpy(s->item + s->held++ * s->size, item, s->size);
	s->count++;
	return 0;
}

static uint8_t *head(const struct ty_sorted_runs *s, uint32_t run)
{
	return s->item + (run * s->part + s->runs.v[run].at) * s->size;
}

/* Reads the run's next items: 1; 0 at its end. */
static int refill(struct ty_sorted_runs *s, uint32_t run, struct ty_err *err)
{
	struct run *r = &s->runs.v[run];
	uint64_t n = s->part < r->n - r->read ? s->part : r->n - r->read;
	uint64_t off = (r->first + r->read) * s->size;

	r->at = 0;
	if (!ty_exact_read(s->fd, head(s, run), n * s->size, off))
		return ty_fail_errno(err, "%s: cannot read from a temporary file", s->dir);
	r->held = (uint32_t)n;
	r->read += n;
	return n > 0;
}

static bool before(const struct ty_sorted_runs *s, const uint32_t *a, const uint32_t *b)
{
	return s->order(head(s, *a), head(s, *b)) < 0;
}

/* Prepares for reading. May be repeated after a failure. */
static int seal(struct ty_sorted_runs *s, struct ty_err *err)
{
	uint64_t room =
		s->room > s->runs.n + 1 ? s->room : s->runs.n + 1; /* at least one item per run */
	uint32_t *heap;
	uint8_t *p;
	int r;

	if (!s->runs.n) {
		if (s->held)
			qsort(s->item, s->held, s->size, s->order);
		s->sorted = true;
		return 0;
	}
	r = s->held ? spill(s, err) : 0;
	if (r)
		return r;
	p = realloc(s->item, room * s->size);
	if (!p)
		return no_memory(err);
	s->item = p;
	s->room = room;
	heap = realloc(s->heap, s->runs.n * sizeof(*heap));
	if (!heap)
		return no_memory(err);
	s->heap = heap;
	s->part = room / s->runs.n;
	s->sorted = true;
	return 0;
}

int ty_sorted_runs_rewind(struct ty_sorted_runs *s, struct ty_err *err)
{
	int r = s->sorted ? 0 : seal(s, err);

	s->at = s->heap_n = 0;
	s->any = false;
	for (uint32_t i = 0; !r && i < s->runs.n; i++) {
		s->runs.v[i].read = 0;
		r = refill(s, i, err);
		if (r > 0)
			s->heap[s->heap_n++] = i;
		r = r < 0 ? r : 0;
	}
	if (r)
		s->heap_n = 0;
	heap_order(s->heap, s->heap_n, before, s);
	return r;
}

int ty_sorted_runs_next(struct ty_sorted_runs *s, const void **out, struct ty_err *err)
{
	if (!s->runs.n) {
		if (s->at == s->held)
			return 0;
		*out = s->item + s->at++ * s->size;
		return 1;
	}
	if (s->any) {
		struct run *r = &s->runs.v[s->heap[0]];
		int more = ++r->at < r->held ? 1 : refill(s, s->heap[0], err);

		if (more < 0)
			return more;
		if (!more)
			s->heap[0] = s->heap[--s->heap_n];
		if (s->heap_n)
			heap_down(s->heap, s->heap_n, 0, before, s);
	}
	s->any = s->heap_n > 0;
	if (s->any)
		*out = head(s, s->heap[0]);
	return s->any;
}
