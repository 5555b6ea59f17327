/* SPDX-License-Identifier: MIT */
/*
 * Points as an index file: their table, and the small arrays that belong to it. Strings are offsets
 * into one of these. References from rows to code and threads are checked when they are read
 * (mem_points.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "mem_build.h"

#ifndef INDEX_MIN	     /* make fuzz: 0 */
#define INDEX_MIN (1u << 20) /* smaller ones are built in a blink */
#endif
#define STRINGS_MAX (256u << 20) /* names of threads, mostly */

enum { CODES, THREADS, GROUPS, GAPS, STRINGS, SECTIONS };

struct thread {
	int32_t tid, pid;
	uint32_t comm, pad;
};

struct gap {
	uint64_t ts_ns, off, bytes;
	uint32_t why, cpu;
};

struct body {
	struct ty_memory_sum sum;
	uint64_t n, back_ns, gaps_n, unreadable_bytes, midr;
	struct ty_index_part table, section[SECTIONS];
};

static const size_t sizes[SECTIONS] = {sizeof(struct ty_mem_code), sizeof(struct thread),
				       sizeof(struct ty_mem_group), sizeof(struct gap), 1};

static uint64_t layout(void)
{
	struct {
		char version[32];
		uint64_t size[SECTIONS], body, row, head, rows, one;
	} l;

	memset(&l, 0, sizeof(l));
	snprintf(l.version, sizeof(l.version), "%s", TY_VERSION);
	memcpy(l.size, sizes, sizeof(l.size));
	l.body = sizeof(struct body);
	l.row = ty_mem_kind.row_bytes;
	l.head = sizeof(struct ty_block_head);
	l.rows = TY_BLOCK_ROWS;
	l.one = 1; /* byte order */
	return ty_store_hash(&l, sizeof(l));
}

static const struct ty_index_kind of_samples = {TY_INDEX_OF_SAMPLES, layout, sizeof(struct body)};

void ty_mem_points_index(struct ty_mem_points *p, const char *path, int fd, uint64_t midr)
{
	p->build->midr = midr;
	p->build->index = ty_index_begin(&of_samples, p->store, path, fd);
}

/* saving -------------------------------------------------------------------------------------- */

static int put(struct ty_store *s, struct ty_index_part *part, const void *from, size_t bytes)
{
	part->bytes = bytes;
	part->off = ty_store_alloc(s, bytes);
	if (!part->off)
		return -TY_ENOMEM;
	if (bytes)
		memcpy(ty_store_at(s, part->off), from, bytes);
	return 0;
}

/* Texts that are put one behind the other, each once, behind an empty one. */
struct texts {
	struct ty_buf strings;
	struct ty_mem_ids ids; /* of their addresses */
	VEC(uint32_t) off;
};

static int text(struct texts *t, const char *s, uint32_t *off)
{
	bool fresh;
	uint32_t id;
	int r;

	*off = 0;
	if (!*s)
		return 0;
	r = ty_mem_id(&t->ids, (uintptr_t)s, &id, &fresh);
	if (!r && fresh) {
		r = vec_push(&t->off, (uint32_t)t->strings.len);
		r = r ? r : ty_buf_add(&t->strings, s, strlen(s) + 1);
	}
	if (!r)
		*off = t->off.v[id];
	return r;
}

static int texts(const struct ty_mem_points *p, struct texts *t, struct thread *threads,
		 struct gap *gaps)
{
	int r = ty_buf_add(&t->strings, "", 1);

	for (uint32_t i = 0; !r && i < p->threads; i++) {
		threads[i] = (struct thread){p->thread[i].tid, p->thread[i].pid, 0, 0};
		r = text(t, p->thread[i].comm, &threads[i].comm);
	}
	for (size_t i = 0; !r && i < p->gaps.n; i++) {
		const struct ty_mem_gap_point *g = &p->gaps.v[i];

		gaps[i] = (struct gap){g->ts_ns, g->off, g->bytes, 0, g->cpu};
		r = text(t, g->why, &gaps[i].why);
	}
	return r;
}

