/* SPDX-License-Identifier: MIT */
/* A ledger's "on CPU outside system calls", divided by function by the CPU samples taken in it:
 * estimates, with the error that their number has. */
#ifndef TY_LEDGER_SAMPLES_H
#define TY_LEDGER_SAMPLES_H

#include "ledger.h"
#include "samples.h"

struct ty_book;
struct ty_cpu_gaps;

/* Adds the samples that the thread has in user mode in [from, to), to the row of the book's present
 * group. gaps: of that time. Cost: log(samples), and log(spans) + log(calls) for each. Failures
 * stand in the book.
 */
void ty_ledger_samples(struct ty_book *b, const struct ty_cpu_gaps *gaps, uint32_t thread,
		       uint64_t from_ns, uint64_t to_ns);

/* A function's share of a row's samples, and its 95% interval. */
struct ty_ledger_share {
	const char *function, *module; /* borrowed; NULL: unknown. module: the file's name */
	double share, low, high;
};
struct ty_ledger_share ty_ledger_share(const struct ty_samples *s, const struct ty_ledger_row *row,
				       uint32_t i);
/* "~62% (48 to 74%, 26 of 42 samples) alpha (hot_shares)": function i of a row, of its funcs_n. */
void ty_ledger_share_text(const struct ty_samples *s, const struct ty_ledger_row *row, uint32_t i,
			  char *out, size_t size);
/* How many functions of the row are shown as text: none where the samples are too few to say
 * anything. */
uint32_t ty_ledger_shares_shown(const struct ty_ledger_row *row);

#endif
