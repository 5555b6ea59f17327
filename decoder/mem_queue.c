/* SPDX-License-Identifier: MIT */
/*
 * Samples of one AUX stream (mem_sideband.h: struct ty_mem_queue) in its own order: reads the bytes
 * between two holes, decodes them, and adds time and thread.
 */
#include <string.h>

#include "mem_sideband.h"

/* Read on, up to a hole between two pieces. */
static int fill(struct ty_mem_stream *s, struct ty_mem_queue *q, struct ty_err *err)
{
	memmove(q->buf, q->buf + q->pos, q->n - q->pos);
	q->n -= q->pos;
	q->pos = 0;
	while (q->n < q->cap && q->piece < q->pieces.n) {
		const struct ty_mem_piece *pc = &q->pieces.v[q->piece];
		uint64_t at = pc->aux_off + q->piece_pos, left;
		size_t n;
		int r;

		if (q->expect == UINT64_MAX)
			q->expect = at;
		/* perf pads a piece to 8 bytes: the offset in the next one is right. */
		if (at != q->expect && !(at < q->expect && q->expect - at < 8)) {
			q->hole = true;
			break;
		}
		q->piece_pos += q->expect - at;
		left = pc->n > q->piece_pos ? pc->n - q->piece_pos : 0;
		n = q->cap - q->n < left ? q->cap - q->n : (size_t)left;
		r = n ? s->read(s->ctx, pc->off + q->piece_pos, q->buf + q->n, n, err) : 0;
		if (r)
			return r;
		q->n += n;
		q->piece_pos += n;
		q->expect += n;
		if (q->piece_pos >= pc->n) {
			q->piece++;
			q->piece_pos = 0;
		}
	}
	return 0;
}

static void gap_item(struct ty_mem *m, uint64_t off, const char *why, uint64_t bytes)
{
	memset(m, 0, sizeof(*m));
	m->pid = m->tid = -1;
	m->kind = TY_MEM_GAP;
	m->off = off;
	m->gap = why;
	m->gap_bytes = bytes;
}

/* A flag of an AUX record whose bytes are all decoded. */
static bool flag_item(struct ty_mem_queue *q, bool end, struct ty_mem *m)
{
	const struct ty_mem_flag *f;

	if (q->flag == q->flags.n || (q->flags.v[q->flag].end > q->dec.off && !end))
		return false;
	f = &q->flags.v[q->flag++];
	gap_item(m, f->end,
		 f->flags & TY_PERF_AUX_PARTIAL
			 ? "samples lost: the buffer was full, and the last one is damaged"
		 : f->flags & TY_PERF_AUX_TRUNCATED ? "samples lost: the buffer was full"
						    : "samples lost: collisions",
		 0);
	return true;
}

/* The running thread: from the record itself, the CPU's switches, or the ring. */
static void who(struct ty_mem_stream *s, struct ty_mem_queue *q, struct ty_mem *m)
{
	if (q->cpu >= 0) {
		m->cpu = (uint32_t)q->cpu;
		m->has |= TY_MEM_HAS_CPU;
	}
	if (m->kind == TY_MEM_GAP)
		return;
	if (m->who == TY_MEM_THREAD_UNKNOWN && q->cpu >= 0 && m->has & TY_MEM_HAS_TIME) {
		struct ty_mem_run run;

		if (ty_mem_sideband_run(s, (uint32_t)q->cpu, m->ts_ns, &q->switch_at, &run)) {
			m->tid = run.tid;
			m->pid = run.pid;
			m->who = TY_MEM_THREAD_SWITCH;
		}
	}
	/* Where switches are recorded they know better, also that they do not know. */
	if (m->who == TY_MEM_THREAD_UNKNOWN && q->ring_tid >= 0 &&
	    (q->cpu < 0 || !ty_mem_sideband_has_runs(s, (uint32_t)q->cpu))) {
		m->tid = q->ring_tid;
		m->who = TY_MEM_THREAD_RING;
	}
	if (m->who != TY_MEM_THREAD_UNKNOWN && m->pid < 0)
		m->pid = ty_mem_sideband_pid(s, m->tid);
}

int ty_mem_queue_next(struct ty_mem_stream *s, struct ty_mem_queue *q, struct ty_mem_item *out,
		      struct ty_err *err)
{
	struct ty_mem *m = &out->m;
	int r;

	for (;;) {
		bool end = q->piece == q->pieces.n;
		size_t used;

		if (flag_item(q, end && q->pos == q->n, m))
			break;
		q->dec.last = q->hole || end;
		r = ty_spe_next(&q->dec, q->buf + q->pos, q->n - q->pos, &used, m);
		q->pos += used;
		if (r > 0)
			break;
		if (q->dec.last && q->pos < q->n)
			q->pos = q->n;
		if (q->hole) {
			uint64_t from = q->expect, to = q->pieces.v[q->piece].aux_off;

			q->hole = false;
			/* What an alignment packet skips may lie in the hole. */
			q->dec.skip = to > from && to - from < q->dec.skip
					      ? q->dec.skip - (to - from)
					      : 0;
			q->dec.off = q->expect = to;
			r = fill(s, q, err);
			if (r)
				return r;
			if (to > from) {
				gap_item(m, from, "a part of the AUX data is not in the file",
					 to - from);
				break;
			}
		} else if (!end) {
			r = fill(s, q, err);
			if (r)
				return r;
		} else if (q->flag == q->flags.n) {
			return 0;
		}
	}
	if (m->has & TY_MEM_HAS_TICKS) {
		q->key = m->ticks;
		if (s->facts.has_clock) {
			q->key = m->ts_ns = ty_perf_time_ns(&s->tc, m->ticks);
			m->has |= TY_MEM_HAS_TIME;
		}
		q->timed = true;
	} else if (q->timed && m->kind == TY_MEM_GAP && s->facts.has_clock) {
		m->ts_ns = q->key;
		m->has |= TY_MEM_HAS_TIME;
	}
	who(s, q, m);
	out->key = q->key;
	return 1;
}
