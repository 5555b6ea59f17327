/* SPDX-License-Identifier: MIT */
/*
 * Shared cache lines (sharing.h): classifies the gathered lines (sharing_priv.h), and keeps those
 * with the strongest evidence.
 */
#include "sharing.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "sharing_priv.h"

const char *ty_sharing_kind_name(unsigned kind)
{
	static const char *const names[] = {"false", "true", "mixed", "unknown"};

	return names[kind < 4 ? kind : 3];
}

const char *ty_sharing_evidence_name(unsigned e)
{
	static const char *const names[] = {"apart", "time", "remote", "peer"};

	return names[e < 4 ? e : 0];
}

/* Widths that are unknown: as the address is aligned, and not to the next offset. From the last
 * to the first, so that the next offset is known. */
static void assume_widths(struct ty_sharing_site *v, uint32_t n, uint32_t bytes)
{
	for (uint32_t i = n, next = bytes, here = next; i-- > 0;) {
		uint32_t width = v[i].offset ? v[i].offset & -(uint32_t)v[i].offset : 8;

		if (i + 1 < n && v[i].offset != v[i + 1].offset)
			next = here;
		here = v[i].offset;
		if (v[i].size)
			continue;
		width = width < 8 ? width : 8;
		v[i].size = (uint8_t)(width < next - here ? width : next - here);
		v[i].size_assumed = true;
	}
}

static void meet(uint32_t *who, uint32_t thread)
{
	*who = *who == TY_LINE_NONE || *who == thread ? thread : TY_LINE_MANY;
}

static bool another(uint32_t who, uint32_t thread)
{
	return who != TY_LINE_NONE && who != thread;
}

/* Which bytes are whose; then each site's lot. */
static void judge(struct ty_sharing_line *l, struct ty_sharing_site *v, uint32_t bytes)
{
	uint32_t toucher[TY_LINE_MAX], writer[TY_LINE_MAX], line_writer = TY_LINE_NONE;
	bool any_true = false, any_false = false;

	memset(toucher, 0xff, bytes * sizeof(*toucher));
	memset(writer, 0xff, bytes * sizeof(*writer));
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
	l->kind = line_writer == TY_LINE_NONE || l->threads < 2 ? TY_SHARING_UNKNOWN
		  : any_true && any_false			? TY_SHARING_MIXED
		  : any_true					? TY_SHARING_TRUE
								: TY_SHARING_FALSE;
	l->evidence = l->peer	     ? TY_SHARING_PEER
		      : l->remote    ? TY_SHARING_REMOTE
		      : l->turns > 1 ? TY_SHARING_TIME
				     : TY_SHARING_APART;
}

ORDER(count_order, uint32_t, compare(*a, *b))

static int threads(struct ty_sharing_line *l, const struct ty_sharing_site *sites)
{
	uint32_t *v = malloc((l->sites_n + 1) * sizeof(*v));

	if (!v)
		return -TY_ENOMEM;
	for (uint32_t i = 0; i < l->sites_n; i++)
		v[i] = sites[i].thread;
	qsort(v, l->sites_n, sizeof(*v), count_order);
	for (uint32_t i = 0; i < l->sites_n; i++)
		l->threads += !i || v[i] != v[i - 1];
	free(v);
	return 0;
}

/* By what it cost: latency lost; then by what shows it. */
ORDER(line_order, struct ty_sharing_line,
      compare(b->lost, a->lost) ?: compare(b->evidence, a->evidence) ?:
      compare(b->lat_sum, a->lat_sum) ?: compare(b->peer + b->remote, a->peer + a->remote) ?:
      compare(b->count, a->count) ?: compare(a->line, b->line) ?:
      compare(b->physical, a->physical) ?: compare(a->shared, b->shared) ?:
      compare(a->pid, b->pid))

/* The findings while they are made. */
struct keep {
	struct ty_sharing *out;
	VEC(struct ty_sharing_line) lines;
	VEC(struct ty_sharing_site) sites;
	uint64_t max_bytes;
	struct ty_sharing_line bar; /* the strongest that was left out; those below it are, too */
};

static uint64_t bytes_of(const struct ty_sharing_line *l)
{
	return sizeof(*l) + l->sites_n * sizeof(struct ty_sharing_site);
}

/* The strongest lines first, with their sites in that order; as many as max_bytes has room for, and
 * at least one. */
