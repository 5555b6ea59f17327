/* SPDX-License-Identifier: MIT */
/* Where derived files go that have no place beside what they are of: $XDG_CACHE_HOME/tarry, else
 * ~/.cache/tarry. */
#ifndef TY_CACHE_FOLDER_H
#define TY_CACHE_FOLDER_H

#include <limits.h>
#include <stdbool.h>

void ty_folder_of(const char *path, char out[PATH_MAX]); /* "." where it names none */
/* The folder's path; make: it is created, with mode 0700. False: the environment names none. */
bool ty_cache_folder(bool make, char out[PATH_MAX]);
/* What was made in the folder of the user who called sudo becomes theirs: fd is open on path. */
void ty_cache_give(int fd, const char *path);

#endif
