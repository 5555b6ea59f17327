/* SPDX-License-Identifier: MIT */
/*
 * See perf_out.h. Layout: header, records, table of features (after the records, where perf expects
 * it), features, ids, events. Budget: one copy per record.
 */
#include "perf_out.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomic_file.h"
#include "full_io.h"
#include "perf_data.h"
#include "vec.h"

#define HEAD	      104u
#define FLUSH	      (1u << 20)
#define FEATURE_BYTES (256u << 20)
#define STRING_ALIGN  64u

struct event {
	uint8_t *attr;
	size_t attr_n;
	VEC(uint64_t) ids;
	char *name;
};

struct ty_perf_out {
	char *path, *unfinished; /* unfinished: temporary name, or NULL */
	int fd;
	uint64_t written; /* bytes written, excluding those in buf */
	uint64_t data_end;
	struct ty_buf buf;
	struct ty_buf feature[TY_PERF_F_COUNT];
	VEC(struct event) events;
	VEC(uint64_t) index; /* offset and size of each AUXTRACE record, without its data */
	struct ty_err err;   /* the first failure */
};

static void no_memory(struct ty_perf_out *o)
{
	if (!o->err.code)
		ty_fail(&o->err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", o->path);
}

static void flush(struct ty_perf_out *o)
{
	if (!o->err.code && !ty_full_write(o->fd, o->buf.p, o->buf.len, TY_IO_HERE))
		ty_fail_errno(&o->err, "%s: cannot write", o->path);
	o->written += o->buf.len;
	ty_buf_reset(&o->buf);
}

static void put(struct ty_perf_out *o, const void *p, size_t n)
{
	while (n && !o->err.code) {
		size_t part = n < FLUSH ? n : FLUSH;

		if (o->buf.len + part > FLUSH)
			flush(o);
		if (ty_buf_add(&o->buf, p, part))
			no_memory(o);
		p = (const char *)p + part;
		n -= part;
	}
}

static void put_word(struct ty_perf_out *o, uint64_t v, unsigned bytes)
{
	uint8_t le[8];

	for (unsigned i = 0; i < bytes; i++)
		le[i] = (uint8_t)(v >> 8 * i);
	put(o, le, bytes);
}

static uint64_t at(const struct ty_perf_out *o)
{
	return o->written + o->buf.len;
}

int ty_perf_out_new(const char *path, struct ty_perf_out **out, struct ty_err *err)
{
	struct ty_perf_out *o = calloc(1, sizeof(*o));
	static const uint8_t head[HEAD];

	*out = NULL;
	if (o)
		o->path = strdup(path);
	if (!o || !o->path) {
		free(o);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	}
	ty_buf_init(&o->buf, FLUSH);
	for (unsigned i = 0; i < TY_PERF_F_COUNT; i++)
		ty_buf_init(&o->feature[i], FEATURE_BYTES);
	o->fd = ty_atomic_file_open(path, -1, false, &o->unfinished, err);
	if (o->fd < 0) {
		int r = o->fd;

		ty_perf_out_free(o);
		return r;
	}
	put(o, head, HEAD);
	*out = o;
	return 0;
}

void ty_perf_out_free(struct ty_perf_out *o)
{
	if (!o)
		return;
	ty_atomic_file_remove(&o->unfinished);
	if (o->fd >= 0)
		close(o->fd);
	vec_each (e, &o->events) {
		free(e->attr);
		free(e->name);
		vec_fini(&e->ids);
	}
	vec_fini(&o->events);
	vec_fini(&o->index);
	for (unsigned i = 0; i < TY_PERF_F_COUNT; i++)
		ty_buf_fini(&o->feature[i]);
	ty_buf_fini(&o->buf);
	free(o->path);
	free(o);
}

void ty_perf_out_rec(struct ty_perf_out *o, uint32_t type, uint16_t misc, const void *body,
		     size_t n)
{
	if (n > UINT16_MAX - 8u || n % 8) {
		if (!o->err.code)
			ty_fail(&o->err, TY_ELIMIT, TY_NO_OFFSET,
				"%s: a record of %zu bytes is too large for a perf.data file",
				o->path, n);
		return;
	}
	if (type == TY_PERF_AUXTRACE && (vec_push(&o->index, at(o)) || vec_push(&o->index, n + 8)))
		no_memory(o);
	put_word(o, type, 4);
	put_word(o, misc, 2);
	put_word(o, n + 8, 2);
	put(o, body, n);
}

void ty_perf_out_aux(struct ty_perf_out *o, const void *p, size_t n)
{
	put(o, p, n);
}

void ty_perf_out_event(struct ty_perf_out *o, const void *attr, size_t n, const uint64_t *ids,
		       size_t ids_n, const char *name)
{
	struct event *e = o->events.n ? &o->events.v[o->events.n - 1] : NULL;

	if (!e || e->attr_n != n || memcmp(e->attr, attr, n)) {
		struct event fresh = {.attr = malloc(n), .attr_n = n, .name = strdup(name)};

		if (!fresh.attr || !fresh.name || vec_push(&o->events, fresh)) {
			free(fresh.attr);
			free(fresh.name);
			no_memory(o);
			return;
		}
		e = &o->events.v[o->events.n - 1];
		memcpy(e->attr, attr, n);
	}
	for (size_t i = 0; i < ids_n; i++)
		if (vec_push(&e->ids, ids[i]))
			no_memory(o);
}

void ty_perf_out_feature(struct ty_perf_out *o, unsigned feature, const void *p, size_t n)
{
	struct ty_buf *b = &o->feature[feature];

	ty_buf_reset(b);
	if (ty_buf_add(b, p, n))
		no_memory(o);
}

void ty_perf_out_string(struct ty_buf *b, const char *text)
{
	size_t n = strlen(text), len = (n + STRING_ALIGN) / STRING_ALIGN * STRING_ALIGN;

	ty_buf_addle(b, len, 4);
	ty_buf_adds(b, text);
	for (; n < len; n++)
		ty_buf_addc(b, 0);
}

/* Every attribute is padded to the largest size: perf iterates with the size in the header. */
static size_t attr_size(const struct ty_perf_out *o)
{
	size_t n = 0;

	vec_each (e, &o->events)
		n = e->attr_n > n ? e->attr_n : n;
	return n;
}

static void add_attr(struct ty_buf *b, const struct event *e, size_t size)
{
	ty_buf_add(b, e->attr, 4);
	ty_buf_addle(b, size, 4);
	ty_buf_add(b, e->attr + 8, e->attr_n - 8);
	for (size_t i = e->attr_n; i < size; i++)
		ty_buf_addc(b, 0);
}

/* Generates the features that describe the file itself. */
static void make_features(struct ty_perf_out *o)
{
	struct ty_buf *desc = &o->feature[TY_PERF_F_EVENT_DESC],
		      *aux = &o->feature[TY_PERF_F_AUXTRACE];
	size_t size = attr_size(o);

	ty_buf_reset(desc);
	ty_buf_addle(desc, o->events.n, 4);
	ty_buf_addle(desc, size, 4);
	vec_each (e, &o->events) {
		add_attr(desc, e, size);
		ty_buf_addle(desc, e->ids.n, 4);
		ty_perf_out_string(desc, e->name);
		vec_each (id, &e->ids)
			ty_buf_addle(desc, *id, 8);
	}
	ty_buf_reset(aux);
	if (o->index.n) {
		ty_buf_addle(aux, o->index.n / 2, 8);
		vec_each (word, &o->index)
			ty_buf_addle(aux, *word, 8);
	}
	if (desc->failed || aux->failed)
		no_memory(o);
}

static void put_features(struct ty_perf_out *o)
{
	uint64_t place = at(o);

	for (unsigned i = 0; i < TY_PERF_F_COUNT; i++)
		place += o->feature[i].len ? 16 : 0;
	for (unsigned i = 0; i < TY_PERF_F_COUNT; i++) {
		if (!o->feature[i].len)
			continue;
		put_word(o, place, 8);
		put_word(o, o->feature[i].len, 8);
		place += o->feature[i].len;
	}
	for (unsigned i = 0; i < TY_PERF_F_COUNT; i++)
		put(o, o->feature[i].p, o->feature[i].len);
}

/* Writes all ids, then the attributes that refer to them. Returns the offset of the attributes. */
static uint64_t put_events(struct ty_perf_out *o)
{
	uint64_t ids_at = at(o), attrs_at;
	size_t size = attr_size(o);
	struct ty_buf b;

	vec_each (e, &o->events)
		vec_each (id, &e->ids)
			put_word(o, *id, 8);
	attrs_at = at(o);
	ty_buf_init(&b, o->events.n * size + 64);
	vec_each (e, &o->events) {
		ty_buf_reset(&b);
		add_attr(&b, e, size);
		if (b.failed)
			no_memory(o);
		else
			put(o, b.p, b.len);
		put_word(o, ids_at, 8);
		put_word(o, 8 * e->ids.n, 8);
		ids_at += 8 * e->ids.n;
	}
	ty_buf_fini(&b);
	return attrs_at;
}

static void put_head(struct ty_perf_out *o, uint64_t attrs_at)
{
	uint64_t size = attr_size(o) + 16;
	struct ty_buf b;

	ty_buf_init(&b, 2 * HEAD);
	ty_buf_adds(&b, "PERFILE2");
	ty_buf_addle(&b, HEAD, 8);
	ty_buf_addle(&b, size, 8);
	ty_buf_addle(&b, attrs_at, 8);
	ty_buf_addle(&b, o->events.n * size, 8);
	ty_buf_addle(&b, HEAD, 8);
	ty_buf_addle(&b, o->data_end - HEAD, 8);
	ty_buf_addle(&b, 0, 8); /* event types: obsolete */
	ty_buf_addle(&b, 0, 8);
	for (unsigned i = 0; i < TY_PERF_F_COUNT; i += 8) {
		unsigned byte = 0;

		for (unsigned k = 0; k < 8; k++)
			byte |= o->feature[i + k].len ? 1u << k : 0;
		ty_buf_addle(&b, byte, 1);
	}
	if (b.failed)
		no_memory(o);
	else if (pwrite(o->fd, b.p, b.len, 0) != (ssize_t)b.len)
		ty_fail_errno(&o->err, "%s: cannot write", o->path);
	ty_buf_fini(&b);
}

int ty_perf_out_finish(struct ty_perf_out *o, struct ty_err *err)
{
	uint64_t attrs_at;

	o->data_end = at(o);
	make_features(o);
	put_features(o);
	attrs_at = put_events(o);
	flush(o);
	if (!o->err.code)
		put_head(o, attrs_at);
	if (!o->err.code)
		ty_atomic_file_place(o->fd, &o->unfinished, o->path, -1, &o->err);
	if (o->err.code && err)
		*err = o->err;
	return o->err.code ? -(int)o->err.code : 0;
}
