/* SPDX-License-Identifier: MIT */
/*
 * See keep.h. A recording that keeps its newest part can begin at any of its marks. At a mark it
 * repeats the work of a recording's start after tracing is on (clock marker, threads in /proc,
 * descriptors), and notes the counts of the rings. Everything before the oldest mark still needed
 * is dropped (spool_punch_hole.c), and the file is then like one of a recording that began there:
 * readers need no other rule than to begin at that time.
 *
 * The data of a mark taken from /proc is kept in memory, compressed, until the recording begins
 * there.
 *
 * PARTS marks fit the kept duration, so up to an eighth more is kept, and what the readers may not
 * have written yet (TY_READER_LATE_MS): the file of a recorder that was killed holds the kept
 * duration, too. Likewise an eighth for a size, which is checked ten times a second, with an eighth
 * of it in reserve. A mark costs a walk over /proc (some 20 us per thread, and per descriptor; of
 * all processes, 25 ms of them and those on which a thread sleeps: recording_sections.c). Marks
 * take at most 0.5% of a CPU, extending the kept duration if necessary, and 5% when the size
 * requires them, but there is always one, so that the limit can be kept. Nothing is dropped for the
 * size unless a quarter of it remains: after a stall, when all data arrived at once, more is kept
 * until then, up to twice as much.
 */
#include "keep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "key_value.h"
#include "recording_priv.h"

enum { SECTIONS = 4, PARTS = 8, MARKS_MAX = 4 * PARTS, COST = 200, SIZE_COST = 20 };
#define LOOK_NS	    (TY_REC_NS / 10)
#define MARK_MIN_NS TY_REC_NS
/* Of "traced=" lines, which are one chunk of the file. */
#define TRACED_MAX (512u << 10)

struct mark {
	struct ty_spool_mark *at;
	uint64_t mono_ns, trace_ns; /* everything later than trace_ns lies behind `at` */
	uint64_t written;	    /* bytes to the spool, whatever was dropped of them */
	uint64_t quota_bytes, steal_bytes, quota_left_out;
	uint64_t section_bytes[SECTIONS];
	struct ty_buf traced;
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
	uint64_t rest_ns;    /* no mark for the size's sake before */
	uint64_t check_at_ns;
	uint64_t quota_dropped, steal_dropped, quota_left_out;
	bool warned, failed; /* that a mark could not be made; a drop failed */
};

static void mark_fini(struct mark *m)
{
	ty_spool_mark_free(m->at);
	vec_each (c, &m->chunks)
		free(c->p);
	vec_fini(&m->chunks);
	ty_buf_fini(&m->names);
	ty_buf_fini(&m->traced);
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
	return k ? k->check_at_ns : UINT64_MAX;
}

uint64_t ty_keep_from_ns(const struct ty_keep *k)
{
	return k ? k->now.trace_ns : 0;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void ty_keep_less(const struct ty_keep *k, unsigned i, unsigned cpu, struct ty_cpu_stats *st)
{
	const struct ty_cpu_stats *was;

	if (!ty_keep_from_ns(k))
		return;
	/* The count of read events does not include what was still in the ring. Both together grow,
	 * unless a full ring overwrites more than arrives. */
	was = &k->now.stats[i * k->r->cpus_n + cpu];
	st->read = less(st->read + st->entries, was->read + was->entries);
	st->entries = 0;
	st->overrun = less(st->overrun, was->overrun);
	st->commit_overrun = less(st->commit_overrun, was->commit_overrun);
	st->dropped = less(st->dropped, was->dropped);
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
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for names");
	}
	ty_buf_fini(names);
	*names = both;
	return 0;
}

