/* SPDX-License-Identifier: MIT */
/*
 * The limit on open files (RLIMIT_NOFILE). It is checked before work begins, because an open() that
 * fails halfway is easily mistaken for a missing file. The error states the limit and the number
 * needed.
 */
#ifndef TY_FD_LIMIT_H
#define TY_FD_LIMIT_H

#include "err.h"

/* Raises this process's soft limit to its hard limit. Called once at start. */
void ty_fd_limit_raise(void);
/* Restores the original limit. Called in a child before it executes the user's command. */
void ty_fd_limit_restore(void);
/* Checks that `more` further files can be opened. 0 or -TY_ELIMIT with a sentence. */
int ty_fd_limit_need(unsigned more, struct ty_err *err);

#endif
