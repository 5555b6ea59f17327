/* SPDX-License-Identifier: MIT */
/*
 * SIGBUS: a mapped file that was truncated, or a disk that cannot be read. The process cannot
 * continue; it exits with status 1 and a message about the file.
 */
#ifndef TY_SIGBUS_H
#define TY_SIGBUS_H

#include <stddef.h>

/* Installs the handler. Faults outside watched files are attributed to the index file of the
 * recording at path, or to the file that extends memory. Call it before the terminal is
 * initialised, whose handler runs first. */
void ty_sigbus_catch(const char *path);
/* Watches a file mapped at p until it is forgotten. Out of memory, it is not distinguished. */
void ty_sigbus_watch(const void *p, size_t n, const char *path);
void ty_sigbus_forget(const void *p);

#endif
