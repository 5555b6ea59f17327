/* SPDX-License-Identifier: MIT */
/*
 * Merges the streams of a trace. One cursor per stream holds the batch of one chunk (batch.h,
 * prefetched by batch_prefetch.h) and its next item: a record, or a gap before it. A binary heap
 * orders the cursors by (time, stream); streams are numbered by buffer, then cpu.
 *
 * Output times never decrease: a time stamp smaller than the previous one of its stream is raised
 * to it. Kernels with an unsteady clock step back by nanoseconds; a step of more than BACK_LIMIT_NS
 * is reported as damage. A loss is known to be between two records of its stream, so a gap is
 * returned right before the record that follows.
 *
 * Memory: one batch per stream, the prefetched ones, and up to TY_LOOKUP_BYTES of chunks for
 * ty_events_read_at. Budget: 10 ns per event for two streams, besides the cost of the batches.
 *
 * ty_loc: stream << 52 | offset of the record's head in the stream's pages / 4 (4096 streams of 16
 * PB): consecutive records have numbers that a column stores in a byte (model/table.h). Never 0: no
 * record is at the start of a page.
 */
#include <stdlib.h>

#include "events_priv.h"
#include "checked_read.h"
#include "heap.h"

#define BACK_LIMIT_NS  1000000
#define PREFETCH_ITEMS 16 /* another core wrote them */
#define PREFETCH_NAMES 8  /* items ahead, of their records */

/* cursors ------------------------------------------------------------------------------------- */

static void take_items(struct ty_cursor *c)
{
	c->loc_base =
		(uint64_t)c->stream << LOC_STREAM_SHIFT | c->batch->first_page * c->page_size / 4;
	c->next = c->batch->item;
	c->end = c->next + c->batch->n;
}

/* The time before which the stream reports no loss, according to its batch. */
static uint64_t calm_until(const struct ty_events *es, const struct ty_cursor *c)
{
	if (c->head == AT_END)
		return UINT64_MAX;
	if (c->head != AT_RECORD || !c->batch || c->batch->marks || c->batch->odd || !c->batch->n)
		return 0;
	return c->batch->item[c->batch->n - 1].ts_ns + es->offset;
}

/* A cursor has moved to another batch. */
static void set_calm(struct ty_events *es)
{
	es->calm_until = UINT64_MAX;
	for (uint32_t i = 0; i < es->n && es->calm_until; i++) {
		uint64_t t = calm_until(es, &es->cursors[i]);

		if (t < es->calm_until)
			es->calm_until = t;
	}
}

/* Take the batch of chunk c->chunk: loaded, or noted as damaged. 0 or -TY_E.... */
static int load(struct ty_events *es, struct ty_cursor *c, struct ty_err *err)
{
	struct ty_batch *b;

	ty_batch_prefetch_give(es->ahead, c->batch);
	c->batch = NULL;
	c->next = c->end = NULL;
	if (c->chunk >= c->chunks)
		return 0;
	b = c->batch = ty_batch_prefetch_take(es->ahead, c->stream);
	if (!b)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", es->trace->path);
	if (b->status) {
		if (err && !err->code)
			*err = b->err;
		return b->status;
	}
	if (b->loaded) {
		c->damaged |= b->odd;
		take_items(c);
	} else {
		struct ty_chunk ch = ty_trace_chunk(es->trace, c->stream, c->chunk);

		c->damaged = true;
		if (!ch.last_ns || ch.last_ns > c->damage_until)
			c->damage_until = ch.last_ns;
	}
	return 0;
}

static void add_overrun(struct ty_cursor *c, uint64_t n)
{
	if (n == TY_MISSED_UNKNOWN || c->overrun == TY_MISSED_UNKNOWN || c->overrun + n < n)
		c->overrun = TY_MISSED_UNKNOWN;
	else
		c->overrun += n;
}

/* The batch has no more items: its next part, or the next chunk. 1, or 0 at the stream's end. */
static int next_items(struct ty_events *es, struct ty_cursor *c, struct ty_err *err)
{
	int r;

	if (c->chunk >= c->chunks)
		return 0;
	if (c->batch && c->batch->loaded && !c->batch->whole) {
		ty_batch_more(c->batch, &es->src);
		take_items(c);
		r = c->batch->status;
		if (r && err && !err->code)
			*err = c->batch->err;
		return r ? r : 1;
	}
	c->done += ty_trace_chunk(es->trace, c->stream, c->chunk).raw_bytes;
	c->chunk++;
	r = load(es, c, err);
	return r ? r : c->chunk < c->chunks;
}

