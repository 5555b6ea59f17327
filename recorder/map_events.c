/* SPDX-License-Identifier: MIT */
/* See map_events.h. Records: perf_event_open(2), "MMAP layout". */
#include "map_events.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "aux_ring.h"
#include "compare.h"
#include "unaligned.h"
#include "vec.h"

enum { RING = 256 << 10 };

struct event {
	uint64_t ns, since_ns; /* since_ns: of the one before it in its ring */
	size_t off;	       /* in bytes */
};

struct ty_map_events {
	ty_map_event_fn *fn;
	void *ctx;
	struct ty_aux_ring *rings;
	uint64_t *last_ns; /* of each ring */
	unsigned n;
	uint64_t newest_ns;
	VEC(struct event) v; /* not given yet, but for the first `given`, which are in order */
	size_t given;
	struct ty_build_ids *ids;
	bool in_order;	 /* all of them */
	VEC(char) bytes; /* their records */
};

static void lost(struct ty_map_events *e, uint64_t since_ns, uint64_t ns)
{
	e->fn(e->ctx,
	      &(struct ty_map_event){.kind = TY_MAP_EV_LOST, .ns = ns, .since_ns = since_ns});
}

/* What trails a record that is no sample: u32 pid, tid, u64 time. */
enum { ID_BYTES = 16 };

/* u32 pid, tid, u64 addr, len, off, 24 bytes of build id or inode, u32 prot, flags, path: p[0..n).
 * false: there is none. */
static bool read_map(uint16_t misc, const char *p, size_t n, struct ty_map_event *x)
{
	enum { BUILD_ID = 32, PATH = 64 };
	struct ty_stk_map *m = &x->map;

	if (n < PATH)
		return false;
	m->start = ty_u64_at(p + 8);
	m->bytes = ty_u64_at(p + 16);
	m->off = ty_u64_at(p + 24);
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID && (uint8_t)p[BUILD_ID] <= sizeof(m->build_id)) {
		m->build_id_n = (uint8_t)p[BUILD_ID];
		memcpy(m->build_id, p + BUILD_ID + 4, m->build_id_n);
	}
	x->text = p + PATH;
	x->text_n = strnlen(x->text, n - PATH < PATH_MAX ? n - PATH : PATH_MAX - 1);
	return true;
}

static void give(struct ty_map_events *e, const struct event *v)
{
	const char *p = e->bytes.v + v->off;
	struct ty_map_event x = {.ns = v->ns, .since_ns = v->since_ns};
	struct perf_event_header h;
	bool good = false;
	size_t n;

	memcpy(&h, p, sizeof(h));
	p += sizeof(h);
	n = h.size - sizeof(h) - ID_BYTES;
	x.pid = n >= 4 && h.type != PERF_RECORD_LOST ? ty_u32_at(p) : 0;
	switch (h.type) {
	case PERF_RECORD_LOST:
		x.kind = TY_MAP_EV_LOST;
		good = true;
		break;
	case PERF_RECORD_MMAP2:
		x.kind = TY_MAP_EV_MAP;
		good = read_map(h.misc, p, n, &x);
		break;
	case PERF_RECORD_COMM: /* u32 pid, tid, name */
		x.kind = TY_MAP_EV_EXEC;
		good = h.misc & PERF_RECORD_MISC_COMM_EXEC && n >= 8;
		x.text = p + 8;
		x.text_n = good ? strnlen(x.text, n - 8) : 0;
		break;
	case PERF_RECORD_FORK: /* u32 pid, ppid, tid, ptid, u64 time: of threads, too */
		x.kind = TY_MAP_EV_FORK;
		good = n >= 24 && x.pid != ty_u32_at(p + 4);
		x.parent = good ? ty_u32_at(p + 4) : 0;
		x.parent_tid = good ? ty_u32_at(p + 12) : 0;
		break;
	case PERF_RECORD_EXIT: /* the same */
		x.kind = TY_MAP_EV_EXIT;
		good = n >= 24 && x.pid == ty_u32_at(p + 8);
		break;
	}
	if (good)
		e->fn(e->ctx, &x);
}

ORDER(by_ns, struct event, compare(a->ns, b->ns) ?: compare(a->off, b->off))

