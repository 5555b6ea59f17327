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

/*
 * Runs until the user quits. color: argument of --color, NULL for the terminal's best. Returns 0;
 * the number of the signal that ended it; or -TY_E... with err. The terminal is restored in any
 * case.
 */
int ty_app_run(const struct ty_view_input *in, const char *color, struct ty_err *err);

/* Appends the timeline's first frame, w x h cells, to out. 0 or -TY_E... with err. */
int ty_app_print(const struct ty_view_input *in, const struct ty_palette *p, int w, int h,
		 struct ty_buf *out, struct ty_err *err);

/* The same for memory samples (a file that holds nothing else). */
int ty_app_run_memory(const struct ty_memory_input *in, const char *color, struct ty_err *err);
int ty_app_print_memory(const struct ty_memory_input *in, const struct ty_palette *p, int w, int h,
			struct ty_buf *out, struct ty_err *err);

/* The same of the flame graph of a file that holds samples and nothing else. */
int ty_app_run_flame(const struct ty_flame_input *in, const char *color, struct ty_err *err);
int ty_app_print_flame(const struct ty_flame_input *in, const struct ty_palette *p, int w, int h,
		       struct ty_buf *out, struct ty_err *err);

#endif
