/* SPDX-License-Identifier: MIT */
/*
 * Programs by their build id from debuginfod servers (elfutils): only when the user has set
 * DEBUGINFOD_URLS. The library is loaded when it is asked for the first time, and not needed
 * otherwise; its cache and its variables (DEBUGINFOD_CACHE_PATH, _TIMEOUT, ...) hold.
 */
#ifndef TY_DEBUGINFOD_H
#define TY_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>

struct ty_debuginfod;

/* NULL: no servers are named (or out of memory). Nothing is asked yet. */
struct ty_debuginfod *ty_debuginfod_new(void);
void ty_debuginfod_free(struct ty_debuginfod *d);
/* A file descriptor of the executable or library, the caller's; -1: nobody has it. May take as long
 * as the network does. Not thread-safe. */
int ty_debuginfod_executable(struct ty_debuginfod *d, const uint8_t *build_id, size_t n);
/* The same of its names and lines, where these were stripped of it. */
int ty_debuginfod_names(struct ty_debuginfod *d, const uint8_t *build_id, size_t n);

#endif
