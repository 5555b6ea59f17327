/* SPDX-License-Identifier: MIT */
/* A view on the terminal, or one frame of it as text: size and colors of that. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "units.h"
#include "view_priv.h"

static int env_size(const char *name, int otherwise)
{
	const char *v = getenv(name);
	uint64_t n;

	return v && !ty_parse_count(v, TY_GRID_MAX, &n) ? (int)n : otherwise;
}

/* The default size of a frame. */
static void default_size(int *w, int *h)
{
	struct winsize ws;

	*w = 100;
	*h = 30;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_col && ws.ws_row) {
		*w = ws.ws_col < TY_GRID_MAX ? ws.ws_col : TY_GRID_MAX;
		/* The prompt that follows must not push the first line out. */
		*h = ws.ws_row > TY_VIEW_MIN_H ? ws.ws_row - 1 : ws.ws_row;
		*h = *h < TY_GRID_MAX ? *h : TY_GRID_MAX;
	}
	*w = env_size("COLUMNS", *w);
	*h = env_size("LINES", *h);
}

int ty_view_show(const struct ty_view_options *o, const struct ty_app_input *in, struct ty_err *err)
{
	struct ty_app_frame to = {.palette = ty_palette_detect(-1), .w = o->w, .h = o->h};
	struct ty_buf b;
	int rc;

	if (!o->print)
		return ty_app_show(in, o->color, NULL, err);
	if (!to.w)
		default_size(&to.w, &to.h);
	if (o->color)
		ty_palette_choose(&to.palette, o->color);
	else if (!isatty(STDOUT_FILENO) || to.palette.mode == TY_COLOR_MONO)
		to.palette.mode = TY_COLOR_NONE;
	ty_buf_init(&b, 256u << 20);
	to.out = &b;
	rc = ty_app_show(in, NULL, &to, err);
	if (!rc && (fwrite(b.p, 1, b.len, stdout) != b.len || fflush(stdout)))
		rc = ty_fail_errno(err, "standard output: write failed");
	ty_buf_fini(&b);
	return rc;
}
