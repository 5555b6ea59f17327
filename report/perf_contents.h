/* SPDX-License-Identifier: MIT */
/* What a perf.data file holds that has no events for a timeline, and which command shows it. */
#ifndef TY_PERF_CONTENTS_H
#define TY_PERF_CONTENTS_H

#include <stdbool.h>
#include <stdio.h>

#include "err.h"

/* 0 where something was written, or -TY_E... with err; -TY_ENOTFOUND: it holds no records. */
int ty_perf_contents(const char *path, bool json, FILE *f, struct ty_err *err);

#endif
