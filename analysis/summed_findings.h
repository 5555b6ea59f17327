/* SPDX-License-Identifier: MIT */
/*
 * Findings beside stalls: time that somebody lost, or could win, in many small pieces or by a
 * habit, which no single wait shows. Each has its time, its number, its object and what to look at
 * next; the longest time first, the same scale as that of stalls.
 *
 *   failing   short calls that fail, a thousand or more, a twentieth of the time or more
 *   polled    the same call fails again and again with sleeps between: three or more, 20 ms or more
 *   storm     many short calls on one object, or without one, a tenth of the time or more; fsync
 * and the like, twenty or more, a fifth of the time or more small_io  reads or writes of 16 bytes
 * or less on average, a twentieth of the time or more children  a hundred or more processes of one
 * name that live 200 ms or less, a fifth of the time starved   a fifth of the time of a command, or
 * of the threads attached to, waiting for a CPU outliers  requests that take ten times the median
 * or more, and 20 ms or more grew      requests whose time doubled, evenly, from the first third to
 * the last
 *
 * "The time" is that of the command, else the window's. What is concluded and not recorded is
 * inferred: who released a lock that was polled.
 *
 * Cost: one pass over the calls of the chosen threads, 30 instructions for each beside decoding its
 * row; names of objects of few calls.
 */
#ifndef TY_SUMMED_FINDINGS_H
#define TY_SUMMED_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "answer.h"
#include "explain.h"
#include "requests.h"
#include "window.h"

#define TY_FINDINGS_MAX 20

#define TY_FINDING_KINDS(X)                                                                        \
	X(FAILING, "failing")                                                                      \
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
	uint64_t ns;	  /* lost, or to be won */
	uint64_t n;	  /* calls, tries, children, requests */
	uint64_t at_ns;	  /* where to look: the first of them, or the longest */
	uint32_t thread;  /* whose; of several of one name the first; TY_NONE */
	uint32_t culprit; /* TY_NONE: no thread is named */
	uint8_t kind;	  /* enum ty_finding_kind */
	bool inferred;
	char text[400];
	char next[480]; /* what to look at next: a command, and why */
};

struct ty_findings {
	struct ty_finding v[TY_FINDINGS_MAX]; /* most time first */
	uint32_t n;
};

/* Within w. answer: of that window. requests: NULL: not looked for. 0 or -TY_E... */
int ty_findings_find(const struct ty_explain *x, const struct ty_window *w,
		     const struct ty_answer *answer, const struct ty_requests *requests,
		     struct ty_findings *out);

#endif
