/* SPDX-License-Identifier: MIT */
/*
 * Cache lines shared between threads (sharing.h). Two passes over the samples: the first numbers
 * pages and lines and learns who touches them, the second files the accesses of the few lines that
 * matter. Then each line by itself, byte by byte, so that many sites cost no more than their sum.
 */
#include "sharing.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BITS 12
#define MOVED	  UINT64_MAX	   /* a page that lay at several places */
#define UNKNOWN	  (UINT64_MAX - 1) /* no physical address recorded */
#define MANY	  (UINT32_MAX - 1)
#define NOBODY	  UINT32_MAX

const char *ty_sharing_kind_name(unsigned kind)
{
	static const char *const names[] = {"false", "true", "mixed"};

	return names[kind < 3 ? kind : 2];
}

const char *ty_sharing_evidence_name(unsigned e)
{
	static const char *const names[] = {"apart", "time", "remote", "peer"};

	return names[e < 4 ? e : 0];
}

struct line {
	uint32_t thread;    /* the only one, or MANY */
	uint32_t candidate; /* its number, NOBODY */
	bool writes;
};

struct find {
	const struct ty_mem_points *p;
	const struct ty_mem_work *work;
	struct ty_sharing *out;
	unsigned shift; /* log2 of the line's bytes */
	struct ty_mem_ids pages, lines;
	VEC(uint64_t) page_pa;
	VEC(struct line) line;
	uint32_t candidates;
	uint64_t *first; /* of each candidate, in index */
	uint64_t *index; /* points, by candidate, in time order */
	VEC(struct ty_sharing_site) sites;
};

static bool kernel(uint64_t va)
{
	return va >> 55;
}

static int32_t process(const struct find *f, const struct ty_mem_point *o)
{
	return kernel(o->va) ? -1 : f->p->thread[o->thread].pid;
}

/* Pids have 22 bits, addresses 54 (with the sign): with the page's 12 off they fit one word. */
static uint64_t page_key(const struct find *f, const struct ty_mem_point *o)
{
	return (uint64_t)((uint32_t)process(f, o) & 0x3fffff) << 42 |
	       (o->va >> PAGE_BITS & ((1ull << 42) - 1));
}

static bool counts(const struct ty_mem_point *o)
{
	return (o->kind == TY_MEM_LOAD || o->kind == TY_MEM_STORE) &&
	       o->flags & (TY_MP_HAS_VA | TY_MP_HAS_PA);
}

/* All points one after the other; rows that are looked at are decoded together. */
struct walk {
	struct ty_mem_point row[TY_BLOCK_ROWS];
	uint64_t at; /* of row[0] */
	uint32_t n, i;
};

static bool next(const struct find *f, struct walk *w)
{
	const unsigned want = TY_MEM_WANT_VA | TY_MEM_WANT_PA | TY_MEM_WANT_THREAD;

	if (w->i != UINT32_MAX && ++w->i < w->n)
		return true;
	w->at += w->n;
	w->n = ty_mem_stopped(f->work) ? 0 : ty_mem_points_rows(f->p, w->at, want, w->row);
	w->i = 0;
	return w->n > 0;
}

static int learn_pages(struct find *f)
{
	for (struct walk w = {.i = UINT32_MAX}; next(f, &w);) {
		const struct ty_mem_point *o = &w.row[w.i];
		uint64_t pa = o->flags & TY_MP_HAS_PA ? o->pa >> PAGE_BITS : UNKNOWN, *known;
		uint32_t id;
		bool fresh;
		int r;

		if (!counts(o) || o->thread == TY_MEM_NO_THREAD || !(o->flags & TY_MP_HAS_VA))
			continue;
		r = ty_mem_id(&f->pages, page_key(f, o), &id, &fresh);
		if (r)
			return r;
		if (fresh && vec_push(&f->page_pa, UNKNOWN))
			return -TY_ENOMEM;
		known = &f->page_pa.v[id];
		if (pa != UNKNOWN && *known != pa)
			*known = *known == UNKNOWN ? pa : MOVED;
	}
	return 0;
}

