/* SPDX-License-Identifier: MIT */
/* Lists the contents of a perf.data file without events for a timeline, and the command that shows
 * each. */
#ifndef TY_PERF_CONTENTS_H
#define TY_PERF_CONTENTS_H

#include <stdbool.h>
#include <stdio.h>

#include "err.h"

/* 0 where something was written, or -TY_E... with err; -TY_ENOTFOUND: it holds no records. */
int ty_perf_contents(const char *path, bool json, FILE *f, struct ty_err *err);

#endif
