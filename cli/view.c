/* SPDX-License-Identifier: MIT */
/* tarry view: the timeline on the terminal, or one frame of it as text. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "perf_data.h"
#include "sample_load.h"
#include "units.h"
#include "view_memory.h"
#include "view_priv.h"

static const char head[] =
	"usage: tarry view [FILE] [options]\n"
	"\n"
	"Open the timeline of FILE (default tarry.dat). Press ? for the keys. A perf.data\n"
	"file with memory samples opens in the memory view (y: next table).\n"
	"\n";

static bool parse_size(const char *s, struct ty_view_options *o)
{
	const size_t n = strcspn(s, "x");
	uint64_t w, h;

	if (!s[n] || ty_parse_digits(s, n, TY_GRID_MAX, &w) || !w ||
	    ty_parse_count(s + n + 1, TY_GRID_MAX, &h))
		return false;
	o->w = (int)w;
	o->h = (int)h;
	return true;
}

static bool is_color_word(const char *s)
{
	struct ty_palette p = {0};

	return s && (!strcmp(s, "auto") || ty_palette_choose(&p, s));
}

static int write_keys_man(void)
{
	struct ty_buf b;
	int rc;

	ty_buf_init(&b, 1 << 16);
	rc = ty_keys_man(&b) || fwrite(b.p, 1, b.len, stdout) != b.len || fflush(stdout);
	ty_buf_fini(&b);
	return rc ? TY_EXIT_FAILED : TY_EXIT_GOOD;
}

static int take_size(void *to, const char *arg, struct ty_err *err)
{
	if (parse_size(arg, to))
		return 0;
	return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
		       "--size '%s' is not COLUMNSxLINES such as 100x30 (at most %dx%d)", arg,
		       TY_GRID_MAX, TY_GRID_MAX);
}

static int take_color(void *to, const char *arg, struct ty_err *err)
{
	struct ty_view_options *o = to;

	if (!arg)
		arg = "always";
	if (!is_color_word(arg))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "--color takes auto, always, never, truecolor, 256 or 16, not '%s'",
			       arg);
	o->color = strcmp(arg, "auto") ? arg : NULL;
	return 0;
}

static int take_finding(void *to, const char *arg, struct ty_err *err)
{
	uint64_t n;

	if (ty_parse_count(arg, UINT32_MAX, &n))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "--at-wait '%s' is not a number from 1", arg);
	*(uint32_t *)to = (uint32_t)n;
	return 0;
}

static int take_json(void *to, const char *arg, struct ty_err *err)
{
	return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
		       "view has no --json. Use tarry report --json or tarry dump --json");
}

static const struct ty_option options[] = {
	{0, "at-wait", "N", "start at entry N of the list of stalls and longest waits",
	 .take = take_finding, .at = offsetof(struct ty_view_options, at_finding)},
	{0, "at-finding", "N", NULL, .take = take_finding,
	 .at = offsetof(struct ty_view_options, at_finding)},
	{0, "log", "FILE", "show the lines of a log file on the axis (by timestamp, repeatable)",
	 .take = ty_take_texts, .at = offsetof(struct ty_view_options, logs.path)},
	{0, "print", NULL, "print one frame as text instead of opening the timeline",
	 .take = ty_take_flag, .at = offsetof(struct ty_view_options, print)},
	{0, "size", "WxH",
	 "set the size of that frame (default: COLUMNS x LINES, the terminal, or 100x30)",
	 .take = take_size},
	{0, "color", "[=WHEN]",
	 "when to use color, or how much: auto (default), always (--color alone), "
	 "never, truecolor, 256 or 16",
	 .take = take_color, .is_value = is_color_word},
	{0, "keys-man", NULL, "print the table of keys as man(7) text", .take = ty_take_flag,
	 .at = offsetof(struct ty_view_options, keys_man)},
	{0, "json", NULL, NULL, .take = take_json},
	{0}};

/* A perf.data file: its memory samples. */
static int show_memory(const struct ty_view_options *o, struct ty_err *err)
{
	struct ty_view_memory v = {.files = ty_view_name_files(o), .aside = !o->print};
	int rc;

	if (o->sel.clock_chosen || o->logs.path.n)
		return ty_fail(
			err, TY_EUSAGE, TY_NO_OFFSET,
			"%s: --clock and --log need a recording of events, not memory samples",
			o->path ? o->path : "tarry.dat");
	rc = ty_view_memory_open(&v, o->path, &o->sel, err);
	if (!rc)
		rc = ty_view_show(o, &(struct ty_app_input){.memory = &v.in}, err);
	rc = rc ? rc : ty_view_memory_check(&v, err);
	ty_view_memory_fini(&v);
	return rc;
}

