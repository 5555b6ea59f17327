/* SPDX-License-Identifier: MIT */
/* An unnamed temporary file for data that is too large for memory. It disappears with its last
 * descriptor. */
#ifndef TY_TEMP_FILE_H
#define TY_TEMP_FILE_H

/* Creates it in $TMPDIR, else in /var/tmp, because /tmp is in memory on many machines. *dir names
 * the directory, borrowed from the environment. Returns the fd, or -1 with errno. */
int ty_temp_file(const char **dir);

#endif