/* Find the next record of the stream, gathering what was lost before it. 1, 0 at the end. */
static inline int next_record(struct ty_events *es, struct ty_cursor *c, struct ty_err *err)
{
	for (;;) {
		if (c->next < c->end) {
			const struct ty_item *i = c->next++;

			if (i->kind == TY_IT_MISSED) {
				add_overrun(c, i->val);
			} else if (i->kind == TY_IT_DAMAGED) {
				c->damaged = true;
				c->damage_until = 0;
			} else {
				c->rec = i;
				return 1;
			}
		} else {
			int r = next_items(es, c, err);

			if (r <= 0)
				return r;
		}
	}
}

/* The kind of item at the cursor after next_record. */
static void set_head(struct ty_events *es, struct ty_cursor *c)
{
	if (c->overrun)
		c->head = AT_OVERRUN;
	else if (c->damaged)
		c->head = AT_DAMAGED;
	else if (c->has_record)
		c->head = AT_RECORD;
	else if (es->trace->unfinished && c->head != AT_UNFINISHED)
		c->head = AT_UNFINISHED;
	else
		c->head = AT_END;
}

/* Finds the next record, and the loss and damage before it. 0 or -TY_E.... */
static int fill(struct ty_events *es, struct ty_cursor *c, struct ty_err *err)
{
	uint64_t off = es->offset;
	int r = next_record(es, c, err);

	if (r < 0)
		return r;
	c->has_record = r > 0;
	c->to_end = false;
	c->gap_from = c->any ? c->last_ts : 0;
	if (c->has_record) {
		c->ts = c->rec->ts_ns + off;
		if (c->any && c->ts < c->last_ts) {
			if (c->last_ts - c->ts > BACK_LIMIT_NS)
				c->damaged = true;
			c->ts = c->last_ts;
		}
	} else {
		c->ts = c->any ? c->last_ts : 0;
		/* For a chunk that is missing as a whole, its time range is known; for other damage
		 * it is not. */
		c->to_end = es->trace->unfinished || !c->damaged || !c->damage_until;
		if (c->damaged && c->damage_until && c->damage_until + off > c->ts)
			c->ts = c->damage_until + off;
	}
	c->damage_until = 0;
	c->key = c->ts;
	set_head(es, c);
	return 0;
}

/* Step over the item that was given out. */
static int advance(struct ty_events *es, struct ty_cursor *c, struct ty_err *err)
{
	switch (c->head) {
	case AT_OVERRUN: c->overrun = 0; break;
	case AT_DAMAGED: c->damaged = false; break;
	case AT_RECORD:
		c->last_ts = c->ts;
		c->any = true;
		return fill(es, c, err);
	default: break;
	}
	set_head(es, c);
	return 0;
}

/* Position the cursor before chunk, with no item read yet; load takes the batch. */
static void place(struct ty_events *es, struct ty_cursor *c, uint32_t chunk)
{
	ty_batch_prefetch_give(es->ahead, c->batch);
	c->batch = NULL;
	c->next = c->end = NULL;
	c->any = c->damaged = c->has_record = false;
	c->overrun = c->damage_until = c->done = 0;
	c->head = AT_RECORD;
	c->chunk = chunk;
	for (uint32_t i = 0; i < chunk; i++)
		c->done += ty_trace_chunk(es->trace, c->stream, i).raw_bytes;
	ty_batch_prefetch_from(es->ahead, c->stream, chunk);
}

/* heap ---------------------------------------------------------------------------------------- */

static inline bool before(const void *none, const struct ty_head_key *a,
			  const struct ty_head_key *b)
{
	(void)none;
	return a->key != b->key ? a->key < b->key : a->stream < b->stream;
}

/* All cursors have a position: order them. */
static void order(struct ty_events *es)
{
	uint64_t first = UINT64_MAX;

	/* A stream without any remaining data has no time: its loss is placed at the start of the
	 * trace. */
	for (uint32_t i = 0; i < es->n; i++)
		if (es->cursors[i].has_record && es->cursors[i].key < first)
			first = es->cursors[i].key;
	for (uint32_t i = 0; i < es->n; i++)
		if (!es->cursors[i].key && !es->cursors[i].any && first != UINT64_MAX)
			es->cursors[i].key = first;
	es->heap_n = 0;
	for (uint32_t i = 0; i < es->n; i++)
		if (es->cursors[i].head != AT_END)
			es->heap[es->heap_n++] = (struct ty_head_key){es->cursors[i].key, i};
	heap_order(es->heap, es->heap_n, before, NULL);
	set_calm(es);
	es->started = true;
	es->pulled = false;
}

