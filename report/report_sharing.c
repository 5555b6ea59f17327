/* SPDX-License-Identifier: MIT */
/* tarry report sharing: cache lines that threads share, with every site, as text and JSON. */
#include <inttypes.h>
#include <math.h>

#include "mem_report.h"
#include "sharing.h"

#define TOP_TEXT 20u

static const char *const evidence_text[] = {
	"accessed by one thread after the other: no sign of contention",
	"accessed in the same period; no sample shows a transfer between caches",
	"loads reached the last-level cache or another socket",
	"loads came from another core's cache",
};

/* The variable accessed at the line's site i, which may differ from the one at the start of the
 * line. */
static void name_site(struct ty_mem_report *r, const struct ty_sharing *s,
		      const struct ty_sharing_line *l, uint32_t i, struct ty_mem_name_of *n)
{
	ty_mem_name(r->names, l->va_pid, l->va + s->sites[l->sites_first + i].offset, l->va_ts_ns,
		    n);
}

static bool is_mapped(const struct ty_sharing_line *l)
{
	return l->shared != TY_MEM_NOT_SHARED;
}

/* The variables between the first and the last byte that is accessed. */
static void print_names(struct ty_mem_report *r, const struct ty_sharing *s,
			const struct ty_sharing_line *l, FILE *f)
{
	struct ty_mem_name_of n, last;
	char b[512];

	name_site(r, s, l, 0, &n);
	name_site(r, s, l, l->sites_n - 1, &last);
	if (n.symbol)
		fprintf(f, ", %s+0x%" PRIx64, ty_mem_report_plain(b, sizeof(b), n.symbol),
			n.offset);
	if (last.symbol && last.symbol != n.symbol)
		fprintf(f, "%s%s+0x%" PRIx64, n.symbol ? " to " : ", ",
			ty_mem_report_plain(b, sizeof(b), last.symbol), last.offset);
	if (n.mapping)
		fprintf(f, ", in %s", ty_mem_report_plain(b, sizeof(b), n.mapping));
	if (n.assumed || last.assumed)
		fputs(" (assumed)", f);
}

/* An access to the line, by one thread and instruction. */
struct row {
	struct ty_sharing_site site;
	struct ty_mem_report_code code;
	const char *comm, *variable, *shared; /* comm, variable: NULL if unknown */
	uint64_t variable_offset;
	double lat_mean; /* NaN: none recorded */
	int32_t tid, pid, pc_of_pid;
	uint32_t offset, size;
	bool size_assumed, writes;
};

/* n: its variable; NULL: it is not needed. */
static struct row row_of(struct ty_mem_report *r, const struct ty_sharing *s,
			 const struct ty_sharing_line *l, uint32_t i,
			 const struct ty_mem_name_of *n)
{
	const struct ty_sharing_site *v = &s->sites[l->sites_first + i];
	const struct ty_mem_thread *t = &r->points->thread[v->thread];
	struct row o = {.site = *v,
			.code = TY_MEM_NO_CODE,
			.comm = t->comm[0] ? t->comm : NULL,
			.variable = n ? n->symbol : NULL,
			.shared = l->kind == TY_SHARING_UNKNOWN ? "unknown"
				  : v->true_shared		? "true"
								: "false",
			.variable_offset = n && n->symbol ? n->offset : UINT64_MAX,
			.lat_mean = v->lat_count ? (double)v->lat_sum / (double)v->lat_count : NAN,
			.tid = t->tid,
			.pid = t->pid,
			.pc_of_pid = -1,
			.offset = v->offset,
			.size = v->size,
			.size_assumed = v->size_assumed,
			.writes = v->writes};
	struct ty_mem_code code;

	if (v->pc != UINT32_MAX) {
		if (!ty_mem_names_own_code(r->names, &r->points->code[v->pc], t, l->last_ns, &code))
			o.pc_of_pid = code.pid;
		o.code = ty_mem_report_code(r, &code);
	}
	return o;
}

static const char *size(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct row *w = record;

	snprintf(buf, n, "%3u%c  %-5s%c", w->size, w->size_assumed ? '?' : ' ',
		 w->writes ? "write" : "read", w->site.true_shared ? '=' : ' ');
	return buf;
}

static const char *latency(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct row *w = record;

	if (isnan(w->lat_mean))
		return NULL;
	snprintf(buf, n, "%.0f", w->lat_mean);
	return buf;
}

