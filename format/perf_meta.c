/* SPDX-License-Identifier: MIT */
/*
 * perf.data: header, attributes with ids, features (perf_data.h). In the file form the header and
 * the table after the data give their positions. In the pipe form they are records (HEADER_ATTR,
 * HEADER_FEATURE, HEADER_BUILD_ID): those before the first sample or AUX data are processed when
 * the file is opened, later ones when they are read.
 *
 * Format: tools/perf/Documentation/perf.data-file-format.txt. Limits: META_BYTES for all features
 * and ids, EVENTS_MAX events.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "perf_file.h"
#include "partition.h"
#include "checked_read.h"
#include "compare.h"

#define META_BYTES (256ull << 20)
#define EVENTS_MAX 65536u
#define FILE_HEAD  104u
#define PIPE_HEAD  16u

static int damaged(const struct ty_perf *p, uint64_t off, const char *what, struct ty_err *err)
{
	return ty_fail(err, TY_EFORMAT, off, "%s: damaged: %s at offset %" PRIu64, p->path, what,
		       off);
}

static int no_memory(const struct ty_perf *p, struct ty_err *err)
{
	return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", p->path);
}

static int set_name(struct ty_perf *p, struct ty_perf_event *e, const char *name,
		    struct ty_err *err)
{
	char *copy = strdup(name);

	if (!copy || vec_push(&p->priv->names, copy)) {
		free(copy);
		return no_memory(p, err);
	}
	e->name = copy;
	return 0;
}

/* ids are little-endian words at src; src may be NULL when n is 0. */
static int add_event(struct ty_perf *p, const struct ty_perf_attr *attr, const uint8_t *src,
		     uint64_t n, uint64_t off, struct ty_err *err)
{
	struct ty_perf_priv *v = p->priv;
	struct ty_perf_event e = {.attr = *attr, .ids_n = (uint32_t)n, .name = ""};
	uint64_t *ids = NULL;
	uint32_t index = (uint32_t)p->events.n;
	char name[TY_PERF_EVENT_NAME];

	if (index >= EVENTS_MAX)
		return damaged(p, off, "an impossible number of events", err);
	if (n) {
		ids = malloc(n * 8);
		if (!ids || vec_push(&v->id_lists, ids)) {
			free(ids);
			return no_memory(p, err);
		}
		memcpy(ids, src, n * 8);
	}
	e.ids = ids;
	for (uint64_t i = 0; i < n; i++)
		if (vec_push(&v->ids, (struct ty_perf_id_ent){ids[i], index}))
			return no_memory(p, err);
	v->ids_sorted = false;
	v->last_event = UINT32_MAX;
	if (ty_perf_event_name(attr, name) && set_name(p, &e, name, err))
		return -TY_ENOMEM;
	if (vec_push(&p->events, e))
		return no_memory(p, err);
	if (!index)
		v->same_tail = true;
	else if ((attr->flags ^ p->events.v[0].attr.flags) & TY_PERF_ATTR_SAMPLE_ID_ALL ||
		 ty_perf_id_bytes(attr->sample_type ^ p->events.v[0].attr.sample_type))
		v->same_tail = false;
	return 0;
}

ORDER(id_order, struct ty_perf_id_ent, compare(a->id, b->id) ?: compare(a->event, b->event))

const struct ty_perf_event *ty_perf_event_find(struct ty_perf *p, uint64_t id)
{
	struct ty_perf_priv *v = p->priv;
	size_t lo;

	if (!p->events.n)
		return NULL;
	if (v->last_event != UINT32_MAX && v->last_id == id)
		return &p->events.v[v->last_event];
	if (!v->ids_sorted) {
		vec_sort(&v->ids, id_order);
		v->ids_sorted = true;
	}
	lo = partition_point(i, 0, v->ids.n, v->ids.v[i].id < id);
	if (lo == v->ids.n || v->ids.v[lo].id != id)
		return id ? NULL : &p->events.v[0];
	v->last_id = id;
	v->last_event = v->ids.v[lo].event;
	return &p->events.v[v->last_event];
}