/* Standing somewhere in the middle: the chunk by its time, the page in it, the record. */

/* t in the file's own time. */
static uint64_t file_time(const struct ty_events *es, uint64_t t)
{
	uint64_t off = (uint64_t)es->trace->ts_offset_ns, file_t = t - off;

	if (es->trace->ts_offset_ns > 0 && t < off)
		return 0;
	return es->trace->ts_offset_ns < 0 && file_t < t ? UINT64_MAX : file_t;
}

static int seek_cursor(struct ty_events *es, struct ty_cursor *c, uint64_t t, struct ty_err *err)
{
	uint64_t off = (uint64_t)es->trace->ts_offset_ns, file_t = file_time(es, t);
	struct ty_batch *b;
	int r = load(es, c, err);

	if (r)
		return r;
	b = c->batch;
	if (b && b->loaded && b->pages) {
		uint32_t page = 0;

		/* The last page of it that begins before t: pages are in time order. */
		while (page + 1 < b->pages &&
		       ty_ring_page_ts(&es->src.layout,
				       b->raw + (size_t)(page + 1) * c->page_size) < file_t)
			page++;
		if (page) {
			ty_batch_at_page(b, page);
			ty_batch_more(b, &es->src);
			take_items(c);
		}
		if (page || c->chunk) {
			c->last_ts = ty_ring_page_ts(&es->src.layout,
						     b->raw + (size_t)page * c->page_size) +
				     off;
			c->any = c->last_ts < t;
		}
	}
	for (;;) {
		r = fill(es, c, err);
		if (r || c->ts >= t)
			return r;
		c->overrun = 0;
		c->damaged = false;
		if (!c->has_record) {
			c->head = AT_END;
			return 0;
		}
		c->last_ts = c->ts;
		c->any = true;
	}
}

int ty_events_seek(struct ty_events *es, uint64_t t_ns, struct ty_err *err)
{
	uint64_t kept = es->trace->kept_from_ns, file_t;

	t_ns = t_ns > kept ? t_ns : kept;
	file_t = file_time(es, t_ns);
	es->started = false;
	ty_batch_prefetch_stop(es->ahead);
	for (uint32_t i = 0; i < es->n; i++) {
		struct ty_cursor *c = &es->cursors[i];
		uint32_t chunk = 0;
		int r = c->chunks ? ty_events_find_chunk(es, c, file_t, &chunk, err) : 0;

		if (r)
			return r;
		place(es, c, chunk);
	}
	ty_batch_prefetch_go(es->ahead);
	for (uint32_t i = 0; i < es->n; i++) {
		int r = seek_cursor(es, &es->cursors[i], t_ns, err);

		if (r)
			return r;
	}
	order(es);
	return 0;
}

static int start(struct ty_events *es, struct ty_err *err)
{
	if (es->trace->kept_from_ns)
		return ty_events_seek(es, 0, err);
	ty_batch_prefetch_stop(es->ahead);
	for (uint32_t i = 0; i < es->n; i++)
		place(es, &es->cursors[i], 0);
	ty_batch_prefetch_go(es->ahead);
	for (uint32_t i = 0; i < es->n; i++) {
		int r = load(es, &es->cursors[i], err);

		if (!r)
			r = fill(es, &es->cursors[i], err);
		if (r)
			return r;
	}
	order(es);
	return 0;
}

/* the interface ------------------------------------------------------------------------------- */

void ty_events_workers(struct ty_events *es, unsigned workers, uint64_t memory_bytes)
{
	ty_batch_prefetch_workers(es->ahead, workers, memory_bytes);
}

void ty_events_rest(struct ty_events *es)
{
	es->started = false;
	for (uint32_t i = 0; i < es->n; i++) {
		struct ty_cursor *c = &es->cursors[i];

		ty_batch_free(c->batch);
		c->batch = NULL;
		c->next = c->end = NULL;
	}
	ty_batch_prefetch_rest(es->ahead);
}

