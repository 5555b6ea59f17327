/* SPDX-License-Identifier: MIT */
/* tarry report memory | sharing: arguments, and what is shown. */
#include "report_memory.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem_report.h"
#include "units.h"

static const char help[] =
	"usage: tarry report [FILE] memory|sharing [options]\n\n"
	"  memory     latency and source of sampled accesses by instruction, function, source,\n"
	"             page and thread; branches; what the sample is worth\n"
	"  sharing    cache lines that threads share while one writes: falsely or truly\n\n"
	"FILE is a perf.data file with Arm SPE or with samples of perf mem record, or a recording\n"
	"of tarry that has such samples.\n\n"
	"  --json         one JSON document\n"
	"  --from T       from T on: seconds from the first sample (12.5), or -3 (before the "
	"last)\n"
	"  --to T         up to T\n"
	"  --tid N[,N]    only these threads\n"
	"  --comm NAME    only threads of this name (shell pattern); may be repeated\n"
	"  --cpu N[,N-M]  only these CPUs\n"
	"  --line BYTES   size of a cache line (default: the file's, else 64)\n"
	"  --symfs DIR    files of the recorded machine; may be repeated\n" TY_MEM_OPTIONS_HELP
	"  --memory SIZE  most memory to use, such as 2G (default: a quarter of the machine's)\n"
	"  --no-index     neither read nor write the index file that makes the next open fast\n";

bool ty_report_is_memory(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "memory") || !strcmp(argv[i], "sharing"))
			return true;
	return false;
}

static int run(struct ty_mem_report *r, const struct ty_select *sel, bool want_memory,
	       bool want_sharing, const char *const *roots, size_t roots_n, struct ty_err *err)
{
	struct ty_mem_points all;
	struct ty_json j;
	int e;

	r->s.tell = true;
	r->facts = ty_mem_facts(r->s.stream);
	if (!r->line_bytes)
		r->line_bytes = r->facts->line_bytes;
	r->names = ty_mem_names_new(r->s.stream, roots, roots_n, ty_mem_session_local(&r->s));
	r->work.bytes = ty_mem_session_work_bytes(sel);
	e = r->names ? ty_mem_session_points(&r->s, sel, &r->points, err)
		     : ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", r->s.path);
	if (e)
		return e;
	if (want_sharing) {
		all = *r->points;
		all.width = ty_mem_access_widths(r->names, r->points, NULL);
		r->points = &all;
	}
	ty_json_init(&j, stdout);
	if (sel->json)
		ty_json_object(&j, NULL);
	if (want_memory)
		e = ty_mem_report_tables(r, stdout, sel->json ? &j : NULL);
	if (!e && want_memory && want_sharing && !sel->json)
		putchar('\n');
	if (!e && want_sharing)
		e = ty_mem_report_sharing(r, stdout, sel->json ? &j : NULL);
	if (sel->json) {
		ty_json_end_object(&j);
		ty_json_line(&j);
	}
	return e ? ty_fail(err, -e, TY_NO_OFFSET, "%s: out of memory", r->s.path)
		 : ty_mem_session_check(&r->s, err);
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
	struct ty_mem_report r = {.s.fd = -1};
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
		else if (ty_cli_written(&err))
			status = ty_cli_fail(&err);
	}
	ty_mem_names_free(r.names);
	ty_mem_session_fini(&r.s);
	ty_select_fini(&sel);
	vec_fini(&roots);
	return status;
}
