/* SPDX-License-Identifier: MIT */
/* tarry report memory | sharing: arguments, findings, and their text and JSON. */
#include "report_memory.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_out.h"
#include "mem_names.h"
#include "mem_session.h"
#include "memory.h"
#include "plain.h"
#include "sharing.h"
#include "units.h"

#define TOP_TEXT 10u
#define TOP_JSON 1000u

static const char help[] =
	"usage: tarry report [FILE] memory|sharing [options]\n\n"
	"  memory     latency and source of sampled accesses by instruction, function, source,\n"
	"             page and thread; branches; what the sample is worth\n"
	"  sharing    cache lines that threads share while one writes: falsely or truly\n\n"
	"FILE is a perf.data file with Arm SPE, or with samples of perf mem record.\n\n"
	"  --json         one JSON document\n"
	"  --from T       from T on: seconds from the first sample (12.5), or -3 (before the "
	"last)\n"
	"  --to T         up to T\n"
	"  --tid N[,N]    only these threads\n"
	"  --comm NAME    only threads of this name (shell pattern); may be repeated\n"
	"  --cpu N[,N-M]  only these CPUs\n"
	"  --line BYTES   size of a cache line (default: the file's, else 64)\n"
	"  --symfs DIR    files of the recorded machine; may be repeated\n" TY_MEM_OPTIONS_HELP
	"  --memory SIZE  most memory to use, such as 2G (default: a quarter of the machine's)\n";

struct mem_report {
	struct ty_mem_session s;
	struct ty_mem_points points;
	struct ty_mem_names *names;
	const struct ty_mem_facts *facts;
	uint32_t line_bytes;
};

bool ty_report_is_memory(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "memory") || !strcmp(argv[i], "sharing"))
			return true;
	return false;
}

static uint64_t pc_of(const struct mem_report *r, uint32_t pc)
{
	return pc < r->points.pc_ids.keys.n ? r->points.pc_ids.keys.v[pc] : 0;
}

/* Text ----------------------------------------------------------------------------------------- */

static const char *plain(char *buf, size_t size, const char *s)
{
	snprintf(buf, size, "%s", s);
	ty_plain(buf, strlen(buf));
	return buf;
}

static void print_code(struct mem_report *r, FILE *f, int32_t pid, uint64_t pc, uint64_t ts)
{
	struct ty_mem_name_of n;
	char b[512];

	fprintf(f, "0x%" PRIx64, pc);
	ty_mem_name(r->names, pid, pc, ts, &n);
	if (n.symbol)
		fprintf(f, " %s+0x%" PRIx64, plain(b, sizeof(b), n.symbol), n.offset);
	else if (n.mapping)
		fprintf(f, " %s+0x%" PRIx64, plain(b, sizeof(b), n.mapping), n.mapping_off);
	if (n.file) {
		const char *slash = strrchr(n.file, '/');

		fprintf(f, " (%s:%d)", plain(b, sizeof(b), slash ? slash + 1 : n.file), n.line);
	}
}

static void print_latency(FILE *f, const struct ty_latency *l)
{
	if (l->n)
		fprintf(f, " %6u %6u %6u %6u", l->p50, l->p90, l->p99, l->max);
	else
		fprintf(f, " %6s %6s %6s %6s", "-", "-", "-", "-");
}

static double mean(const struct ty_latency *l)
{
	return l->n ? (double)l->sum / (double)l->n : 0;
}

static void source_name(uint64_t key, char out[64])
{
	unsigned flags = key & 0xff;

	snprintf(out, 64, "%s%s%s%s%s%s", ty_mem_level_name((enum ty_mem_level)(key >> 8)),
		 flags & TY_MEM_SRC_MISS ? " miss" : "",
		 flags & TY_MEM_SRC_HITM ? ", modified" : "",
		 flags & TY_MEM_SRC_PEER && key >> 8 != TY_MEM_LV_PEER ? ", peer" : "",
		 flags & TY_MEM_SRC_REMOTE && key >> 8 != TY_MEM_LV_REMOTE &&
				 key >> 8 != TY_MEM_LV_REMOTE_RAM
			 ? ", remote"
			 : "",
		 flags & TY_MEM_SRC_EVENTS ? " (by events)" : "");
}

