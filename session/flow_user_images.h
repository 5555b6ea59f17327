/* SPDX-License-Identifier: MIT */
/* User-supplied code: images at an address, core dumps, copies of the kernel's. */
#ifndef TY_FLOW_USER_IMAGES_H
#define TY_FLOW_USER_IMAGES_H

#include "flow_source.h"

/* Adds the code given by options, and by perf's directory form of the file at path (NULL: none), to
 * s->flow. 0 or -TY_E... */
int ty_flow_user_images(struct ty_flow_source *s, const char *path, struct ty_err *err);

#endif
