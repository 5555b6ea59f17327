/* SPDX-License-Identifier: MIT */
/* The main result of a recording in a few words, for the last line of `tarry record`. */
#ifndef TY_FIRST_FINDING_H
#define TY_FIRST_FINDING_H

#include <stddef.h>

#include "session.h"

/* "webserver/812 waited 2.9 s in flock because of backup/815 (1 of 3 stalls)": the first of
 * the report's stalls, else of its findings, else where most time went. Without controls. False:
 * nothing to be said, or it could not be found out. */
bool ty_first_finding(struct ty_session *s, char *out, size_t size);

#endif
