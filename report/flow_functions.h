/* SPDX-License-Identifier: MIT */
/* report flow: functions by the instructions of their calls. */
#ifndef TY_FLOW_FUNCTIONS_H
#define TY_FLOW_FUNCTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "flow_stats.h"

/* software: single-stepped. start_ns: where the shown seconds count from. */
void ty_flow_functions_text(const struct ty_flow_stats *st, bool software, uint64_t start_ns,
			    FILE *o);
void ty_flow_functions_json(const struct ty_flow_stats *st, bool software, FILE *out);

#endif
