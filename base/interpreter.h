/* SPDX-License-Identifier: MIT */
/* Command lines of interpreters: which of the arguments is the program. argv: n bytes of arguments,
 * a NUL after each. */
#ifndef TY_INTERPRETER_H
#define TY_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>

struct ty_interpreter;

/* Of a process' name; NULL: it is none. */
const struct ty_interpreter *ty_interpreter_of(const char *comm);
/* The script, or the module with "-m" before it; NULL: there is none. */
const char *ty_script(const struct ty_interpreter *in, const char *argv, size_t n, bool *module);
/* An interpreter without a program ("sh -x"), or a tool that stops or signals others for another
 * one ("kill -STOP 812"): the command line of its parent says more. */
bool ty_needs_caller(const char *argv, size_t n);

#endif
