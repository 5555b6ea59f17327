/* SPDX-License-Identifier: MIT */
/*
 * Findings besides stalls: time lost in many small pieces or by a habit, which no single wait
 * shows. Each has its time, its number, its object and a proposed next step; longest time first,
 * comparable with stalls.
 *
 *   failing   short calls that fail: 1000 or more, 5% of the time or more
 *   limit     a call that fails since a limit was reached (descriptors, space, processes)
 *   polled    the same call fails repeatedly with sleeps between: 3 or more, 20 ms or more
 *   storm     short calls: 1000 on one path, 10% of the time or more; 5000 others, 20% or more;
 *             300 connects, 5% or more; 20 calls of fsync and the like, 20% or more;
 *             1000 signals handled by a process, 5% or more
 *   small_io  1000 reads or writes of 16 bytes or less on average (2 or less, if not of a file): 5%
 *             of the time or more
 *   children  100 or more processes of one name that live 200 ms or less: 20% of the time
 *   starved   20% of the time of a command, or of the attached threads, spent runnable
 *   outliers  requests of ten times the median or more, and 20 ms or more
 *   grew      requests whose time doubled, evenly, from the first third to the last
 *
 * "The time" is that of the command, else the window's. Inferred: the thread that released a
 * polled lock.
 *
 * Cost: one pass over the calls of the selected threads, 30 instructions for each besides decoding
 * its row; names of objects of few calls.
 */
#ifndef TY_FINDINGS_H
#define TY_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "answer.h"
#include "explain.h"
#include "requests.h"
#include "stalls.h"
#include "window.h"

#define TY_FINDINGS_MAX	    20
#define TY_FINDING_REQUESTS 16 /* of a process, at least, for a statement about most of them */

#define TY_FINDING_KINDS(X)                                                                        \
	X(FAILING, "failing")                                                                      \
	X(LIMIT, "limit")                                                                          \
	X(POLLED, "polled")                                                                        \
	X(STORM, "storm")                                                                          \
	X(SMALL_IO, "small_io")                                                                    \
	X(CHILDREN, "children")                                                                    \
	X(STARVED, "starved")                                                                      \
	X(OUTLIERS, "outliers")                                                                    \
	X(GREW, "grew")

enum ty_finding_kind {
#define X(name, json) TY_FINDING_##name,
	TY_FINDING_KINDS(X)
#undef X
		TY_FINDING_KINDS_N
};
const char *ty_finding_kind_key(enum ty_finding_kind k);

struct ty_finding {
	uint64_t ns;	  /* lost, or possible to save */
	uint64_t n;	  /* calls, attempts, children, requests */
	uint64_t at_ns;	  /* the first of them, or the longest */
	uint32_t thread;  /* its thread; of several with one name the first; TY_NONE */
	uint32_t culprit; /* TY_NONE: unknown */
	uint8_t kind;	  /* enum ty_finding_kind */
	bool inferred;
	char text[400];
	char next[480]; /* proposed next step: a command, and why */
};

struct ty_findings {
	struct ty_finding v[TY_FINDINGS_MAX]; /* most time first */
	uint32_t n;
};

/* Finds them within w. answer: of that window. requests: NULL: not analysed. 0 or -TY_E... */
int ty_findings_find(const struct ty_explain *x, const struct ty_window *w,
		     const struct ty_answer *answer, const struct ty_requests *requests,
		     struct ty_findings *out);

/* Drops polled locks that one of these stalls, shown beside them, covers. */
void ty_findings_leave(struct ty_findings *f, const struct ty_stall *stalls, uint32_t n);

#endif
