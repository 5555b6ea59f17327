/* SPDX-License-Identifier: MIT */
/* tarry report memory: tables of samples by instruction, function, source, page, thread; branches;
 * and the quality of the sample. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_name.h"
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

struct ty_mem_report_code ty_mem_report_code(struct ty_mem_report *r, const struct ty_mem_code *c)
{
	struct ty_mem_name_of n;

	ty_mem_name_code(r->names, c, &n);
	return (struct ty_mem_report_code){.pc = c->addr,
					   .symbol = n.symbol,
					   .offset = n.symbol ? n.offset : UINT64_MAX,
					   .mapping = n.mapping,
					   .mapping_offset = n.mapping_off,
					   .file = n.file,
					   .line = n.file ? n.line : -1,
					   .assumed = n.assumed};
}

void ty_mem_report_code_text(const struct ty_mem_report_code *c, struct ty_sentence *o)
{
	ty_put(o, "0x%" PRIx64, c->pc);
	if (c->symbol || c->mapping)
		ty_put(o, " %s+0x%" PRIx64, c->symbol ? c->symbol : c->mapping,
		       c->symbol ? c->offset : c->mapping_offset);
	if (c->file)
		ty_put(o, " (%s:%d)", ty_base_name(c->file), c->line);
	if (c->assumed)
		ty_put(o, " (assumed)");
}

/* A row of a table: what it is of, and its numbers. */
struct latency {
	uint64_t n;
	double mean; /* NaN: none recorded */
	uint32_t p50, p90, p99, max;
};

enum { TOTAL, ISSUE, EXEC, XLAT, INSN, PARTS };

struct row {
	struct ty_mem_report_code code;
	uint64_t page; /* UINT64_MAX: none */
	const char *mapping, *source, *level, *by, *comm;
	int32_t pid, tid;
	struct ty_memory_row w;
	struct latency part[PARTS];
	const struct latency *lat[PARTS]; /* NULL: none recorded */
	char source_text[TY_MEM_LEVEL_TEXT];
	enum ty_memory_by of;
};

