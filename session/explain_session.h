/* SPDX-License-Identifier: MIT */
/* Gives the explaining analyses access to an opened trace. */
#ifndef TY_EXPLAIN_SESSION_H
#define TY_EXPLAIN_SESSION_H

#include "session.h"
#include "explain.h"

/* Borrows the session, which must have its model and must not move. Gives the model the command
 * lines of processes, unless s->titles_later. */
struct ty_explain ty_explain_session(struct ty_session *s);
/* Then this does, in any thread: it reads the strings of all calls. */
void ty_session_titles(struct ty_session *s);

#endif
