/* SPDX-License-Identifier: MIT */
/* tarry report memory: tables of samples by instruction, function, source, page, thread; branches;
 * and the quality of the sample. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem_report.h"
#include "memory.h"
#include "plain_text.h"
#include "units.h"

#define TOP_TEXT 10u
#define TOP_JSON 1000u

const char *ty_mem_report_plain(char *buf, size_t size, const char *s)
{
	snprintf(buf, size, "%s", s);
	ty_plain(buf, strlen(buf));
	return buf;
}

void ty_mem_report_code(struct ty_mem_report *r, FILE *f, const struct ty_mem_code *c)
{
	struct ty_mem_name_of n;
	char b[512];

	fprintf(f, "0x%" PRIx64, c->addr);
	ty_mem_name_code(r->names, c, &n);
	if (n.symbol)
		fprintf(f, " %s+0x%" PRIx64, ty_mem_report_plain(b, sizeof(b), n.symbol), n.offset);
	else if (n.mapping)
		fprintf(f, " %s+0x%" PRIx64, ty_mem_report_plain(b, sizeof(b), n.mapping),
			n.mapping_off);
	if (n.file) {
		const char *slash = strrchr(n.file, '/');

		fprintf(f, " (%s:%d)",
			ty_mem_report_plain(b, sizeof(b), slash ? slash + 1 : n.file), n.line);
	}
	if (n.assumed)
		fputs(" (assumed)", f);
}

void ty_mem_report_code_json(struct ty_mem_report *r, struct ty_json *j,
			     const struct ty_mem_code *c)
{
	struct ty_mem_name_of n;

	ty_json_hex(j, "pc", c->addr);
	ty_mem_name_code(r->names, c, &n);
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
	if (n.assumed)
		ty_json_bool(j, "name_assumed", true);
}

/* Text ----------------------------------------------------------------------------------------- */

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

static void print_mean(FILE *f, const struct ty_latency *l, int width)
{
	if (l->n)
		fprintf(f, " %*.1f", width, mean(l));
	else
		fprintf(f, " %*s", width, "-");
}

static const char *source_name(uint64_t key, char out[TY_MEM_LEVEL_TEXT])
{
	return ty_mem_level_text((enum ty_mem_level)(key >> 8), key & 0xff, out);
}

static void print_key(struct ty_mem_report *r, FILE *f, enum ty_memory_by by,
		      const struct ty_memory_row *w, const struct ty_mem_name_of *functions)
{
	const struct ty_mem_thread *t;
	struct ty_mem_name_of n;
	char b[512];

	switch (by) {
	case TY_MEMORY_BY_PC:
	case TY_MEMORY_BY_BRANCH: ty_mem_report_code(r, f, &r->points->code[w->key]); break;
	case TY_MEMORY_BY_FUNCTION:
		fputs(ty_mem_report_plain(b, sizeof(b),
					  functions[w->key].symbol    ? functions[w->key].symbol
					  : functions[w->key].mapping ? functions[w->key].mapping
								      : "(no mapping recorded)"),
		      f);
		break;
	case TY_MEMORY_BY_SOURCE: fputs(source_name(w->key, b), f); break;
	case TY_MEMORY_BY_PAGE:
		fprintf(f, "0x%" PRIx64, w->key);
		ty_mem_name(r->names, w->pid, w->key, w->ts_ns, &n);
		if (w->pid >= 0)
			fprintf(f, " of pid %d", w->pid);
		if (n.mapping)
			fprintf(f, " %s%s", ty_mem_report_plain(b, sizeof(b), n.mapping),
				n.assumed ? " (assumed)" : "");
		break;
	case TY_MEMORY_BY_THREAD:
		t = &r->points->thread[w->key];
		fprintf(f, "%d %s", t->tid, ty_mem_report_plain(b, sizeof(b), t->comm));
		break;
	}
}

