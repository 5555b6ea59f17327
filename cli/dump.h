/* SPDX-License-Identifier: MIT */
/* The dumps: one line per item, streamed. 0, or -TY_E... with err. */
#ifndef TY_DUMP_H
#define TY_DUMP_H

#include <stdio.h>

#include "cli.h"

int ty_dump_events(struct ty_session *s, const struct ty_select *sel, const struct ty_window *w,
		   FILE *out, struct ty_err *err);
int ty_dump_syscalls(struct ty_session *s, const struct ty_select *sel, const struct ty_window *w,
		     FILE *out, struct ty_err *err);

#endif
