/* SPDX-License-Identifier: MIT */
/*
 * Compares the slowest call of a function with its median call: the instructions where they first
 * diverge, and, over both calls, the functions called and their own costs, sorted by difference.
 * Memory: 8 bytes per instruction of both, at most PATH_MOST of each.
 */
#include "flow_slowest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "plain_text.h"
#include "time_format.h"
#include "units.h"

enum { PATH_MOST = 1 << 22, SHOWN = 12, ROWS = 12 };
enum { SLOWEST, MEDIAN, BOTH };

/* A function's share in a call, its callees' not. */
struct share {
	uint64_t calls, insns, ns;
};

struct inner {
	uint32_t func;
	uint64_t ip; /* of its first instruction */
	struct share of[BOTH];
};

struct path {
	struct ty_flow_call call; /* which one */
	VEC(uint64_t) ips;	  /* of the first PATH_MOST */
	bool on;
	int32_t pid;
	uint64_t calls; /* begun inside */
};

struct compare {
	struct path p[BOTH];
	VEC(struct inner) inner; /* by number of the function; then by difference */
	bool by_ns;
	uint64_t start_ns; /* where the shown seconds count from */
	int failed;
};

static void on_begin(void *ctx, const struct ty_flow_call *c)
{
	struct compare *k = ctx;

	for (int i = 0; i < BOTH; i++) {
		struct path *p = &k->p[i];

		if (c->seq == p->call.seq)
			p->on = true;
		else if (p->on && c->tid == p->call.tid)
			p->calls++;
	}
}

static void on_end(void *ctx, const struct ty_flow_call *c)
{
	struct compare *k = ctx;
	bool timed = c->start_ns != TY_FLOW_NO_TIME && c->end_ns != TY_FLOW_NO_TIME &&
		     c->end_ns >= c->start_ns && c->end_ns - c->start_ns >= c->children_ns;

	for (int i = 0; i < BOTH; i++) {
		struct path *p = &k->p[i];
		struct share *s;

		if (!p->on || c->tid != p->call.tid || c->func == TY_NO_FUNC)
			continue;
		while (k->inner.n <= c->func && !k->failed)
			k->failed = vec_push(&k->inner, (struct inner){0});
		if (k->failed)
			return;
		k->inner.v[c->func].func = c->func;
		k->inner.v[c->func].ip = c->ip;
		s = &k->inner.v[c->func].of[i];
		s->calls++;
		s->insns += c->self_insns;
		s->ns += timed ? c->end_ns - c->start_ns - c->children_ns : 0;
		p->on = c->seq != p->call.seq;
	}
}

static int64_t difference(const struct inner *f, bool by_ns)
{
	const struct share *s = &f->of[SLOWEST], *m = &f->of[MEDIAN];

	return by_ns ? (int64_t)(s->ns - m->ns) : (int64_t)(s->insns - m->insns);
}

static int by_difference(const void *a, const void *b, void *ctx)
{
	bool by_ns = *(const bool *)ctx;
	int64_t x = difference(a, by_ns), y = difference(b, by_ns);

	x = x < 0 ? -x : x;
	y = y < 0 ? -y : y;
	return (x < y) - (x > y);
}

static int read_both(struct ty_flow_source *src, const char *path, const struct ty_select *sel,
		     struct compare *k, struct ty_flow_calls *calls, struct ty_err *err)
{
	struct ty_flow_window all = {.to_ns = UINT64_MAX};
	struct ty_flow_at at;
	int r, more = 0;

	/* Decoded again, the calls have the same numbers. */
	r = sel->from || sel->to ? ty_flow_source_window(src, path, sel, false, NULL, err)
				 : ty_flow_seek(src->flow, &all, false, err);
	while (!r && (more = ty_flow_next(src->flow, &at)) > 0) {
		r = ty_flow_calls_feed(calls, &at);
		for (int i = 0; i < BOTH && !r; i++)
			if (k->p[i].on && at.item.kind == TY_FLOW_INSN &&
			    at.tid == k->p[i].call.tid && k->p[i].ips.n < PATH_MOST) {
				k->p[i].pid = at.pid;
				r = vec_push(&k->p[i].ips, at.item.ip);
			}
	}
	r = r ? r : more ? more : k->failed;
	if (r && !err->code)
		ty_fail(err, -r, TY_NO_OFFSET, "cannot decode the calls: %s", ty_strerror(r));
	return r;
}

static uint64_t when(const struct path *p)
{
	return p->call.start_ns == TY_FLOW_NO_TIME ? UINT64_MAX - 1 : p->call.start_ns;
}

/* "handle+0x35" and "slow.c:9" ("" not known) of an address in the path. */
static void place(struct ty_flow_names *names, const struct path *p, uint64_t ip, char text[300],
		  char line[300])
{
	struct ty_flow_name at = ty_flow_names_at(names, p->pid, when(p), ip);
	const char *file;
	int number;

	ty_flow_names_text(names, p->pid, when(p), ip, text, 300);
	*line = 0;
	if (ty_flow_names_line(names, &at, &file, &number))
		snprintf(line, 300, "%.280s:%d", file, number);
	ty_plain(text, strlen(text));
	ty_plain(line, strlen(line));
}

