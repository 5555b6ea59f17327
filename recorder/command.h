/* SPDX-License-Identifier: MIT */
/* The traced command: found before anything is set up, started only when recording is armed. */
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
 * Finds argv[0] as execvp would, so that there is exactly one execve later. 0, or -TY_ENOTFOUND /
 * -TY_EPERM with a sentence and exit_code set.
 */
int ty_command_find(struct ty_command *c, char **argv, struct ty_err *err);
/*
 * Forks; the child waits for ty_command_release (or exits when the parent does). `mask` is the
 * command's signal mask; the signals in `reset`, which this process ignores for its own purposes,
 * get the default action in it.
 */
int ty_command_fork(struct ty_command *c, const sigset_t *mask, const sigset_t *reset,
		    struct ty_err *err);
/* Lets the child execve. 0, or a failure of execve with exit_code set (the child is then
 * reaped). */
int ty_command_release(struct ty_command *c, struct ty_err *err);
/* Kills and reaps a child that was not released. In any state. */
void ty_command_cancel(struct ty_command *c);

#endif