static void print_key(struct mem_report *r, FILE *f, enum ty_memory_by by,
		      const struct ty_memory_row *w, const struct ty_mem_name_of *functions)
{
	const struct ty_mem_thread *t;
	struct ty_mem_name_of n;
	char b[512];

	switch (by) {
	case TY_MEMORY_BY_PC:
	case TY_MEMORY_BY_BRANCH:
		print_code(r, f, w->pid, pc_of(r, (uint32_t)w->key), w->ts_ns);
		break;
	case TY_MEMORY_BY_FUNCTION:
		fputs(plain(b, sizeof(b),
			    functions[w->key].symbol	? functions[w->key].symbol
			    : functions[w->key].mapping ? functions[w->key].mapping
							: "(no mapping recorded)"),
		      f);
		break;
	case TY_MEMORY_BY_SOURCE:
		source_name(w->key, b);
		fputs(b, f);
		break;
	case TY_MEMORY_BY_PAGE:
		fprintf(f, "0x%" PRIx64, w->key);
		ty_mem_name(r->names, w->pid, w->key, w->ts_ns, &n);
		if (w->pid >= 0)
			fprintf(f, " of pid %d", w->pid);
		if (n.mapping)
			fprintf(f, " %s", plain(b, sizeof(b), n.mapping));
		break;
	case TY_MEMORY_BY_THREAD:
		t = &r->points.threads.v[w->key];
		fprintf(f, "%d %s", t->tid, plain(b, sizeof(b), t->comm));
		break;
	}
}

static void print_table(struct mem_report *r, FILE *f, const char *title, enum ty_memory_by by,
			const struct ty_memory_table *t, const struct ty_mem_name_of *functions)
{
	if (!t->rows_n)
		return;
	fprintf(f, "\n%s (%" PRIu64 " samples, %" PRIu64 " different):\n", title, t->samples,
		t->keys);
	if (by == TY_MEMORY_BY_BRANCH)
		fputs("   samples  share (95%)             mispredicted  targets\n", f);
	else
		fputs("   samples  share (95%)          latency p50    p90    p99    max  mean: "
		      "issue  "
		      " exec   xlat  TLB walks\n",
		      f);
	for (uint32_t i = 0; i < t->rows_n; i++) {
		const struct ty_memory_row *w = &t->rows[i];

		fprintf(f, "%10" PRIu64 " %5.1f%% (%4.1f-%5.1f%%)    ", w->count, 100 * w->share,
			100 * w->low, 100 * w->high);
		if (by == TY_MEMORY_BY_BRANCH) {
			fprintf(f, "  %6" PRIu64 " %5.1f%%  %7" PRIu64 "  ", w->mispredicts,
				100.0 * (double)w->mispredicts / (double)w->count, w->targets);
		} else {
			print_latency(f, &w->total);
			fprintf(f, "  %11.1f %6.1f %6.1f", mean(&w->issue), mean(&w->exec),
				mean(&w->xlat));
			if (w->tlb)
				fprintf(f, "  %8.1f%%  ",
					100.0 * (double)w->walks / (double)w->tlb);
			else
				fprintf(f, "  %9s  ", "-");
		}
		print_key(r, f, by, w, functions);
		fputc('\n', f);
	}
}

/* JSON ----------------------------------------------------------------------------------------- */

static void json_latency(struct ty_json *j, const char *key, const struct ty_latency *l)
{
	if (!l->n)
		return;
	ty_json_object(j, key);
	ty_json_u64(j, "count", l->n);
	ty_json_f64(j, "mean", mean(l));
	ty_json_u64(j, "p50", l->p50);
	ty_json_u64(j, "p90", l->p90);
	ty_json_u64(j, "p99", l->p99);
	ty_json_u64(j, "max", l->max);
	ty_json_end_object(j);
}

static void json_code(struct mem_report *r, struct ty_json *j, int32_t pid, uint64_t pc,
		      uint64_t ts)
{
	struct ty_mem_name_of n;

	ty_json_hex(j, "pc", pc);
	ty_mem_name(r->names, pid, pc, ts, &n);
	if (n.symbol) {
		ty_json_str(j, "symbol", n.symbol);
		ty_json_u64(j, "symbol_offset", n.offset);
	}
	if (n.mapping)
		ty_json_str(j, "object", n.mapping);
	if (n.file) {
		ty_json_str(j, "file", n.file);
		ty_json_i64(j, "source_line", n.line);
	}
}