/* Text -------------------------------------------------------------------------------------------
 */

static bool timed(const struct path *p)
{
	return p->call.start_ns != TY_FLOW_NO_TIME && p->call.end_ns != TY_FLOW_NO_TIME;
}

/* Single-stepped, its time is not the program's own. */
static void print_path(struct ty_flow_names *names, const struct path *p, size_t same,
		       const char *who, const struct compare *k)
{
	char text[300], line[300], d[TY_DURATION_MAX], at[TY_TIME_MAX];

	printf("%s: %" PRIu64 " instructions, %" PRIu64 " call%s inside", who, p->call.insns,
	       p->calls, p->calls == 1 ? "" : "s");
	if (timed(p) && k->by_ns)
		printf(", %s", ty_fmt_duration(p->call.end_ns - p->call.start_ns, d));
	printf(", tid %d", p->call.tid);
	if (p->call.start_ns != TY_FLOW_NO_TIME)
		printf(", at %s s", ty_fmt_since(p->call.start_ns, k->start_ns, 1, at));
	putchar('\n');
	for (size_t i = same ? same - 1 : 0; i < p->ips.n && i < same + SHOWN; i++) {
		place(names, p, p->ips.v[i], text, line);
		printf("  %s %16" PRIx64 " %s%s%s\n", i < same ? " " : ">", p->ips.v[i], text,
		       *line ? "  " : "", line);
	}
}

/* A function, in both calls. */
struct row {
	const char *name, *line; /* line: of its source; NULL: unknown */
	const struct share *of[BOTH];
	struct share slowest, median;
	char place[300], line_text[300];
};

static void fill(struct row *o, struct ty_flow_names *names, const struct compare *k,
		 const struct ty_flow_calls *calls, const struct inner *f)
{
	place(names, &k->p[!f->of[SLOWEST].calls], f->ip, o->place, o->line_text);
	o->name = ty_flow_calls_function(calls, f->func)->name;
	o->line = *o->line_text ? o->line_text : NULL;
	o->slowest = f->of[SLOWEST];
	o->median = f->of[MEDIAN];
	o->of[SLOWEST] = &f->of[SLOWEST];
	o->of[MEDIAN] = &f->of[MEDIAN];
}

static const char *with_line(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct row *o = record;

	snprintf(buf, n, "%s%s%s", o->name, o->line ? "  " : "", o->line ? o->line : "");
	return buf;
}

#define OF(member) offsetof(struct row, member)
static const struct ty_field share_fields[] = {
	{TY_F_DIGITS, "calls", NULL, 0, .at = offsetof(struct share, calls)},
	{TY_F_DIGITS, "self_insns", NULL, 0, .at = offsetof(struct share, insns)},
	{TY_F_DIGITS, "self_ns", NULL, 0, .at = offsetof(struct share, ns)},
	{.type = TY_F_END}};
static const struct ty_field fields[] = {
	{TY_F_STR, "name", NULL, 0, .at = OF(name)},
	{TY_F_STR, "source_line", NULL, 0, .at = OF(line), .optional = true},
	{TY_F_OBJECT, "slowest", NULL, 0, .at = OF(of[SLOWEST]), .of = share_fields},
	{TY_F_OBJECT, "median", NULL, 0, .at = OF(of[MEDIAN]), .of = share_fields},
	{TY_F_DIGITS, NULL, "calls", 8, .at = OF(slowest.calls), .gap = 2},
	{TY_F_DIGITS, NULL, "insns", 10, .at = OF(slowest.insns), .gap = 1},
	{TY_F_DURATION, NULL, "time", 9, .at = OF(slowest.ns), .gap = 1},
	{TY_F_DIGITS, NULL, "calls", 8, .at = OF(median.calls), .gap = 1},
	{TY_F_DIGITS, NULL, "insns", 10, .at = OF(median.insns), .gap = 1},
	{TY_F_DURATION, NULL, "time", 9, .at = OF(median.ns), .gap = 1},
	{TY_F_TEXT, NULL, "function", 0, .text = with_line},
	{.type = TY_F_END}};

static void print_inner(struct ty_flow_names *names, const struct compare *k,
			const struct ty_flow_calls *calls)
{
	const struct ty_field_ctx c = {0};
	size_t shown = 0, left = 0;
	struct row row;

	vec_each (f, &k->inner) {
		if (!difference(f, k->by_ns))
			continue;
		if (shown == ROWS) {
			left++;
			continue;
		}
		if (!shown++) {
			printf("functions by difference of their own %s:\n  %29s  %29s\n",
			       k->by_ns ? "time" : "instructions", k->by_ns ? "slowest" : "longest",
			       "median");
			ty_fields_head(fields, &c, stdout);
		}
		fill(&row, names, k, calls, f);
		ty_fields_text(fields, &c, &row, stdout);
	}
	if (left)
		printf("and %zu more function%s (--json has all)\n", left, left == 1 ? "" : "s");
}