/* The line of an access: physical lines have the top bit. */
static uint64_t line_key(const struct find *f, const struct ty_mem_point *o)
{
	uint32_t page;
	uint64_t pa = o->pa, in_page = (1u << PAGE_BITS) - 1;

	if (!(o->flags & TY_MP_HAS_PA)) {
		page = ty_mem_id_find(&f->pages, page_key(f, o));
		if (f->page_pa.v[page] >= UNKNOWN)
			return ((uint64_t)page << PAGE_BITS | (o->va & in_page)) >> f->shift;
		pa = f->page_pa.v[page] << PAGE_BITS | (o->va & in_page);
	}
	return 1ull << 63 | pa >> f->shift;
}

static int number_lines(struct find *f)
{
	for (struct walk w = {.i = UINT32_MAX}; next(f, &w);) {
		const struct ty_mem_point *o = &w.row[w.i];
		struct line *l;
		uint32_t id;
		bool fresh;
		int r;

		if (!counts(o))
			continue;
		if (o->thread == TY_MEM_NO_THREAD) {
			f->out->no_thread++;
			continue;
		}
		f->out->accesses++;
		r = ty_mem_id(&f->lines, line_key(f, o), &id, &fresh);
		if (r)
			return r;
		if (fresh && vec_push(&f->line, (struct line){o->thread, NOBODY, false}))
			return -TY_ENOMEM;
		l = &f->line.v[id];
		if (l->thread != o->thread)
			l->thread = MANY;
		l->writes |= o->flags & TY_MP_WRITES;
	}
	return 0;
}

/* Accesses of lines with two threads and a write, by line. */
static int file_accesses(struct find *f)
{
	uint64_t *at, all = 0;

	vec_each (l, &f->line)
		if (l->thread == MANY && l->writes)
			l->candidate = f->candidates++;
	f->first = calloc((size_t)f->candidates + 2, sizeof(*f->first));
	if (!f->first)
		return -TY_ENOMEM;
	for (int pass = 0; pass < 2; pass++) {
		at = f->first + 1;
		for (struct walk w = {.i = UINT32_MAX}; f->candidates && next(f, &w);) {
			const struct ty_mem_point *o = &w.row[w.i];
			uint32_t c;

			if (!counts(o) || o->thread == TY_MEM_NO_THREAD)
				continue;
			c = f->line.v[ty_mem_id_find(&f->lines, line_key(f, o))].candidate;
			if (c == NOBODY)
				continue;
			if (pass)
				f->index[at[c]++] = w.at + w.i;
			else
				at[c + 1]++, all++;
		}
		if (pass)
			break;
		f->index = malloc((all + 1) * sizeof(*f->index));
		if (!f->index)
			return -TY_ENOMEM;
		/* at[c] becomes the first of c; after the second pass it is the first of c + 1. */
		for (uint32_t c = 0; c < f->candidates; c++)
			at[c + 1] += at[c];
	}
	return 0;
}

static int site_order(const void *a, const void *b)
{
	const struct ty_sharing_site *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->pc > y->pc) - (x->pc < y->pc);
}

/* Sites of the accesses index[from, to), merged; appended to f->sites. */
static int make_sites(struct find *f, uint64_t from, uint64_t to)
{
	size_t begin = f->sites.n, n = begin;
	uint16_t mask = (uint16_t)((1u << f->shift) - 1);
	struct ty_sharing_site *v;

	for (uint64_t i = from; i < to; i++) {
		const struct ty_mem_point p = ty_mem_points_get(f->p, f->index[i]), *o = &p;
		uint64_t address = o->flags & TY_MP_HAS_PA ? o->pa : o->va;
		bool lat = o->flags & TY_MP_HAS_LAT;

		if (vec_push(&f->sites,
			     (struct ty_sharing_site){.thread = o->thread,
						      .pc = o->pc,
						      .offset = (uint16_t)(address & mask),
						      .size = o->size,
						      .writes = o->flags & TY_MP_WRITES,
						      .count = 1,
						      .lat_count = lat,
						      .lat_sum = lat ? o->total : 0}))
			return -TY_ENOMEM;
	}
	v = f->sites.v;
	qsort(v + begin, f->sites.n - begin, sizeof(*v), site_order);
	for (size_t i = begin + 1; i < f->sites.n; i++) {
		if (!site_order(&v[n], &v[i])) {
			v[n].count++;
			v[n].lat_count += v[i].lat_count;
			v[n].lat_sum += v[i].lat_sum;
			v[n].writes |= v[i].writes;
			if (v[i].size > v[n].size)
				v[n].size = v[i].size;
		} else {
			v[++n] = v[i];
		}
	}
	f->sites.n = n + 1;
	/* Widths, from the last to the first: the next offset is known. */
	for (size_t i = n + 1, next = 1u << f->shift, here = next; i-- > begin;) {
		uint32_t width = v[i].offset ? v[i].offset & -(uint32_t)v[i].offset : 8;

		if (i < n && v[i].offset != v[i + 1].offset)
			next = here;
		here = v[i].offset;
		if (v[i].size)
			continue;
		width = width < 8 ? width : 8;
		v[i].size = (uint8_t)(width < next - here ? width : next - here);
		v[i].size_assumed = true;
	}
	return 0;
}

