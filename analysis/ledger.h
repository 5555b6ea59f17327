/* SPDX-License-Identifier: MIT */
/*
 * The ledger: every nanosecond of a window in exactly one row. For a thread, for a process (its
 * threads' sum), and for the traced command (its critical path from its exit back to its start).
 * Rows sum to the window exactly, even with lost events.
 */
#ifndef TY_LEDGER_H
#define TY_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "chain.h"
#include "err.h"
#include "explain.h"
#include "process_of_thread.h"
#include "window.h"

/* A function that samples of user mode were in. */
struct ty_ledger_func {
	uint32_t func, samples; /* in ty_samples.funcs; UINT32_MAX: unknown */
	uint64_t weight;
};
enum { TY_LEDGER_FUNCS = 5 };

struct ty_ledger_row {
	char row[160]; /* "on CPU outside system calls", "sleeping in read, woken by a timer", ...
			*/
	uint64_t ns, longest_ns; /* total; longest piece */
	uint64_t pieces;	 /* of a row of waits: how many */
	uint32_t span;		 /* of the longest piece; TY_NONE */
	uint8_t state;		 /* its enum ty_state, for colours */
	/* User mode: its CPU samples (ledger_samples.h), those with most weight first. */
	uint64_t samples, weight;
	struct ty_ledger_func func[TY_LEDGER_FUNCS];
	uint32_t funcs_n, funcs_left; /* in func; further ones */
};

struct ty_ledger {
	uint32_t thread; /* TY_NONE: the command; for a process: its leader */
	uint64_t start_ns, end_ns;
	uint64_t total_ns; /* sum of the rows: end - start; for a process the sum of its threads'
			    * times */
	uint32_t threads;  /* threads alive then; 1 except for a process */
	bool inferred;	   /* for the command: part of the path is inferred (chain.h) */
	struct ty_ledger_row *rows; /* most time first */
	uint32_t n;
};

/* Ledger of one thread in [from, to), clipped to its life. 0 or -TY_ENOMEM. */
int ty_ledger_thread(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		     struct ty_ledger *out);
/* Ledger of the n threads of a process (ty_members_of) in [from, to), each clipped to its life:
 * start and end are the earliest and latest of these. 0 or -TY_ENOMEM. */
int ty_ledger_process(const struct ty_explain *x, const struct ty_member *of, uint32_t n,
		      uint64_t from_ns, uint64_t to_ns, struct ty_ledger *out);
/* Ledger of the traced command in [from, to); -TY_ENOTFOUND when there is none. */
int ty_ledger_command(const struct ty_explain *x, uint64_t from_ns, uint64_t to_ns,
		      struct ty_ledger *out);
void ty_ledger_fini(struct ty_ledger *l);
/* The row's text; where it is a single wait, its waker has its number, too: "sleeping in read,
 * woken by python3/8035". */
#define TY_LEDGER_ROW_TEXT 240
const char *ty_ledger_row_text(const struct ty_model *m, const struct ty_ledger_row *row,
			       char out[TY_LEDGER_ROW_TEXT]);

/* The state in which a thread spent most time, and that state's largest row. */
struct ty_ledger_most {
	uint64_t state_ns, ns; /* all rows of that state; its largest row */
	uint64_t waits;	       /* that row is the sum of so many; 0: of none, or of one */
	uint8_t state;	       /* enum ty_state */
	char row[TY_LEDGER_ROW_TEXT];
};
/* False: the ledger has no rows. */
bool ty_ledger_most(const struct ty_explain *x, const struct ty_ledger *l,
		    struct ty_ledger_most *out);
/* "2.54 s runnable; 1.11 s of it: runnable after preemption, cc1 ran on its CPU"; thread: "", or
 * its name and ": ". */
void ty_ledger_most_text(const struct ty_ledger_most *k, const char *thread, char *buf, size_t n);

/* Adds the rows of a path (chain.h) over [from, to) to the book, not yet as text: each thread's
 * under group_of[thread].thread (ledger_rows.h). The added rows sum to `to - from`. 0 or -TY_E...;
 * call ty_book_fini in any case. */
struct ty_book;
struct ty_ledger_group;
int ty_ledger_path(const struct ty_explain *x, const struct ty_path *p,
		   const struct ty_ledger_group *group_of, uint64_t from_ns, uint64_t to_ns,
		   struct ty_book *b);
/* The same for one thread's time in [from, to), clipped to its life: *ns is the sum added. */
int ty_ledger_add(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		  const struct ty_ledger_group *group_of, struct ty_book *b, uint64_t *ns);

#endif
