/* SPDX-License-Identifier: MIT */
/*
 * trace.dat version 6 (trace-cmd.dat.v6(5)): consecutive texts, options, a table of offsets per
 * CPU, uncompressed ring pages. Further buffers are found through the BUFFER option and have tables
 * of their own. With the option TRACECLOCK, each table is followed by the clock's text (not in the
 * man page; see trace-cmd's init_data_v6).
 */
#include <inttypes.h>
#include <string.h>

#include "trace_file.h"

struct v6 {
	struct ty_trace *t;
	struct ty_err *err;
	bool clock_text; /* a clock's text follows each table */
	uint32_t cpus;
	uint64_t buffer_off[TY_DAT_BUFFERS_MAX]; /* of t->buffers.v[i]; 0: the top buffer */
};

static int damaged(struct v6 *v, int r, const char *what, uint64_t off)
{
	return ty_trace_damaged(v->t, r, what, off, v->err);
}

/* The BUFFER option: u64 place of the buffer's table, name. */
static int buffer_option(struct v6 *v, struct ty_in *in)
{
	struct ty_trace_buffer b = {.clock = "", .page_size = v->t->priv->page_size};
	uint64_t off = ty_in_uint(in, 8);
	struct ty_text name;
	int r = ty_trace_keep_str(v->t, in, &name);

	if (r)
		return r;
	if (!*name.s)
		return 0; /* the top buffer, whose table follows the options anyway */
	if (v->t->buffers.n >= TY_DAT_BUFFERS_MAX)
		return -TY_EFORMAT;
	b.name = name.s;
	v->buffer_off[v->t->buffers.n] = off;
	return vec_push(&v->t->buffers, b);
}

/* Options up to the one with id 0. */
static int options(struct v6 *v, struct ty_in *in, bool top)
{
	for (;;) {
		uint64_t off = in->pos, id = ty_in_uint(in, 2), size, end;
		int r = 0;

		if (!in->bad && id == TY_DAT_DONE)
			return 0;
		size = ty_in_uint(in, 4);
		if (in->bad || size > ty_in_left(in))
			return damaged(v, 0, "options", off);
		end = in->end;
		in->end = in->pos + size;
		if (top && id == TY_DAT_BUFFER)
			r = buffer_option(v, in);
		else if (id == TY_DAT_TRACECLOCK)
			v->clock_text = true;
		else if (top)
			r = ty_trace_option(v->t, (unsigned)id, in, v->err);
		if (r == -TY_EUNSUPPORTED)
			return r;
		if (r)
			return damaged(v, r, "options", off);
		in->pos = in->end;
		in->end = end;
	}
}

/* "local global [perf] mono": the word in brackets, kept. */
static const char *clock_name(struct v6 *v, struct ty_text text)
{
	const char *from = text.s ? strchr(text.s, '[') : NULL;
	const char *to = from ? strchr(from, ']') : NULL;
	struct ty_text name;

	if (!to || ty_trace_keep_bytes(v->t, from + 1, (size_t)(to - from - 1), TY_DAT_FORMAT_BYTES,
				       &name))
		return "";
	return name.s;
}

/*
 * One buffer at `in`: "options" or not, "flyrecord", the table of its CPUs, the clock.
 */
static int buffer_data(struct v6 *v, struct ty_in *in, uint32_t buffer)
{
	struct ty_trace *t = v->t;
	uint64_t off = in->pos;
	char kind[10];
	int r = 0;

	ty_in_get(in, kind, sizeof(kind));
	if (!in->bad && !memcmp(kind, "options", 7)) {
		r = options(v, in, buffer == 0);
		if (r)
			return r;
		if (t->cpu_count)
			v->cpus = t->cpu_count;
		off = in->pos;
		ty_in_get(in, kind, sizeof(kind));
	}
	if (!in->bad && !memcmp(kind, "latency", 7))
		return ty_fail(v->err, TY_EUNSUPPORTED, off,
			       "%s: contains the text of a latency tracer, not events. Use "
			       "'trace-cmd report' to show it",
			       t->path);
	if (in->bad || memcmp(kind, "flyrecord", 10))
		return damaged(v, 0, "kind of data", off);
	off = in->pos;
	for (uint32_t cpu = 0; cpu < v->cpus && !r; cpu++) {
		struct ty_stream_data d = {0};
		uint64_t at = ty_in_uint(in, 8), size = ty_in_uint(in, 8);

		if (in->bad)
			return damaged(v, 0, "table of CPUs", off);
		if (!size)
			continue;
		r = ty_trace_flat(t, &d, t->priv->page_size, at, size, v->err);
		if (!r)
			r = ty_trace_add_stream(t, buffer, cpu, &d, v->err);
	}
	if (!r && v->clock_text) {
		struct ty_text text = {0};

		/* trace-cmd sometimes wrote this text wrongly: ignore it when unreadable. */
		if (ty_trace_sized_text(t, in, 8, &text))
			return 0;
		if (buffer == 0)
			t->trace_clock = text;
		t->buffers.v[buffer].clock = clock_name(v, text);
	}
	return r;
}

int ty_trace_read_v6(struct ty_trace *t, struct ty_in *in, struct ty_err *err)
{
	struct ty_trace_buffer top = {.name = "", .clock = "", .page_size = t->priv->page_size};
	struct v6 v = {.t = t, .err = err};
	uint64_t off = in->pos;
	int r;

	if ((r = ty_trace_header_info(t, in)))
		return damaged(&v, r, "description of the ring pages", off);
	off = in->pos;
	if ((r = ty_trace_ftrace_formats(t, in)) || (r = ty_trace_event_formats(t, in)))
		return damaged(&v, r, "event formats", off);
	off = in->pos;
	if ((r = ty_trace_sized_text(t, in, 4, &t->kallsyms)))
		return damaged(&v, r, "kernel symbols", off);
	off = in->pos;
	if ((r = ty_trace_sized_text(t, in, 4, &t->printk)))
		return damaged(&v, r, "printk formats", off);
	off = in->pos;
	if ((r = ty_trace_sized_text(t, in, 8, &t->cmdlines)))
		return damaged(&v, r, "command names", off);
	off = in->pos;
	v.cpus = (uint32_t)ty_in_uint(in, 4);
	if (in->bad || v.cpus > TY_DAT_CPUS_MAX)
		return damaged(&v, 0, "number of CPUs", off);
	if (vec_push(&t->buffers, top))
		return damaged(&v, -TY_ENOMEM, "", off);
	ty_trace_find_long_size(t);
	r = buffer_data(&v, in, 0);
	if (!t->cpu_count)
		t->cpu_count = v.cpus;
	for (uint32_t b = 1; b < t->buffers.n && !r; b++) {
		struct ty_in at = ty_trace_in(t, v.buffer_off[b], t->file_bytes);

		if (!at.bad && at.pos < at.end)
			r = buffer_data(&v, &at, b);
		else
			ty_trace_cut(t, v.buffer_off[b]);
	}
	return r;
}
