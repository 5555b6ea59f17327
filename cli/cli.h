/* SPDX-License-Identifier: MIT */
/*
 * Shared by all subcommands: entry points, errors and exit status. Messages go to stderr as "tarry:
 * sentence"; exit status 0 success, 1 failure, 2 wrong usage.
 */
#ifndef TY_CLI_H
#define TY_CLI_H

#include "err.h"

enum { TY_EXIT_GOOD = 0, TY_EXIT_FAILED = 1, TY_EXIT_USAGE = 2, TY_EXIT_INTERRUPTED = 130 };

int ty_cmd_record(int argc, char **argv);
int ty_cmd_view(int argc, char **argv);
int ty_cmd_report(int argc, char **argv);
int ty_cmd_dump(int argc, char **argv);
int ty_cmd_export(int argc, char **argv);
int ty_cmd_doctor(int argc, char **argv);

/* "tarry: ..." on stderr; usage errors end with a hint at --help. Return the exit status. */
int ty_cli_fail(const struct ty_err *err);
/* Flushes stdout: 0, or -TY_E... with err. A reader that closed the pipe early (head) is not a
 * failure. */
int ty_cli_written(struct ty_err *err);
int ty_cli_usage(const char *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
