/* SPDX-License-Identifier: MIT */
/* The explaining sections of the report. */
#ifndef TY_REPORT_EXPLAIN_H
#define TY_REPORT_EXPLAIN_H

#include <stdio.h>

#include "json_out.h"
#include "ledger.h"
#include "path_part.h"
#include "report_log.h"
#include "session.h"
#include "stalls.h"
#include "wait_holder.h"

#define TY_EXPLAINED_STALLS 1000 /* found at most */
#define TY_EXPLAINED_SHOWN  20	 /* as text */

/* PROCESSES: ledgers of processes instead of threads. FEW: only as many of them as the text shows.
 */
enum {
	TY_EXPLAIN_STALLS = 1,
	TY_EXPLAIN_LEDGER = 2,
	TY_EXPLAIN_CHAIN = 4,
	TY_EXPLAIN_PROCESSES = 8,
	TY_EXPLAIN_FEW = 16
};

struct ty_explained {
	struct ty_explain x;
	struct ty_kept_paths paths; /* of the stalls, for what is computed after them */
	struct ty_stalls stalls;
	uint64_t min_ns;	  /* shortest wait that can be a stall */
	uint64_t from_ns, to_ns;  /* the window */
	struct ty_ledger *ledger; /* the command's first, then by time on CPU */
	uint32_t ledgers;
	uint32_t ledgers_left;		     /* FEW: so many more there would be */
	bool processes;			     /* but for the command's they are of processes */
	struct ty_link link[TY_STALL_LINKS]; /* of the chain requested */
	uint32_t links;
	const struct ty_report_logs *logs; /* shown beside stalls; NULL: none. To be set later */
};

/* The chain requested: of thread tid at at_ns. tid 0: the first one chosen. */
struct ty_explain_at {
	uint64_t at_ns;
	int32_t tid;
};

/* Computes the requested parts within w. 0 or -TY_E... with err; fini in any case. */
int ty_explained_find(struct ty_session *s, const struct ty_window *w, unsigned what,
		      const struct ty_stalls_opts *o, const struct ty_explain_at *at,
		      struct ty_explained *out, struct ty_err *err);
void ty_explained_fini(struct ty_explained *e);

void ty_stalls_text(const struct ty_explained *e, FILE *f);
/* report_why.c: why the n-th stall (from 1, at most stalls.n) is one; the idle waits; the members
 * "rule", "edges" of a stall, and "rejected". */
void ty_why_text(const struct ty_explained *e, uint32_t n, FILE *f);
void ty_rejected_text(const struct ty_explained *e, FILE *f);
void ty_rule_json(const struct ty_rule *r, struct ty_json *j);
void ty_edges_json(const struct ty_explained *e, const struct ty_stall *s, struct ty_json *j);
void ty_rejected_json(const struct ty_explained *e, struct ty_json *j);

void ty_ledgers_text(const struct ty_explained *e, FILE *f);
void ty_chain_text(const struct ty_explained *e, FILE *f);
void ty_ledgers_json(const struct ty_explained *e, struct ty_json *j);
void ty_chain_json(const struct ty_explained *e, struct ty_json *j);
void ty_stalls_json(const struct ty_explained *e, struct ty_json *j);
/* The member "lock": the holder of the lock that a thread waited for. */
void ty_report_holder_json(const struct ty_explain *x, const struct ty_wait_holder *h,
			   struct ty_json *j);

/* The functions of a row's user mode as lines, indented by that much (ledger_samples.h). */
struct ty_samples;
void ty_ledger_shares_text(const struct ty_samples *s, const struct ty_ledger_row *row, int indent,
			   FILE *f);

#endif