const struct ty_perf_event *ty_perf_event_of(struct ty_perf *p, const struct ty_perf_rec *r)
{
	const struct ty_perf_event *e = p->events.n ? p->events.v : NULL;
	uint64_t t = e ? e->attr.sample_type : 0;

	if (!e || p->events.n == 1)
		return e;
	/* IDENTIFIER has the same position in all events; ID only where all sample_types agree. */
	if (t & TY_PERF_S_IDENTIFIER && r->n >= 8)
		return ty_perf_event_find(
			p, ty_load(r->type == TY_PERF_SAMPLE ? r->body : r->body + r->n - 8, 8,
				   false));
	if (r->type != TY_PERF_SAMPLE)
		return p->priv->same_tail ? e : NULL;
	if (t & TY_PERF_S_ID) {
		uint64_t before =
			t & (TY_PERF_S_IP | TY_PERF_S_TID | TY_PERF_S_TIME | TY_PERF_S_ADDR);
		uint32_t at = 8 * (uint32_t)__builtin_popcountll(before);

		vec_each (o, &p->events)
			if ((o->attr.sample_type ^ t) &
			    (before | TY_PERF_S_IP | TY_PERF_S_TID | TY_PERF_S_TIME |
			     TY_PERF_S_ADDR | TY_PERF_S_ID | TY_PERF_S_IDENTIFIER))
				return NULL;
		return r->n >= at + 8 ? ty_perf_event_find(p, ty_load(r->body + at, 8, false))
				      : NULL;
	}
	return NULL;
}

void ty_perf_id(struct ty_perf *p, const struct ty_perf_rec *r, struct ty_perf_id *out)
{
	const struct ty_perf_event *e =
		r->type < TY_PERF_KERNEL_TYPES ? ty_perf_event_of(p, r) : NULL;

	if (!e || !(e->attr.flags & TY_PERF_ATTR_SAMPLE_ID_ALL) ||
	    ty_perf_id_parse(r, e->attr.sample_type, out))
		*out = (struct ty_perf_id){.pid = -1, .tid = -1};
}

/* Features ---------------------------------------------------------------------------------------
 */

const uint8_t *ty_perf_feature(const struct ty_perf *p, unsigned feature, size_t *n)
{
	*n = 0;
	if (feature >= TY_PERF_F_COUNT || !p->priv->feat[feature].p)
		return NULL;
	*n = p->priv->feat[feature].len;
	return p->priv->feat[feature].p;
}

bool ty_perf_feature_place(const struct ty_perf *p, unsigned feature, uint64_t *off, uint64_t *n)
{
	if (feature >= TY_PERF_F_COUNT || !p->priv->feat[feature].n)
		return false;
	*off = p->priv->feat[feature].off;
	*n = p->priv->feat[feature].n;
	return true;
}

/* struct perf_header_string: a length that counts padding, then the string with its NUL. */
static const char *string(struct ty_rd *rd)
{
	uint32_t n = ty_rd_u32(rd);
	const uint8_t *s = ty_rd_bytes(rd, n);

	return s && memchr(s, 0, n) ? (const char *)s : NULL;
}

const char *ty_perf_text(const struct ty_perf *p, unsigned feature)
{
	size_t n;
	const uint8_t *b = ty_perf_feature(p, feature, &n);
	struct ty_rd rd = ty_rd_init(b, n, false);

	return b ? string(&rd) : NULL;
}

bool ty_perf_cpus(const struct ty_perf *p, uint32_t *online, uint32_t *available)
{
	size_t n;
	const uint8_t *b = ty_perf_feature(p, TY_PERF_F_NRCPUS, &n);

	if (!b || n < 8)
		return false;
	/* The file has "available" first (header.c: write_nrcpus), contrary to its
	 * documentation. */
	*available = (uint32_t)ty_load(b, 4, false);
	*online = (uint32_t)ty_load(b + 4, 4, false);
	return true;
}

const char *ty_perf_cmdline(const struct ty_perf *p, uint32_t i)
{
	size_t n;
	const uint8_t *b = ty_perf_feature(p, TY_PERF_F_CMDLINE, &n);
	struct ty_rd rd = ty_rd_init(b, n, false);
	uint32_t words = b ? ty_rd_u32(&rd) : 0;
	const char *s = NULL;

	if (i >= words)
		return NULL;
	for (uint32_t k = 0; k <= i && !rd.bad; k++)
		s = string(&rd);
	return rd.bad ? NULL : s;
}

bool ty_perf_stepped(const struct ty_perf *p)
{
	const char *word = ty_perf_cmdline(p, 0);
	uint32_t i = 1;

	if (!word || strcmp(word, "tarry"))
		return false;
	while (i < 8 && (word = ty_perf_cmdline(p, i)) && strcmp(word, "--flow=step"))
		i++;
	return i < 8 && word;
}