static void fill(struct row *o, struct ty_mem_report *r, enum ty_memory_by by,
		 const struct ty_memory_row *w, const struct ty_mem_name_of *functions)
{
	const struct ty_latency *parts[] = {&w->total, &w->issue, &w->exec, &w->xlat, &w->insn};
	struct ty_mem_name_of n;

	*o = (struct row){.code = TY_MEM_NO_CODE,
			  .page = UINT64_MAX,
			  .pid = -1,
			  .tid = -1,
			  .w = *w,
			  .of = by};
	for (unsigned i = 0; i < PARTS; i++) {
		const struct ty_latency *l = parts[i];

		o->part[i] =
			(struct latency){0, NAN, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
		if (!l->n)
			continue;
		o->part[i] = (struct latency){
			l->n, (double)l->sum / (double)l->n, l->p50, l->p90, l->p99, l->max};
		o->lat[i] = &o->part[i];
	}
	switch (by) {
	case TY_MEMORY_BY_PC:
	case TY_MEMORY_BY_BRANCH: o->code = ty_mem_report_code(r, &r->points->code[w->key]); break;
	case TY_MEMORY_BY_FUNCTION:
		o->code.symbol = functions[w->key].symbol;
		o->code.mapping = functions[w->key].mapping;
		break;
	case TY_MEMORY_BY_SOURCE:
		o->source = ty_mem_level_text((enum ty_mem_level)(w->key >> 8), w->key & 0xff,
					      o->source_text);
		o->level = ty_mem_level_name((enum ty_mem_level)(w->key >> 8));
		o->by = w->key & TY_MEM_SRC_EVENTS ? "events" : "code";
		break;
	case TY_MEMORY_BY_PAGE:
		ty_mem_name(r->names, w->pid, w->key, w->ts_ns, &n);
		o->page = w->key;
		o->pid = w->pid;
		o->mapping = n.mapping;
		o->code.assumed = n.assumed;
		break;
	case TY_MEMORY_BY_THREAD:
		o->tid = r->points->thread[w->key].tid;
		o->comm = r->points->thread[w->key].comm;
		o->comm = *o->comm ? o->comm : NULL;
		break;
	}
}

static const char *of(const void *ctx, const void *record, char *buf, size_t size)
{
	const struct row *w = record;
	struct ty_sentence o = {.p = buf, .size = size};

	switch (w->of) {
	case TY_MEMORY_BY_PC:
	case TY_MEMORY_BY_BRANCH: ty_mem_report_code_text(&w->code, &o); break;
	case TY_MEMORY_BY_FUNCTION:
		return w->code.symbol	 ? w->code.symbol
		       : w->code.mapping ? w->code.mapping
					 : "(no mapping recorded)";
	case TY_MEMORY_BY_SOURCE: return w->source;
	case TY_MEMORY_BY_PAGE:
		ty_put(&o, "0x%" PRIx64, w->page);
		if (w->pid >= 0)
			ty_put(&o, " of pid %d", w->pid);
		if (w->mapping)
			ty_put(&o, " %s%s", w->mapping, w->code.assumed ? " (assumed)" : "");
		break;
	case TY_MEMORY_BY_THREAD: ty_put(&o, "%d %s", w->tid, w->comm ? w->comm : ""); break;
	}
	return buf;
}

static const char *share(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_memory_row *w = &((const struct row *)record)->w;

	snprintf(buf, n, "%5.1f%% (%4.1f-%5.1f%%)", 100 * w->share, 100 * w->low, 100 * w->high);
	return buf;
}

static const char *walks(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_memory_row *w = &((const struct row *)record)->w;

	if (!w->tlb)
		return NULL;
	snprintf(buf, n, "%.1f%%", 100.0 * (double)w->walks / (double)w->tlb);
	return buf;
}

static const char *mispredicted(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_memory_row *w = &((const struct row *)record)->w;

	snprintf(buf, n, "%6" PRIu64 " %5.1f%%", w->mispredicts,
		 100.0 * (double)w->mispredicts / (double)w->count);
	return buf;
}

#define OF(member) offsetof(struct row, member)
static const struct ty_field latency_fields[] = {
	{TY_F_U64, "count", NULL, 0, .at = offsetof(struct latency, n)},
	{TY_F_F64, "mean", NULL, 0, .at = offsetof(struct latency, mean)},
	{TY_F_U32, "p50", NULL, 0, .at = offsetof(struct latency, p50)},
	{TY_F_U32, "p90", NULL, 0, .at = offsetof(struct latency, p90)},
	{TY_F_U32, "p99", NULL, 0, .at = offsetof(struct latency, p99)},
	{TY_F_U32, "max", NULL, 0, .at = offsetof(struct latency, max)},
	{.type = TY_F_END}};
#define LATENCY(key, part)                                                                         \
	{                                                                                          \
		TY_F_OBJECT, key, NULL, 0, .at = OF(lat[part]), .optional = true,                  \
					   .of = latency_fields                                    \
	}
#define HEAD                                                                                       \
	TY_MEM_CODE_FIELDS(OF(code)), {TY_F_DIGITS, "count", "samples", 10, .at = OF(w.count)},    \
		{TY_F_F64, "share", NULL, 0, .at = OF(w.share)},                                   \
		{TY_F_F64, "share_low", NULL, 0, .at = OF(w.low)},                                 \
		{TY_F_F64, "share_high", NULL, 0, .at = OF(w.high)},                               \
	{                                                                                          \
		TY_F_TEXT, NULL, "share (95%)", 20, .gap = 1, .text = share                        \
	}
#define TAIL                                                                                       \
	{TY_F_TEXT, NULL, "", 0, .text = of}, LATENCY("lat_total", TOTAL),                         \
		LATENCY("lat_issue", ISSUE), LATENCY("lat_exec", EXEC), LATENCY("lat_xlat", XLAT), \
		LATENCY("lat_insn", INSN),                                                         \
	{                                                                                          \
		.type = TY_F_END                                                                   \
	}

static const struct ty_field branch_fields[] = {
	HEAD,
	{TY_F_U64, "mispredicts", NULL, 0, .at = OF(w.mispredicts)},
	{TY_F_U64, "not_taken", NULL, 0, .at = OF(w.not_taken)},
	{TY_F_TEXT, NULL, "mispredicted", 13, .gap = 6, .text = mispredicted},
	{TY_F_DIGITS, "targets", "targets", 7, .at = OF(w.targets)},
	TAIL};
static const struct ty_field access_fields[] = {
	{TY_F_STR, "source", NULL, 0, .at = OF(source), .optional = true},
	{TY_F_STR, "level", NULL, 0, .at = OF(level), .optional = true},
	{TY_F_STR, "source_by", NULL, 0, .at = OF(by), .optional = true},
	{TY_F_HEX, "page", NULL, 0, .at = OF(page), .optional = true},
	{TY_F_ID, "pid", NULL, 0, .at = OF(pid), .optional = true},
	{TY_F_STR, "mapping", NULL, 0, .at = OF(mapping), .optional = true},
	{TY_F_ID, "tid", NULL, 0, .at = OF(tid), .optional = true},
	{TY_F_STR, "comm", NULL, 0, .at = OF(comm), .optional = true},
	HEAD,
	{TY_F_U64, "loads", NULL, 0, .at = OF(w.loads)},
	{TY_F_U64, "stores", NULL, 0, .at = OF(w.stores)},
	{TY_F_U64, "tlb", NULL, 0, .at = OF(w.tlb)},
	{TY_F_U64, "tlb_walks", NULL, 0, .at = OF(w.walks)},
	{TY_F_U64, "l1", NULL, 0, .at = OF(w.l1)},
	{TY_F_U64, "l1_misses", NULL, 0, .at = OF(w.l1_miss)},
	{TY_F_U32, NULL, "p50", 6, .at = OF(part[TOTAL].p50), .gap = 5},
	{TY_F_U32, NULL, "p90", 6, .at = OF(part[TOTAL].p90), .gap = 1},
	{TY_F_U32, NULL, "p99", 6, .at = OF(part[TOTAL].p99), .gap = 1},
	{TY_F_U32, NULL, "max", 6, .at = OF(part[TOTAL].max), .gap = 1},
	{TY_F_F64, NULL, "issue", 12, .at = OF(part[ISSUE].mean), .gap = 1},
	{TY_F_F64, NULL, "exec", 6, .at = OF(part[EXEC].mean), .gap = 1},
	{TY_F_F64, NULL, "xlat", 6, .at = OF(part[XLAT].mean), .gap = 1},
	{TY_F_F64, NULL, "insn", 6, .at = OF(part[INSN].mean), .gap = 1},
	{TY_F_TEXT, NULL, "TLB walks", 9, .text = walks},
	TAIL};

static const struct ty_field *fields_of(enum ty_memory_by by)
{
	return by == TY_MEMORY_BY_BRANCH ? branch_fields : access_fields;
}

static void print_table(struct ty_mem_report *r, FILE *f, const char *title, enum ty_memory_by by,
			const struct ty_memory_table *t, const struct ty_mem_name_of *functions)
{
	struct row row;

	if (!t->rows_n)
		return;
	fprintf(f, "\n%s (%" PRIu64 " samples, %" PRIu64 " distinct):\n", title, t->samples,
		t->keys);
	if (by == TY_MEMORY_BY_BRANCH)
		fputs("   samples  share (95%)             mispredicted  targets  branch\n", f);
	else
		fprintf(f,
			"                                 latency, cycles                    "
			"mean cycles\n"
			"   samples  share (95%%)                  p50    p90    p99    max        "
			"issue   exec   xlat   insn  TLB walks  %s\n",
			title + strlen("By "));
	for (uint32_t i = 0; i < t->rows_n; i++) {
		fill(&row, r, by, &t->rows[i], functions);
		ty_fields_text(fields_of(by), &(struct ty_field_ctx){0}, &row, f);
	}
}

static void json_table(struct ty_mem_report *r, struct ty_json *j, const char *key,
		       enum ty_memory_by by, const struct ty_memory_table *t,
		       const struct ty_mem_name_of *functions)
{
	struct row row;

	ty_json_object(j, key);
	ty_json_u64(j, "samples", t->samples);
	ty_json_u64(j, "different", t->keys);
	ty_json_array(j, "rows");
	for (uint32_t i = 0; i < t->rows_n; i++) {
		fill(&row, r, by, &t->rows[i], functions);
		ty_fields_object(fields_of(by), &(struct ty_field_ctx){0}, &row, j);
	}
	ty_json_end_array(j);
	ty_json_end_object(j);
}

/* The sample and its losses ------------------------------------------------------------------- */

static void print_head(const struct ty_mem_report *r, const struct ty_memory_sum *s, FILE *f)
{
	const struct ty_mem_facts *c = r->facts;

	fprintf(f,
		"%s: %" PRIu64 " samples: %" PRIu64 " loads, %" PRIu64 " stores, %" PRIu64
		" branches, %" PRIu64 " others",
		r->s.path, s->samples, s->loads, s->stores, s->branches, s->others);
	if (s->last_ns > s->first_ns)
		fprintf(f, ", over %s", ty_duration(s->last_ns - s->first_ns));
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
			"  incomplete: times the buffer was full: %u, collisions of samples: %u, "
			"buffers whose last sample is incomplete: %u, lost records: %" PRIu64 "\n",
			c->truncated, c->collided, c->partial, c->lost);
	if (r->points->gaps_n)
		fprintf(f, "  %s%" PRIu64 " gap%s, undecodable bytes: %" PRIu64 "\n",
			r->points->gaps_cut ? "at least " : "", r->points->gaps_n,
			r->points->gaps_n == 1 ? "" : "s", r->points->unreadable_bytes);
	if (s->no_thread)
		fprintf(f, "  %" PRIu64 " sample%s of unknown threads\n", s->no_thread,
			s->no_thread == 1 ? "" : "s");
	if (s->no_time)
		fprintf(f, "  %" PRIu64 " sample%s without a timestamp\n", s->no_time,
			s->no_time == 1 ? "" : "s");
}

static void json_head(const struct ty_mem_report *r, const struct ty_memory_sum *s,
		      struct ty_json *j)
{
	const struct ty_mem_facts *c = r->facts;

	ty_json_u64(j, "samples", s->samples);
	ty_json_u64(j, "loads", s->loads);
	ty_json_u64(j, "stores", s->stores);
	ty_json_u64(j, "branch_count", s->branches); /* (branches is the table) */
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
		fputs("mean cycles: issue (until issued), exec (issue to completion), xlat "
		      "(address\n  translation), insn (whole instruction; x86 only)\n",
		      f);
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