static void print_table(struct ty_mem_report *r, FILE *f, const char *title, enum ty_memory_by by,
			const struct ty_memory_table *t, const struct ty_mem_name_of *functions)
{
	if (!t->rows_n)
		return;
	fprintf(f, "\n%s (%" PRIu64 " samples, %" PRIu64 " distinct):\n", title, t->samples,
		t->keys);
	if (by == TY_MEMORY_BY_BRANCH)
		fputs("   samples  share (95%)             mispredicted  targets\n", f);
	else
		fputs("                                 latency, cycles                    "
		      "mean cycles\n"
		      "   samples  share (95%)                  p50    p90    p99    max        "
		      "issue   exec   xlat   insn  TLB walks\n",
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
			print_mean(f, &w->issue, 12);
			print_mean(f, &w->exec, 6);
			print_mean(f, &w->xlat, 6);
			print_mean(f, &w->insn, 6);
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

static void json_table(struct ty_mem_report *r, struct ty_json *j, const char *key,
		       enum ty_memory_by by, const struct ty_memory_table *t,
		       const struct ty_mem_name_of *functions)
{
	struct ty_mem_name_of n;
	char b[TY_MEM_LEVEL_TEXT];

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
			ty_mem_report_code_json(r, j, &r->points->code[w->key]);
			break;
		case TY_MEMORY_BY_FUNCTION:
			if (functions[w->key].symbol)
				ty_json_str(j, "symbol", functions[w->key].symbol);
			if (functions[w->key].mapping)
				ty_json_str(j, "object", functions[w->key].mapping);
			break;
		case TY_MEMORY_BY_SOURCE:
			ty_json_str(j, "source", source_name(w->key, b));
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
			if (n.assumed)
				ty_json_bool(j, "name_assumed", true);
			break;
		case TY_MEMORY_BY_THREAD:
			ty_json_i64(j, "tid", r->points->thread[w->key].tid);
			if (r->points->thread[w->key].comm[0])
				ty_json_str(j, "comm", r->points->thread[w->key].comm);
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
		json_latency(j, "lat_insn", &w->insn);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
	ty_json_end_object(j);
}

/* The sample and its losses ------------------------------------------------------------------- */

static void print_head(const struct ty_mem_report *r, const struct ty_memory_sum *s, FILE *f)
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
			: c->midr ? "unknown to tarry: data sources come from events only"
				  : "not recorded: data sources come from events only");
	if (c->period)
		fprintf(f, "  one sample per %" PRIu64 " %s\n", c->period,
			c->spe ? "operations" : "events");
	if (c->truncated || c->collided || c->partial || c->lost)
		fprintf(f,
			"  incomplete: the buffer was full %u times, samples collided %u times, "
			"the last one was damaged %u times, %" PRIu64 " records lost\n",
			c->truncated, c->collided, c->partial, c->lost);
	if (r->points->gaps_n)
		fprintf(f, "  %s%" PRIu64 " gaps, %" PRIu64 " bytes undecodable\n",
			r->points->gaps_cut ? "at least " : "", r->points->gaps_n,
			r->points->unreadable_bytes);
	if (s->no_thread)
		fprintf(f, "  %" PRIu64 " samples of unknown threads\n", s->no_thread);
	if (s->no_time)
		fprintf(f, "  %" PRIu64 " samples without a timestamp\n", s->no_time);
}

static void json_head(const struct ty_mem_report *r, const struct ty_memory_sum *s,
		      struct ty_json *j)
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
	ty_json_u64(j, "gaps", r->points->gaps_n);
	if (r->points->gaps_cut)
		ty_json_bool(j, "gaps_cut", true);
	ty_json_u64(j, "unreadable_bytes", r->points->unreadable_bytes);
}

typedef VEC(struct ty_mem_name_of) names_vec;

/* Functions: numbers for all instructions, by symbol, else by mapping, 0 without any. */
static int functions(struct ty_mem_report *r, uint32_t **of_pc, names_vec *names)
{
	size_t n = r->points->codes;
	uint32_t *map = calloc(n + 1, sizeof(*map));
	struct ty_mem_name_of some[TY_MEM_NAMES_TURN];
	struct ty_mem_ids ids = {0};
	int e = map && !vec_push(names, (struct ty_mem_name_of){0}) ? 0 : -TY_ENOMEM;

	for (size_t i = 0; !e && i < n; i++) {
		const struct ty_mem_name_of *name = &some[i % TY_MEM_NAMES_TURN];
		uint32_t id;
		bool fresh;

		if (name == some)
			ty_mem_name_codes(r->names, &r->points->code[i],
					  n - i < TY_MEM_NAMES_TURN ? (uint32_t)(n - i)
								    : TY_MEM_NAMES_TURN,
					  some);
		if (!name->symbol && !name->mapping)
			continue;
		e = ty_mem_id(&ids,
			      (uint64_t)(uintptr_t)(name->symbol ? name->symbol : name->mapping),
			      &id, &fresh);
		if (!e && fresh)
			e = vec_push(names, *name);
		map[i] = e ? 0 : id + 1;
	}
	ty_mem_ids_fini(&ids);
	*of_pc = map;
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
#define TABLES (sizeof(tables) / sizeof(*tables))

int ty_mem_report_tables(struct ty_mem_report *r, FILE *f, struct ty_json *j)
{
	const struct ty_memory_sum sum = r->points->sum;
	struct ty_memory_request ask[TABLES] = {0};
	names_vec names = {0};
	uint32_t *of_pc = NULL;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int e = functions(r, &of_pc, &names);

	for (unsigned i = 0; i < TABLES; i++)
		ask[i] = (struct ty_memory_request){.by = tables[i].by,
						    .function_of_pc = of_pc,
						    .top = j ? TOP_JSON : TOP_TEXT};
	if (!e)
		e = ty_memory_count_all(r->points, ask, TABLES, cpus > 1 ? (unsigned)cpus : 1,
					&r->work);
	if (!e && j) {
		ty_json_object(j, "memory");
		json_head(r, &sum, j);
	} else if (!e) {
		print_head(r, &sum, f);
	}
	for (unsigned i = 0; i < TABLES; i++) {
		struct ty_memory_table *t = &ask[i].table;

		if (!e && j)
			json_table(r, j, tables[i].key, tables[i].by, t, names.v);
		else if (!e)
			print_table(r, f, tables[i].title, tables[i].by, t, names.v);
		ty_memory_fini(t);
	}
	if (!e && j)
		ty_json_end_object(j);
	free(of_pc);
	vec_fini(&names);
	return e;
}
