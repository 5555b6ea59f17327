/* SPDX-License-Identifier: MIT */
/*
 * See flow_priv.h: decodes ranges ahead of the reader, on the CPUs that it does not use. Wanted
 * ranges are processed in time order, the order in which the reader needs them; at most AHEAD per
 * thread are decoded and not read (a range has at most a million branches, 16 MB, usually less than
 * one), and less than their share of memory. Every stream holds its current range; ranges beyond
 * HELD_MAX in total go to the instruction decoder, which holds nothing. The reader decodes a range
 * that no thread has started, and another one instead of waiting for a thread: with one CPU there
 * is no thread at all, and nothing waits.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "compare.h"
#include "flow_priv.h"

enum { AHEAD = 8, THREADS_MAX = 32, FEW = 4 };
#define HELD_MAX ((size_t)512 << 20)

struct ty_flow_work {
	struct ty_flow *flow;
	struct ty_walk_cpu cpu;
	pthread_mutex_t lock;
	pthread_cond_t room; /* for threads: there is little ahead */
	pthread_cond_t done; /* for the reader: `awaited` is */
	const struct ty_flow_range *awaited;
	VEC(uint32_t) order;	       /* ranges by time */
	VEC(struct ty_walked *) spare; /* to be used again: fresh memory is dear */
	size_t next;		       /* in order: all before it have been begun */
	size_t ahead, ahead_max, ahead_low;
	size_t held; /* bytes of what was decoded and is not kept, and of spare; with so many
		      * nothing more is decoded ahead: */
	size_t held_ahead;
	bool stop;
	size_t code_each; /* bytes of cached code of each thread, and the reader */
	unsigned threads_n;
	pthread_t threads[THREADS_MAX];
};

struct job {
	const struct ty_flow_stream *s;
};

/* What a thread decodes with. */
struct tools {
	struct ty_blocks *blocks;
	struct ty_memos *memos; /* NULL: nothing is counted */
	struct ty_buf *bytes;
	struct ty_flow_ahead *ahead;
};

static uint64_t ns_of(void *ctx, bool timed, uint64_t tsc)
{
	const struct job *j = ctx;

	return timed && tsc && j->s->flow->timed ? ty_flow_ns(j->s->flow, tsc) : UINT64_MAX - 1;
}

static int32_t pid_at(void *ctx, bool timed, uint64_t tsc, size_t *which)
{
	const struct job *j = ctx;
	const struct ty_flow_stream *s = j->s;
	size_t i = timed && s->flow->timed && s->sw < s->sw_end
			   ? ty_flow_sw_at(s, ty_flow_ns(s->flow, tsc))
			   : s->sw - 1;

	if (which)
		*which = i;
	return i + 1 > s->sw ? s->flow->sws.v[i].pid : s->first_pid;
}

/* Into out; false: for the instruction decoder (or out of memory, which that one will report). */
static bool decode(struct ty_flow *f, const struct tools *t, const struct ty_flow_range *r,
		   struct ty_walked *out)
{
	struct ty_flow_stream *s = &f->streams.v[r->stream];
	struct job j = {.s = s};
	struct ty_walk_range w = {.cpu = &f->work->cpu,
				  .end = r->end - r->at.off,
				  .stops = r->stops,
				  .stop_ip = r->stop_ip,
				  .count = f->counts ? t->memos : NULL,
				  .from_ns = f->window.from_ns,
				  .to_ns = f->window.to_ns,
				  .each_time = f->count.each_time,
				  .pid_at = pid_at,
				  .ns_of = ns_of,
				  .ctx = &j};

	if (f->by_libipt || !out || !t->blocks || (f->counts && !t->memos) || r->blind ||
	    ty_flow_range_bytes(r) > TY_FLOW_WALK_MAX ||
	    ty_flow_range_read(f, t->ahead, r, t->bytes))
		return false;
	w.bytes = (const uint8_t *)t->bytes->p;
	w.n = t->bytes->len;
	return !ty_flow_walk(t->blocks, &w, out);
}

static void free_walked(struct ty_walked *w)
{
	if (w)
		ty_walked_fini(w);
	free(w);
}

/* Take range k of f->kept out of what is kept. */
static struct ty_flow_range *unkeep(struct ty_flow *f, size_t k)
{
	struct ty_flow_range *r = &f->ranges.v[f->kept.v[k]];

	f->kept.v[k] = f->kept.v[--f->kept.n];
	f->kept_bytes -= ty_walked_size(r->walked);
	r->kept = false;
	return r;
}