/* What a recording writes at its start, into m->chunks. */
static int look_at_proc(struct recording *r, struct mark *m, struct ty_err *err)
{
	uint64_t *seq = r->meta.section_seq;
	const uint64_t threads = seq[TY_SEC_THREADS], fds = seq[TY_SEC_FDS];
	ty_tids traced = {0};
	int e = ty_rec_list_traced(r, &traced, err);

	if (!e && ty_key_add_ranges(&m->traced, "traced", traced.v, traced.n))
		e = ty_fail(err, TY_ELIMIT, TY_NO_OFFSET, "too many threads are traced");
	r->meta.aside = &m->chunks;
	e = e ? e : ty_rec_put_threads(r, err);
	e = e ? e : ty_rec_put_fds(r, &traced, false, err);
	r->meta.aside = NULL;
	vec_fini(&traced);
	if (!e && (ty_buf_add(&m->names, r->thread_names.p, r->thread_names.len) ||
		   ty_spool_mark_first(m->at, TY_SPOOL_SECTION, TY_SEC_THREADS, threads) ||
		   ty_spool_mark_first(m->at, TY_SPOOL_SECTION, TY_SEC_FDS, fds)))
		e = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	if (e) {
		seq[TY_SEC_THREADS] = threads;
		seq[TY_SEC_FDS] = fds;
	}
	return e;
}

/* The sections that grow; NULL: one that this recording does not have. */
static void find_sections(const struct recording *r, struct ty_spooled_section *out[SECTIONS])
{
	out[0] = ty_call_data_section(r->call_data);
	out[1] = ty_stacks_section(r->stacks);
	out[2] = ty_sampler_section(r->sampler);
	out[3] = ty_counters_section(r->counters);
}

/* All that a mark is, into *m. */
static int make_mark(struct ty_keep *k, struct mark *m, struct ty_err *err)
{
	struct ty_spooled_section *section[SECTIONS];
	struct recording *r = k->r;
	int e = 0;

	*m = (struct mark){.written = ty_spool_written(r->spool),
			   .quota_bytes = k->quota_dropped + r->quotas.bytes,
			   .steal_bytes = k->steal_dropped + r->steal.bytes,
			   .quota_left_out = k->quota_left_out + r->quotas.left_out};
	ty_buf_init(&m->names, TY_REC_TEXT);
	ty_buf_init(&m->traced, TRACED_MAX);
	m->stats = calloc((size_t)r->insts_n * r->cpus_n, sizeof(*m->stats));
	m->at = ty_spool_mark_new(r->spool);
	if (!m->stats || !m->at)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	/* What is put from now on lies behind the mark; what was put before is older than its time.
	 */
	find_sections(r, section);
	for (unsigned i = 0; i < SECTIONS; i++) {
		if (!section[i])
			continue;
		m->section_bytes[i] = atomic_load(&section[i]->bytes);
		if (ty_spool_mark_first(m->at, TY_SPOOL_SECTION, section[i]->form->section,
					atomic_load(&section[i]->pieces)))
			return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	}
	/* After the mark, and cut to microseconds: nothing that lies before it is later. */
	m->trace_ns = ty_instance_now_ns(r->insts[0]) + 1000;
	if (m->trace_ns <= 1000)
		return ty_fail(err, TY_ESYS, TY_NO_OFFSET,
			       "the kernel's per_cpu/cpu*/stats have no timestamps");
	m->mono_ns = ty_rec_clock_ns(CLOCK_MONOTONIC);
	for (unsigned i = 0; !e && i < r->insts_n; i++)
		for (unsigned c = 0; !e && c < r->cpus_n; c++)
			e = ty_instance_stats(&r->inst[i], r->cpus[c], &m->stats[i * r->cpus_n + c],
					      NULL);
	if (e)
		return ty_fail(err, -e, TY_NO_OFFSET,
			       "the kernel's per_cpu/cpu*/stats cannot be read");
	ty_rec_mark_clock(r);
	return look_at_proc(r, m, err);
}

/* One that cannot be made now is tried again later; until then more is kept. */
static int take_mark(struct ty_keep *k, struct ty_err *err)
{
	const uint64_t began_ns = ty_rec_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t cost, now, every = mark_every_ns(k);
	struct ty_err why = {0};
	struct mark m;
	int e = ty_rec_put_samples(k->r, err);

	if (e)
		return e;
	if (!make_mark(k, &m, &why)) {
		k->mark[k->n++] = m;
	} else {
		mark_fini(&m);
		if (!k->warned)
			ty_rec_note(k->r,
				    "--keep: tarry could not drop old data for a while, so the "
				    "file may "
				    "be larger: %s",
				    why.msg);
		k->warned = true;
		every = MARK_MIN_NS;
	}
	now = ty_rec_clock_ns(CLOCK_MONOTONIC);
	cost = ty_rec_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	k->mark_at_ns = now + (every > cost * COST ? every : cost * COST);
	k->rest_ns = now + cost * SIZE_COST;
	return 0;
}