const char *ty_perf_pmu(const struct ty_perf *p, uint32_t type)
{
	size_t n;
	const uint8_t *b = ty_perf_feature(p, TY_PERF_F_PMU_MAPPINGS, &n);
	struct ty_rd rd = ty_rd_init(b, n, false);
	uint32_t count = b ? ty_rd_u32(&rd) : 0;

	for (uint32_t i = 0; i < count && !rd.bad; i++) {
		uint32_t t = ty_rd_u32(&rd);
		const char *name = string(&rd);

		if (name && t == type)
			return name;
	}
	return NULL;
}

bool ty_perf_build_id_next(const struct ty_perf *p, size_t *pos, struct ty_perf_build_id *out)
{
	struct ty_perf_rec r;
	size_t n;
	const uint8_t *b = ty_perf_feature(p, TY_PERF_F_BUILD_ID, &n);

	while (b && ty_perf_buf_next(b, n, pos, &r) > 0) {
		if (r.n < 29 || !memchr(r.body + 28, 0, r.n - 28))
			continue;
		*out = (struct ty_perf_build_id){.pid = (int32_t)ty_load(r.body, 4, false),
						 .misc = r.misc,
						 .n = 20,
						 .name = (const char *)r.body + 28};
		if (r.misc & 1u << 15 && r.body[24] < 20) /* PERF_RECORD_MISC_BUILD_ID_SIZE */
			out->n = r.body[24];
		memcpy(out->id, r.body + 4, out->n);
		return true;
	}
	return false;
}

/* Appends n bytes to the stored part of a feature. */
static int hold(struct ty_perf *p, unsigned feature, const uint8_t *src, size_t n,
		struct ty_err *err)
{
	struct ty_perf_feat *f = &p->priv->feat[feature];
	uint8_t *b;

	if (n + 1 > p->priv->meta_left)
		return damaged(p, f->off, "an impossible size of a feature", err);
	p->priv->meta_left -= n + 1;
	b = realloc(f->p, f->len + n + 1);
	if (!b)
		return no_memory(p, err);
	memcpy(b + f->len, src, n);
	f->p = b;
	f->len += n;
	b[f->len] = 0;
	return 0;
}

/* EVENT_DESC has the events' names. An event is identified by its first id, else by its
 * position. */
static int name_events(struct ty_perf *p, struct ty_err *err)
{
	size_t n;
	const uint8_t *b = ty_perf_feature(p, TY_PERF_F_EVENT_DESC, &n);
	struct ty_rd rd = ty_rd_init(b, n, false);
	uint32_t count = b ? ty_rd_u32(&rd) : 0, attr_size = b ? ty_rd_u32(&rd) : 0;

	for (uint32_t i = 0; i < count && !rd.bad; i++) {
		uint32_t ids_n;
		const char *name;
		const uint8_t *ids;
		struct ty_perf_event *e = i < p->events.n ? &p->events.v[i] : NULL;

		ty_rd_bytes(&rd, attr_size);
		ids_n = ty_rd_u32(&rd);
		name = string(&rd);
		ids = ty_rd_bytes(&rd, 8ull * ids_n);
		if (ids && ids_n)
			e = (struct ty_perf_event *)ty_perf_event_find(p, ty_load(ids, 8, false));
		if (e && name && ids && set_name(p, e, name, err))
			return -TY_ENOMEM;
	}
	return 0;
}

static int read_features(struct ty_perf *p, const uint8_t *bits, uint64_t at, struct ty_err *err)
{
	uint8_t ent[16];
	int r;

	for (unsigned f = 0; f < TY_PERF_F_COUNT; f++) {
		struct ty_perf_feat *ft = &p->priv->feat[f];
		uint8_t *tmp;

		if (!(bits[f / 8] >> f % 8 & 1))
			continue;
		if (at > p->file_bytes || p->file_bytes - at < 16) {
			ty_perf_note(p, at, "the table of features is truncated");
			return 0;
		}
		r = ty_perf_read(p, at, ent, sizeof(ent), err);
		if (r)
			return r;
		at += 16;
		ft->off = ty_load(ent, 8, false);
		ft->n = ty_load(ent + 8, 8, false);
		if (ft->off > p->file_bytes || ft->n > p->file_bytes - ft->off) {
			ty_perf_note(p, at, "a feature is truncated");
			ft->n = 0;
			continue;
		}
		/* Not stored: the index of AUX data is not needed, and trace formats are read on
		 * demand. */
		if (f == TY_PERF_F_TRACING_DATA || f == TY_PERF_F_AUXTRACE || !ft->n)
			continue;
		if (ft->n + 1 > p->priv->meta_left)
			return damaged(p, ft->off, "an impossible size of a feature", err);
		tmp = malloc(ft->n);
		if (!tmp)
			return no_memory(p, err);
		r = ty_perf_read(p, ft->off, tmp, ft->n, err);
		if (!r)
			r = hold(p, f, tmp, ft->n, err);
		free(tmp);
		if (r)
			return r;
	}
	return name_events(p, err);
}

