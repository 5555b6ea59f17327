/* SPDX-License-Identifier: MIT */
/* report flow --slowest FUNC: compares the slowest call of a function with its median call. */
#ifndef TY_REPORT_SLOWEST_H
#define TY_REPORT_SLOWEST_H

#include "flow_args.h"
#include "flow_stats.h"

/* Decodes the flow a second time; st: result of the first. 0 or -TY_E... */
int ty_report_slowest(struct ty_flow_args *a, struct ty_flow_names *names,
		      const struct ty_flow_stats *st, bool software, const char *func,
		      struct ty_err *err);

#endif