static const char *thread(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct row *w = record;
	struct ty_sentence o = {.p = buf, .size = n};

	ty_put(&o, "%d %s ", w->tid, w->comm ? w->comm : "");
	if (w->code.pc != UINT64_MAX)
		ty_mem_report_code_text(&w->code, &o);
	if (w->pc_of_pid >= 0)
		ty_put(&o, " (address as in pid %d)", w->pc_of_pid);
	return buf;
}

#define OF(member) offsetof(struct row, member)
static const struct ty_field site_fields[] = {
	{TY_F_I32, "tid", NULL, 0, .at = OF(tid)},
	{TY_F_ID, "pid", NULL, 0, .at = OF(pid), .optional = true},
	{TY_F_STR, "comm", NULL, 0, .at = OF(comm), .optional = true},
	TY_MEM_CODE_FIELDS(OF(code)),
	{TY_F_ID, "pc_of_pid", NULL, 0, .at = OF(pc_of_pid), .optional = true},
	{TY_F_U32, "offset", "offset", 6, .at = OF(offset), .gap = 2},
	{TY_F_TEXT, NULL, "size  op", -12, .gap = 1, .text = size},
	{TY_F_STR, "variable", NULL, 0, .at = OF(variable), .optional = true},
	{TY_F_U64, "variable_offset", NULL, 0, .at = OF(variable_offset), .optional = true},
	{TY_F_U32, "size", NULL, 0, .at = OF(size)},
	{TY_F_BOOL, "size_assumed", NULL, 0, .at = OF(size_assumed)},
	{TY_F_BOOL, "store", NULL, 0, .at = OF(writes)},
	{TY_F_STR, "shared", NULL, 0, .at = OF(shared)},
	{TY_F_DIGITS, "count", "samples", 8, .at = OF(site.count), .gap = 1},
	{TY_F_TEXT, NULL, "latency", 8, .gap = 1, .text = latency},
	{TY_F_F64, "lat_mean", NULL, 0, .at = OF(lat_mean)},
	{TY_F_TEXT, NULL, "thread, instruction", 0, .text = thread},
	{.type = TY_F_END}};

static void print_line(struct ty_mem_report *r, const struct ty_sharing *s,
		       const struct ty_sharing_line *l, FILE *f)
{
	fprintf(f, "\n%s sharing, %s 0x%" PRIx64, ty_sharing_kind_name(l->kind),
		l->physical    ? "physical line"
		: is_mapped(l) ? "line of shared memory at"
			       : "line",
		l->line);
	if ((l->physical || is_mapped(l)) && l->va)
		fprintf(f, " (0x%" PRIx64 " of pid %d)", l->va, l->va_pid);
	if (!l->physical && l->pid >= 0)
		fprintf(f, " of pid %d", l->pid);
	if (l->va && l->sites_n)
		print_names(r, s, l, f);
	fprintf(f,
		": %u thread%s, %" PRIu64 " samples, %" PRIu64
		" writes, accesses alternated between threads %" PRIu64 " times",
		l->threads, l->threads == 1 ? "" : "s", l->count, l->writes, l->turns);
	if (l->lost)
		fprintf(f, ", %" PRIu64 " cycles lost to loads from other caches", l->lost);
	if (l->lat_count)
		fprintf(f, ", mean latency %.0f cycles", (double)l->lat_sum / (double)l->lat_count);
	fprintf(f, "\n  evidence: %s", evidence_text[l->evidence]);
	if (l->peer + l->remote)
		fprintf(f, " (%" PRIu64 " of %" PRIu64 ")", l->peer ? l->peer : l->remote,
			l->count);
	if (l->kind == TY_SHARING_UNKNOWN)
		fputs("; the writer is inferred: no store of another thread was sampled", f);
	if (l->size_assumed)
		fputs("; sizes marked ? are assumed", f);
	if (l->one_process)
		fputs("; the samples name no process: all are assumed to be from one", f);
	fputs("\n  offset size  op      samples  latency  thread, instruction\n", f);
	for (uint32_t i = 0; i < l->sites_n; i++) {
		const struct row row = row_of(r, s, l, i, NULL);

		ty_fields_text(site_fields, &(struct ty_field_ctx){0}, &row, f);
	}
}