static void json_table(struct mem_report *r, struct ty_json *j, const char *key,
		       enum ty_memory_by by, const struct ty_memory_table *t,
		       const struct ty_mem_name_of *functions)
{
	struct ty_mem_name_of n;
	char b[64];

	ty_json_object(j, key);
	ty_json_u64(j, "samples", t->samples);
	ty_json_u64(j, "different", t->keys);
	ty_json_array(j, "rows");
	for (uint32_t i = 0; i < t->rows_n; i++) {
		const struct ty_memory_row *w = &t->rows[i];

		ty_json_object(j, NULL);
		switch (by) {
		case TY_MEMORY_BY_PC:
		case TY_MEMORY_BY_BRANCH:
			json_code(r, j, w->pid, pc_of(r, (uint32_t)w->key), w->ts_ns);
			break;
		case TY_MEMORY_BY_FUNCTION:
			if (functions[w->key].symbol)
				ty_json_str(j, "symbol", functions[w->key].symbol);
			if (functions[w->key].mapping)
				ty_json_str(j, "object", functions[w->key].mapping);
			break;
		case TY_MEMORY_BY_SOURCE:
			source_name(w->key, b);
			ty_json_str(j, "source", b);
			ty_json_str(j, "level",
				    ty_mem_level_name((enum ty_mem_level)(w->key >> 8)));
			ty_json_str(j, "source_by", w->key & TY_MEM_SRC_EVENTS ? "events" : "code");
			break;
		case TY_MEMORY_BY_PAGE:
			ty_json_hex(j, "page", w->key);
			if (w->pid >= 0)
				ty_json_i64(j, "pid", w->pid);
			ty_mem_name(r->names, w->pid, w->key, w->ts_ns, &n);
			if (n.mapping)
				ty_json_str(j, "mapping", n.mapping);
			break;
		case TY_MEMORY_BY_THREAD:
			ty_json_i64(j, "tid", r->points.threads.v[w->key].tid);
			if (r->points.threads.v[w->key].comm[0])
				ty_json_str(j, "comm", r->points.threads.v[w->key].comm);
			break;
		}
		ty_json_u64(j, "count", w->count);
		ty_json_f64(j, "share", w->share);
		ty_json_f64(j, "share_low", w->low);
		ty_json_f64(j, "share_high", w->high);
		if (by == TY_MEMORY_BY_BRANCH) {
			ty_json_u64(j, "mispredicts", w->mispredicts);
			ty_json_u64(j, "not_taken", w->not_taken);
			ty_json_u64(j, "targets", w->targets);
		} else {
			ty_json_u64(j, "loads", w->loads);
			ty_json_u64(j, "stores", w->stores);
			ty_json_u64(j, "tlb", w->tlb);
			ty_json_u64(j, "tlb_walks", w->walks);
			ty_json_u64(j, "l1", w->l1);
			ty_json_u64(j, "l1_misses", w->l1_miss);
		}
		json_latency(j, "lat_total", &w->total);
		json_latency(j, "lat_issue", &w->issue);
		json_latency(j, "lat_exec", &w->exec);
		json_latency(j, "lat_xlat", &w->xlat);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
	ty_json_end_object(j);
}

/* The sample and its losses ------------------------------------------------------------------- */

static void print_head(const struct mem_report *r, const struct ty_memory_sum *s, FILE *f)
{
	const struct ty_mem_facts *c = r->facts;
	char d[TY_DURATION_MAX];

	fprintf(f,
		"%s: %" PRIu64 " samples: %" PRIu64 " loads, %" PRIu64 " stores, %" PRIu64
		" branches, %" PRIu64 " others",
		r->s.path, s->samples, s->loads, s->stores, s->branches, s->others);
	if (s->last_ns > s->first_ns)
		fprintf(f, ", over %s", ty_fmt_duration(s->last_ns - s->first_ns, d));
	fputs("\n", f);
	if (c->spe)
		fprintf(f, "  Arm SPE, core %s\n",
			c->core	  ? c->core
			: c->midr ? "unknown to tarry: sources by events only"
				  : "not told by the file: sources by events only");
	if (c->period)
		fprintf(f, "  one sample per %" PRIu64 " operations or events\n", c->period);
	if (c->truncated || c->collided || c->partial || c->lost)
		fprintf(f,
			"  not complete: %u times the buffer was full, %u times samples collided, "
			"%u "
			"times the last one was damaged, %" PRIu64 " records lost\n",
			c->truncated, c->collided, c->partial, c->lost);
	if (r->points.gaps_n)
		fprintf(f, "  %" PRIu64 " gaps, %" PRIu64 " bytes that cannot be read\n",
			r->points.gaps_n, r->points.unreadable_bytes);
	if (s->no_thread)
		fprintf(f, "  %" PRIu64 " samples of unknown threads\n", s->no_thread);
	if (s->no_time)
		fprintf(f, "  %" PRIu64 " samples without a time\n", s->no_time);
}

static void json_head(const struct mem_report *r, const struct ty_memory_sum *s, struct ty_json *j)
{
	const struct ty_mem_facts *c = r->facts;

	ty_json_u64(j, "samples", s->samples);
	ty_json_u64(j, "loads", s->loads);
	ty_json_u64(j, "stores", s->stores);
	ty_json_u64(j, "branches", s->branches);
	ty_json_u64(j, "others", s->others);
	ty_json_u64(j, "unknown_thread", s->no_thread);
	ty_json_u64(j, "without_time", s->no_time);
	if (s->last_ns) {
		ty_json_u64(j, "first_ns", s->first_ns);
		ty_json_u64(j, "last_ns", s->last_ns);
	}
	if (c->period)
		ty_json_u64(j, "period", c->period);
	if (c->midr)
		ty_json_hex(j, "midr", c->midr);
	if (c->core)
		ty_json_str(j, "core", c->core);
	ty_json_u64(j, "truncated", c->truncated);
	ty_json_u64(j, "collided", c->collided);
	ty_json_u64(j, "partial", c->partial);
	ty_json_u64(j, "lost", c->lost);
	ty_json_u64(j, "gaps", r->points.gaps_n);
	ty_json_u64(j, "unreadable_bytes", r->points.unreadable_bytes);
}

/* Functions: numbers for all PCs, by symbol, else by mapping. */
static int functions(struct mem_report *r, uint32_t **of_pc, struct ty_mem_name_of **table)
{
	size_t n = r->points.pc_ids.keys.n, used = 1;
	uint32_t *map = malloc((n + 1) * sizeof(*map));
	struct ty_mem_name_of *t = calloc(n + 1, sizeof(*t));
	struct ty_mem_ids ids = {0};
	int e = map && t ? 0 : -TY_ENOMEM;

	if (map)
		memset(map, 0xff, (n + 1) * sizeof(*map));
	/* A PC belongs to the process and time of its first sample. */
	for (uint64_t i = 0; !e && i < r->points.n; i++) {
		const struct ty_mem_point *o = ty_mem_points_get(&r->points, i);
		struct ty_mem_name_of name;
		uint32_t id;
		bool fresh;

		if (o->pc == UINT32_MAX || map[o->pc] != UINT32_MAX)
			continue;
		ty_mem_name(r->names,
			    o->thread == TY_MEM_NO_THREAD ? -1 : r->points.threads.v[o->thread].pid,
			    pc_of(r, o->pc), o->ts_ns, &name);
		map[o->pc] = 0;
		if (!name.symbol && !name.mapping)
			continue;
		e = ty_mem_id(&ids, (uint64_t)(uintptr_t)(name.symbol ? name.symbol : name.mapping),
			      &id, &fresh);
		if (e)
			break;
		map[o->pc] = id + 1;
		t[id + 1] = name;
		used = id + 2 > used ? id + 2 : used;
	}
	ty_mem_ids_fini(&ids);
	*of_pc = map;
	*table = t;
	return e;
}

static const struct {
	enum ty_memory_by by;
	const char *title, *key;
} tables[] = {
	{TY_MEMORY_BY_PC, "By instruction", "by_instruction"},
	{TY_MEMORY_BY_FUNCTION, "By function", "by_function"},
	{TY_MEMORY_BY_SOURCE, "By data source", "by_source"},
	{TY_MEMORY_BY_PAGE, "By page", "by_page"},
	{TY_MEMORY_BY_THREAD, "By thread", "by_thread"},
	{TY_MEMORY_BY_BRANCH, "Branches", "branches"},
};

static int memory(struct mem_report *r, FILE *f, struct ty_json *j)
{
	struct ty_memory_sum sum = ty_memory_sum(&r->points);
	struct ty_mem_name_of *names = NULL;
	uint32_t *of_pc = NULL;
	int e = functions(r, &of_pc, &names);

	if (!e && j) {
		ty_json_object(j, "memory");
		json_head(r, &sum, j);
	} else if (!e) {
		print_head(r, &sum, f);
	}
	for (size_t i = 0; !e && i < sizeof(tables) / sizeof(*tables); i++) {
		struct ty_memory_table t;

		e = ty_memory_count(&r->points, tables[i].by, of_pc, j ? TOP_JSON : TOP_TEXT, &t);
		if (e)
			break;
		/* A PC's mapping is looked for in the process that ran it first. */
		for (uint32_t k = 0; k < t.rows_n; k++)
			if (tables[i].by == TY_MEMORY_BY_PC || tables[i].by == TY_MEMORY_BY_BRANCH)
				t.rows[k].pid = r->points.pc_pid.v[t.rows[k].key];
		if (j)
			json_table(r, j, tables[i].key, tables[i].by, &t, names);
		else
			print_table(r, f, tables[i].title, tables[i].by, &t, names);
		ty_memory_fini(&t);
	}
	if (!e && j)
		ty_json_end_object(j);
	free(of_pc);
	free(names);
	return e;
}

/* Sharing -------------------------------------------------------------------------------------- */

static const char *const evidence_text[] = {
	"one thread after the other: no sign of contention",
	"at the same time; nothing shows that the line moved",
	"loads came from the last cache level or farther",
	"loads came from another core's cache",
};

static void print_line(struct mem_report *r, const struct ty_sharing *s,
		       const struct ty_sharing_line *l, FILE *f)
{
	struct ty_mem_name_of n;
	char b[512];

	fprintf(f, "\n%s sharing, %s 0x%" PRIx64, ty_sharing_kind_name(l->kind),
		l->physical ? "physical line" : "line", l->line);
	if (l->physical && l->va)
		fprintf(f, " (0x%" PRIx64 ")", l->va);
	if (!l->physical && l->pid >= 0)
		fprintf(f, " of pid %d", l->pid);
	if (l->va) {
		ty_mem_name(r->names, l->va_pid, l->va, l->va_ts_ns, &n);
		if (n.symbol)
			fprintf(f, ", %s+0x%" PRIx64, plain(b, sizeof(b), n.symbol), n.offset);
		if (n.mapping)
			fprintf(f, ", in %s", plain(b, sizeof(b), n.mapping));
	}
	fprintf(f, ": %u threads, %" PRIu64 " samples, %" PRIu64 " writes, %" PRIu64 " turns",
		l->threads, l->count, l->writes, l->turns);
	if (l->lat_count)
		fprintf(f, ", mean latency %.0f", (double)l->lat_sum / (double)l->lat_count);
	fprintf(f, "\n  evidence: %s", evidence_text[l->evidence]);
	if (l->peer + l->remote)
		fprintf(f, " (%" PRIu64 " of %" PRIu64 ")", l->peer ? l->peer : l->remote,
			l->count);
	if (l->size_assumed)
		fputs("; sizes of accesses are assumed", f);
	if (l->one_process)
		fputs("; the process is not recorded: taken to be one", f);
	fputs("\n  offset size  op      samples  latency  thread\n", f);
	for (uint32_t i = 0; i < l->sites_n; i++) {
		const struct ty_sharing_site *v = &s->sites[l->sites_first + i];
		const struct ty_mem_thread *t = &r->points.threads.v[v->thread];

		fprintf(f, "  %6u %3u%c  %-5s%c %8" PRIu64, v->offset, v->size,
			v->size_assumed ? '?' : ' ', v->writes ? "write" : "read",
			v->true_shared ? '=' : ' ', v->count);
		if (v->lat_count)
			fprintf(f, " %8.0f", (double)v->lat_sum / (double)v->lat_count);
		else
			fprintf(f, " %8s", "-");
		fprintf(f, "  %d %s ", t->tid, plain(b, sizeof(b), t->comm));
		if (v->pc != UINT32_MAX)
			print_code(r, f, t->pid, pc_of(r, v->pc), l->last_ns);
		fputc('\n', f);
	}
}

static void json_line(struct mem_report *r, const struct ty_sharing *s,
		      const struct ty_sharing_line *l, struct ty_json *j)
{
	struct ty_mem_name_of n;

	ty_json_object(j, NULL);
	ty_json_hex(j, "line", l->line);
	ty_json_str(j, "key", l->physical ? "pa" : "va");
	if (l->va)
		ty_json_hex(j, "va", l->va);
	if (!l->physical && l->pid >= 0)
		ty_json_i64(j, "pid", l->pid);
	if (l->one_process)
		ty_json_bool(j, "process_assumed", true);
	ty_json_str(j, "kind", ty_sharing_kind_name(l->kind));
	ty_json_str(j, "evidence", ty_sharing_evidence_name(l->evidence));
	ty_json_bool(j, "size_assumed", l->size_assumed);
	ty_json_u64(j, "threads", l->threads);
	ty_json_u64(j, "count", l->count);
	ty_json_u64(j, "writes", l->writes);
	ty_json_u64(j, "peer", l->peer);
	ty_json_u64(j, "remote", l->remote);
	ty_json_u64(j, "turns", l->turns);
	if (l->last_ns) {
		ty_json_u64(j, "first_ns", l->first_ns);
		ty_json_u64(j, "last_ns", l->last_ns);
	}
	if (l->va) {
		ty_mem_name(r->names, l->va_pid, l->va, l->va_ts_ns, &n);
		if (n.mapping)
			ty_json_str(j, "mapping", n.mapping);
		if (n.symbol)
			ty_json_str(j, "symbol", n.symbol);
	}
	ty_json_array(j, "accessors");
	for (uint32_t i = 0; i < l->sites_n; i++) {
		const struct ty_sharing_site *v = &s->sites[l->sites_first + i];
		const struct ty_mem_thread *t = &r->points.threads.v[v->thread];

		ty_json_object(j, NULL);
		ty_json_i64(j, "tid", t->tid);
		if (t->pid >= 0)
			ty_json_i64(j, "pid", t->pid);
		if (t->comm[0])
			ty_json_str(j, "comm", t->comm);
		if (v->pc != UINT32_MAX)
			json_code(r, j, t->pid, pc_of(r, v->pc), l->last_ns);
		ty_json_u64(j, "offset", v->offset);
		ty_json_u64(j, "size", v->size);
		ty_json_bool(j, "size_assumed", v->size_assumed);
		ty_json_bool(j, "store", v->writes);
		ty_json_str(j, "shared", v->true_shared ? "true" : "false");
		ty_json_u64(j, "count", v->count);
		if (v->lat_count)
			ty_json_f64(j, "lat_mean", (double)v->lat_sum / (double)v->lat_count);
		else
			ty_json_null(j, "lat_mean");
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
	ty_json_end_object(j);
}

static int sharing(struct mem_report *r, FILE *f, struct ty_json *j)
{
	struct ty_sharing s;
	int e = ty_sharing_find(&r->points, r->line_bytes, &s);
	uint32_t n;

	if (e)
		return e;
	n = s.lines_n;
	if (j) {
		ty_json_array(j, "sharing");
		for (uint32_t i = 0; i < n; i++)
			json_line(r, &s, &s.lines[i], j);
		ty_json_end_array(j);
		ty_json_u64(j, "sharing_accesses", s.accesses);
		ty_json_u64(j, "sharing_unknown_thread", s.no_thread);
		ty_json_u64(j, "line_bytes", s.line_bytes);
	} else {
		fprintf(f,
			"%u line%s of %u bytes %s shared by two or more threads while one writes "
			"(%" PRIu64 " accesses looked at",
			n, n == 1 ? "" : "s", s.line_bytes, n == 1 ? "is" : "are", s.accesses);
		if (s.no_thread)
			fprintf(f, ", %" PRIu64 " of unknown threads left out", s.no_thread);
		fputs(")\n", f);
		for (uint32_t i = 0; i < n && i < 2 * TOP_TEXT; i++)
			print_line(r, &s, &s.lines[i], f);
		if (n > 2 * TOP_TEXT)
			fprintf(f, "\n%u more: --json lists them all\n", n - 2 * TOP_TEXT);
	}
	ty_sharing_fini(&s);
	return 0;
}

/* The command --------------------------------------------------------------------------------- */

static int run(struct mem_report *r, const struct ty_select *sel, bool want_memory,
	       bool want_sharing, const char *const *roots, size_t roots_n, struct ty_err *err)
{
	struct ty_json j;
	int e;

	r->facts = ty_mem_facts(r->s.stream);
	if (!r->line_bytes)
		r->line_bytes = r->facts->line_bytes;
	r->names = ty_mem_names_new(r->s.stream, roots, roots_n, ty_mem_session_local(&r->s));
	e = r->names ? ty_mem_session_points(&r->s, sel, &r->points, err)
		     : ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", r->s.path);
	if (e)
		return e;
	ty_json_init(&j, stdout);
	if (sel->json)
		ty_json_object(&j, NULL);
	if (want_memory)
		e = memory(r, stdout, sel->json ? &j : NULL);
	if (!e && want_memory && want_sharing && !sel->json)
		putchar('\n');
	if (!e && want_sharing)
		e = sharing(r, stdout, sel->json ? &j : NULL);
	if (sel->json) {
		ty_json_end_object(&j);
		ty_json_line(&j);
	}
	return e ? ty_fail(err, -e, TY_NO_OFFSET, "%s: out of memory", r->s.path) : 0;
}

enum { OPT_LINE = TY_OPT_OWN, OPT_SYMFS };

int ty_cmd_report_memory(int argc, char **argv)
{
	static const struct option opts[] = {TY_SELECT_OPTIONS,
					     TY_MEM_OPTIONS,
					     {"line", required_argument, NULL, OPT_LINE},
					     {"symfs", required_argument, NULL, OPT_SYMFS},
					     {"help", no_argument, NULL, 'h'},
					     {0}};
	struct mem_report r = {.s.fd = -1};
	struct ty_mem_options mem = {0};
	struct ty_select sel = {0};
	struct ty_err err = {0};
	VEC(const char *) roots = {0};
	const char *path = NULL;
	bool want_memory = false, want_sharing = false;
	uint64_t line;
	int c, status = 0;

	while (!status && (c = getopt_long(argc, argv, "h", opts, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return TY_EXIT_GOOD;
		}
		if (c == '?') {
			status = ty_cli_usage("report", "unknown option or missing value");
		} else if (c == OPT_LINE) {
			if (ty_parse_size(optarg, &line) || line < 16 || line > 4096 ||
			    line & (line - 1))
				status = ty_cli_usage("report",
						      "--line %s: a power of two from 16 to 4096",
						      optarg);
			else
				r.line_bytes = (uint32_t)line;
		} else if (c == OPT_SYMFS) {
			if (vec_push(&roots, optarg))
				status = ty_cli_usage("report", "out of memory");
		} else if (!ty_mem_option(&mem, c, optarg)) {
			status = ty_select_option(&sel, "report", c, optarg);
		}
	}
	for (int i = optind; !status && i < argc; i++) {
		if (!strcmp(argv[i], "memory"))
			want_memory = true;
		else if (!strcmp(argv[i], "sharing"))
			want_sharing = true;
		else if (!path)
			path = argv[i];
		else
			status = ty_cli_usage("report", "'%s' does not go with memory, sharing",
					      argv[i]);
	}
	if (!status) {
		if (ty_mem_session_open(&r.s, path, &mem, &err) ||
		    run(&r, &sel, want_memory, want_sharing, roots.v, roots.n, &err))
			status = ty_cli_fail(&err);
		if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE && !status) {
			ty_fail_errno(&err, "standard output: write failed");
			status = ty_cli_fail(&err);
		}
	}
	ty_mem_points_fini(&r.points);
	ty_mem_names_free(r.names);
	ty_mem_session_fini(&r.s);
	ty_select_fini(&sel);
	vec_fini(&roots);
	return status;
}
