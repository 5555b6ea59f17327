/* SPDX-License-Identifier: MIT */
/* dump flow: executed instructions, taken branches or calls, one line each, in time order over all
 * streams, with undecodable parts in place. */
#ifndef TY_FLOW_DUMP_H
#define TY_FLOW_DUMP_H

#include <stdio.h>

#include "flow_source.h"
#include "window_select.h"

enum ty_flow_shape { TY_FLOW_INSNS, TY_FLOW_BRANCHES, TY_FLOW_CALLS };

/* The selected part of an open source, as text or as JSON. path: for messages. 0 or -TY_E... */
int ty_flow_dump(struct ty_flow_source *src, const char *path, const struct ty_select *sel,
		 enum ty_flow_shape shape, FILE *out, struct ty_err *err);

#endif
