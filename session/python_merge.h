/* SPDX-License-Identifier: MIT */
/* Puts Python functions in the place of the interpreter's frames of a stack. */
#ifndef TY_PYTHON_MERGE_H
#define TY_PYTHON_MERGE_H

#include "stack_frames.h"

/*
 * py: of the same wait, the innermost first. Each frame of CPython's evaluation loop becomes the
 * functions that it ran; the other frames of the interpreter from there on are left out, those of
 * extension modules stay. A stack that was cut continues with the remaining functions.
 */
void ty_python_merge(struct ty_stack_frames *s, const struct ty_python_frame *py, unsigned n,
		     enum ty_stk_python_end end);

#endif
