/* SPDX-License-Identifier: MIT */
/*
 * Cuts a trace; see export_trace.h. A page that crosses an edge of the window is rewritten with
 * only its records inside the window: their bytes unchanged, the first one's delta zero and its
 * time that of the page.
 */
#include "export_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_name.h"
#include "command_path.h"
#include "explain_session.h"
#include "export_call_data.h"
#include "export_threads.h"
#include "field_text.h"
#include "key_value.h"
#include "line_piece.h"
#include "ring_page.h"
#include "section.h"
#include "spool.h"

#define BATCH	   (256u << 10)
#define PIECE	   (4u << 20)
#define MISSED	   (1u << 31)
#define MISSED_NUM (1u << 30)

struct cut {
	struct ty_session *s;
	const struct ty_trace *t;
	struct ty_spool_writer *w;
	struct ty_ring_layout layout;
	uint64_t from_ns, to_ns; /* without the file's offset */
	uint32_t page_size;
	uint64_t events;
	/* pages of one stream that are not yet written */
	struct ty_buf pages;
	uint64_t seq, first_ns, last_ns;
	uint64_t section_seq[TY_SEC_COUNT]; /* of those that are put in parts */
	struct ty_err *err;
};

static int no_memory(struct cut *c)
{
	return ty_fail(c->err, TY_ENOMEM, TY_NO_OFFSET,
		       "out of memory while exporting a part of %s", c->t->path);
}

static int put(struct cut *c, unsigned type, uint32_t stream, uint64_t seq, uint64_t first_ns,
	       uint64_t last_ns, const void *raw, size_t n)
{
	struct ty_spool_chunk what = {.type = (uint16_t)type,
				      .stream = stream,
				      .seq = seq,
				      .first_ns = first_ns,
				      .last_ns = last_ns};

	return ty_spool_put(c->w, &what, raw, n, c->err);
}

static int flush(struct cut *c, const struct ty_stream *s)
{
	int r = 0;

	if (c->pages.len)
		r = put(c, TY_SPOOL_DATA, s->buffer << 16 | s->cpu, c->seq++, c->first_ns,
			c->last_ns, c->pages.p, c->pages.len);
	ty_buf_reset(&c->pages);
	return r;
}

/* Records [from, to) of a page, the first of time ts, as a page of their own. */
static int add_page(struct cut *c, const struct ty_stream *s, const uint8_t *page, uint32_t from,
		    uint32_t to, uint64_t ts, uint64_t missed)
{
	const struct ty_ring_layout *l = &c->layout;
	uint64_t commit = to - from;
	uint32_t head;
	uint8_t *p;

	if (ty_buf_reserve(&c->pages, c->page_size))
		return no_memory(c);
	p = (uint8_t *)c->pages.p + c->pages.len;
	memset(p, 0, c->page_size);
	memcpy(p, &ts, 8);
	memcpy(p + l->data_off, page + from, to - from);
	memcpy(&head, p + l->data_off, 4);
	head &= 31; /* its delta is zero: its time is the page's */
	memcpy(p + l->data_off, &head, 4);
	if (missed)
		commit |= MISSED;
	if (missed && missed != TY_MISSED_UNKNOWN &&
	    c->page_size - l->data_off - (to - from) >= l->long_size) {
		commit |= MISSED_NUM;
		memcpy(p + l->data_off + (to - from), &missed, l->long_size);
	}
	memcpy(p + l->commit_off, &commit, l->commit_size);
	if (!c->pages.len)
		c->first_ns = ts;
	c->last_ns = ts;
	c->pages.len += c->page_size;
	return c->pages.len + c->page_size > BATCH ? flush(c, s) : 0;
}

/* A damaged page gives the records before its damage, as for every reader. */
static int cut_page(struct cut *c, const struct ty_stream *s, const uint8_t *page)
{
	struct ty_ring_page it;
	struct ty_ring_record rec;
	uint32_t from = 0, to = 0, first_off = 0;
	uint64_t ts = 0, n = 0;

	if (ty_ring_page_init(&it, &c->layout, page, c->page_size))
		return 0;
	while (ty_ring_page_next(&it, &rec) > 0) {
		if (!first_off)
			first_off = rec.off;
		if (rec.ts < c->from_ns)
			continue;
		if (rec.ts >= c->to_ns)
			break;
		if (!n++) {
			from = rec.off;
			ts = rec.ts;
		}
		to = it.pos;
	}
	c->events += n;
	/* Events that were lost before the page were lost before its first record. */
	return n ? add_page(c, s, page, from, to, ts, from == first_off ? it.missed : 0) : 0;
}

