/* SPDX-License-Identifier: MIT */
/*
 * The ledger: every nanosecond of a window in exactly one row. For a thread, for a process (its
 * threads' sum), and for the traced command: its critical path from its exit back to its start.
 * Rows sum to the window exactly, whatever was lost.
 */
#ifndef TY_LEDGER_H
#define TY_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "chain.h"
#include "err.h"
#include "explain.h"
#include "process.h"
#include "window.h"

struct ty_ledger_row {
	char row[160]; /* "on CPU in user mode", "sleeping in read, woken by a timer", ... */
	uint64_t ns, longest_ns; /* in all; of the longest piece */
	uint32_t span;		 /* the one of that piece; TY_NONE */
	uint8_t state;		 /* its enum ty_state, for colours */
};

struct ty_ledger {
	uint32_t thread; /* TY_NONE: the command; of a process: its leader */
	uint64_t start_ns, end_ns;
	uint64_t total_ns; /* what rows sum to: end - start; of a process its threads' times
			      together */
	uint32_t threads;  /* that lived then; 1 but for a process */
	bool inferred;	   /* of the command: the path is, somewhere (chain.h) */
	struct ty_ledger_row *rows; /* most time first */
	uint32_t n;
};

/* Of one thread in [from, to), cut to its life. 0 or -TY_ENOMEM. */
int ty_ledger_thread(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		     struct ty_ledger *out);
/* Of n threads of a process (ty_members_of) in [from, to), each cut to its life: start and end are
 * those of the first and the last of them. 0 or -TY_ENOMEM. */
int ty_ledger_process(const struct ty_explain *x, const struct ty_member *of, uint32_t n,
		      uint64_t from_ns, uint64_t to_ns, struct ty_ledger *out);
/* Of the traced command in [from, to); -TY_ENOTFOUND when none was traced. */
int ty_ledger_command(const struct ty_explain *x, uint64_t from_ns, uint64_t to_ns,
		      struct ty_ledger *out);
void ty_ledger_fini(struct ty_ledger *l);

/* The rows of a path (chain.h) over [from, to), added to those of the book, not yet as text: each
 * thread's in those of crowd[thread].thread (ledger_book.h). What is added sums to `to - from`. 0
 * or -TY_E...; ty_book_fini in any case. */
struct ty_book;
struct ty_ledger_group;
int ty_ledger_path(const struct ty_explain *x, const struct ty_path *p,
		   const struct ty_ledger_group *crowd, uint64_t from_ns, uint64_t to_ns,
		   struct ty_book *b);
/* The same of one thread's time in [from, to), cut to its life: *ns is what was added. */
int ty_ledger_add(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		  const struct ty_ledger_group *crowd, struct ty_book *b, uint64_t *ns);

#endif