void ty_mem_index_save(struct ty_mem_points *p, uint64_t table_off, uint64_t table_bytes)
{
	struct body b = {.sum = p->sum,
			 .n = p->n,
			 .back_ns = p->back_ns,
			 .gaps_n = p->gaps_n,
			 .unreadable_bytes = p->unreadable_bytes,
			 .midr = p->build->midr,
			 .table = {table_off, table_bytes, 0}};
	struct ty_index_part *s = b.section;
	struct thread *threads;
	struct gap *gaps;
	struct texts t = {0};
	int r;

	if (p->store->used < INDEX_MIN)
		return;
	threads = malloc((p->threads + 1) * sizeof(*threads));
	gaps = malloc((p->gaps.n + 1) * sizeof(*gaps));
	ty_buf_init(&t.strings, STRINGS_MAX);
	r = threads && gaps ? texts(p, &t, threads, gaps) : -TY_ENOMEM;
	r = r ? r : put(p->store, &s[CODES], p->code, p->codes * sizeof(*p->code));
	r = r ? r : put(p->store, &s[THREADS], threads, p->threads * sizeof(*threads));
	r = r ? r : put(p->store, &s[GROUPS], p->group, p->own_groups.n * sizeof(*p->group));
	r = r ? r : put(p->store, &s[GAPS], gaps, p->gaps.n * sizeof(*gaps));
	r = r ? r : put(p->store, &s[STRINGS], t.strings.p, t.strings.len);
	if (!r) {
		ty_index_seal(p->store, &b.table, 1);
		ty_index_seal(p->store, s, SECTIONS);
		ty_index_commit(p->build->index, p->store, &b);
	}
	free(threads);
	free(gaps);
	ty_buf_fini(&t.strings);
	ty_mem_ids_fini(&t.ids);
	vec_fini(&t.off);
}

/* opening ------------------------------------------------------------------------------------- */

struct opening {
	struct body body;
	struct ty_mem_points *p;
	uint64_t midr;
};

static bool sound(const struct ty_store *s, const struct ty_index_part *part, size_t size)
{
	return part->off >= TY_STORE_HEAD && part->off % 8 == 0 && part->off <= s->used &&
	       part->bytes <= s->used - part->off && part->bytes % size == 0 &&
	       part->bytes / size < UINT32_MAX &&
	       ty_store_hash(ty_store_at(s, part->off), part->bytes) == part->hash;
}

static const void *at(const struct ty_mem_points *p, const struct ty_index_part *part, size_t size,
		      uint32_t *n)
{
	*n = (uint32_t)(part->bytes / size);
	return ty_store_at(p->store, part->off);
}

/* The texts end with a 0; none begins behind it. */
static int resolve(struct ty_mem_points *p, const struct body *b)
{
	uint32_t n, bytes;
	const char *text = at(p, &b->section[STRINGS], 1, &bytes);
	const struct thread *t = at(p, &b->section[THREADS], sizeof(*t), &n);
	const struct gap *g;

	if (!bytes || text[bytes - 1] || vec_reserve(&p->own_threads, n + 1u))
		return -TY_EFORMAT;
	for (uint32_t i = 0; i < n; i++) {
		if (t[i].comm >= bytes)
			return -TY_EFORMAT;
		p->own_threads.v[p->own_threads.n++] =
			(struct ty_mem_thread){t[i].tid, t[i].pid, text + t[i].comm};
	}
	p->thread = p->own_threads.v;
	p->threads = n;
	g = at(p, &b->section[GAPS], sizeof(*g), &n);
	if (vec_reserve(&p->gaps, n + 1u))
		return -TY_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		if (g[i].why >= bytes)
			return -TY_EFORMAT;
		p->gaps.v[p->gaps.n++] = (struct ty_mem_gap_point){
			g[i].ts_ns, g[i].off, g[i].bytes, text + g[i].why, (uint16_t)g[i].cpu};
	}
	return 0;
}

static bool attach(void *ctx, struct ty_store *store)
{
	struct opening *o = ctx;
	const struct body *b = &o->body;
	struct ty_mem_points *p = o->p;
	uint32_t groups = 0;
	bool good = b->midr == o->midr && sound(store, &b->table, 1);

	ty_mem_points_fini(p);
	p->store = store;
	for (unsigned i = 0; i < SECTIONS; i++)
		good = good && sound(store, &b->section[i], sizes[i]);
	good = good && !resolve(p, b) &&
	       !ty_table_attach(&p->table, &ty_mem_kind, store, b->table.off, b->table.bytes, true,
				&p->damaged);
	if (good) {
		p->code = at(p, &b->section[CODES], sizeof(*p->code), &p->codes);
		p->group = at(p, &b->section[GROUPS], sizeof(*p->group), &groups);
		p->n = b->n;
		p->sum = b->sum;
		p->back_ns = b->back_ns;
		p->gaps_n = b->gaps_n;
		p->unreadable_bytes = b->unreadable_bytes;
	}
	if (good && p->table.tracks == 1 && p->n == p->table.rows && groups == p->table.blocks)
		return true;
	ty_mem_points_fini(p);
	return false;
}

int ty_mem_points_open(struct ty_mem_points *p, const char *path, int fd, uint64_t midr)
{
	struct opening o = {.p = p, .midr = midr};

	return ty_index_load(&of_samples, path, fd, &o.body, attach, &o);
}