static int cut_stream(struct cut *c, uint32_t i)
{
	const struct ty_stream *s = &c->t->streams.v[i];
	struct ty_chunk_scratch scratch;
	uint8_t *raw = NULL, *bigger;
	uint32_t cap = 0;
	int r = 0;

	ty_chunk_scratch_init(&scratch);
	c->seq = 0;
	for (uint32_t k = 0; !r && k < s->chunks; k++) {
		struct ty_chunk ch = ty_trace_chunk(c->t, i, k);
		struct ty_err damaged = {0};

		if (ch.missing || !ch.raw_bytes || (ch.first_ns && ch.first_ns >= c->to_ns))
			continue;
		/* It ends where the next one begins. */
		if (k + 1 < s->chunks) {
			struct ty_chunk next = ty_trace_chunk(c->t, i, k + 1);

			if (next.first_ns && next.first_ns < c->from_ns)
				continue;
		}
		if (ch.raw_bytes > cap) {
			bigger = realloc(raw, ch.raw_bytes);
			if (!bigger) {
				r = no_memory(c);
				break;
			}
			raw = bigger;
			cap = ch.raw_bytes;
		}
		r = ty_trace_chunk_read(c->t, i, k, raw, &scratch, &damaged);
		if (r == -TY_EFORMAT) { /* what cannot be read is not in the cut, either */
			r = 0;
			continue;
		}
		if (r)
			*c->err = damaged;
		for (uint32_t at = 0; !r && at + c->page_size <= ch.raw_bytes; at += c->page_size)
			r = cut_page(c, s, raw + at);
	}
	free(raw);
	ty_chunk_scratch_fini(&scratch);
	return r ? r : flush(c, s);
}

/* One text in pieces that end with a line. */
static int put_text(struct cut *c, enum ty_spool_type type, uint32_t kind, uint64_t *seq,
		    const char *s, size_t n)
{
	do {
		const size_t k = ty_line_piece(s, n, PIECE);
		int r = put(c, type, kind, (*seq)++, 0, 0, s, k);

		if (r)
			return r;
		s += k;
		n -= k;
	} while (n);
	return 0;
}

static int put_meta(struct cut *c, enum ty_spool_meta kind, struct ty_text text)
{
	uint64_t seq = 0;

	return text.s ? put_text(c, TY_SPOOL_META, kind, &seq, text.s, text.n) : 0;
}

static int put_formats(struct cut *c)
{
	uint64_t ftrace = 0, events = 0;
	struct ty_buf b;
	int r = 0;

	ty_buf_init(&b, 64u << 20);
	for (size_t i = 0; !r && i < c->t->formats.n; i++) {
		const struct ty_event_format *f = &c->t->formats.v[i];

		ty_buf_reset(&b);
		if (!strcmp(f->system, "ftrace")) {
			r = put(c, TY_SPOOL_META, TY_META_FTRACE_FORMAT, ftrace++, 0, 0, f->text.s,
				f->text.n);
			continue;
		}
		ty_buf_add(&b, f->system, strlen(f->system) + 1);
		ty_buf_add(&b, f->text.s, f->text.n);
		r = b.failed ? no_memory(c)
			     : put(c, TY_SPOOL_META, TY_META_EVENT_FORMAT, events++, 0, 0, b.p,
				   b.len);
	}
	ty_buf_fini(&b);
	return r;
}

static int put_buffers(struct cut *c)
{
	char text[600];
	uint64_t seq = 0;
	int r = 0;

	for (size_t i = 0; !r && i < c->t->buffers.n; i++) {
		const struct ty_trace_buffer *b = &c->t->buffers.v[i];
		const char *clock = b->clock ? b->clock : "";
		size_t n = strlen(b->name) + strlen(clock) + 2;

		if (n > sizeof(text))
			return ty_fail(c->err, TY_ELIMIT, TY_NO_OFFSET,
				       "%s: the name of a buffer is too long", c->t->path);
		memcpy(text, b->name, strlen(b->name) + 1);
		memcpy(text + strlen(b->name) + 1, clock, strlen(clock) + 1);
		r = put(c, TY_SPOOL_META, TY_META_BUFFER, seq++, 0, 0, text, n);
	}
	return r;
}