static int put_in_order(struct keep *k, uint64_t max_bytes)
{
	typeof(k->sites) sites = {0};
	uint64_t bytes = 0;
	size_t n = 0;

	vec_sort(&k->lines, line_order);
	for (; n < k->lines.n; n++) {
		struct ty_sharing_line *l = &k->lines.v[n];
		struct ty_sharing_site *from = vec_at(&k->sites, l->sites_first);

		bytes += bytes_of(l);
		if (n && bytes > max_bytes)
			break;
		if (vec_reserve(&sites, sites.n + l->sites_n)) {
			vec_fini(&sites);
			return -TY_ENOMEM;
		}
		if (l->sites_n)
			memcpy(sites.v + sites.n, from, l->sites_n * sizeof(*from));
		l->sites_first = (uint32_t)sites.n;
		sites.n += l->sites_n;
	}
	if (n < k->lines.n)
		k->bar = k->lines.v[n];
	k->out->left_out += k->lines.n - n;
	k->lines.n = n;
	vec_fini(&k->sites);
	k->sites.v = sites.v;
	k->sites.n = sites.n;
	k->sites.cap = sites.cap;
	return 0;
}

/* It was written before a second thread came, and not since: one load may have found it modified.
 */
static bool only_read_later(const struct ty_gather_line *a)
{
	return a->line.writes && !a->line.rewritten && !a->untimed && a->line.modified < 2;
}

static int keep_line(struct keep *k, const struct ty_gather *g, const struct ty_gather_line *from)
{
	struct ty_sharing_line l = from->line;
	struct ty_sharing_site *v;
	int r = 0;

	if (k->lines.n * sizeof(l) + k->sites.n * sizeof(*v) + bytes_of(&l) > k->max_bytes)
		r = put_in_order(k, k->max_bytes / 2);
	if (!r)
		r = vec_reserve(&k->sites, k->sites.n + l.sites_n + 1);
	if (r)
		return r;
	v = k->sites.v + k->sites.n;
	for (uint32_t i = 0; i < l.sites_n; i++)
		v[i] = g->sites.v[l.sites_first + i].site;
	r = threads(&l, v);
	if (r)
		return r;
	assume_widths(v, l.sites_n, k->out->line_bytes);
	judge(&l, v, k->out->line_bytes);
	if (!g->collect && only_read_later(from)) {
		k->out->written_once++;
		return 0;
	}
	if (k->bar.count && line_order(&l, &k->bar) > 0) {
		k->out->left_out++;
		return 0;
	}
	l.sites_first = (uint32_t)k->sites.n;
	k->sites.n += l.sites_n;
	return vec_push(&k->lines, l);
}

static int keep_all(struct keep *k, const struct ty_gather *g)
{
	int r = 0;

	vec_each (l, &g->lines)
		if (!r && !l->dropped)
			r = ty_mem_stopped(g->work) ? -TY_EINTR : keep_line(k, g, l);
	return r;
}

static int find(const struct ty_mem_points *p, uint32_t line_bytes,
		const struct ty_sharing_line *one, const struct ty_mem_work *work,
		struct ty_sharing *out)
{
	struct keep k = {.out = out, .max_bytes = ty_mem_work_bytes(work) / 4};
	struct ty_gather g;
	int r, more = 0;

	*out = (struct ty_sharing){.line_bytes = line_bytes};
	r = ty_gather_begin(&g, p, line_bytes, work);
	if (!r && one) {
		r = ty_gather_one(&g, (struct ty_line_key){one->line / line_bytes,
							   one->physical ? TY_LINE_PHYSICAL
							   : one->shared != TY_MEM_NOT_SHARED
								   ? TY_LINE_SHARED(one->shared)
								   : one->pid});
		r = r ? r : keep_all(&k, &g);
	}
	while (!r && !one && (more = ty_gather_next(&g)) > 0)
		r = keep_all(&k, &g);
	r = r ? r : more;
	/* The same number whatever the order in which lines came. */
	r = r ? r : put_in_order(&k, out->left_out ? k.max_bytes / 2 : UINT64_MAX);
	out->lines = k.lines.v;
	out->lines_n = (uint32_t)k.lines.n;
	out->sites = k.sites.v;
	out->sites_n = (uint32_t)k.sites.n;
	out->accesses = g.accesses;
	out->no_thread = g.no_thread;
	out->one_cpu = g.one_cpu;
	out->access = g.access;
	out->access_n = g.access_n;
	g.access = NULL;
	ty_gather_fini(&g);
	if (r)
		ty_sharing_fini(out);
	return r;
}

int ty_sharing_find(const struct ty_mem_points *p, uint32_t line_bytes,
		    const struct ty_mem_work *work, struct ty_sharing *out)
{
	return find(p, line_bytes, NULL, work, out);
}

int ty_sharing_one(const struct ty_mem_points *p, uint32_t line_bytes,
		   const struct ty_sharing_line *line, const struct ty_mem_work *work,
		   struct ty_sharing *out)
{
	return find(p, line_bytes, line, work, out);
}

void ty_sharing_fini(struct ty_sharing *s)
{
	free(s->lines);
	free(s->sites);
	free(s->access);
	*s = (struct ty_sharing){0};
}