/* The attributes: attr_size bytes each, of which the last 16 give the location of their ids. */
static int read_attrs(struct ty_perf *p, uint64_t attr_size, uint64_t off, uint64_t n,
		      struct ty_err *err)
{
	uint8_t raw[TY_PERF_ATTR_MAX + 16];

	if (attr_size < TY_PERF_ATTR_MIN + 16 || attr_size > sizeof(raw))
		return damaged(p, 16, "an invalid attribute size", err);
	if (off > p->file_bytes || n > p->file_bytes - off)
		return damaged(p, 24, "attributes beyond the end of the file", err);
	for (; n >= attr_size; off += attr_size, n -= attr_size) {
		struct ty_perf_attr attr;
		uint64_t size, ids_off, ids_n;
		uint8_t *ids = NULL;
		int r = ty_perf_read(p, off, raw, attr_size, err);

		if (r)
			return r;
		size = ty_load(raw + 4, 4, false);
		if (size < TY_PERF_ATTR_MIN || size > attr_size - 16)
			size = attr_size - 16;
		ty_perf_attr_parse(raw, size, &attr);
		ids_off = ty_load(raw + size, 8, false);
		ids_n = ty_load(raw + size + 8, 8, false) / 8;
		if (ids_n > p->file_bytes / 8 || ids_off > p->file_bytes - ids_n * 8)
			return damaged(p, off, "ids beyond the end of the file", err);
		/* With the look-up table an id costs 24 bytes. */
		if (ids_n > p->priv->meta_left / 24)
			return damaged(p, off, "an impossible number of ids", err);
		p->priv->meta_left -= ids_n * 24;
		if (ids_n) {
			ids = malloc(ids_n * 8);
			if (!ids)
				return no_memory(p, err);
			r = ty_perf_read(p, ids_off, ids, ids_n * 8, err);
		}
		if (!r)
			r = add_event(p, &attr, ids, ids_n, off, err);
		free(ids);
		if (r)
			return r;
	}
	return 0;
}

/* Pipe form, of a perf without EVENT_DESC there: the name of an event that the kernel's numbers do
 * not name. */
static int update_event(struct ty_perf *p, const struct ty_perf_rec *r, struct ty_err *err)
{
	enum { NAME = 2, TEXT = 16 }; /* struct perf_record_event_update: type, id, name */
	struct ty_perf_event *e;

	if (r->n <= TEXT || ty_load(r->body, 8, false) != NAME ||
	    !memchr(r->body + TEXT, 0, r->n - TEXT))
		return 0;
	if (r->n > p->priv->meta_left)
		return damaged(p, r->off, "too many names of events", err);
	p->priv->meta_left -= r->n;
	e = (struct ty_perf_event *)ty_perf_event_find(p, ty_load(r->body + 8, 8, false));
	return e ? set_name(p, e, (const char *)r->body + TEXT, err) : 0;
}

int ty_perf_pipe_record(struct ty_perf *p, const struct ty_perf_rec *r, struct ty_err *err)
{
	struct ty_perf_priv *v = p->priv;
	struct ty_perf_attr attr;
	uint64_t size, f;

	/* Processed when the file was opened: the records are returned again from the beginning. */
	if (r->off < v->meta_seen)
		return 0;
	v->meta_seen = r->off + 1;
	if (r->type == TY_PERF_HEADER_ATTR) {
		size = r->n >= 8 ? ty_load(r->body + 4, 4, false) : 0;
		if (size < TY_PERF_ATTR_MIN)
			size = TY_PERF_ATTR_MIN;
		if (size > r->n || ty_perf_attr_parse(r->body, size, &attr))
			return damaged(p, r->off, "a truncated attribute", err);
		if ((r->n - size) / 8 > v->meta_left / 24)
			return damaged(p, r->off, "an impossible number of ids", err);
		v->meta_left -= (r->n - size) / 8 * 24;
		return add_event(p, &attr, r->body + size, (r->n - size) / 8, r->off, err);
	}
	if (r->type == TY_PERF_EVENT_UPDATE)
		return update_event(p, r, err);
	if (r->type == TY_PERF_HEADER_TRACING_DATA) {
		v->feat[TY_PERF_F_TRACING_DATA].off = r->data_off;
		v->feat[TY_PERF_F_TRACING_DATA].n = r->data_n;
	} else if (r->type == TY_PERF_HEADER_BUILD_ID) {
		uint8_t head[8] = {67,
				   0,
				   0,
				   0,
				   (uint8_t)r->misc,
				   (uint8_t)(r->misc >> 8),
				   (uint8_t)(r->n + 8),
				   (uint8_t)((r->n + 8) >> 8)};
		int e = hold(p, TY_PERF_F_BUILD_ID, head, 8, err);

		return e ? e : hold(p, TY_PERF_F_BUILD_ID, r->body, r->n, err);
	} else if (r->type == TY_PERF_HEADER_FEATURE && r->n > 8) {
		f = ty_load(r->body, 8, false);
		if (f < TY_PERF_F_COUNT && f != TY_PERF_F_BUILD_ID && !v->feat[f].p) {
			int e = hold(p, (unsigned)f, r->body + 8, r->n - 8, err);

			return e || f != TY_PERF_F_EVENT_DESC ? e : name_events(p, err);
		}
	}
	return 0;
}

