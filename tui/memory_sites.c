/* SPDX-License-Identifier: MIT */
/*
 * The memory view's second table: the accesses to the chosen cache line, one row for each offset,
 * operation and instruction, as perf c2c has them; and the sentence on the first screen that a
 * falsely shared line was found.
 */
#include "memory_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SITES_MAX 2048u /* rows of a line; further ones are not shown, and the last row says so */

/* Equal code of several threads is one row. */
struct row {
	struct ty_sharing_site s; /* sums; thread and pc of the first */
	uint32_t threads;
};

static bool same_code(const struct ty_mem_points *p, uint32_t a, uint32_t b)
{
	return a == b || (a != UINT32_MAX && b != UINT32_MAX && p->code[a].addr == p->code[b].addr);
}

/* The rows of the line's sites, which are sorted by offset, thread and instruction. */
static size_t fold(const struct ty_mem_points *p, const struct ty_sharing_site *v, uint32_t n,
		   struct row *rows)
{
	size_t k = 0, same = 0; /* same: the first row of this offset */

	for (uint32_t i = 0; i < n; i++) {
		size_t at;

		if (!k || rows[same].s.offset != v[i].offset)
			same = k;
		for (at = same; at < k; at++)
			if (rows[at].s.writes == v[i].writes &&
			    same_code(p, rows[at].s.pc, v[i].pc))
				break;
		if (at == k) {
			if (k == SITES_MAX)
				break;
			rows[k++] = (struct row){.s = v[i], .threads = 1};
			continue;
		}
		rows[at].threads++;
		rows[at].s.count += v[i].count;
		rows[at].s.peer += v[i].peer;
		rows[at].s.lat_count += v[i].lat_count;
		rows[at].s.lat_sum += v[i].lat_sum;
		rows[at].s.size = v[i].size > rows[at].s.size ? v[i].size : rows[at].s.size;
	}
	return k;
}

static void code_text(const struct ty_memory_view *v, uint32_t pc, char *buf, size_t n)
{
	const struct ty_mem_code *c = pc == UINT32_MAX ? NULL : &v->in->points->code[pc];
	size_t k =
		c ? (size_t)snprintf(buf, n, "0x%" PRIx64, c->addr) : (size_t)snprintf(buf, n, "?");
	char name[200] = "";

	if (c && v->in->name)
		v->in->name(v->in->ctx, c->pid, c->addr, c->ts_ns, name, sizeof(name));
	if (*name)
		snprintf(buf + k, n - k, " %s", name);
}

static void row_text(const struct ty_memory_view *v, const struct row *r, char *buf, size_t n)
{
	const struct ty_mem_thread *t = &v->in->points->thread[r->s.thread];
	char who[40], code[300], latency[24] = "-", peer[24] = "-";

	if (r->threads > 1)
		snprintf(who, sizeof(who), "%u threads", r->threads);
	else
		snprintf(who, sizeof(who), "%d %s", t->tid, t->comm);
	if (r->s.lat_count)
		snprintf(latency, sizeof(latency), "%" PRIu64,
			 (r->s.lat_sum + r->s.lat_count / 2) / r->s.lat_count);
	if (!r->s.writes || r->s.peer) /* stores do not say where their line came from */
		snprintf(peer, sizeof(peer), "%" PRIu64, r->s.peer);
	code_text(v, r->s.pc, code, sizeof(code));
	snprintf(buf, n, "%+6d %3u%c %-5s %8" PRIu64 " %6s %7s  %-16.16s %s", r->s.offset,
		 r->s.size, r->s.size_assumed ? '?' : ' ', r->s.writes ? "write" : "read",
		 r->s.count, peer, latency, who, code);
}

