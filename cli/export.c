/* SPDX-License-Identifier: MIT */
/* tarry export: a recording in another program's form. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export_perf.h"

static const char help[] =
	"usage: tarry export [FILE] --to perf [-o OUT] [options]\n\n"
	"Writes a perf.data file, for perf script, perf sched, perf trace -i: events as samples "
	"of\n"
	"tracepoints; Intel PT (also of --flow=step) for perf script --itrace=b; memory "
	"samples.\n\n"
	"  --to perf        the form; there is no other\n"
	"  -o, --output OUT where to (default: perf.data, unless that is there already)\n"
	"  --from T         from T on: seconds from the start (12.5), -3 (before the end), "
	"or\n"
	"                   14:03:22.5\n"
	"  --to T           up to T (beside --to perf)\n"
	"  --tid N[,N]      only events and samples of these threads\n"
	"  --comm NAME      only those of threads of this name (shell pattern); may be repeated\n"
	"  --cpu N[,N-M]    only those of these CPUs\n"
	"                   (Arm SPE goes along whole, Intel PT of all threads and CPUs)\n"
	"  --memory SIZE    most memory to use, such as 2G (default: a quarter of the machine's)\n";

/* --to names the form, or a time as for all readers: no form begins as a time does. */
static bool is_form(const char *arg)
{
	return (*arg >= 'a' && *arg <= 'z') || (*arg >= 'A' && *arg <= 'Z');
}

static int same_file(const char *in, const char *out, struct ty_err *err)
{
	char a[4096], b[4096];

	if (realpath(in, a) && realpath(out, b) && !strcmp(a, b))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "%s would be written over itself: choose another -o", in);
	return 0;
}

static int export(const char *path, const char *out, const struct ty_select *sel,
		  struct ty_err *err)
{
	struct ty_session s = {0};
	struct ty_perf_exported done;
	struct ty_window w;
	int r = 0;

	if (out)
		r = same_file(path ? path : "tarry.dat", out, err);
	else if (!access("perf.data", F_OK))
		r = ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "perf.data is there already: say -o OUT");
	out = out ? out : "perf.data";
	r = r ? r : ty_session_open(&s, path, TY_OPEN_EVENTS, sel->memory_bytes, err);
	r = r ? r : ty_select_window(sel, &s, &w, err);
	/* Instructions may have been recorded before the first event and after the last. */
	if (!r && !sel->from)
		w.from_ns = 0;
	if (!r && !sel->to)
		w.to_ns = UINT64_MAX;
	r = r ? r : ty_export_perf(&s, &w, out, &done, err);
	if (!r) {
		fprintf(stderr, "tarry: %" PRIu64 " events", done.events);
		if (done.lost)
			fprintf(stderr, " (%" PRIu64 " or more were lost)", done.lost);
		if (done.aux_bytes)
			fprintf(stderr, ", %" PRIu64 " bytes of AUX streams", done.aux_bytes);
		fprintf(stderr, " -> %s\n", out);
	}
	if (!r && done.images)
		fprintf(stderr,
			"tarry: %s holds images of code that lay in no file (vdso, JIT): "
			"perf cannot decode there\n",
			s.trace->path);
	ty_session_fini(&s);
	return r;
}

int ty_cmd_export(int argc, char **argv)
{
	static const struct option opts[] = {TY_SELECT_OPTIONS,
					     {"output", required_argument, NULL, 'o'},
					     {"help", no_argument, NULL, 'h'},
					     {0}};
	struct ty_select sel = {0};
	struct ty_err err = {0};
	const char *path = NULL, *out = NULL, *form = NULL;
	int c, status;

	while ((c = getopt_long(argc, argv, "ho:", opts, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return TY_EXIT_GOOD;
		}
		if (c == '?')
			return ty_cli_usage("export", "unknown option or missing value");
		if (c == 'o') {
			out = optarg;
		} else if (c == TY_OPT_TO && is_form(optarg)) {
			form = optarg;
		} else if (c == TY_OPT_JSON) {
			return ty_cli_usage("export", "--json goes with report and dump");
		} else {
			status = ty_select_option(&sel, "export", c, optarg);
			if (status)
				return status;
		}
	}
	if (argc - optind > 1)
		return ty_cli_usage("export", "'%s': one file at a time", argv[optind + 1]);
	path = optind < argc ? argv[optind] : NULL;
	if (!form)
		return ty_cli_usage("export", "--to is missing: --to perf");
	if (strcmp(form, "perf"))
		return ty_cli_usage("export", "'%s' is no form that tarry writes: --to perf", form);
	status = export(path, out, &sel, &err) ? ty_cli_fail(&err) : TY_EXIT_GOOD;
	ty_select_fini(&sel);
	return status;
}
