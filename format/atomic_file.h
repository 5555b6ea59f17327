/* SPDX-License-Identifier: MIT */
/*
 * Writes a file that replaces its destination only once it is complete. It is created without a
 * name (O_TMPFILE; under the name "tarry-unfinished-XXXXXX" in the same folder where the file
 * system does not support that), then renamed over the output path. A rename replaces a symbolic
 * link and never follows it, and the old file stays intact until then.
 *
 * The file is locked (flock) from creation to close, so that two recorders with the same output
 * path detect each other.
 */
#ifndef TY_ATOMIC_FILE_H
#define TY_ATOMIC_FILE_H

#include <stdbool.h>

#include "err.h"

/*
 * Creates the file that will later be placed at path: locked, mode 0600, owned by the sudo caller
 * (file_owner.h). *name (caller frees) is its name until then, or NULL. `named` forces a name (for
 * tests). Returns the fd, or -TY_E... with a sentence. Fails when path exists and is neither a
 * regular file nor a link to one, and when another recorder is writing to it; the file `own` (an
 * fd, or -1) does not count as another.
 */
int ty_atomic_file_open(const char *path, int own, bool named, char **name, struct ty_err *err);

/*
 * Renames the file to path, replacing what is there. 0: *name is freed and NULL. On failure nothing
 * has changed.
 */
int ty_atomic_file_place(int fd, char **name, const char *path, int own, struct ty_err *err);

/* Removes the file's temporary name, if it has one; frees *name. */
void ty_atomic_file_remove(char **name);

/* True when the file at path is the one open as fd. */
bool ty_atomic_file_is_at(const char *path, int fd);

#endif