/* Head and union of ev from a record. */
void ty_events_decode(const struct ty_events *es, struct ty_event *ev,
		      const struct ty_ring_record *rec)
{
	ev->data = rec->data;
	ev->size = rec->size;
	if (es->src.formats) {
		ty_formats_decode(es->src.formats, ev);
		return;
	}
	/* Heads only: the common fields lie here in every kernel since 2.6.33. */
	ev->kind = TY_EV_OTHER;
	ev->decode_error = rec->size < 8;
	ev->id = ev->decode_error ? 0 : (uint16_t)ty_load(rec->data, 2, es->src.layout.big_endian);
	ev->flags = ev->decode_error ? 0 : rec->data[2];
	ev->preempt = ev->decode_error ? 0 : rec->data[3];
	ev->tid = ev->decode_error ? 0
				   : (int32_t)ty_load(rec->data + 4, 4, es->src.layout.big_endian);
}

static inline ty_loc loc_of(const struct ty_cursor *c)
{
	return ty_loc_at(c->loc_base, c->rec->at);
}

static void give_gap(const struct ty_cursor *c, struct ty_event *ev)
{
	ev->loc = 0;
	ev->tid = 0;
	ev->id = 0;
	ev->kind = TY_EV_GAP;
	ev->flags = ev->preempt = ev->decode_error = 0;
	ev->size = 0;
	ev->data = NULL;
	ev->u.gap.from_ns = c->gap_from;
	ev->u.gap.count = c->head == AT_OVERRUN ? c->overrun : UINT64_MAX;
	ev->u.gap.what = c->head == AT_OVERRUN	 ? TY_GAP_OVERRUN
			 : c->head == AT_DAMAGED ? TY_GAP_DAMAGED
						 : TY_GAP_UNFINISHED;
	ev->u.gap.to_end = c->to_end;
	if (c->head == AT_UNFINISHED)
		ev->u.gap.from_ns = c->key;
}

bool ty_events_args(const struct ty_events *es, uint64_t args[6])
{
	const struct ty_cursor *c = &es->cursors[es->heap[0].stream];
	const struct ty_ring_record rec = ty_batch_record(c->batch, &es->src, c->rec);

	return ty_formats_args(es->src.formats, &rec, c->rec->id, args);
}

void ty_events_whole(const struct ty_events *es, struct ty_event *ev)
{
	const struct ty_cursor *c = &es->cursors[es->heap[0].stream];
	struct ty_ring_record rec;

	ev->ts_ns = c->key;
	ev->cpu = c->cpu;
	ev->buffer = c->buffer;
	if (c->head != AT_RECORD) {
		give_gap(c, ev);
		return;
	}
	ev->loc = loc_of(c);
	rec = ty_batch_record(c->batch, &es->src, c->rec);
	ty_events_decode(es, ev, &rec);
}

static inline bool is_packed(const struct ty_item *i)
{
	return (i->kind == TY_EV_SWITCH || i->kind == TY_EV_WAKING) && i->val & TY_PACKED;
}

/* Advance the cursor at the heap's top in the usual case: from a record to another one of the same
 * batch, nothing lost between, time not going back. false: nothing has happened. */
static inline bool advance_quick(struct ty_events *es, struct ty_cursor *c)
{
	const struct ty_item *i = c->next;
	uint64_t ts;

	if (c->head != AT_RECORD || i == c->end || i->kind == TY_IT_MISSED ||
	    i->kind == TY_IT_DAMAGED)
		return false;
	ts = i->ts_ns + es->offset;
	if (ts < c->ts)
		return false;
	__builtin_prefetch(i + PREFETCH_ITEMS);
	if (c->end - i > PREFETCH_NAMES && is_packed(&i[PREFETCH_NAMES]))
		__builtin_prefetch(c->batch->raw + i[PREFETCH_NAMES].at + 32);
	c->next = i + 1;
	c->rec = i;
	c->last_ts = c->ts;
	c->any = true;
	c->ts = c->key = ts;
	return true;
}

/* Step to the next item: it is the one at the heap's top. 1, 0 at the end. */
static __attribute__((always_inline)) inline int step(struct ty_events *es, struct ty_err *err)
{
	struct ty_cursor *c;
	int r;

	if (!es->started) {
		r = start(es, err);
		if (r)
			return r;
	}
	if (es->pulled) {
		c = &es->cursors[es->heap[0].stream];
		if (!advance_quick(es, c)) {
			r = advance(es, c, err);
			if (r)
				return r;
			set_calm(es);
		}
		if (c->head == AT_END)
			es->heap[0] = es->heap[--es->heap_n];
		else
			es->heap[0].key = c->key;
		if (es->heap_n)
			heap_down(es->heap, es->heap_n, 0, before, NULL);
		es->pulled = false;
	}
	if (!es->heap_n)
		return 0;
	es->pulled = true;
	return 1;
}

