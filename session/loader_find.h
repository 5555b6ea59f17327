/* SPDX-License-Identifier: MIT */
/*
 * Finds the file that the dynamic loader (ld.so(8)) uses for a library's name: for a library that
 * the program needs, directly or indirectly, the one loaded at start; for another one, the one that
 * dlopen in the program would load. Uses DT_RPATH, LD_LIBRARY_PATH (of this process, which the
 * command inherits), DT_RUNPATH, /etc/ld.so.cache and the system's directories, for the program's
 * machine only. Executes nothing. Does not search subdirectories for newer CPUs (glibc-hwcaps).
 */
#ifndef TY_LOADER_FIND_H
#define TY_LOADER_FIND_H

#include <limits.h>
#include <stdbool.h>

/* The library's path; false when not found. cache: NULL for /etc/ld.so.cache. */
bool ty_loader_find(const char *program, const char *name, const char *cache, char path[PATH_MAX]);

#endif
