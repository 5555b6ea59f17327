/* SPDX-License-Identifier: MIT */
/*
 * Programs by build id from debuginfod servers (elfutils), only when the user has set
 * DEBUGINFOD_URLS. The library is loaded on first use; its cache and its variables
 * (DEBUGINFOD_CACHE_PATH, _TIMEOUT, ...) apply.
 */
#ifndef TY_DEBUGINFOD_H
#define TY_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>

struct ty_debuginfod;

/* NULL: no servers are configured (or out of memory). Sends no request yet. */
struct ty_debuginfod *ty_debuginfod_new(void);
void ty_debuginfod_free(struct ty_debuginfod *d);
/* Fetches the executable or library and returns a file descriptor, owned by the caller; -1: no
 * server has it. May take as long as the network does. Not thread-safe. */
int ty_debuginfod_executable(struct ty_debuginfod *d, const uint8_t *build_id, size_t n);
/* The same for its separate debug information. */
int ty_debuginfod_names(struct ty_debuginfod *d, const uint8_t *build_id, size_t n);

#endif
