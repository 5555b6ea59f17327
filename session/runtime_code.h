/* SPDX-License-Identifier: MIT */
/*
 * Which code belongs to libc, the dynamic linker or a language's runtime and standard library: such
 * a function is not named for a wait, but the first other one that called it.
 */
#ifndef TY_RUNTIME_CODE_H
#define TY_RUNTIME_CODE_H

#include <stdbool.h>

/* A mapped file, by its path; NULL: unknown. Its frames have functions, but no source lines. */
bool ty_is_runtime_file(const char *path);
/* A function of a program's own file, where it is linked or inlined, by its name and its source
 * file; NULL: unknown. */
bool ty_is_runtime_function(const char *name, const char *source);

#endif
