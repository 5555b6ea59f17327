/* SPDX-License-Identifier: MIT */
/*
 * The timeline view: time window x rows, the list of stalls and waits, details at the cursor.
 * Drawing costs visible cells x log(spans); nothing else on the drawing path depends on the size of
 * the trace.
 */
#ifndef TY_TIMELINE_H
#define TY_TIMELINE_H

#include "err.h"
#include "view.h"

struct ty_timeline;

/* in is borrowed. 0, or -TY_ENOMEM, -TY_EUSAGE (no such finding, nothing to show) with err and *out
 * NULL. */
int ty_timeline_new(const struct ty_view_input *in, struct ty_timeline **out, struct ty_err *err);
void ty_timeline_free(struct ty_timeline *t);

extern const struct ty_view_ops ty_timeline_ops; /* self: struct ty_timeline */

#endif