/* Keep the range, or free what was decoded of it. */
static void keep(struct ty_flow *f, struct ty_flow_range *r)
{
	if (vec_push(&f->kept, (uint32_t)(r - f->ranges.v))) {
		free_walked(r->walked);
		r->walked = NULL;
		return;
	}
	r->kept = true;
	r->used = ++f->uses;
	f->kept_bytes += ty_walked_size(r->walked);
	while (f->kept_bytes > ty_flow_share(f, TY_FLOW_KEEP_PART, 0, TY_FLOW_KEEP)) {
		size_t oldest = 0;

		for (size_t k = 1; k < f->kept.n; k++)
			if (f->ranges.v[f->kept.v[k]].used < f->ranges.v[f->kept.v[oldest]].used)
				oldest = k;
		r = unkeep(f, oldest);
		free_walked(r->walked);
		r->walked = NULL;
	}
}

void ty_flow_work_forget(struct ty_flow *f)
{
	while (f->kept.n) {
		struct ty_flow_range *r = unkeep(f, f->kept.n - 1);

		free_walked(r->walked);
		r->walked = NULL;
	}
	vec_fini(&f->kept);
}

/* With the lock held, which is let go of meanwhile. */
static void do_range(struct ty_flow_work *w, const struct tools *t, struct ty_flow_range *r)
{
	struct ty_walked *out = w->spare.n ? w->spare.v[--w->spare.n] : NULL;
	bool good;

	r->state = TY_RANGE_BUSY;
	r->ahead = true;
	w->ahead++;
	w->held -= out ? ty_walked_size(out) : 0;
	pthread_mutex_unlock(&w->lock);
	if (!out)
		out = calloc(1, sizeof(*out));
	good = decode(w->flow, t, r, out);
	if (!good) {
		free_walked(out);
		out = NULL;
	}
	pthread_mutex_lock(&w->lock);
	if (good && ty_walked_size(out) > HELD_MAX - w->held) {
		free_walked(out);
		out = NULL;
		good = false;
	}
	w->held += good ? ty_walked_size(out) : 0;
	r->walked = out;
	r->quick = good;
	r->state = good ? TY_RANGE_DONE : TY_RANGE_SLOW;
	if (w->awaited == r)
		pthread_cond_signal(&w->done);
}

/* The next range that is not being decoded; NULL when there is none, or enough is ready. */
static struct ty_flow_range *next_idle(struct ty_flow_work *w)
{
	while (w->next < w->order.n &&
	       w->flow->ranges.v[w->order.v[w->next]].state != TY_RANGE_IDLE)
		w->next++;
	return w->next < w->order.n && w->ahead < w->ahead_max && w->held < w->held_ahead
		       ? &w->flow->ranges.v[w->order.v[w->next]]
		       : NULL;
}

