/* SPDX-License-Identifier: MIT */
/* A file without a name for what memory shall not hold: gone with its last descriptor. */
#ifndef TY_TEMP_FILE_H
#define TY_TEMP_FILE_H

/* In $TMPDIR, else /var/tmp (/tmp is memory on many machines); *dir says which, borrowed from the
 * environment. The fd, or -1 with errno. */
int ty_temp_file(const char **dir);

#endif
