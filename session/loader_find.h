/* SPDX-License-Identifier: MIT */
/*
 * Which file the dynamic loader (ld.so(8)) takes for a library's name: of the libraries that a
 * program needs, directly or not, the one that it would load; of another one what dlopen in the
 * program would. By DT_RPATH, LD_LIBRARY_PATH (of this process, which the command inherits),
 * DT_RUNPATH, /etc/ld.so.cache and the system's directories, of the program's machine only. Nothing
 * is executed. Subdirectories for newer CPUs (glibc-hwcaps) are not looked into.
 */
#ifndef TY_LOADER_FIND_H
#define TY_LOADER_FIND_H

#include <limits.h>
#include <stdbool.h>

/* The library's path; false: it would not be found. cache: NULL for /etc/ld.so.cache. */
bool ty_loader_find(const char *program, const char *name, const char *cache, char path[PATH_MAX]);

#endif
