/* SPDX-License-Identifier: MIT */
/* tarry report memory | sharing: arguments, and the selection of sections. */
#include "report_memory.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "mem_report.h"
#include "text_output.h"
#include "units.h"
#include "cli.h"
#include "reader_options.h"

static const char head[] =
	"usage: tarry report [FILE] memory|sharing [options]\n"
	"\n"
	"  memory     rank latency and source of sampled accesses by instruction,\n"
	"             function, source, page and thread; show branches and sample quality\n"
	"  sharing    find cache lines that threads share while one writes: false or true\n"
	"             sharing\n"
	"\n"
	"FILE is a recording of tarry with memory samples, or a perf.data file of Arm SPE\n"
	"or perf mem record. Times count from the first sample.\n"
	"\n";

struct args {
	struct ty_select sel;
	struct ty_mem_options mem;
	uint32_t line_bytes;
	const char *path;
	bool memory, sharing;
	struct ty_text_options text;
};

static int run(struct ty_mem_report *r, const struct args *a, FILE *f, struct ty_err *err)
{
	struct ty_mem_points all;
	struct ty_json j;
	int e;

	r->s.show_progress = true;
	r->facts = ty_mem_facts(r->s.stream);
	if (!r->line_bytes)
		r->line_bytes = r->facts->line_bytes;
	r->work.bytes = ty_mem_session_work_bytes(&a->sel);
	e = ty_mem_session_names(&r->s, &a->mem, &r->names, err);
	e = e ? e : ty_mem_session_points(&r->s, &a->sel, &r->points, err);
	if (e)
		return e;
	if (a->sharing) {
		all = *r->points;
		all.width = ty_mem_access_widths(r->names, r->points, NULL);
		r->points = &all;
	}
	ty_json_init(&j, stdout);
	if (a->sel.json)
		ty_json_object(&j, NULL);
	if (a->memory)
		e = ty_mem_report_tables(r, f, a->sel.json ? &j : NULL);
	if (!e && a->memory && a->sharing && !a->sel.json)
		putc('\n', f);
	if (!e && a->sharing)
		e = ty_mem_report_sharing(r, f, a->sel.json ? &j : NULL);
	if (a->sel.json) {
		ty_json_end_object(&j);
		ty_json_line(&j);
		ty_json_fini(&j);
	}
	return e == -TY_ELIMIT ? ty_fail(err, TY_ELIMIT, TY_NO_OFFSET,
					 "%s: the counts do not fit into the memory limit: "
					 "raise --memory, or narrow with --from and --to",
					 r->s.path)
	       : e	       ? ty_fail(err, -e, TY_NO_OFFSET, "%s: out of memory", r->s.path)
			       : ty_mem_session_check(&r->s, err);
}

static int take_line(void *to, const char *arg, struct ty_err *err)
{
	uint64_t line;

	if (ty_parse_size(arg, &line) || line < 16 || line > 4096 || line & (line - 1))
		return ty_wrong_value(err, "--line %s is not a power of two from 16 to 4096", arg);
	*(uint32_t *)to = (uint32_t)line;
	return 0;
}

const struct ty_option ty_report_memory_options[] = {
	{0, "line", "BYTES", "set the cache line size (default: from the file, else 64)",
	 .take = take_line, .at = offsetof(struct args, line_bytes)},
	{0}};

/* The file and its other words: -1, or the exit status. */
static int take_words(struct args *a, char **words, int n)
{
	for (int i = 0; i < n; i++) {
		if (!strcmp(words[i], "memory"))
			a->memory = true;
		else if (!strcmp(words[i], "sharing"))
			a->sharing = true;
		else if (!a->path)
			a->path = words[i];
		else
			return ty_cli_usage("report",
					    "'%s' cannot be combined with memory or sharing",
					    words[i]);
	}
	return -1;
}

static int report(const struct args *a)
{
	struct ty_mem_report r = {.s.fd = -1, .line_bytes = a->line_bytes};
	struct ty_err err = {0};
	struct ty_text_output out;
	int status = TY_EXIT_GOOD;

	if (ty_mem_session_open(&r.s, a->path, &a->mem, &err)) {
		status = ty_cli_fail(&err);
	} else if (a->sel.json) {
		if (run(&r, a, stdout, &err) || ty_cli_written(&err))
			status = ty_cli_fail(&err);
	} else {
		ty_text_output_open(&out, &a->text);
		if (run(&r, a, out.f, &err))
			status = ty_cli_fail(&err);
		if (ty_text_output_close(&out, &err) && status == TY_EXIT_GOOD)
			status = ty_cli_fail(&err);
	}
	if (r.names && status == TY_EXIT_GOOD)
		ty_mem_names_note(r.names);
	ty_mem_names_free(r.names);
	ty_mem_session_fini(&r.s);
	return status;
}

int ty_cmd_report_memory(int argc, char **argv)
{
	struct args a = {0};
	const struct ty_command_line line = {"report", head,
					     .groups = {{ty_json_option, .to = &a.sel},
							{ty_text_option_list, .to = &a.text},
							{ty_select_options, .to = &a.sel},
							{ty_report_memory_options, .to = &a},
							{ty_mem_options, .to = &a.mem},
							{ty_memory_option, .to = &a.sel},
							{ty_index_option, .to = &a.sel}}};
	int status = ty_options_parse(&line, argc, argv);

	if (status < 0)
		status = take_words(&a, argv + optind, argc - optind);
	if (status < 0)
		status = report(&a);
	ty_select_fini(&a.sel);
	vec_fini(&a.mem.roots);
	return status;
}