static void *work_main(void *arg)
{
	struct ty_flow_work *w = arg;
	struct ty_flow *f = w->flow;
	struct ty_blocks *blocks = ty_blocks_new(f->code);
	struct ty_memos *memos = f->counts && blocks ? ty_memos_new(blocks) : NULL;
	struct ty_flow_ahead ahead = {0};
	struct ty_buf bytes;
	const struct tools t = {blocks, memos, &bytes, &ahead};

	ty_buf_init(&bytes, SIZE_MAX / 2);
	if (blocks)
		ty_blocks_set_memory(blocks, w->code_each);
	if (memos)
		ty_blocks_set_extents(blocks, f->count.extent_of, f->count.ctx);
	pthread_mutex_lock(&w->lock);
	while (blocks && (memos || !f->counts) && !w->stop && w->next < w->order.n) {
		struct ty_flow_range *r = next_idle(w);

		if (r)
			do_range(w, &t, r);
		else if (w->next < w->order.n)
			pthread_cond_wait(&w->room, &w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	ty_memos_free(memos);
	ty_blocks_free(blocks);
	ty_buf_fini(&bytes);
	ty_flow_ahead_fini(&ahead);
	return NULL;
}

struct ty_walked *ty_flow_work_take(struct ty_flow *f, size_t i)
{
	struct ty_flow_work *w = f->work;
	struct ty_flow_range *r = &f->ranges.v[i], *other;
	const struct tools t = {f->blocks, f->memos, &f->bytes, &f->ahead};

	pthread_mutex_lock(&w->lock);
	if (r->state == TY_RANGE_IDLE)
		do_range(w, &t, r);
	while (r->state == TY_RANGE_BUSY) {
		other = next_idle(w);
		if (other) {
			do_range(w, &t, other);
			continue;
		}
		w->awaited = r;
		pthread_cond_wait(&w->done, &w->lock);
		w->awaited = NULL;
	}
	pthread_mutex_unlock(&w->lock);
	return r->walked;
}

void ty_flow_work_drop(struct ty_flow *f, size_t i)
{
	struct ty_flow_work *w = f->work;
	struct ty_flow_range *r = &f->ranges.v[i];
	bool full;

	pthread_mutex_lock(&w->lock);
	full = w->held >= w->held_ahead;
	if (r->walked && !ty_flow_whole(&f->window) && !f->counts) {
		w->held -= ty_walked_size(r->walked);
		keep(f, r);
	} else {
		if (r->walked && ((full && w->spare.n) || vec_push(&w->spare, r->walked))) {
			w->held -= ty_walked_size(r->walked);
			free_walked(r->walked);
		}
		r->walked = NULL;
	}
	r->state = TY_RANGE_SLOW;
	/* A wakeup costs as much as many branches: for several ranges at once. */
	if ((r->ahead && --w->ahead == w->ahead_low) || (full && w->held < w->held_ahead))
		pthread_cond_broadcast(&w->room);
	r->ahead = false;
	pthread_mutex_unlock(&w->lock);
}

/* By time; a range without a time is placed at its stream's position. */
static int by_time(const void *a, const void *b, void *ctx)
{
	const struct ty_flow_range *v = ctx;
	const struct ty_flow_range *x = &v[*(const uint32_t *)a], *y = &v[*(const uint32_t *)b];

	return compare(x->at.tsc, y->at.tsc) ?: compare(x, y);
}

int ty_flow_work_start(struct ty_flow *f)
{
	struct ty_flow_work *w = calloc(1, sizeof(*w));
	const struct ty_flow_range *last = NULL;
	bool ordered = true;
	cpu_set_t cpus;
	unsigned n = 1;
	size_t code;

	if (!w)
		return -TY_ENOMEM;
	f->work = w;
	w->flow = f;
	w->cpu = ty_walk_cpu(&f->cpu);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->room, NULL);
	pthread_cond_init(&w->done, NULL);
	/* Requested ranges are kept until they are read. */
	for (size_t k = f->kept.n; k-- > 0;)
		if (f->ranges.v[f->kept.v[k]].wanted)
			w->held += ty_walked_size(unkeep(f, k)->walked);
	vec_each (r, &f->ranges) {
		r->state = r->walked ? TY_RANGE_DONE : TY_RANGE_IDLE;
		r->ahead = false;
		if (!r->wanted)
			continue;
		ordered &= !last || last->at.tsc <= r->at.tsc;
		last = r;
		if (vec_push(&w->order, (uint32_t)(r - f->ranges.v)))
			return -TY_ENOMEM;
	}
	if (!ordered)
		qsort_r(w->order.v, w->order.n, sizeof(*w->order.v), by_time, f->ranges.v);
	if (!sched_getaffinity(0, sizeof(cpus), &cpus))
		n = (unsigned)CPU_COUNT(&cpus);
	if (n > THREADS_MAX)
		n = THREADS_MAX;
	w->ahead_max = AHEAD * n + f->streams.n;
	w->ahead_low = AHEAD * n / 2 + f->streams.n;
	if (w->order.n < FEW || !n)
		n = 1;
	code = ty_flow_share(f, TY_FLOW_CODE_PART, TY_FLOW_CODE_MIN, n * TY_FLOW_CODE_MAX);
	while (n > 1 && code / n < TY_FLOW_CODE_MIN)
		n--;
	w->code_each = code / n;
	ty_blocks_set_memory(f->blocks, w->code_each);
	w->held_ahead = ty_flow_share(f, TY_FLOW_AHEAD_PART, 0, HELD_MAX);
	while (w->threads_n + 1 < n &&
	       !pthread_create(&w->threads[w->threads_n], NULL, work_main, w))
		w->threads_n++;
	return 0;
}

void ty_flow_work_stop(struct ty_flow *f)
{
	struct ty_flow_work *w = f->work;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_broadcast(&w->room);
	pthread_mutex_unlock(&w->lock);
	for (unsigned i = 0; i < w->threads_n; i++)
		pthread_join(w->threads[i], NULL);
	vec_each (r, &f->ranges)
		if (r->walked && !r->kept && !f->counts) {
			keep(f, r);
		} else if (r->walked && !r->kept) {
			free_walked(r->walked);
			r->walked = NULL;
		}
	vec_each (v, &w->spare)
		free_walked(*v);
	vec_fini(&w->spare);
	vec_fini(&w->order);
	pthread_cond_destroy(&w->room);
	pthread_cond_destroy(&w->done);
	pthread_mutex_destroy(&w->lock);
	free(w);
	f->work = NULL;
}