void ty_memory_draw_sites(const struct ty_memory_view *v, struct ty_grid *g,
			  const struct ty_palette *p, int y, int h)
{
	const struct ty_sharing_line *l =
		v->at < (int)v->sharing.lines_n ? &v->sharing.lines[v->at] : NULL;
	const uint32_t sites = l ? l->sites_n : 0;
	struct row *rows = malloc(SITES_MAX * sizeof(*rows));
	size_t n =
		rows && l ? fold(v->in->points, v->sharing.sites + l->sites_first, sites, rows) : 0;
	char text[500];

	snprintf(text, sizeof(text), "%6s %4s %-5s %8s %6s %7s  %-16s %s", "offset", "size", "op",
		 "samples", "peer", "latency", "thread", "instruction");
	ty_grid_elide(g, p, 1, y, g->w - 2, rows ? text : "out of memory",
		      ty_palette_role(p, TY_ROLE_ACCENT));
	for (int i = 0; i + 1 < h && (size_t)i < n; i++) {
		const size_t left = n - (size_t)i;

		if (i + 2 == h && left > 1)
			snprintf(text, sizeof(text), "%s%zu more rows",
				 n == SITES_MAX ? "at least " : "", left);
		else
			row_text(v, &rows[i], text, sizeof(text));
		ty_grid_elide(g, p, 1, y + 1 + i, g->w - 2, text, ty_palette_role(p, TY_ROLE_TEXT));
	}
	free(rows);
}

/* The first screen's sentence ------------------------------------------------------------------ */

/* The falsely shared line that costs most; TY_NONE: there is none. */
static uint32_t false_line(const struct ty_sharing *s)
{
	for (uint32_t i = 0; i < s->lines_n; i++)
		if (s->lines[i].kind == TY_SHARING_FALSE || s->lines[i].kind == TY_SHARING_MIXED)
			return i;
	return TY_NONE;
}

bool ty_memory_news(const struct ty_memory_view *v, char *buf, size_t n)
{
	const struct ty_sharing *s = &v->news.sharing;
	const uint32_t at = false_line(s);
	const struct ty_sharing_line *l;
	const struct ty_sharing_site *a, *b = NULL;
	const struct ty_mem_points *p = v->in->points;
	char lost[60] = "", code[2][300];

	if (at == TY_NONE)
		return false;
	l = &s->lines[at];
	a = &s->sites[l->sites_first];
	for (uint32_t i = 0; i < l->sites_n; i++) /* one that writes, and one of another thread */
		if (s->sites[l->sites_first + i].writes) {
			a = &s->sites[l->sites_first + i];
			break;
		}
	for (uint32_t i = 0; i < l->sites_n && !b; i++)
		if (s->sites[l->sites_first + i].thread != a->thread &&
		    s->sites[l->sites_first + i].offset != a->offset)
			b = &s->sites[l->sites_first + i];
	if (l->lost)
		snprintf(lost, sizeof(lost), "; %" PRIu64 " cycles lost", l->lost);
	code_text(v, a->pc, code[0], sizeof(code[0]));
	code_text(v, b ? b->pc : UINT32_MAX, code[1], sizeof(code[1]));
	if (b)
		snprintf(buf, n,
			 "%s sharing of line 0x%" PRIx64
			 ": %d %s %s +%u (%.60s), %d %s %s +%u (%.60s)%s [1]",
			 l->kind == TY_SHARING_FALSE ? "False" : "Partly false",
			 l->va ? l->va : l->line, p->thread[a->thread].tid,
			 p->thread[a->thread].comm, a->writes ? "writes" : "reads", a->offset,
			 code[0], p->thread[b->thread].tid, p->thread[b->thread].comm,
			 b->writes ? "writes" : "reads", b->offset, code[1], lost);
	else
		snprintf(buf, n, "%s sharing of line 0x%" PRIx64 " by %u threads%s [1]",
			 l->kind == TY_SHARING_FALSE ? "False" : "Partly false",
			 l->va ? l->va : l->line, l->threads, lost);
	return true;
}

bool ty_memory_open_news(struct ty_memory_view *v)
{
	const uint32_t at = false_line(&v->news.sharing);

	if (at == TY_NONE)
		return false;
	ty_memory_count_forget(v);
	ty_viewport_jump(&v->vp, v->vp.start_ns, v->vp.end_ns);
	v->pane = TY_MEMORY_LINE;
	v->by = TY_MEMORY_OF_SHARING;
	v->at = (int)at;
	v->top = v->row = v->strip_top = 0;
	v->choosing = true;
	v->filled = v->counted = v->selecting = v->held = false;
	return true;
}
