/* SPDX-License-Identifier: MIT */
/*
 * See keep.h. A recording that keeps its newest part is one that could have begun at any of its
 * marks: at a mark it does what a recording does at its start, after tracing is on (the clock's
 * point, the threads of /proc, descriptors), and notes the counts of the rings. What precedes the
 * oldest mark that is still needed is dropped (spool_keep.c), and from then on the file is one of
 * a recording that began there: readers need no other rule than to begin with that time.
 *
 * What a mark took from /proc waits in memory, compressed, until the recording begins there.
 *
 * Of a time, PARTS marks lie in it, so that up to an eighth more is kept; of a size as many, and it
 * is looked after ten times a second, with an eighth of it in reserve. Marks cost as much as
 * walking /proc (some 20 us per thread); they take 0.5% of a CPU at most, for which more time is
 * kept, but where the size asks for them.
 */
#include "keep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording_priv.h"

enum { PARTS = 8, MARKS_MAX = 4 * PARTS, COST = 200 };
#define LOOK_NS	    (TY_REC_NS / 10)
#define MARK_MIN_NS TY_REC_NS

struct mark {
	struct ty_spool_mark *at;
	uint64_t mono_ns, trace_ns; /* everything later than trace_ns lies behind `at` */
	uint64_t written;	    /* bytes to the spool, whatever was dropped of them */
	uint64_t quota_bytes;
	ty_meta_chunks chunks; /* what was taken from /proc */
	struct ty_buf names;
	struct ty_cpu_stats *stats; /* by instance, CPU */
};

struct ty_keep {
	struct recording *r;
	struct mark now;	     /* where the kept part begins; trace_ns 0: at the start */
	struct mark mark[MARKS_MAX]; /* later ones, the oldest first */
	unsigned n;
	uint64_t begun_mono_ns, begun_trace_ns;
	uint64_t mark_at_ns; /* the next mark, for the time's sake */
	uint64_t look_at_ns;
	uint64_t quota_dropped;
};

static void mark_fini(struct mark *m)
{
	ty_spool_mark_free(m->at);
	vec_each (c, &m->chunks)
		free(c->p);
	vec_fini(&m->chunks);
	ty_buf_fini(&m->names);
	free(m->stats);
	*m = (struct mark){0};
}

int ty_keep_new(struct recording *r, struct ty_keep **out, struct ty_err *err)
{
	struct ty_keep *k = calloc(1, sizeof(*k));
	int e;

	*out = NULL;
	if (!k)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	e = ty_spool_keep(r->spool, err);
	if (e) {
		free(k);
		return e;
	}
	k->r = r;
	k->now.written = ty_spool_written(r->spool);
	*out = k;
	return 0;
}

static uint64_t mark_every_ns(const struct ty_keep *k)
{
	uint64_t ns = k->r->o->keep_ns / PARTS;

	return !k->r->o->keep_ns ? UINT64_MAX / 2 : ns > MARK_MIN_NS ? ns : MARK_MIN_NS;
}

void ty_keep_begin(struct ty_keep *k)
{
	if (!k)
		return;
	k->begun_mono_ns = k->r->start_ns;
	k->begun_trace_ns = ty_instance_now_ns(k->r->insts[0]);
	k->mark_at_ns = k->begun_mono_ns + mark_every_ns(k);
}

void ty_keep_free(struct ty_keep *k)
{
	if (!k)
		return;
	mark_fini(&k->now);
	for (unsigned i = 0; i < k->n; i++)
		mark_fini(&k->mark[i]);
	free(k);
}

uint64_t ty_keep_next_ns(const struct ty_keep *k)
{
	return k ? k->look_at_ns : UINT64_MAX;
}

uint64_t ty_keep_from_ns(const struct ty_keep *k)
{
	return k ? k->now.trace_ns : 0;
}

void ty_keep_less(const struct ty_keep *k, unsigned i, unsigned cpu, struct ty_cpu_stats *st)
{
	const struct ty_cpu_stats *was;

	if (!ty_keep_from_ns(k))
		return;
	/* What was in the ring then is in no count of what was read: both together only grow. */
	was = &k->now.stats[i * k->r->cpus_n + cpu];
	st->read += st->entries;
	st->entries = 0;
	st->read -= was->read + was->entries;
	st->overrun -= was->overrun;
	st->commit_overrun -= was->commit_overrun;
	st->dropped -= was->dropped;
}

int ty_keep_names(struct ty_keep *k, struct ty_buf *names, struct ty_err *err)
{
	struct ty_buf both;

	if (!ty_keep_from_ns(k))
		return 0;
	ty_buf_init(&both, 2 * TY_REC_TEXT);
	ty_buf_add(&both, k->now.names.p, k->now.names.len);
	ty_buf_add(&both, names->p, names->len);
	if (both.failed) {
		ty_buf_fini(&both);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the names");
	}
	ty_buf_fini(names);
	*names = both;
	return 0;
}