int ty_events_next(struct ty_events *es, struct ty_event *ev, struct ty_err *err)
{
	int r = step(es, err);

	if (r > 0)
		ty_events_whole(es, ev);
	return r;
}

/* The item of the end of the call that begins with c->rec, if no other event can be in between;
 * else NULL. */
static inline const struct ty_item *end_of_call(const struct ty_events *es,
						const struct ty_cursor *c)
{
	const struct ty_item *i = c->rec, *e = c->next;
	uint64_t t;

	if (e == c->end || !ty_items_call(i, e))
		return NULL;
	t = e->ts_ns + es->offset;
	if (t < c->ts || t >= es->calm_until)
		return NULL;
	for (uint32_t k = c->same_cpu; k != c->stream; k = es->cursors[k].same_cpu)
		if (es->cursors[k].head != AT_END && es->cursors[k].key <= t)
			return NULL;
	return e;
}

int ty_events_next_brief(struct ty_events *es, struct ty_brief *br, struct ty_err *err)
{
	const struct ty_cursor *c;
	const struct ty_item *i, *end;
	int r = step(es, err);

	if (r <= 0)
		return r;
	c = &es->cursors[es->heap[0].stream];
	br->ts_ns = c->key;
	br->cpu = c->cpu;
	br->buffer = c->buffer;
	br->end_ns = 0;
	br->args = NULL;
	if (c->head != AT_RECORD) {
		br->kind = TY_EV_GAP;
		return 1;
	}
	i = c->rec;
	br->loc = loc_of(c);
	br->val = i->val;
	br->tid = i->tid;
	br->nr = i->nr;
	br->id = i->id;
	br->kind = i->kind;
	br->flags = i->flags;
	if (is_packed(i)) {
		br->data = ty_ring_page_record(&es->src.layout, c->batch->raw, i->at, 0).data;
		return 1;
	}
	end = end_of_call(es, c);
	if (end) {
		br->end_ns = end->ts_ns + es->offset;
		br->end_id = end->id;
		br->ret = (int64_t)end->val;
	}
	return 1;
}

void ty_events_take_end(struct ty_events *es)
{
	struct ty_cursor *c = &es->cursors[es->heap[0].stream];

	c->last_ts = c->ts;
	c->rec = c->next++;
	c->ts = c->key = c->rec->ts_ns + es->offset;
}

void ty_events_run(const struct ty_events *es, struct ty_run *run)
{
	const struct ty_cursor *c = &es->cursors[es->heap[0].stream];

	run->item = c->next;
	run->end = c->end;
	run->offset = es->offset;
	run->last_ns = c->ts;
	run->before_ns = es->calm_until;
	run->loc_base = c->loc_base;
	for (uint32_t k = c->same_cpu; k != c->stream; k = es->cursors[k].same_cpu)
		if (es->cursors[k].head != AT_END && es->cursors[k].key < run->before_ns)
			run->before_ns = es->cursors[k].key;
}

void ty_events_take_run(struct ty_events *es, const struct ty_item *end)
{
	struct ty_cursor *c = &es->cursors[es->heap[0].stream];

	c->last_ts = end[-2].ts_ns + es->offset;
	c->rec = end - 1;
	c->next = end;
	c->ts = c->key = c->rec->ts_ns + es->offset;
}

bool ty_events_past(const struct ty_events *es, uint64_t t_ns)
{
	if (!es->started)
		return false;
	for (uint32_t i = 0; i < es->heap_n; i++) {
		const struct ty_cursor *c = &es->cursors[es->heap[i].stream];

		if (c->key < t_ns || (c->head != AT_RECORD && c->gap_from < t_ns))
			return false;
	}
	return true;
}

void ty_events_progress(const struct ty_events *es, uint64_t *done_bytes, uint64_t *all_bytes)
{
	uint64_t done = 0;

	for (uint32_t i = 0; i < es->n; i++) {
		const struct ty_cursor *c = &es->cursors[i];

		done += c->done;
		if (c->batch && c->has_record)
			done += c->rec->at;
	}
	*all_bytes = es->all_bytes;
	*done_bytes = done > es->all_bytes ? es->all_bytes : done;
}
