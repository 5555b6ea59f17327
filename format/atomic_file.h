/* SPDX-License-Identifier: MIT */
/*
 * A file that takes its place only when it is worth it: written without a name (O_TMPFILE; under
 * the name "tarry-unfinished-XXXXXX" in the same folder where the file system has no such files),
 * then renamed over the output path. A rename replaces a link itself and never follows it, and what
 * was at the path before stays whole until then.
 *
 * The file is locked (flock) from its first moment to its close: that is how two recorders with one
 * output path find out.
 */
#ifndef TY_ATOMIC_FILE_H
#define TY_ATOMIC_FILE_H

#include <stdbool.h>

#include "err.h"

/*
 * Create the file that may later be placed at path, locked, mode 0600, of who called sudo
 * (file_owner.h). *name (caller frees) is the name it has until then, or NULL. `named`: with a name
 * in any case (for tests). The fd, or -TY_E... with a sentence; path is refused when it is there
 * and is neither a regular file nor a link to one, and when another recorder is writing to it; the
 * file `own` (an fd, or -1) is no other.
 */
int ty_atomic_file_open(const char *path, int own, bool named, char **name, struct ty_err *err);

/*
 * Put the file at path, over what is there. 0: *name is freed and NULL. On failure all is as
 * before.
 */
int ty_atomic_file_place(int fd, char **name, const char *path, int own, struct ty_err *err);

/* Remove it from under *name, if it has one; frees *name. */
void ty_atomic_file_remove(char **name);

/* Is the file at path the one that is open as fd? */
bool ty_atomic_file_is_at(const char *path, int fd);

#endif
