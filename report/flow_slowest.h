/* SPDX-License-Identifier: MIT */
/* report flow --slowest FUNC: compares the slowest call of a function with its median call. */
#ifndef TY_FLOW_SLOWEST_H
#define TY_FLOW_SLOWEST_H

#include "flow_source.h"
#include "flow_stats.h"
#include "window_select.h"

/* Decodes the selected flow of the open source a second time, and prints to stdout; st: result of
 * the first. path: for messages. 0 or -TY_E... */
int ty_flow_slowest(struct ty_flow_source *src, const char *path, const struct ty_select *sel,
		    struct ty_flow_names *names, const struct ty_flow_stats *st, bool software,
		    const char *func, struct ty_err *err);

#endif