void ty_map_events_give(struct ty_map_events *e, uint64_t ns)
{
	if (!e->in_order && e->v.n > e->given)
		qsort(e->v.v + e->given, e->v.n - e->given, sizeof(*e->v.v), by_ns);
	e->in_order = true;
	while (e->given < e->v.n && e->v.v[e->given].ns <= ns)
		give(e, &e->v.v[e->given++]);
	if (e->given == e->v.n)
		e->given = e->v.n = e->bytes.n = 0;
}

/* Those that were given go; the others stay. */
static void drop_given(struct ty_map_events *e)
{
	VEC(char) left = {0};
	size_t to = 0;

	if (!e->given)
		return;
	for (size_t i = e->given; i < e->v.n; i++) {
		struct event *x = &e->v.v[i];
		struct perf_event_header h;

		memcpy(&h, e->bytes.v + x->off, sizeof(h));
		if (vec_reserve(&left, left.n + h.size)) {
			lost(e, x->ns, e->newest_ns);
			break;
		}
		memcpy(left.v + left.n, e->bytes.v + x->off, h.size);
		x->off = left.n;
		left.n += h.size;
		e->v.v[to++] = *x;
	}
	e->v.n = to;
	e->given = 0;
	vec_fini(&e->bytes);
	memcpy(&e->bytes, &left, sizeof(left));
}

static int on_records(void *ctx, const struct ty_aux_ring *r, const void *bytes, size_t n)
{
	struct ty_map_events *e = ctx;
	uint64_t *last_ns = &e->last_ns[r - e->rings];
	struct perf_event_header h;

	for (const char *p; (p = ty_aux_next(&bytes, &n, &h));) {
		struct event x = {.since_ns = *last_ns, .off = e->bytes.n};

		if (h.size < sizeof(h) + ID_BYTES)
			continue;
		*last_ns = x.ns = ty_u64_at(p + h.size - sizeof(h) - 8);
		e->newest_ns = x.ns > e->newest_ns ? x.ns : e->newest_ns;
		if (vec_reserve(&e->bytes, e->bytes.n + h.size) || vec_push(&e->v, x)) {
			lost(e, x.ns, x.ns);
			continue;
		}
		e->in_order = false;
		memcpy(e->bytes.v + x.off, p - sizeof(h), h.size);
		e->bytes.n += h.size;
	}
	return 0;
}

struct ty_map_events *ty_map_events_open(const unsigned *cpus, unsigned n, ty_map_event_fn *fn,
					 void *ctx)
{
	struct ty_map_events *e = calloc(1, sizeof(*e));
	struct perf_event_attr attr =
		ty_aux_side_attr(PERF_SAMPLE_TID | PERF_SAMPLE_TIME, RING / 4);

	attr.disabled = 0;
	if (!e)
		return NULL;
	e->fn = fn;
	e->ctx = ctx;
	e->rings = calloc(n, sizeof(*e->rings));
	e->last_ns = calloc(n, sizeof(*e->last_ns));
	e->ids = ty_build_ids_new();
	while (e->rings && e->last_ns && e->ids && e->n < n) {
		if (ty_aux_open_side(&e->rings[e->n], &attr, (int)cpus[e->n], RING, e->ids, NULL))
			break;
		e->n++;
	}
	if (e->rings && e->last_ns && e->n == n)
		return e;
	ty_map_events_free(e);
	return NULL;
}

int ty_map_events_fd(const struct ty_map_events *e, unsigned i)
{
	return i < e->n ? e->rings[i].fd : -1;
}

uint64_t ty_map_events_take(struct ty_map_events *e)
{
	const struct ty_aux_sink sink = {on_records, NULL, e};

	drop_given(e);
	for (unsigned i = 0; i < e->n; i++)
		ty_aux_drain(&e->rings[i], &sink);
	return e->newest_ns;
}

void ty_map_events_free(struct ty_map_events *e)
{
	if (!e)
		return;
	for (unsigned i = 0; i < e->n; i++)
		ty_aux_close(&e->rings[i]);
	free(e->rings);
	free(e->last_ns);
	vec_fini(&e->v);
	vec_fini(&e->bytes);
	ty_build_ids_free(e->ids);
	free(e);
}
