/* SPDX-License-Identifier: MIT */
/* tarry dump: arguments, and the choice of what is dumped. */
#include "dump.h"
#include "dump_flow.h"

#include <getopt.h>
#include <signal.h>
#include <string.h>

static const char help[] =
	"usage: tarry dump [FILE] [events|syscalls|memory] [options]\n"
	"       tarry dump [FILE] flow [options]: see tarry dump flow --help\n\n"
	"  events     every event once, in time order, as trace-cmd report prints it (default)\n"
	"  syscalls   one line per system call, as strace -f -tt -T prints it\n"
	"  memory     one line per sampled memory access (Arm SPE; perf.data files: x86, too)\n\n"
	"  --json         one JSON object per line\n"
	"  --clock WHICH  events, syscalls: times from the start (start), as time of day (wall: "
	"default\n"
	"                 of syscalls), in the trace clock (trace: default of events, and JSON's)\n"
	"  --from T       from T on: seconds from the start (12.5), -3 (before the end), or "
	"14:03:22.5\n"
	"  --to T         up to T\n"
	"  --tid N[,N]    only these threads\n"
	"  --comm NAME    only threads of this name (shell pattern); may be repeated\n"
	"  --cpu N[,N-M]  only these CPUs\n"
	"  --memory SIZE  most memory to use, such as 2G (default: a quarter of the "
	"machine's)\n" TY_MEM_OPTIONS_HELP;

int ty_cmd_dump(int argc, char **argv)
{
	static const struct option opts[] = {TY_SELECT_OPTIONS,
					     TY_CLOCK_OPTION,
					     TY_MEM_OPTIONS,
					     {"help", no_argument, NULL, 'h'},
					     {0}};
	int (*run)(struct ty_session *, const struct ty_select *, const struct ty_window *, FILE *,
		   struct ty_err *) = ty_dump_events;
	struct ty_session s = {0};
	struct ty_select sel = {0};
	struct ty_err err = {0};
	const char *path = NULL;
	struct ty_mem_options mem = {0};
	struct ty_window w;
	bool memory = false;
	int c, r, status;

	if (ty_dump_is_flow(argc, argv))
		return ty_cmd_dump_flow(argc, argv);
	while ((c = getopt_long(argc, argv, "h", opts, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return TY_EXIT_GOOD;
		}
		if (c == '?')
			return ty_cli_usage("dump", "unknown option or missing value");
		if (ty_mem_option(&mem, c, optarg))
			continue;
		status = ty_select_option(&sel, "dump", c, optarg);
		if (status)
			return status;
	}
	for (int i = optind; i < argc; i++) {
		bool last = i == argc - 1 && (path || argc - optind == 1);

		if (last && !strcmp(argv[i], "events"))
			run = ty_dump_events;
		else if (last && !strcmp(argv[i], "syscalls"))
			run = ty_dump_syscalls;
		else if (last && !strcmp(argv[i], "memory"))
			memory = true;
		else if (!path)
			path = argv[i];
		else
			return ty_cli_usage("dump",
					    "'%s' cannot be dumped: events, syscalls, memory, flow",
					    argv[i]);
	}
	if (!memory && (mem.raw || mem.midr))
		return ty_cli_usage("dump", "--spe-raw and --midr go with memory");
	if (memory && sel.clock_chosen)
		return ty_cli_usage("dump", "--clock goes with events and syscalls");
	if (memory)
		r = ty_dump_memory(path, &mem, &sel, stdout, &err);
	else
		r = ty_session_open(&s, path, TY_OPEN_EVENTS, sel.memory_bytes, &err) ||
		    ty_select_window(&sel, &s, &w, &err) || run(&s, &sel, &w, stdout, &err);
	if (r) {
		fflush(stdout);
		status = ty_cli_fail(&err);
	} else {
		status = ty_cli_written(&err) ? ty_cli_fail(&err) : TY_EXIT_GOOD;
	}
	ty_session_fini(&s);
	ty_select_fini(&sel);
	return status;
}
