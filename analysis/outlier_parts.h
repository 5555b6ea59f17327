/* SPDX-License-Identifier: MIT */
/* What a slow call, region or request did beside a median one: system calls, CPU samples by
 * function, performance counters. Its ledger: outliers.h. */
#ifndef TY_OUTLIER_PARTS_H
#define TY_OUTLIER_PARTS_H

#include "outliers.h"

/* Fills the rest of o, whose times are set: rows (ty_outlier_ledgers), parts and counted;
 * ty_outlier_fini in any case. Cost: a step per call and sample in these times. 0, -TY_EINTR or
 * -TY_ENOMEM. */
int ty_outlier_compare(const struct ty_explain *x, struct ty_outlier *o, uint32_t median_thread);

#endif
