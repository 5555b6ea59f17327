/* SPDX-License-Identifier: MIT */
#include "report_log.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base_name.h"
#include "plain_text.h"
#include "model_time.h"
#include "vec.h"

#define NEAR_SHOWN 6

int ty_report_logs_read(struct ty_report_logs *l, const struct ty_model *m, struct ty_err *err)
{
	int r = 0;

	for (size_t i = 0; i < l->path.n && !r; i++)
		r = ty_log_read(&l->log, m, l->path.v[i], (uint32_t)i, err);
	ty_log_sort(&l->log);
	return r;
}

void ty_report_logs_fini(struct ty_report_logs *l)
{
	ty_log_fini(&l->log);
	vec_fini(&l->path);
}

static const char *name(const struct ty_report_logs *l, uint32_t file)
{
	return ty_base_name(l->path.v[file]);
}

static void put(FILE *f, const char *s, size_t n)
{
	char b[TY_LOG_LINE + 1];

	n = n < sizeof(b) - 1 ? n : sizeof(b) - 1;
	memcpy(b, s, n);
	ty_plain(b, n);
	fwrite(b, 1, n, f);
}

void ty_report_logs_near_text(const struct ty_report_logs *l, const struct ty_explain *x,
			      uint64_t from_ns, uint64_t to_ns, FILE *f)
{
	size_t first, n = ty_log_near(&l->log, from_ns, to_ns, &first);

	for (size_t i = first; i < first + n && i < first + NEAR_SHOWN; i++) {
		const struct ty_log_line *k = &l->log.line.v[i];
		size_t part = strcspn(k->text, "\n");

		fprintf(f, "%23s%c ", ty_time_in(x->m, x->clock, k->ts_ns, 1000),
			k->doubtful ? '?' : ' ');
		put(f, name(l, k->file), strlen(name(l, k->file)));
		fputs(": ", f);
		put(f, k->text, part);
		fputs(k->text[part] ? " ...\n" : "\n", f);
	}
	if (n > NEAR_SHOWN)
		fprintf(f, "%24sand %zu more log lines\n", "", n - NEAR_SHOWN);
}

void ty_report_logs_near_json(const struct ty_report_logs *l, uint64_t from_ns, uint64_t to_ns,
			      struct ty_json *j)
{
	size_t first, n;

	if (!l->path.n)
		return;
	n = ty_log_near(&l->log, from_ns, to_ns, &first);
	ty_json_array(j, "log");
	for (size_t i = first; i < first + n; i++)
		ty_json_u64(j, NULL, i);
	ty_json_end_array(j);
}

void ty_report_logs_text(const struct ty_report_logs *l, FILE *f)
{
	const struct ty_log *g = &l->log;
	const char *sep = "";

	if (!l->path.n)
		return;
	if (g->untimed && !g->line.n && !g->outside) {
		fprintf(f, "log        no timestamp in %" PRIu64 " lines\n", g->untimed);
		return;
	}
	fprintf(f, "log        %zu lines within the recording, %" PRIu64 " outside", g->line.n,
		g->outside);
	if (g->untimed)
		fprintf(f, ", %" PRIu64 " before the first timestamp", g->untimed);
	for (unsigned i = 0; i < TY_LOG_FORMATS; i++)
		if (g->formats[i]) {
			fprintf(f, "%s%s", *sep ? sep : "; times: ", ty_log_format_name(i));
			sep = ", ";
		}
	putc('\n', f);
	if (g->local) {
		tzset();
		fprintf(f, "           %" PRIu64 " without a zone: taken as local time (%s%s%s)\n",
			g->local, tzname[0], strcmp(tzname[0], tzname[1]) ? "/" : "",
			strcmp(tzname[0], tzname[1]) ? tzname[1] : "");
	}
	if (g->doubtful)
		fprintf(f,
			"           %" PRIu64
			" at an ambiguous or nonexistent local time (marked ?)\n",
			g->doubtful);
	if (g->cut)
		fprintf(f, "           %" PRIu64 " lines were shortened\n", g->cut);
	if (g->full)
		fprintf(f,
			"           stopped at %zu lines, tarry's limit: the rest was not read\n",
			g->line.n);
	putc('\n', f);
}

void ty_report_logs_json(const struct ty_report_logs *l, struct ty_json *j)
{
	const struct ty_log *g = &l->log;

	if (!l->path.n)
		return;
	ty_json_object(j, "log");
	ty_json_array(j, "files");
	vec_each (p, &l->path)
		ty_json_str(j, NULL, *p);
	ty_json_end_array(j);
	ty_json_u64(j, "outside", g->outside);
	ty_json_u64(j, "untimed", g->untimed);
	ty_json_u64(j, "without_zone", g->local);
	ty_json_u64(j, "doubtful", g->doubtful);
	ty_json_u64(j, "cut", g->cut);
	ty_json_bool(j, "full", g->full);
	ty_json_array(j, "lines");
	vec_each (k, &g->line) {
		ty_json_object(j, NULL);
		ty_json_u64(j, "ts_ns", k->ts_ns);
		ty_json_u64(j, "file", k->file);
		ty_json_u64(j, "line", k->number);
		ty_json_bool(j, "doubtful", k->doubtful);
		ty_json_str(j, "text", k->text);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
	ty_json_end_object(j);
}
