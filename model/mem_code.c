/* SPDX-License-Identifier: MIT */
/*
 * The first look-up of a sample finds the process's page, which knows the owner of its code until a
 * mapping changes there. Code without a file belongs to the page, and the page holds its first
 * instruction. All other instructions need a second look-up. Pids have 22 bits, addresses 54 with
 * the sign; without the 12 bits of the page offset both fit one word. Kernel pages are shared by
 * all processes, under pid -1.
 */
#include "mem_code.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BITS 12
#define PAGE_MASK ((UINT64_C(1) << PAGE_BITS) - 1)
#define KEY_BITS  42 /* of a page's number */
#define OWN	  UINT32_MAX
#define FILES	  (1u << 22)

struct page {
	uint64_t from_ns, to_ns; /* when `part` holds */
	uint32_t part;		 /* page of a file; OWN: of none */
	uint32_t first1;   /* instruction that the page's own was met with first, + 1; 0: none */
	uint16_t first_at; /* its place in the page */
};

struct ty_mem_codes {
	const struct ty_mem_stream *stream;
	struct ty_mem_ids pages; /* process, page */
	struct ty_mem_ids files; /* by the number that mappings have */
	struct ty_mem_ids parts; /* file, page in it */
	struct ty_mem_ids codes; /* page or part, place in it: those that are in no page's first1 */
	VEC(uint32_t) code;	 /* their numbers */
	VEC(struct page) page;
	uint32_t n; /* instructions */
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
	ty_mem_ids_fini(&c->files);
	ty_mem_ids_fini(&c->parts);
	ty_mem_ids_fini(&c->codes);
	vec_fini(&c->code);
	vec_fini(&c->page);
	free(c);
}

uint64_t ty_mem_codes_bytes(const struct ty_mem_codes *c)
{
	return ty_mem_ids_bytes(&c->pages) + ty_mem_ids_bytes(&c->files) +
	       ty_mem_ids_bytes(&c->parts) + ty_mem_ids_bytes(&c->codes) +
	       c->code.cap * sizeof(*c->code.v) + c->page.cap * sizeof(*c->page.v);
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
	uint32_t file;
	bool fresh;
	int r = 0;

	if (!(pc >> 55) && c->stream)
		m = ty_mem_map_when(c->stream, pid, pc, ts, &when);
	out->from_ns = when.from_ns;
	out->to_ns = when.to_ns;
	out->part = OWN;
	if (m && in_file(m)) {
		r = ty_mem_id(&c->files, m->file, &file, &fresh);
		if (r)
			return r;
		r = file < FILES ? ty_mem_id(&c->parts,
					     (uint64_t)file << KEY_BITS |
						     ((pc - m->addr + m->pgoff) >> PAGE_BITS &
						      ((UINT64_C(1) << KEY_BITS) - 1)),
					     &out->part, &fresh)
				 : -TY_ELIMIT;
	}
	return r;
}

static uint64_t page_key(int32_t pid, uint64_t pc)
{
	uint32_t who = pc >> 55 ? UINT32_MAX : (uint32_t)pid;

	return (uint64_t)(who & (FILES - 1)) << KEY_BITS |
	       (pc >> PAGE_BITS & ((UINT64_C(1) << KEY_BITS) - 1));
}

void ty_mem_code_soon(const struct ty_mem_codes *c, int32_t pid, uint64_t pc)
{
	ty_mem_id_soon(&c->pages, page_key(pid, pc));
}

int ty_mem_code_id(struct ty_mem_codes *c, int32_t pid, uint64_t pc, uint64_t ts, uint32_t *id,
		   bool *fresh)
{
	uint64_t key = page_key(pid, pc);
	uint32_t n;
	uint16_t at = pc & PAGE_MASK;
	struct page *g;
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
	*fresh = g->part == OWN && !g->first1;
	if (*fresh) {
		g->first1 = c->n + 1;
		g->first_at = at;
	}
	if (g->part == OWN && g->first_at == at) {
		*id = g->first1 - 1;
	} else {
		key = g->part == OWN ? UINT64_C(1) << 63 | (uint64_t)n << PAGE_BITS
				     : (uint64_t)g->part << PAGE_BITS;
		r = ty_mem_id(&c->codes, key | at, &n, fresh);
		if (!r && *fresh)
			r = vec_push(&c->code, c->n);
		if (r)
			return r;
		*id = c->code.v[n];
	}
	c->n += *fresh;
	return c->n < UINT32_MAX - 1 ? 0 : -TY_ELIMIT;
}
