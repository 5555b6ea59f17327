/* SPDX-License-Identifier: MIT */
/* See stack_events.h. Records: perf_event_open(2), "MMAP layout". */
#include "stack_events.h"

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

struct ty_stack_events {
	struct ty_stack_maps *maps;
	struct ty_aux_ring *rings;
	uint64_t *last_ns; /* of each ring */
	unsigned n;
	uint64_t newest_ns;
	VEC(struct event) v; /* not given yet */
	VEC(char) bytes;     /* their records */
};

/* What trails a record that is no sample: u32 pid, tid, u64 time. */
enum { ID_BYTES = 16 };

static void on_mmap(struct ty_stack_events *e, uint64_t ns, uint16_t misc, const char *p, size_t n)
{
	/* u32 pid, tid, u64 addr, len, off, 24 bytes of build id or inode, u32 prot, flags, path */
	enum { BUILD_ID = 32, PATH = 64 };
	struct ty_stk_map m = {0};
	size_t path_n;

	if (n < PATH + ID_BYTES)
		return;
	m.start = ty_u64_at(p + 8);
	m.bytes = ty_u64_at(p + 16);
	m.off = ty_u64_at(p + 24);
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID && (uint8_t)p[BUILD_ID] <= sizeof(m.build_id)) {
		m.build_id_n = (uint8_t)p[BUILD_ID];
		memcpy(m.build_id, p + BUILD_ID + 4, m.build_id_n);
	}
	path_n = strnlen(p + PATH, n - PATH - ID_BYTES);
	ty_stack_maps_mmap(e->maps, ty_u32_at(p), ns, &m, p + PATH,
			   path_n < PATH_MAX ? path_n : PATH_MAX - 1);
}

/* A record of the side band, of that time. */
static void give(struct ty_stack_events *e, uint64_t ns, uint64_t since_ns, const char *p)
{
	struct perf_event_header h;
	const char *body = p + sizeof(h);
	size_t n;

	memcpy(&h, p, sizeof(h));
	n = h.size - sizeof(h);
	if (h.type == PERF_RECORD_LOST)
		ty_stack_maps_lost(e->maps, since_ns, ns);
	else if (h.type == PERF_RECORD_MMAP2)
		on_mmap(e, ns, h.misc, body, n);
	else if (h.type == PERF_RECORD_COMM && h.misc & PERF_RECORD_MISC_COMM_EXEC && n >= 8)
		ty_stack_maps_exec(e->maps, ty_u32_at(body), ns);
	/* u32 pid, ppid, tid, ptid, u64 time: of threads, too */
	else if (h.type == PERF_RECORD_FORK && n >= 24 && ty_u32_at(body) != ty_u32_at(body + 4))
		ty_stack_maps_fork(e->maps, ty_u32_at(body + 4), ty_u32_at(body), ns);
	else if (h.type == PERF_RECORD_EXIT && n >= 24 && ty_u32_at(body) == ty_u32_at(body + 8))
		ty_stack_maps_exit(e->maps, ty_u32_at(body), ns);
}

static int by_ns(const void *pa, const void *pb)
{
	const struct event *a = pa, *b = pb;

	return compare(a->ns, b->ns) ?: compare(a->off, b->off);
}

/* What happened up to ns, in the order of time whichever CPU it was on. */
static void give_until(struct ty_stack_events *e, uint64_t ns)
{
	VEC(char) left = {0};
	size_t n, to = 0;

	if (e->v.n)
		qsort(e->v.v, e->v.n, sizeof(*e->v.v), by_ns);
	for (n = 0; n < e->v.n && e->v.v[n].ns <= ns; n++)
		give(e, e->v.v[n].ns, e->v.v[n].since_ns, e->bytes.v + e->v.v[n].off);
	if (!n)
		return;
	for (size_t i = n; i < e->v.n; i++) {
		struct event *x = &e->v.v[i];
		struct perf_event_header h;

		memcpy(&h, e->bytes.v + x->off, sizeof(h));
		if (vec_reserve(&left, left.n + h.size)) {
			ty_stack_maps_lost(e->maps, x->ns, e->newest_ns);
			break;
		}
		memcpy(left.v + left.n, e->bytes.v + x->off, h.size);
		x->off = left.n;
		left.n += h.size;
		e->v.v[to++] = *x;
	}
	e->v.n = to;
	vec_fini(&e->bytes);
	memcpy(&e->bytes, &left, sizeof(left));
}

static int on_records(void *ctx, const struct ty_aux_ring *r, const void *bytes, size_t n)
{
	struct ty_stack_events *e = ctx;
	uint64_t *last_ns = &e->last_ns[r - e->rings];
	struct perf_event_header h;

	for (const char *p; (p = ty_aux_next(&bytes, &n, &h));) {
		struct event x = {.since_ns = *last_ns, .off = e->bytes.n};

		if (h.size < sizeof(h) + ID_BYTES)
			continue;
		*last_ns = x.ns = ty_u64_at(p + h.size - sizeof(h) - 8);
		e->newest_ns = x.ns > e->newest_ns ? x.ns : e->newest_ns;
		if (vec_reserve(&e->bytes, e->bytes.n + h.size) || vec_push(&e->v, x)) {
			ty_stack_maps_lost(e->maps, x.ns, x.ns);
			continue;
		}
		memcpy(e->bytes.v + x.off, p - sizeof(h), h.size);
		e->bytes.n += h.size;
	}
	return 0;
}

struct ty_stack_events *ty_stack_events_open(struct ty_stack_maps *maps, const unsigned *cpus,
					     unsigned n)
{
	struct ty_stack_events *e = calloc(1, sizeof(*e));
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_DUMMY,
				       .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
				       .mmap = 1,
				       .mmap2 = 1,
				       .build_id = 1,
				       .comm = 1,
				       .comm_exec = 1,
				       .task = 1,
				       .sample_id_all = 1,
				       .watermark = 1,
				       .wakeup_watermark = RING / 4};

	if (!e)
		return NULL;
	e->maps = maps;
	e->rings = calloc(n, sizeof(*e->rings));
	e->last_ns = calloc(n, sizeof(*e->last_ns));
	while (e->rings && e->last_ns && e->n < n &&
	       !ty_aux_open(&e->rings[e->n], &attr, -1, (int)cpus[e->n], RING, 0, false, NULL))
		e->n++;
	if (e->n == n)
		return e;
	ty_stack_events_free(e);
	return NULL;
}

int ty_stack_events_fd(const struct ty_stack_events *e, unsigned i)
{
	return i < e->n ? e->rings[i].fd : -1;
}

void ty_stack_events_drain(struct ty_stack_events *e, bool all)
{
	/* What lay in a ring when the rings were emptied before lies here now. */
	const uint64_t until_ns = e->newest_ns;
	const struct ty_aux_sink sink = {on_records, NULL, e};

	for (unsigned i = 0; i < e->n; i++)
		ty_aux_drain(&e->rings[i], &sink);
	give_until(e, all ? UINT64_MAX : until_ns);
}

void ty_stack_events_free(struct ty_stack_events *e)
{
	if (!e)
		return;
	for (unsigned i = 0; i < e->n; i++)
		ty_aux_close(&e->rings[i]);
	free(e->rings);
	free(e->last_ns);
	vec_fini(&e->v);
	vec_fini(&e->bytes);
	free(e);
}