static int put_section(struct cut *c, enum ty_section section, struct ty_text text)
{
	uint64_t seq = 0;

	return text.s && text.n ? put_text(c, TY_SPOOL_SECTION, section, &seq, text.s, text.n) : 0;
}

/* Without the facts of a previous export: this export writes its own. */
static void add_machine(struct ty_buf *out, struct ty_text machine)
{
	static const char *const own[] = {
		"cut_from_ns=", "cut_to_ns=",	   "cut_keeps=",    "cut_origin_ns=",
		"cut_of=",	"cut_command_ns=", "cut_path_tid=", "cut_path_inferred=",
		"clock=",	"traced=",	   "own_only=",	    "switches_only="};

	for (const char *p = machine.s, *next; p && *p; p = next) {
		bool of_cut = false;

		next = p + strcspn(p, "\n");
		next += *next == '\n';
		for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
			of_cut |= !strncmp(p, own[i], strlen(own[i]));
		if (!of_cut)
			ty_buf_add(out, p, (size_t)(next - p));
	}
}

/* The last one before the window; the first one, where none is before it. */
static const struct ty_clock_point *clock_before(const struct ty_clock_point *v, uint32_t n,
						 uint64_t from_ns)
{
	uint32_t i = 1;

	while (i < n && v[i].ts_ns < from_ns)
		i++;
	return n ? &v[i - 1] : NULL;
}

/* The threads traced when the exported part begins; if it begins with the recording, as listed
 * there. */
static void add_traced(struct cut *c, bool from_start, struct ty_buf *out)
{
	const char *p = c->t->begins_later ?: ty_trace_section(c->t, TY_SEC_MACHINE).s, *v;
	size_t n;

	if (!from_start)
		ty_export_traced(c->s, c->from_ns + (uint64_t)c->t->ts_offset_ns - 1, out);
	while (from_start && ty_key_next(&p, "traced", &v, &n)) {
		ty_buf_adds(out, "traced=");
		ty_buf_add(out, v, n);
		ty_buf_addc(out, '\n');
	}
}

/* The first file that all of it was cut out of. */
static void add_name(const struct cut *c, struct ty_buf *out)
{
	const char *p = ty_trace_section(c->t, TY_SEC_MACHINE).s, *v, *base;
	size_t n;

	ty_buf_adds(out, "cut_of=");
	if (ty_key_next(&p, "cut_of", &v, &n)) {
		ty_buf_add(out, v, n);
	} else {
		base = ty_base_name(c->t->path);
		ty_escape_field(out, base, strlen(base));
	}
	ty_buf_addc(out, '\n');
}

/* Of the traced command what the part does not show: how long it ran, and where its critical path
 * lies at the end of the part. */
static void add_command(const struct cut *c, struct ty_buf *out)
{
	const struct ty_explain x = ty_explain_session(c->s);
	const uint64_t ns = ty_command_ns(&x);
	bool inferred;
	int32_t tid;

	if (!x.command_tid)
		return;
	if (ns && ns != TY_COMMAND_UNKNOWN)
		ty_buf_addf(out, "cut_command_ns=%" PRIu64 "\n", ns);
	tid = ty_command_path_at(&x, c->to_ns + (uint64_t)c->t->ts_offset_ns, &inferred);
	if (tid > 0)
		ty_buf_addf(out, "cut_path_tid=%d\n%s", tid,
			    inferred ? "cut_path_inferred=yes\n" : "");
}

