/* SPDX-License-Identifier: MIT */
/* The explaining sections of the report. */
#ifndef TY_REPORT_EXPLAIN_H
#define TY_REPORT_EXPLAIN_H

#include <stdio.h>

#include "cli.h"
#include "json_out.h"
#include "stalls.h"

#define TY_EXPLAINED_STALLS 1000 /* found at most */
#define TY_EXPLAINED_SHOWN  20	 /* as text */

enum { TY_EXPLAIN_STALLS = 1 };

struct ty_explained {
	struct ty_explain x;
	struct ty_stalls stalls;
};

/* What was asked for, within w. 0 or -TY_E... with err; fini in any case. */
int ty_explained_find(struct ty_session *s, const struct ty_window *w, unsigned what,
		      const struct ty_stalls_opts *o, struct ty_explained *out, struct ty_err *err);
void ty_explained_fini(struct ty_explained *e);

void ty_stalls_text(const struct ty_explained *e, FILE *f);
void ty_stalls_json(const struct ty_explained *e, struct ty_json *j);

#endif
