/* SPDX-License-Identifier: MIT */
/* A window on all of a recording. */
#ifndef TY_WINDOW_ALL_H
#define TY_WINDOW_ALL_H

#include "window.h"

static inline struct ty_window window_all(const struct ty_model *m)
{
	const struct ty_summary *s = ty_model_summary(m);

	return (struct ty_window){.from_ns = s->start_ns, .to_ns = s->end_ns};
}

#endif
