/* SPDX-License-Identifier: MIT */
/* Finds the CPython interpreter in a process: the program itself or a library. */
#ifndef TY_PYTHON_FIND_H
#define TY_PYTHON_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "python_frames.h"

#define TY_PY_UNKNOWN UINT32_MAX

/* p->read is set. version: that of an interpreter whose layout is unknown (major << 8 | minor; 0:
 * there is none; TY_PY_UNKNOWN: one of which nothing is known). Reads files that may be on an
 * unreachable server. */
bool ty_python_find(uint32_t pid, struct ty_python *p, uint32_t *version);

#endif
