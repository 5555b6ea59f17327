/* SPDX-License-Identifier: MIT */
/*
 * Compares a window with the rest of the recording, as rates per second, ranked by each item's
 * share of the change of its kind. Differences within chance (Poisson, 3 sigma) rank below all
 * others and are marked.
 */
#ifndef TY_WINDOW_DIFF_H
#define TY_WINDOW_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "explain.h"
#include "window.h"

/* name in JSON, unit per second */
#define TY_DIFF_KINDS(X)                                                                           \
	X(CPU, "cpu", "ns")	     /* time on CPU, by name of the thread */                      \
	X(WAKEUP, "wakeup", "")	     /* wakeups of threads of a name */                            \
	X(IO, "io", "")		     /* block requests, by device and direction, at their issue */ \
	X(IO_BYTES, "io_bytes", "B") /* their bytes */                                             \
	X(SWITCH, "switch", "")	     /* changes of what a CPU runs, idle included */               \
	X(IRQ, "irq", "")	     /* interrupts, softirqs, vectors by name */                   \
	X(SYSCALL, "syscall", "")    /* system calls begun, by name */

enum ty_diff_kind {
#define X(name, json, unit) TY_DIFF_##name,
	TY_DIFF_KINDS(X)
#undef X
		TY_DIFF_KINDS_N
};
const char *ty_diff_kind_name(enum ty_diff_kind k);
const char *ty_diff_kind_unit(enum ty_diff_kind k);

struct ty_diff_row {
	char what[96];
	uint8_t kind;
	bool significant;
	uint64_t in, out;	  /* amounts in the window and in the rest */
	double in_rate, out_rate; /* per second */
	double share; /* of the change: |in_rate - out_rate| by the kind's larger rate */
};

struct ty_diff {
	struct ty_diff_row *v; /* by rank */
	uint32_t n;
	uint64_t in_ns, out_ns;
	bool in_lost, out_lost; /* events were lost there: its rates are lower bounds */
};

/* w must be a proper part of the recording (else -TY_EUSAGE). Its selection of threads applies to
 * CPU time, wakeups and system calls, that of CPUs to switches and interrupts. Cost: one step per
 * system call, interrupt and request. 0 or -TY_E... with err; call fini in any case. */
int ty_diff_find(const struct ty_explain *x, const struct ty_window *w, struct ty_diff *out,
		 struct ty_err *err);
/* A row's rate as text ("12.3% CPU", "4.0 MB", "1234"), and the change: "x 2.0", "only here". */
#define TY_DIFF_TEXT_MAX 32
const char *ty_diff_rate(const struct ty_diff_row *r, double rate, char out[TY_DIFF_TEXT_MAX]);
const char *ty_diff_change(const struct ty_diff_row *r, char out[TY_DIFF_TEXT_MAX]);
void ty_diff_fini(struct ty_diff *d);

#endif