static int put_machine(struct cut *c, bool from_start)
{
	const uint64_t offset = (uint64_t)c->t->ts_offset_ns, from_ns = c->from_ns + offset;
	const struct ty_clock_point *p;
	struct ty_buf b;
	uint32_t n;
	int r;

	p = ty_model_clock(c->s->model, &n);
	p = clock_before(p, n, from_ns);
	ty_buf_init(&b, 256u << 20);
	add_machine(&b, ty_trace_section(c->t, TY_SEC_MACHINE));
	if (!from_start || c->t->begins_later)
		ty_buf_addf(&b, "cut_from_ns=%" PRIu64 "\n", c->from_ns);
	add_traced(c, from_start, &b);
	ty_buf_addf(&b, "cut_to_ns=%" PRIu64 "\ncut_origin_ns=%" PRIu64 "\n", c->to_ns,
		    ty_model_origin_ns(c->s->model) - offset);
	add_name(c, &b);
	add_command(c, &b);
	/* What was not recorded is not in the cut, either. */
	if (ty_trace_cut_keeps(c->t) && !c->t->perf)
		ty_buf_adds(&b, "cut_keeps=strings,descriptors,stacks,samples,counters\n");
	if (c->t->own_only)
		ty_buf_adds(&b, "own_only=yes\n");
	if (c->t->switches_only)
		ty_buf_adds(&b, "switches_only=yes\n");
	if (p)
		ty_buf_addf(&b,
			    "clock=%" PRIu64 " " TY_CLOCK_MARKER "realtime_ns=%" PRIu64
			    " monotonic_ns=%" PRIu64 " boottime_ns=%" PRIu64 " tsc=%" PRIu64 "\n",
			    p->ts_ns - offset, p->realtime_ns, p->monotonic_ns, p->boottime_ns,
			    p->tsc);
	r = b.failed ? no_memory(c) : put_section(c, TY_SEC_MACHINE, (struct ty_text){b.p, b.len});
	ty_buf_fini(&b);
	return r;
}

/* From the start: what was found there. Later: what is known of the instant before. */
static int put_threads(struct cut *c, bool from_start)
{
	struct ty_buf b;
	int r;

	if (from_start) {
		r = put_section(c, TY_SEC_THREADS, ty_trace_section(c->t, TY_SEC_THREADS));
		return r ? r : put_section(c, TY_SEC_FDS, ty_trace_section(c->t, TY_SEC_FDS));
	}
	ty_buf_init(&b, 256u << 20);
	ty_export_threads(c->s, c->from_ns + (uint64_t)c->t->ts_offset_ns - 1, &b);
	r = b.failed ? no_memory(c) : put_section(c, TY_SEC_THREADS, (struct ty_text){b.p, b.len});
	ty_buf_fini(&b);
	return r;
}

/* Until when it is known that nothing more happened; and where nothing was lost at all, that. */
static int put_end(struct cut *c)
{
	const uint64_t end = ty_model_summary(c->s->model)->end_ns - (uint64_t)c->t->ts_offset_ns;
	char text[48];
	uint32_t gaps;
	int64_t lost;
	int n;

	ty_model_gaps(c->s->model, &gaps);
	if (!ty_key_i64(ty_trace_section(c->t, TY_SEC_SELF).s, "lost", &lost))
		lost = -1;
	n = snprintf(text, sizeof(text), "end_ns=%" PRIu64 "\n%s", end < c->to_ns ? end : c->to_ns,
		     lost || gaps || c->t->truncated ? "" : "lost=0\n");

	return put_section(c, TY_SEC_SELF, (struct ty_text){text, (size_t)n});
}

/* A ty_export_put. */
static int put_bytes(void *ctx, enum ty_section section, const void *p, size_t n)
{
	struct cut *c = ctx;
	int r = 0;

	for (size_t at = 0, k; !r && at < n; at += k) {
		k = n - at < PIECE ? n - at : PIECE;
		r = put(c, TY_SPOOL_SECTION, section, c->section_seq[section]++, 0, 0,
			(const char *)p + at, k);
	}
	return r;
}

static int put_sections(struct cut *c)
{
	const struct ty_export_cut all = {.s = c->s,
					  .from_ns = c->from_ns,
					  .to_ns = c->to_ns,
					  .put = put_bytes,
					  .ctx = c,
					  .err = c->err};

	const bool from_start = c->from_ns + (uint64_t)c->t->ts_offset_ns <=
				ty_model_summary(c->s->model)->start_ns;
	int r = put_machine(c, from_start);

	r = r ? r : put_threads(c, from_start);
	r = r ? r : put_end(c);
	r = r ? r : ty_export_call_data(&all, from_start);
	r = r ? r : put_section(c, TY_SEC_STEAL, ty_trace_section(c->t, TY_SEC_STEAL));
	return r ? r : put_section(c, TY_SEC_QUOTA, ty_trace_section(c->t, TY_SEC_QUOTA));
}