/* What a recording writes at its start, into m->chunks. */
static int look_at_proc(struct recording *r, struct mark *m, struct ty_err *err)
{
	const uint64_t threads = r->meta.section_seq[TY_SEC_THREADS],
		       fds = r->meta.section_seq[TY_SEC_FDS];
	int e;

	r->meta.aside = &m->chunks;
	e = ty_rec_put_threads(r, err);
	e = e ? e : ty_rec_put_fds(r, false, err);
	r->meta.aside = NULL;
	if (e)
		return e;
	ty_buf_init(&m->names, TY_REC_TEXT);
	if (ty_buf_add(&m->names, r->thread_names.p, r->thread_names.len) ||
	    ty_spool_mark_first(m->at, TY_SPOOL_SECTION, TY_SEC_THREADS, threads) ||
	    ty_spool_mark_first(m->at, TY_SPOOL_SECTION, TY_SEC_FDS, fds))
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	return 0;
}

static int take_mark(struct ty_keep *k, struct ty_err *err)
{
	const uint64_t began_ns = ty_rec_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct recording *r = k->r;
	struct mark *m = &k->mark[k->n];
	uint64_t cost, every = mark_every_ns(k);
	int e = ty_rec_put_quotas(r, err);

	if (e)
		return e;
	*m = (struct mark){.mono_ns = ty_rec_clock_ns(CLOCK_MONOTONIC),
			   .written = ty_spool_written(r->spool),
			   .quota_bytes = k->quota_dropped + r->quotas.bytes};
	k->n++;
	m->stats = calloc((size_t)r->insts_n * r->cpus_n, sizeof(*m->stats));
	m->at = ty_spool_mark_new(r->spool);
	if (!m->stats || !m->at)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	/* After the mark, and cut to microseconds: nothing that lies before it is later. */
	m->trace_ns = ty_instance_now_ns(r->insts[0]) + 1000;
	if (m->trace_ns <= 1000)
		return ty_fail(err, TY_ESYS, TY_NO_OFFSET,
			       "--keep: the kernel's per_cpu/cpu*/stats do not tell the time");
	for (unsigned i = 0; i < r->insts_n; i++)
		for (unsigned c = 0; c < r->cpus_n; c++)
			ty_instance_stats(&r->inst[i], r->cpus[c], &m->stats[i * r->cpus_n + c],
					  NULL);
	ty_rec_mark_clock(r);
	e = look_at_proc(r, m, err);
	cost = (ty_rec_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns) * COST;
	k->mark_at_ns = m->mono_ns + (every > cost ? every : cost);
	return e;
}

/* The recording begins at its oldest mark. */
static int drop(struct ty_keep *k, struct ty_err *err)
{
	struct recording *r = k->r;
	struct mark m = k->mark[0];
	char text[200];
	int e = 0;

	vec_each (c, &m.chunks) {
		e = e ? e : ty_spool_append(r->spool, c->p, c->len, err);
		free(c->p);
	}
	vec_fini(&m.chunks);
	snprintf(text, sizeof(text), "from_ns=%" PRIu64 "\nbegan_ns=%" PRIu64 "\n", m.trace_ns,
		 k->begun_trace_ns);
	e = e ? e : ty_spool_drop(r->meta.writer, r->spool, m.at, text, err);
	mark_fini(&k->now);
	k->now = m;
	k->n--;
	memmove(&k->mark[0], &k->mark[1], k->n * sizeof(*k->mark));
	r->quotas.bytes -= m.quota_bytes - k->quota_dropped;
	k->quota_dropped = m.quota_bytes;
	return e;
}

int ty_keep_look(struct ty_keep *k, struct ty_err *err)
{
	const uint64_t most = k->r->o->keep_bytes, span = k->r->o->keep_ns;
	const struct mark *last = k->n ? &k->mark[k->n - 1] : &k->now;
	uint64_t now = ty_rec_clock_ns(CLOCK_MONOTONIC),
		 fresh = ty_spool_written(k->r->spool) - last->written;
	int e = 0;

	if (k->n < MARKS_MAX && (now >= k->mark_at_ns || (most && fresh > most / PARTS)))
		e = take_mark(k, err);
	while (!e && k->n &&
	       ((span && now >= k->mark[0].mono_ns + span) ||
		(most && ty_spool_bytes(k->r->spool) > most - most / PARTS)))
		e = drop(k, err);
	k->look_at_ns = k->mark_at_ns;
	if (span && k->n && k->mark[0].mono_ns + span < k->look_at_ns)
		k->look_at_ns = k->mark[0].mono_ns + span;
	if (most && now + LOOK_NS < k->look_at_ns)
		k->look_at_ns = now + LOOK_NS;
	return e;
}

int ty_keep_end(struct ty_keep *k, struct ty_err *err)
{
	int e = 0;

	while (!e && k && k->n && k->r->o->keep_bytes &&
	       ty_spool_bytes(k->r->spool) > k->r->o->keep_bytes)
		e = drop(k, err);
	return e;
}
