/* SPDX-License-Identifier: MIT */
/* The first line of a small text file, as those of /proc and /sys are. */
#ifndef TY_FIRST_LINE_H
#define TY_FIRST_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* Of the file at the path that fmt makes, without its newline, cut at size bytes. false: it cannot
 * be read, or is empty; out is empty then. */
bool ty_first_line(char *out, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
