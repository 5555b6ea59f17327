/* SPDX-License-Identifier: MIT */
/* The viewer: a stack of views on a terminal, or one frame as text. */
#ifndef TY_APP_H
#define TY_APP_H

#include "buf.h"
#include "err.h"
#include "flame_view.h"
#include "memory_view.h"
#include "palette.h"
#include "view.h"

/* One of them: the timeline of a recording; memory samples, or the flame graph of samples, of a
 * file that holds nothing else. */
struct ty_app_input {
	const struct ty_view_input *timeline;
	const struct ty_memory_input *memory;
	const struct ty_flame_input *flame;
};

/* A frame of w x h cells, which is appended to out. */
struct ty_app_frame {
	struct ty_palette palette;
	int w, h;
	struct ty_buf *out;
};

/*
 * Runs until the user quits; color: argument of --color, NULL for the terminal's best. With a
 * frame: writes the first one there instead. Returns 0; the number of the signal that ended it; or
 * -TY_E... with err. The terminal is restored in any case.
 */
int ty_app_show(const struct ty_app_input *in, const char *color, const struct ty_app_frame *to,
		struct ty_err *err);

#endif