static void print_text(struct ty_flow_names *names, const struct compare *k,
		       const struct ty_flow_calls *calls, const char *func, uint64_t count,
		       size_t same)
{
	const struct path *p = k->p;
	bool part = same < p[SLOWEST].ips.n || same < p[MEDIAN].ips.n;

	printf("%s: %" PRIu64 " calls; the %s and the median call take the same path for %zu "
	       "instructions%s\n",
	       func, count, k->by_ns ? "slowest" : "longest", same,
	       part		  ? ", then diverge (>)"
	       : same < PATH_MOST ? ": all of them"
				  : "; the rest was not compared");
	if (part || same == PATH_MOST) {
		print_path(names, &p[SLOWEST], same,
			   k->by_ns ? "slowest" : "most instructions (single-stepped)", k);
		print_path(names, &p[MEDIAN], same, "median", k);
	}
	print_inner(names, k, calls);
}

/* JSON -------------------------------------------------------------------------------------------
 */

static void json_path(struct ty_json *o, struct ty_flow_names *names, const struct path *p,
		      size_t same, const char *key)
{
	char text[300], line[300];

	ty_json_object(o, key);
	ty_json_u64(o, "insns", p->call.insns);
	ty_json_u64(o, "calls_inside", p->calls);
	ty_json_i64(o, "tid", p->call.tid);
	if (p->call.start_ns != TY_FLOW_NO_TIME)
		ty_json_u64(o, "start_ns", p->call.start_ns);
	if (timed(p))
		ty_json_u64(o, "duration_ns", p->call.end_ns - p->call.start_ns);
	ty_json_array(o, "path");
	for (size_t i = same ? same - 1 : 0; i < p->ips.n && i < same + SHOWN; i++) {
		char ip[24];

		place(names, p, p->ips.v[i], text, line);
		snprintf(ip, sizeof(ip), "0x%" PRIx64, p->ips.v[i]);
		ty_json_object(o, NULL);
		ty_json_str(o, "ip", ip);
		ty_json_str(o, "symbol", text);
		if (*line)
			ty_json_str(o, "source_line", line);
		ty_json_end_object(o);
	}
	ty_json_end_array(o);
	ty_json_end_object(o);
}

static void print_json(struct ty_flow_names *names, const struct compare *k,
		       const struct ty_flow_calls *calls, const char *func, uint64_t count,
		       size_t same, bool software)
{
	struct row row;
	struct ty_json o;

	ty_json_init(&o, stdout);
	ty_json_object(&o, NULL);
	ty_json_object(&o, "flow_slowest");
	ty_json_bool(&o, "software", software);
	ty_json_str(&o, "function", func);
	ty_json_u64(&o, "calls", count);
	ty_json_u64(&o, "same_insns", same);
	json_path(&o, names, &k->p[SLOWEST], same, "slowest");
	json_path(&o, names, &k->p[MEDIAN], same, "median");
	ty_json_array(&o, "functions");
	vec_each (f, &k->inner) {
		if (!f->of[SLOWEST].calls && !f->of[MEDIAN].calls)
			continue;
		fill(&row, names, k, calls, f);
		ty_fields_object(fields, &(struct ty_field_ctx){0}, &row, &o);
	}
	ty_json_end_array(&o);
	ty_json_end_object(&o);
	ty_json_end_object(&o);
	ty_json_line(&o);
	ty_json_fini(&o);
}

int ty_flow_slowest(struct ty_flow_source *src, const char *path, const struct ty_select *sel,
		    struct ty_flow_names *names, const struct ty_flow_stats *st, bool software,
		    const char *func, struct ty_err *err)
{
	const struct ty_flow_func *best = NULL;
	struct compare k = {.by_ns = !software};
	struct ty_flow_calls *calls;
	size_t same = 0;
	int r;

	vec_each (f, &st->funcs)
		if (f->func != TY_NO_FUNC &&
		    !strcmp(ty_flow_calls_function(st->calls_of, f->func)->name, func) &&
		    (!best || f->count > best->count))
			best = f;
	if (!best || !best->calls)
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "--slowest: no complete call of a function '%s'%s", func,
			       st->beyond ? " among the first ones (give more --memory)" : "");
	k.p[SLOWEST].call = best->calls->slowest;
	k.p[MEDIAN].call = best->calls->median;
	calls = ty_flow_calls_new(names, on_begin, on_end, &k);
	r = ty_flow_source_start(src, path, &k.start_ns, err);
	r = r	    ? r
	    : calls ? read_both(src, path, sel, &k, calls, err)
		    : ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	if (!r) {
		const struct path *p = k.p;

		while (same < p[SLOWEST].ips.n && same < p[MEDIAN].ips.n &&
		       p[SLOWEST].ips.v[same] == p[MEDIAN].ips.v[same])
			same++;
		if (k.inner.n)
			qsort_r(k.inner.v, k.inner.n, sizeof(*k.inner.v), by_difference, &k.by_ns);
		if (sel->json)
			print_json(names, &k, calls, func, best->count, same, software);
		else
			print_text(names, &k, calls, func, best->count, same);
	}
	ty_flow_calls_free(calls);
	vec_fini(&k.p[SLOWEST].ips);
	vec_fini(&k.p[MEDIAN].ips);
	vec_fini(&k.inner);
	return r;
}
