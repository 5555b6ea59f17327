/* SPDX-License-Identifier: MIT */
/*
 * Two look-ups per sample: the process's page, which knows whose page it is as long as no mapping
 * changes there; then the place in that page. Pids have 22 bits, addresses 54 with the sign: with
 * the page's 12 off they fit one word.
 */
#include "mem_code.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BITS 12
#define PAGE_MASK ((UINT64_C(1) << PAGE_BITS) - 1)
#define KEY_BITS  42 /* of a page's number */
#define PLACES	  (1u << 22)

struct page {
	uint64_t from_ns, to_ns; /* when what follows holds */
	uint32_t place;		 /* page of a place: its number */
};

struct file {
	const char *name;
	uint64_t inode;
	uint8_t build_id_n, build_id[20];
};

/* What a place is known by: one of these and a number. */
enum { OF_KERNEL, OF_PROCESS, OF_FILE };

struct ty_mem_codes {
	const struct ty_mem_stream *stream;
	struct ty_mem_ids pages;  /* process, page */
	struct ty_mem_ids places; /* kernel, processes and files */
	struct ty_mem_ids parts;  /* place, page in it */
	struct ty_mem_ids codes;  /* part, place in the page */
	VEC(struct page) page;
	VEC(struct file) files;
};

struct ty_mem_codes *ty_mem_codes_new(const struct ty_mem_stream *stream)
{
	struct ty_mem_codes *c = calloc(1, sizeof(*c));

	if (c)
		c->stream = stream;
	return c;
}

void ty_mem_codes_free(struct ty_mem_codes *c)
{
	if (!c)
		return;
	ty_mem_ids_fini(&c->pages);
	ty_mem_ids_fini(&c->places);
	ty_mem_ids_fini(&c->parts);
	ty_mem_ids_fini(&c->codes);
	vec_fini(&c->page);
	vec_fini(&c->files);
	free(c);
}

uint64_t ty_mem_codes_bytes(const struct ty_mem_codes *c)
{
	return ty_mem_ids_bytes(&c->pages) + ty_mem_ids_bytes(&c->places) +
	       ty_mem_ids_bytes(&c->parts) + ty_mem_ids_bytes(&c->codes) +
	       c->page.cap * sizeof(*c->page.v);
}

static bool same_file(const struct file *f, const struct ty_mem_map *m)
{
	if (f->build_id_n || m->build_id_n)
		return f->build_id_n == m->build_id_n &&
		       !memcmp(f->build_id, m->build_id, m->build_id_n);
	return f->inode == m->inode && !strcmp(f->name, m->name);
}

/* The number of the mapping's file; UINT32_MAX: out of memory. */
static uint32_t file_of(struct ty_mem_codes *c, const struct ty_mem_map *m)
{
	struct file f = {m->name, m->inode, m->build_id_n, {0}};

	vec_each (i, &c->files)
		if (same_file(i, m))
			return (uint32_t)(i - c->files.v);
	memcpy(f.build_id, m->build_id, sizeof(f.build_id));
	return vec_push(&c->files, f) ? UINT32_MAX : (uint32_t)c->files.n - 1;
}

/* Names in brackets and such are no files. */
static bool in_file(const struct ty_mem_map *m)
{
	return m->name[0] == '/' && m->name[1] != '/' && strncmp(m->name, "/dev/zero", 9) != 0 &&
	       strncmp(m->name, "/memfd:", 7) != 0 && !((m->addr | m->pgoff) & PAGE_MASK);
}

/* Whose page it is at that time, and how long. */
static int resolve(struct ty_mem_codes *c, int32_t pid, uint64_t pc, uint64_t ts, struct page *out)
{
	struct ty_mem_when when = {0, UINT64_MAX};
	const struct ty_mem_map *m = NULL;
	uint64_t key = (uint64_t)OF_PROCESS << 32 | (uint32_t)pid, number = pc >> PAGE_BITS;
	uint32_t place, file;
	bool fresh;
	int r;

	if (pc >> 55)
		key = (uint64_t)OF_KERNEL << 32;
	else if (c->stream)
		m = ty_mem_map_when(c->stream, pid, pc, ts, &when);
	if (m && in_file(m)) {
		file = file_of(c, m);
		if (file == UINT32_MAX)
			return -TY_ENOMEM;
		key = (uint64_t)OF_FILE << 32 | file;
		number = (pc - m->addr + m->pgoff) >> PAGE_BITS;
	}
	r = ty_mem_id(&c->places, key, &place, &fresh);
	if (!r && place >= PLACES)
		r = -TY_ELIMIT;
	if (!r)
		r = ty_mem_id(&c->parts,
			      (uint64_t)place << KEY_BITS |
				      (number & ((UINT64_C(1) << KEY_BITS) - 1)),
			      &out->place, &fresh);
	out->from_ns = when.from_ns;
	out->to_ns = when.to_ns;
	return r;
}

int ty_mem_code_id(struct ty_mem_codes *c, int32_t pid, uint64_t pc, uint64_t ts, uint32_t *id,
		   bool *fresh)
{
	uint64_t key = (uint64_t)((uint32_t)pid & (PLACES - 1)) << KEY_BITS |
		       (pc >> PAGE_BITS & ((UINT64_C(1) << KEY_BITS) - 1));
	struct page *g;
	uint32_t n;
	int r = ty_mem_id(&c->pages, key, &n, fresh);

	if (!r && *fresh)
		r = vec_push(&c->page, (struct page){.from_ns = 1});
	if (r)
		return r;
	g = &c->page.v[n];
	if (ts < g->from_ns || ts >= g->to_ns) {
		r = resolve(c, pid, pc, ts, g);
		if (r)
			return r;
	}
	return ty_mem_id(&c->codes, (uint64_t)g->place << PAGE_BITS | (pc & PAGE_MASK), id, fresh);
}
