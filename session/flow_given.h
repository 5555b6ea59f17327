/* SPDX-License-Identifier: MIT */
/* Code that is given by hand: images at an address, core dumps, copies of the kernel's. */
#ifndef TY_FLOW_GIVEN_H
#define TY_FLOW_GIVEN_H

#include "flow_source.h"

/* Of the options, and of perf's directory form of a file at path (NULL: none), into s->flow. 0 or
 * -TY_E... */
int ty_flow_given(struct ty_flow_source *s, const char *path, struct ty_err *err);

#endif