static void json_line(struct ty_mem_report *r, const struct ty_sharing *s,
		      const struct ty_sharing_line *l, struct ty_json *j)
{
	bool named = l->va && l->sites_n;
	struct ty_mem_name_of n = {0};

	ty_json_object(j, NULL);
	ty_json_hex(j, "line", l->line);
	ty_json_str(j, "key", l->physical ? "pa" : is_mapped(l) ? "shared" : "va");
	if (l->va)
		ty_json_hex(j, "va", l->va);
	if (l->va && (l->physical || is_mapped(l)) && l->va_pid >= 0)
		ty_json_i64(j, "va_pid", l->va_pid);
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
	ty_json_u64(j, "modified", l->modified);
	ty_json_u64(j, "lost_cycles", l->lost);
	ty_json_u64(j, "remote", l->remote);
	ty_json_u64(j, "turns", l->turns);
	if (l->last_ns) {
		ty_json_u64(j, "first_ns", l->first_ns);
		ty_json_u64(j, "last_ns", l->last_ns);
	}
	if (named) {
		name_site(r, s, l, 0, &n);
		if (n.mapping)
			ty_json_str(j, "mapping", n.mapping);
		if (n.symbol)
			ty_json_str(j, "symbol", n.symbol);
		if (n.assumed)
			ty_json_bool(j, "name_assumed", true);
	}
	ty_json_array(j, "accessors");
	for (uint32_t i = 0; i < l->sites_n; i++) {
		const struct ty_sharing_site *v = &s->sites[l->sites_first + i];
		struct row row;

		if (named && i && v[-1].offset != v->offset) /* they are in this order */
			name_site(r, s, l, i, &n);
		row = row_of(r, s, l, i, &n);
		ty_fields_object(site_fields, &(struct ty_field_ctx){0}, &row, j);
	}
	ty_json_end_array(j);
	ty_json_end_object(j);
}

static void headline(const struct ty_sharing *s, uint64_t all, FILE *f)
{
	bool stores = !s->lines_n;

	for (uint64_t i = 0; i < s->lines_n && !stores; i++)
		stores = s->lines[i].writes;
	fprintf(f, "%" PRIu64 " line%s of %u bytes %s shared by two or more threads ", all,
		all == 1 ? "" : "s", s->line_bytes, all == 1 ? "is" : "are");
	/* In recordings of loads only, the data source of the loads shows it. */
	fprintf(f, "%s (%" PRIu64 " accesses analysed",
		stores ? "while one writes"
		       : "and written, as loads of modified lines show: no store was sampled",
		s->accesses);
	if (s->no_thread)
		fprintf(f, ", %" PRIu64 " of unknown threads excluded", s->no_thread);
	fputs(")\n", f);
}

int ty_mem_report_sharing(struct ty_mem_report *r, FILE *f, struct ty_json *j)
{
	/* One thread may take what two have for tables. */
	const struct ty_mem_work work = {2 * r->work.bytes, r->work.stop};
	struct ty_sharing s;
	int e = ty_sharing_find(r->points, r->line_bytes, &work, &s);
	uint64_t n, all;

	if (e)
		return e;
	n = s.lines_n;
	all = n + s.left_out;
	if (j) {
		ty_json_array(j, "sharing");
		for (uint64_t i = 0; i < n; i++)
			json_line(r, &s, &s.lines[i], j);
		ty_json_end_array(j);
		ty_json_u64(j, "sharing_left_out", s.left_out);
		ty_json_u64(j, "sharing_accesses", s.accesses);
		ty_json_u64(j, "sharing_unknown_thread", s.no_thread);
		ty_json_u64(j, "sharing_written_once", s.written_once);
		ty_json_u64(j, "sharing_one_cpu", s.one_cpu);
		ty_json_u64(j, "line_bytes", s.line_bytes);
	} else {
		headline(&s, all, f);
		if (s.written_once)
			fprintf(f,
				"%" PRIu64 " more were only read after a second thread accessed "
				"them: no contention\n",
				s.written_once);
		if (s.one_cpu)
			fprintf(f,
				"%" PRIu64 " more were accessed on one CPU only, by threads in "
				"turn: no contention\n",
				s.one_cpu);
		for (uint64_t i = 0; i < n && i < TOP_TEXT; i++)
			print_line(r, &s, &s.lines[i], f);
		if (n > TOP_TEXT)
			fprintf(f, "\n%" PRIu64 " more: --json lists them%s\n", n - TOP_TEXT,
				s.left_out ? "" : " all");
		if (s.left_out)
			fprintf(f,
				"\n%" PRIu64 " more with weaker evidence were counted but not kept "
				"(increase --memory)\n",
				s.left_out);
	}
	ty_sharing_fini(&s);
	return 0;
}