/* The recording begins at its oldest mark. */
static int drop(struct ty_keep *k, struct ty_err *err)
{
	struct recording *r = k->r;
	struct mark *m = &k->mark[0];
	struct ty_spooled_section *section[SECTIONS];
	struct ty_buf text;
	bool begins = false;
	int e = 0;

	ty_buf_init(&text, TRACED_MAX + 4096);
	ty_buf_addf(&text, "from_ns=%" PRIu64 "\nbegan_ns=%" PRIu64 "\n", m->trace_ns,
		    k->begun_trace_ns);
	ty_buf_add(&text, m->traced.p, m->traced.len);
	if (text.failed)
		e = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	vec_each (c, &m->chunks)
		e = e ? e : ty_spool_append(r->spool, c->p, c->len, err);
	e = e ? e : ty_spool_drop(r->meta.writer, r->spool, m->at, text.p, &begins, err);
	ty_buf_fini(&text);
	k->failed = e;
	if (!begins)
		return e;
	r->quotas.bytes -= m->quota_bytes - k->quota_dropped;
	k->quota_dropped = m->quota_bytes;
	r->steal.bytes -= m->steal_bytes - k->steal_dropped;
	k->steal_dropped = m->steal_bytes;
	r->quotas.left_out -= m->quota_left_out - k->quota_left_out;
	k->quota_left_out = m->quota_left_out;
	find_sections(r, section);
	for (unsigned i = 0; i < SECTIONS; i++)
		if (section[i])
			atomic_store(&section[i]->dropped, m->section_bytes[i]);
	mark_fini(&k->now);
	k->now = *m;
	k->n--;
	memmove(&k->mark[0], &k->mark[1], k->n * sizeof(*k->mark));
	return e;
}

/* The file is too large, and dropping its oldest part leaves enough: the mark is not a recent one,
 * unless the file is far too large. */
static bool too_much(const struct ty_keep *k, uint64_t bound)
{
	const uint64_t most = k->r->o->keep_bytes, bytes = ty_spool_bytes(k->r->spool);

	return most && bytes > bound &&
	       (bytes > 2 * most || ty_spool_written(k->r->spool) - k->mark[0].written >= most / 4);
}

/* When all of the kept duration since the oldest mark is in the file. */
static uint64_t drop_at_ns(const struct ty_keep *k)
{
	return k->mark[0].mono_ns + k->r->o->keep_ns + TY_READER_LATE_MS * (TY_REC_NS / 1000);
}

int ty_keep_check(struct ty_keep *k, struct ty_err *err)
{
	const uint64_t most = k->r->o->keep_bytes, span = k->r->o->keep_ns;
	const struct mark *last = k->n ? &k->mark[k->n - 1] : &k->now;
	uint64_t now = ty_rec_clock_ns(CLOCK_MONOTONIC),
		 fresh = ty_spool_written(k->r->spool) - last->written;
	int e = 0;

	/* Marks for the size's sake rest, too, but for the one that it cannot do without. */
	if (k->n < MARKS_MAX && (now >= k->mark_at_ns ||
				 (most && fresh > most / PARTS && (now >= k->rest_ns || !k->n))))
		e = take_mark(k, err);
	while (!e && k->n && ((span && now >= drop_at_ns(k)) || too_much(k, most - most / PARTS)))
		e = drop(k, err);
	k->check_at_ns = k->mark_at_ns;
	if (span && k->n && drop_at_ns(k) < k->check_at_ns)
		k->check_at_ns = drop_at_ns(k);
	if (most && now + LOOK_NS < k->check_at_ns)
		k->check_at_ns = now + LOOK_NS;
	return e;
}

int ty_keep_end(struct ty_keep *k, struct ty_err *err)
{
	int e = 0;

	while (!e && k && k->n && !k->failed && too_much(k, k->r->o->keep_bytes))
		e = drop(k, err);
	return e;
}
