/* SPDX-License-Identifier: MIT */
/*
 * The limit on open files. It is asked about before work begins, because an open that fails in the
 * middle looks like a file that is not there: who lacks room for all is told so, with the numbers.
 */
#ifndef TY_FD_LIMIT_H
#define TY_FD_LIMIT_H

#include "err.h"

/* Raise this process's soft limit to its hard one. Once, at the program's start. */
void ty_fd_limit_raise(void);
/* The limit as it was before: for a program that is to run as if tarry were not there. */
void ty_fd_limit_restore(void);
/* Can so many more files be opened? 0 or -TY_ELIMIT with a sentence. */
int ty_fd_limit_need(unsigned more, struct ty_err *err);

#endif