static void meet(uint32_t *who, uint32_t thread)
{
	*who = *who == NOBODY || *who == thread ? thread : MANY;
}

static bool another(uint32_t who, uint32_t thread)
{
	return who != NOBODY && who != thread;
}

/* Which bytes are whose; then each site's lot. */
static int judge(struct find *f, struct ty_sharing_line *l)
{
	uint32_t bytes = 1u << f->shift, line_writer = NOBODY;
	uint32_t *toucher = malloc(2 * bytes * sizeof(*toucher)), *writer = toucher + bytes;
	struct ty_sharing_site *v = f->sites.v + l->sites_first;
	bool any_true = false, any_false = false;

	if (!toucher)
		return -TY_ENOMEM;
	memset(toucher, 0xff, 2 * bytes * sizeof(*toucher));
	for (uint32_t i = 0; i < l->sites_n; i++) {
		for (uint32_t b = v[i].offset; b < bytes && b < v[i].offset + v[i].size; b++) {
			meet(&toucher[b], v[i].thread);
			if (v[i].writes)
				meet(&writer[b], v[i].thread);
		}
		if (v[i].writes)
			meet(&line_writer, v[i].thread);
		l->size_assumed |= v[i].size_assumed;
	}
	for (uint32_t i = 0; i < l->sites_n; i++) {
		for (uint32_t b = v[i].offset; b < bytes && b < v[i].offset + v[i].size; b++)
			v[i].true_shared |=
				another(v[i].writes ? toucher[b] : writer[b], v[i].thread);
		if (v[i].true_shared)
			any_true = true;
		else if (v[i].writes || another(line_writer, v[i].thread))
			any_false = true;
	}
	l->kind = any_true && any_false ? TY_SHARING_MIXED
		  : any_true		? TY_SHARING_TRUE
					: TY_SHARING_FALSE;
	free(toucher);
	return 0;
}

static int count_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int threads(struct find *f, struct ty_sharing_line *l)
{
	uint32_t *v = malloc(l->sites_n * sizeof(*v));

	if (!v)
		return -TY_ENOMEM;
	for (uint32_t i = 0; i < l->sites_n; i++)
		v[i] = f->sites.v[l->sites_first + i].thread;
	qsort(v, l->sites_n, sizeof(*v), count_order);
	for (uint32_t i = 0; i < l->sites_n; i++)
		l->threads += !i || v[i] != v[i - 1];
	free(v);
	return 0;
}

