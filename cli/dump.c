/* SPDX-License-Identifier: MIT */
/* tarry dump: arguments, and the selection of what is dumped. */
#include "dump.h"
#include "dump_flow.h"
#include "flow_args.h"
#include "cli.h"
#include "reader_options.h"

#include <getopt.h>
#include <string.h>

static const char head[] =
	"usage: tarry dump [FILE] [events|syscalls|stacks|samples|regions|memory]\n"
	"                  [options]\n"
	"       tarry dump [FILE] flow [options]: see tarry dump flow --help\n"
	"\n"
	"  events     print each event in time order, as trace-cmd report does (default)\n"
	"  syscalls   print one line per system call, as strace -f -yy -tt -T does\n"
	"  stacks     print user stacks of long waits, folded, with microseconds off CPU\n"
	"  samples    print each CPU sample with its stack and branch records (LBR)\n"
	"  regions    print one line per region of user code, nested ones indented\n"
	"  memory     print one line per sampled memory access (Arm SPE, or perf mem)\n"
	"\n";
static const char tail[] =
	"Default for --clock: trace for events and samples, wall for syscalls, start for\n"
	"regions. It does not apply to stacks and memory accesses.\n";

struct args {
	struct ty_select sel;
	struct ty_mem_options mem;
	const char *path;
	bool memory, samples;
	int (*dump)(struct ty_session *, const struct ty_select *, const struct ty_window *, FILE *,
		    struct ty_err *);
};

/* The file and what of it: -1, or the exit status. */
static int take_words(struct args *a, char **words, int n)
{
	for (int i = 0; i < n; i++) {
		bool last = i == n - 1 && (a->path || n == 1);

		if (last && !strcmp(words[i], "events"))
			a->dump = ty_dump_events;
		else if (last && !strcmp(words[i], "syscalls"))
			a->dump = ty_dump_syscalls;
		else if (last && !strcmp(words[i], "stacks"))
			a->dump = ty_dump_stacks;
		else if (last && !strcmp(words[i], "regions"))
			a->dump = ty_dump_regions;
		else if (last && !strcmp(words[i], "samples"))
			a->samples = true;
		else if (last && !strcmp(words[i], "memory"))
			a->memory = true;
		else if (!a->path)
			a->path = words[i];
		else
			return ty_cli_usage("dump",
					    "cannot dump %s: give events, syscalls, stacks, "
					    "samples, regions, memory or flow",
					    words[i]);
	}
	if (!a->memory && (a->mem.raw || a->mem.midr))
		return ty_cli_usage("dump", "--spe-raw and --midr work only with 'dump memory'");
	if (!a->memory &&
	    (a->mem.kallsyms || (a->mem.roots.n && a->dump != ty_dump_stacks && !a->samples)))
		return ty_cli_usage(
			"dump", "--symfs and --kallsyms work only with 'dump memory' and "
				"'dump flow', --symfs also with 'dump stacks' and 'dump samples'");
	if (a->memory && a->sel.clock_chosen)
		return ty_cli_usage("dump", "--clock does not work with 'dump memory'");
	return -1;
}

static int dump(const struct args *a)
{
	struct ty_session s = {0};
	struct ty_err err = {0};
	struct ty_window w;
	int r, status;

	if (a->memory)
		r = ty_dump_memory(a->path, &a->mem, &a->sel, stdout, &err);
	else if (a->samples)
		r = ty_dump_samples(a->path, &a->mem.roots, &a->sel, stdout, &err);
	else
		r = ty_session_open(&s, a->path,
				    a->dump == ty_dump_stacks || a->dump == ty_dump_regions
					    ? TY_OPEN_MODEL
					    : TY_OPEN_EVENTS,
				    a->sel.memory_bytes, &err) ||
		    ty_session_symfs(&s, &a->mem.roots) ||
		    ty_select_window(&a->sel, &s, &w, &err) ||
		    a->dump(&s, &a->sel, &w, stdout, &err) || ty_session_check(&s, &err);
	if (r) {
		fflush(stdout);
		status = ty_cli_fail(&err);
	} else {
		status = ty_cli_written(&err) ? ty_cli_fail(&err) : TY_EXIT_GOOD;
	}
	ty_session_fini(&s);
	return status;
}

int ty_cmd_dump(int argc, char **argv)
{
	struct args a = {.dump = ty_dump_events};
	const struct ty_command_line line = {"dump", head, tail,
					     .groups = {{ty_json_option, .to = &a.sel},
							{ty_select_options, .to = &a.sel},
							{ty_dump_clock_option, .to = &a.sel},
							{ty_memory_option, .to = &a.sel},
							{ty_mem_options, .to = &a.mem},
							{ty_unused_options, .to = &a.sel}}};
	const struct ty_command_line any = {.groups = {{.options = ty_json_option},
						       {.options = ty_select_options},
						       {.options = ty_clock_option},
						       {.options = ty_memory_option},
						       {.options = ty_mem_options},
						       {.options = ty_packet_options},
						       {.options = ty_code_options},
						       {.options = ty_unused_options}}};
	int status;

	if (ty_options_have(&any, (const char *const[]){"flow", "--pt-raw", NULL}, argc, argv))
		return ty_cmd_dump_flow(argc, argv);
	status = ty_flow_options_refuse("dump", &any, argc, argv);
	if (status < 0)
		status = ty_options_parse(&line, argc, argv);
	if (status < 0)
		status = take_words(&a, argv + optind, argc - optind);
	if (status < 0)
		status = dump(&a);
	ty_select_fini(&a.sel);
	vec_fini(&a.mem.roots);
	return status;
}
