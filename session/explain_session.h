/* SPDX-License-Identifier: MIT */
/* What the explaining analyses need of an opened trace. */
#ifndef TY_EXPLAIN_SESSION_H
#define TY_EXPLAIN_SESSION_H

#include "session.h"
#include "explain.h"

/* Borrows the session, whose model is there; valid as long as it stays where it is. */
struct ty_explain ty_explain_session(struct ty_session *s);

#endif
