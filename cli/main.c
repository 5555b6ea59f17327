/* SPDX-License-Identifier: MIT */
/* The dispatch table. Each subcommand has a file of its own. */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "fd_limit.h"
#include "plain_text.h"

/* What any command may have open at a time; record adds what its CPUs need. */
#define FDS 24

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *args, *help;
} commands[] = {
	{"record", ty_cmd_record, "[OPTIONS] [-- CMD...]",
	 "record a command, processes or the machine"},
	{"view", ty_cmd_view, "[FILE]", "open the timeline (default: tarry.dat)"},
	{"report", ty_cmd_report, "[FILE] [SECTION...]", "explain waits and count what happened"},
	{"dump", ty_cmd_dump, "[FILE] [WHAT]", "print events, syscalls, flow or memory"},
	{"export", ty_cmd_export, "[FILE] -o OUT", "write perf.data, or a smaller recording"},
	{"doctor", ty_cmd_doctor, "", "show what can be recorded here"},
};

static void usage(FILE *f)
{
	fputs("tarry records what a Linux machine did, explains it, and shows it on a "
	      "timeline.\n\n"
	      "usage:\n",
	      f);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(f, "  tarry %-7s%-22s %s\n", commands[i].name, commands[i].args,
			commands[i].help);
	fputs("\nSee tarry help COMMAND and tarry(1).\n", f);
}

static int run(int argc, char **argv)
{
	static char help[] = "--help";
	struct ty_err err = {0};

	setlocale(LC_ALL, "");
	/* Numbers are written and read with a point everywhere: 0.5s, 4.018 s, JSON. */
	setlocale(LC_NUMERIC, "C");
	/* A file that may not grow is a write that fails, with a sentence; record does it itself,
	 * for its command's sake. */
	if (argc < 2 || strcmp(argv[1], "record"))
		signal(SIGXFSZ, SIG_IGN);
	if (argc < 2) {
		usage(stderr);
		return TY_EXIT_USAGE;
	}
	/* "tarry help report" is "tarry report --help". */
	if (argc > 2 && !strcmp(argv[1], "help")) {
		memmove(&argv[1], &argv[2], sizeof(*argv) * (size_t)(argc - 2));
		argv[argc - 1] = help;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return TY_EXIT_GOOD;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("tarry " TY_VERSION);
		return TY_EXIT_GOOD;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name)) {
			ty_fd_limit_raise();
			if (ty_fd_limit_need(FDS, &err))
				return ty_cli_fail(&err);
			return commands[i].run(argc - 1, argv + 1);
		}
	ty_say("tarry: unknown command %s (see tarry help)\n", argv[1]);
	return TY_EXIT_USAGE;
}

/* What was printed and could not be written is a failure of every command, help as well. */
int main(int argc, char **argv)
{
	int status = run(argc, argv);
	struct ty_err err = {0};

	if (status == TY_EXIT_GOOD && ty_cli_written(&err))
		return ty_cli_fail(&err);
	return status;
}
