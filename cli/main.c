/* SPDX-License-Identifier: MIT */
/* The dispatch table. Everything else is in one file per subcommand. */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "fd_limit.h"
#include "plain.h"

/* What any command may have open at a time; record asks for what its CPUs need besides. */
#define FDS 24

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *args, *help;
} commands[] = {
	{"record", ty_cmd_record, "[OPTIONS] [-- CMD...]",
	 "capture a command, processes or the whole machine"},
	{"view", ty_cmd_view, "[FILE]", "the timeline (FILE: tarry.dat when not given)"},
	{"report", ty_cmd_report, "[FILE] [SECTION...]", "what happened, in numbers"},
	{"dump", ty_cmd_dump, "[FILE] [WHAT]", "one line per item: syscalls, events, flow, memory"},
	{"export", ty_cmd_export, "[FILE] --to FORM",
	 "a perf.data file for perf's tools, or a part of it as a smaller recording"},
	{"doctor", ty_cmd_doctor, "", "what can be captured here, and the fix for what can't"},
};

static void usage(FILE *f)
{
	fputs("tarry records what a Linux machine did and shows it on a timeline in the "
	      "terminal.\n\n"
	      "usage:\n",
	      f);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(f, "  tarry %-7s%-22s %s\n", commands[i].name, commands[i].args,
			commands[i].help);
	fputs("\n`tarry help COMMAND` tells more. See also tarry(1).\n", f);
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
	ty_say("tarry: '%s' is not a command of tarry; `tarry --help` lists them\n", argv[1]);
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
