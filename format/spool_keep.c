/* SPDX-License-Identifier: MIT */
/*
 * Bookkeeping for a spool that drops its oldest data (spool_punch_hole.c): the numbers that the
 * streams have reached, and marks, which hold these numbers at one moment.
 *
 * Budget: per chunk a lock and a search over as many entries as there are streams and sections.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "partition.h"
#include "spool_keep.h"

struct ty_spool_first *ty_spool_first(const ty_spool_firsts *f, uint32_t type, uint32_t stream)
{
	const struct ty_spool_first *v = f->v;
	size_t i = partition_point(k, 0, f->n,
				   v[k].type < type || (v[k].type == type && v[k].stream < stream));

	return i < f->n && v[i].type == type && v[i].stream == stream ? &f->v[i] : NULL;
}

int ty_spool_at_least(ty_spool_firsts *f, uint32_t type, uint32_t stream, uint64_t seq)
{
	const struct ty_spool_first fresh = {type, stream, seq};
	struct ty_spool_first *e = ty_spool_first(f, type, stream);
	size_t i;

	if (e) {
		e->seq = seq > e->seq ? seq : e->seq;
		return 0;
	}
	if (vec_push(f, fresh))
		return -TY_ENOMEM;
	for (i = f->n - 1; i && (f->v[i - 1].type > type ||
				 (f->v[i - 1].type == type && f->v[i - 1].stream > stream));
	     i--)
		f->v[i] = f->v[i - 1];
	f->v[i] = fresh;
	return 0;
}

void ty_spool_keep_free(struct ty_spool *s)
{
	if (!s->keep)
		return;
	pthread_mutex_destroy(&s->keep->lock);
	vec_fini(&s->keep->next);
	free(s->keep);
	s->keep = NULL;
}

int64_t ty_spool_keep_place(struct ty_spool *s, const struct ty_spool_chunk *c, size_t len)
{
	int64_t place = -1;

	pthread_mutex_lock(&s->keep->lock);
	if (!ty_spool_at_least(&s->keep->next, c->type, c->stream, c->seq + 1))
		place = (int64_t)atomic_fetch_add(&s->end, len);
	pthread_mutex_unlock(&s->keep->lock);
	if (place < 0)
		errno = ENOMEM;
	return place;
}

struct ty_spool_mark *ty_spool_mark_new(struct ty_spool *s)
{
	struct ty_spool_mark *m = calloc(1, sizeof(*m));
	int r = -TY_ENOMEM;

	if (!m)
		return NULL;
	pthread_mutex_lock(&s->keep->lock);
	m->off = atomic_load(&s->end);
	r = vec_reserve(&m->first, s->keep->next.n + 1);
	if (!r) {
		m->first.n = s->keep->next.n;
		if (m->first.n)
			memcpy(m->first.v, s->keep->next.v, m->first.n * sizeof(*m->first.v));
	}
	pthread_mutex_unlock(&s->keep->lock);
	if (!r)
		return m;
	ty_spool_mark_free(m);
	return NULL;
}

void ty_spool_mark_free(struct ty_spool_mark *m)
{
	if (m)
		vec_fini(&m->first);
	free(m);
}

int ty_spool_mark_first(struct ty_spool_mark *m, enum ty_spool_type type, uint32_t stream,
			uint64_t seq)
{
	return ty_spool_at_least(&m->first, type, stream, seq);
}