/* Has the perf.data file samples of what ran, and neither memory samples nor instructions? */
static bool only_samples(const char *path)
{
	struct ty_perf *f;
	struct ty_perf_rec r = {0};
	struct ty_err err = {0};
	bool only = true;

	if (ty_perf_open(path, &f, &err))
		return false;
	/* The pipe form says so in records before the first sample. */
	while (f->pipe && r.type != TY_PERF_SAMPLE && ty_perf_next(f, &r, &err) > 0)
		;
	for (size_t i = 0; i < f->events.n; i++) {
		const char *pmu = ty_perf_pmu(f, f->events.v[i].attr.type);
		const uint64_t type = f->events.v[i].attr.sample_type;

		/* Of the data source alone: call graphs by DWARF have it, too. */
		only &= !(type & TY_PERF_S_DATA_SRC &&
			  type & (TY_PERF_S_WEIGHT | TY_PERF_S_WEIGHT_STRUCT)) &&
			!(pmu && (!strncmp(pmu, "intel_pt", 8) || !strncmp(pmu, "arm_spe", 7)));
	}
	only &= f->events.n != 0;
	ty_perf_close(f);
	return only;
}

/* A perf.data file with nothing but samples: their flame graph. */
static int show_flame(const struct ty_view_options *o, struct ty_err *err)
{
	const struct ty_sample_load_opts how = {.roots = &o->flow.roots};
	const char *path = o->path ? o->path : "tarry.dat";
	struct ty_samples *s = NULL;
	struct ty_flame_input in = {0};
	struct ty_window w;
	int rc;

	if (o->sel.clock_chosen || o->logs.path.n)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "%s: --clock and --log need a recording of events, not samples",
			       path);
	rc = ty_samples_of_perf(path, &how, &s, err);
	if (!rc && !s->v.n)
		rc = ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			     "%s: it has no samples with a time and a thread (tarry report %s "
			     "lists what "
			     "it has)",
			     path, path);
	rc = rc ? rc : ty_select_range(&o->sel, path, s->v.v[0].ns, s->v.v[s->v.n - 1].ns, &w, err);
	if (!rc) {
		in.samples = s;
		in.from_ns = w.from_ns;
		in.to_ns = w.to_ns;
		snprintf(in.when, sizeof(in.when), "%s", s->event);
		rc = ty_view_show(o, &(struct ty_app_input){.flame = &in}, err);
	}
	ty_samples_free(s);
	return rc;
}

int ty_cmd_view(int argc, char **argv)
{
	struct ty_view_options o = {0};
	struct ty_session s = {0};
	struct ty_err err = {0};
	const struct ty_command_line line = {
		"view", head,
		.groups = {{options, .to = &o},
			   {ty_select_options, .to = &o.sel},
			   {ty_clock_option, .to = &o.sel},
			   {ty_memory_option, .to = &o.sel},
			   {ty_index_option, .to = &o.sel},
			   {ty_code_options, .to = &o.flow,
			    .title = "Locate code of executed instructions and memory samples:"}}};
	int rc, status = ty_options_parse(&line, argc, argv);

	if (status < 0 && o.keys_man)
		status = write_keys_man();
	if (status < 0 && optind < argc)
		o.path = argv[optind++];
	if (status < 0 && optind < argc)
		status = ty_cli_usage("view", "unexpected argument %s: only one FILE can be given",
				      argv[optind]);
	if (status < 0 && !o.print && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))) {
		ty_fail(&err, TY_EUSAGE, TY_NO_OFFSET,
			"view: standard %s is not a terminal: add --print to print one frame as "
			"text, or use tarry report",
			isatty(STDOUT_FILENO) ? "input" : "output");
		ty_cli_fail(&err);
		status = TY_EXIT_USAGE;
	}
	if (status < 0) {
		const char *path = o.path ? o.path : "tarry.dat";
		bool memory = ty_mem_session_is_perf(path) && !ty_trace_in_perf(path) &&
			      !ty_trace_of_perf_stat(path);

		rc = !memory		  ? ty_view_timeline(&o, &s, &err)
		     : only_samples(path) ? show_flame(&o, &err)
					  : show_memory(&o, &err);
		status = rc < 0 ? ty_cli_fail(&err) : TY_EXIT_GOOD;
		if (!o.print)
			ty_model_leave(s.model);
		ty_session_fini(&s);
		if (rc > 0) { /* end by the signal, so that callers see it */
			signal(rc, SIG_DFL);
			raise(rc);
		}
	}
	ty_report_logs_fini(&o.logs);
	ty_flow_source_fini(&o.flow);
	ty_select_fini(&o.sel);
	return status;
}
