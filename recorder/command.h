/* SPDX-License-Identifier: MIT */
/* The command that is recorded: found before anything is set up, started only when all is armed. */
#ifndef TY_COMMAND_H
#define TY_COMMAND_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "err.h"

enum { TY_EXIT_NOT_EXECUTABLE = 126, TY_EXIT_NOT_FOUND = 127 };

struct ty_command {
	char path[PATH_MAX];
	char **argv; /* borrowed */
	pid_t pid;   /* 0: not forked */
	int go, report;
	int exit_code; /* after a failure: 126 or 127 as shells do, else 1 */
};

/*
 * Find argv[0] as execvp would, so that later there is exactly one execve. 0, or -TY_ENOTFOUND /
 * -TY_EPERM with a sentence and exit_code set.
 */
int ty_command_find(struct ty_command *c, char **argv, struct ty_err *err);
/*
 * Fork; the child waits for ty_command_release (or ends when the parent does). `mask` is the signal
 * mask that the command gets; the signals in `reset`, which this process ignores for its own sake,
 * it gets as default.
 */
int ty_command_fork(struct ty_command *c, const sigset_t *mask, const sigset_t *reset,
		    struct ty_err *err);
/* Let it execve. 0, or a failure of execve with exit_code set (the child is then reaped). */
int ty_command_release(struct ty_command *c, struct ty_err *err);
/* Not to be run after all: end and reap a child that was not released. Any state. */
void ty_command_cancel(struct ty_command *c);

#endif
