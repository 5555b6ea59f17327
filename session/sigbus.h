/* SPDX-License-Identifier: MIT */
/*
 * SIGBUS: a file that somebody cuts short while it is mapped, or a disk that cannot be read. There
 * is no way on from there; the command ends with a sentence about the file that it was, and fails.
 */
#ifndef TY_SIGBUS_H
#define TY_SIGBUS_H

#include <stddef.h>

/* What is said of what is not watched: the index file of the recording at path, or what stands in
 * for memory. Before the terminal is taken, whose handler goes before this one. */
void ty_sigbus_catch(const char *path);
/* A file is mapped at p; until forgotten. Where memory runs out it is not told apart. */
void ty_sigbus_watch(const void *p, size_t n, const char *path);
void ty_sigbus_forget(const void *p);

#endif