/* Processes the records before the first sample or AUX data. */
static int read_pipe_head(struct ty_perf *p, struct ty_err *err)
{
	struct ty_perf_rec r;
	int e;

	ty_perf_rewind(p);
	while ((e = ty_perf_next_record(p, &r, err)) > 0) {
		e = ty_perf_pipe_record(p, &r, err);
		if (e || r.type == TY_PERF_SAMPLE || r.type == TY_PERF_AUXTRACE)
			return e;
	}
	return e;
}

int ty_perf_read_header(struct ty_perf *p, struct ty_err *err)
{
	struct ty_perf_priv *v = p->priv;
	uint8_t h[FILE_HEAD];
	uint64_t size, data_off, data_n;
	int r;

	v->meta_left = META_BYTES;
	v->last_event = UINT32_MAX;
	if (p->file_bytes < PIPE_HEAD)
		return ty_fail(err, TY_EFORMAT, 0, "%s: not a perf.data file (too short)", p->path);
	r = ty_perf_read(p, 0, h, PIPE_HEAD, err);
	if (r)
		return r;
	if (!memcmp(h, "2ELIFREP", 8))
		return ty_fail(err, TY_EUNSUPPORTED, 0,
			       "%s: recorded on a big-endian machine, which tarry does not support",
			       p->path);
	if (!memcmp(h, "PERFFILE", 8))
		return ty_fail(
			err, TY_EUNSUPPORTED, 0,
			"%s: perf.data version 1 (before 2012), which tarry does not support",
			p->path);
	if (memcmp(h, "PERFILE2", 8))
		return ty_fail(err, TY_EFORMAT, 0, "%s: not a perf.data file", p->path);
	size = ty_load(h + 8, 8, false);
	if (size == PIPE_HEAD) {
		p->pipe = true;
		v->begin = PIPE_HEAD;
		v->end = p->file_bytes;
		return read_pipe_head(p, err);
	}
	if (size < FILE_HEAD || p->file_bytes < FILE_HEAD)
		return damaged(p, 8, "an invalid header size", err);
	r = ty_perf_read(p, 0, h, FILE_HEAD, err);
	if (r)
		return r;
	r = read_attrs(p, ty_load(h + 16, 8, false), ty_load(h + 24, 8, false),
		       ty_load(h + 32, 8, false), err);
	if (r)
		return r;
	data_off = ty_load(h + 40, 8, false);
	data_n = ty_load(h + 48, 8, false);
	if (data_off > p->file_bytes)
		return damaged(p, 40, "data beyond the end of the file", err);
	v->begin = data_off;
	if (!data_n) {
		p->unfinished = true;
		v->end = p->file_bytes;
		ty_perf_note(p, v->end, "perf did not finish this file");
		return 0;
	}
	if (data_n > p->file_bytes - data_off) {
		v->end = p->file_bytes;
		ty_perf_note(p, v->end, "the file is truncated");
		return 0;
	}
	v->end = data_off + data_n;
	return read_features(p, h + 72, v->end, err);
}

void ty_perf_meta_fini(struct ty_perf *p)
{
	struct ty_perf_priv *v = p->priv;

	for (unsigned f = 0; f < TY_PERF_F_COUNT; f++)
		free(v->feat[f].p);
	vec_each (l, &v->id_lists)
		free(*l);
	vec_each (s, &v->names)
		free(*s);
	vec_fini(&v->id_lists);
	vec_fini(&v->names);
	vec_fini(&v->ids);
	vec_fini(&p->events);
}