static int put_metadata(struct cut *c)
{
	const struct ty_trace *t = c->t;
	char cpus[16];
	int n = snprintf(cpus, sizeof(cpus), "%u", t->cpu_count), r;
	const struct ty_text count = {cpus, (size_t)n};

	if ((r = put_meta(c, TY_META_HEADER_PAGE, t->header_page)) ||
	    (r = put_meta(c, TY_META_HEADER_EVENT, t->header_event)) || (r = put_formats(c)) ||
	    (r = put_meta(c, TY_META_KALLSYMS, t->kallsyms)) ||
	    (r = put_meta(c, TY_META_PRINTK, t->printk)) ||
	    (r = put_meta(c, TY_META_CMDLINES, t->cmdlines)) || (r = put_buffers(c)) ||
	    (r = put_meta(c, TY_META_UNAME, t->uname)) ||
	    (r = put_meta(c, TY_META_VERSION, t->recorder_version)) ||
	    (r = put_meta(c, TY_META_TRACE_CLOCK, t->trace_clock)))
		return r;
	return put_meta(c, TY_META_CPUCOUNT, count);
}

static int can_be_cut(const struct ty_trace *t, uint32_t *page_size, struct ty_err *err)
{
	const uint16_t one = 1;

	*page_size = 0;
	if (t->big_endian != !*(const uint8_t *)&one || t->long_size != sizeof(long))
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "%s comes from a machine with another word size or byte order: "
			       "export it on a machine of that kind",
			       t->path);
	for (size_t i = 0; i < t->buffers.n; i++) {
		if (*page_size && t->buffers.v[i].page_size != *page_size)
			return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
				       "%s has buffers with different page sizes: it cannot be "
				       "exported as dat",
				       t->path);
		*page_size = t->buffers.v[i].page_size;
	}
	return *page_size ? 0 : ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "%s has no events", t->path);
}

int ty_export_trace(struct ty_session *s, const char *path, uint64_t from_ns, uint64_t to_ns,
		    struct ty_err *err)
{
	const struct ty_trace *t = s->trace;
	struct cut c = {.s = s, .t = t, .err = err};
	struct ty_spool *spool = NULL;
	int r = can_be_cut(t, &c.page_size, err);

	if (r)
		return r;
	if (!access(path, F_OK))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "%s already exists: give another name",
			       path);
	/* Records that are older than what was kept are no part of the recording. */
	from_ns = from_ns > t->kept_from_ns ? from_ns : t->kept_from_ns;
	c.from_ns = from_ns - (uint64_t)t->ts_offset_ns;
	c.to_ns = to_ns - (uint64_t)t->ts_offset_ns;
	if (ty_ring_layout_init(&c.layout, t->header_page.s, t->long_size, t->big_endian))
		return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET, "%s: its header_page is damaged",
			       t->path);
	ty_buf_init(&c.pages, BATCH > 2 * c.page_size ? BATCH : 2 * c.page_size);
	r = ty_spool_create(path, c.page_size, &spool, err);
	if (!r && !(c.w = ty_spool_writer_new(
			    spool, PIECE > BATCH + c.page_size ? PIECE : BATCH + c.page_size)))
		r = no_memory(&c);
	r = r ? r : put_metadata(&c);
	r = r ? r : put_sections(&c);
	for (uint32_t i = 0; !r && i < t->streams.n; i++)
		r = cut_stream(&c, i);
	if (!r && !c.events)
		r = ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "no event in the selected range");
	r = r ? r : ty_spool_publish(spool, err);
	r = r ? r : ty_spool_finish(spool, err);
	if (r && spool && !ty_spool_is_finished(spool)) {
		ty_spool_discard(spool);
		if (err && strlen(err->msg) + 30 < sizeof(err->msg))
			strcat(err->msg, "; nothing was exported");
	}
	ty_spool_writer_free(c.w);
	ty_spool_close(spool);
	ty_buf_fini(&c.pages);
	return r;
}