static void evidence(struct find *f, struct ty_sharing_line *l, uint64_t from, uint64_t to)
{
	uint32_t last = NOBODY;

	for (uint64_t i = from; i < to; i++) {
		const struct ty_mem_point p = ty_mem_points_get(f->p, f->index[i]), *o = &p;

		l->count++;
		l->writes += !!(o->flags & TY_MP_WRITES);
		if (o->flags & TY_MP_HAS_LAT) {
			l->lat_count++;
			l->lat_sum += o->total;
		}
		if (o->flags & TY_MP_HAS_TIME) {
			l->first_ns =
				l->first_ns && l->first_ns < o->ts_ns ? l->first_ns : o->ts_ns;
			l->last_ns = o->ts_ns > l->last_ns ? o->ts_ns : l->last_ns;
		}
		if (!l->va && o->flags & TY_MP_HAS_VA) {
			l->va = o->va >> f->shift << f->shift;
			l->va_pid = process(f, o);
			l->va_ts_ns = o->ts_ns;
		}
		l->turns += last != NOBODY && last != o->thread;
		last = o->thread;
		if (o->kind != TY_MEM_LOAD)
			continue;
		if (o->src_flags & (TY_MEM_SRC_PEER | TY_MEM_SRC_HITM))
			l->peer++;
		else if (o->src_flags & TY_MEM_SRC_REMOTE || o->level == TY_MEM_LV_L3)
			l->remote++;
	}
	l->evidence = l->peer	     ? TY_SHARING_PEER
		      : l->remote    ? TY_SHARING_REMOTE
		      : l->turns > 1 ? TY_SHARING_TIME
				     : TY_SHARING_APART;
}

static int make_line(struct find *f, uint32_t c, struct ty_sharing_line *l)
{
	uint64_t from = f->first[c], to = f->first[c + 1];
	const struct ty_mem_point p = ty_mem_points_get(f->p, f->index[from]), *o = &p;
	uint64_t key = line_key(f, o);
	int r;

	*l = (struct ty_sharing_line){.sites_first = (uint32_t)f->sites.n,
				      .accesses_first = from,
				      .pid = -1,
				      .va_pid = -1};
	l->physical = key >> 63;
	if (l->physical) {
		l->line = (key & ~(1ull << 63)) << f->shift;
	} else {
		l->line = o->va >> f->shift << f->shift;
		l->pid = process(f, o);
		l->one_process = l->pid < 0 && !kernel(o->va);
	}
	r = make_sites(f, from, to);
	if (r)
		return r;
	l->sites_n = (uint32_t)f->sites.n - l->sites_first;
	evidence(f, l, from, to);
	r = threads(f, l);
	return r ? r : judge(f, l);
}

static int line_order(const void *a, const void *b)
{
	const struct ty_sharing_line *x = a, *y = b;

	if (x->evidence != y->evidence)
		return x->evidence > y->evidence ? -1 : 1;
	if (x->peer + x->remote != y->peer + y->remote)
		return x->peer + x->remote > y->peer + y->remote ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->line != y->line ? (x->line < y->line ? -1 : 1)
				  : (x->pid > y->pid) - (x->pid < y->pid);
}

int ty_sharing_find(const struct ty_mem_points *p, uint32_t line_bytes,
		    const struct ty_mem_work *work, struct ty_sharing *out)
{
	struct find f = {
		.p = p, .work = work, .out = out, .shift = (unsigned)__builtin_ctz(line_bytes)};
	int r;

	*out = (struct ty_sharing){.line_bytes = line_bytes};
	r = learn_pages(&f);
	if (!r)
		r = number_lines(&f);
	if (!r)
		r = file_accesses(&f);
	if (!r && f.candidates) {
		out->lines = calloc(f.candidates, sizeof(*out->lines));
		r = out->lines ? 0 : -TY_ENOMEM;
	}
	for (uint32_t c = 0; !r && c < f.candidates; c++)
		r = ty_mem_stopped(work) ? -TY_EINTR
					 : make_line(&f, c, &out->lines[out->lines_n++]);
	if (!r && ty_mem_stopped(work))
		r = -TY_EINTR;
	if (!r && out->lines_n)
		qsort(out->lines, out->lines_n, sizeof(*out->lines), line_order);
	out->sites = f.sites.v;
	out->sites_n = (uint32_t)f.sites.n;
	ty_mem_ids_fini(&f.pages);
	ty_mem_ids_fini(&f.lines);
	vec_fini(&f.page_pa);
	vec_fini(&f.line);
	free(f.first);
	out->access = f.index;
	if (r)
		ty_sharing_fini(out);
	return r;
}

void ty_sharing_fini(struct ty_sharing *s)
{
	free(s->lines);
	free(s->sites);
	free(s->access);
	*s = (struct ty_sharing){0};
}
