/* SPDX-License-Identifier: MIT */
/*
 * Latencies over time: for one kind of duration (a system call, a state of threads, block requests)
 * a two-dimensional histogram of start time and length. A duration counts at its start, with its
 * full length; one that began before the window and extends into it counts in the first column.
 * Every duration of the window is counted, so that a single long one among millions is visible.
 *
 * Only durations with a recorded start are counted, as in syscall_stats.h; of the others (begun
 * before the recording, or cut by lost events) only the number is reported. One unfinished at the
 * recording's end counts with its recorded part.
 *
 * Cost: one step per span (or call, or request) of the selected threads within the window.
 */
#ifndef TY_SPECTRUM_H
#define TY_SPECTRUM_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "explain.h"
#include "window.h"

/* Lengths by bins: four per power of two (below 4 ns one per ns). */
#define TY_SPEC_BINS 256u
unsigned ty_spec_bin(uint64_t ns);
uint64_t ty_spec_bin_begin(unsigned bin); /* UINT64_MAX for TY_SPEC_BINS */

enum ty_spec_of { TY_SPEC_CALL, TY_SPEC_STATE, TY_SPEC_IO };
struct ty_spec_kind {
	uint8_t of;    /* enum ty_spec_of */
	uint8_t state; /* STATE: enum ty_state */
	uint8_t abi;   /* CALL */
	int32_t nr;
};
/* "read", "runnable", "block I/O"; in buf where the table has none. */
const char *ty_spec_name(const struct ty_sysarch *arch, const struct ty_spec_kind *k, char buf[32]);
bool ty_spec_same(const struct ty_spec_kind *a, const struct ty_spec_kind *b);

/* Selection: all threads selected by the window, one process (ty_process_of), or one thread. */
enum ty_spec_scope { TY_SPEC_ALL, TY_SPEC_PROCESS, TY_SPEC_THREAD };

struct ty_spec_query {
	struct ty_window window;
	uint8_t scope;	 /* enum ty_spec_scope */
	uint32_t thread; /* its index, or the process's; unused for ALL */
	struct ty_spec_kind kind;
};

struct ty_spec_span {
	uint64_t start_ns, end_ns;
	uint32_t thread; /* TY_NONE: a request without one */
	uint32_t index;	 /* ty_model_syscall, ty_model_span or ty_model_io */
};

struct ty_spectrum {
	uint32_t cols;
	uint32_t *count; /* [bin * cols + column]; columns as ty_viewport_edge has them */
	uint64_t n, total_ns, untimed;
	uint64_t p50_ns, p90_ns, p99_ns, p999_ns; /* nearest rank, rounded down by less than 0.2% */
	struct ty_spec_span worst;		  /* the longest; of equal ones the first */
	uint32_t worst_col;
	uint32_t most;	     /* of a cell */
	unsigned first, end; /* nonempty bins: [first, end) */
};

/* 0, -TY_ENOMEM or -TY_EINTR (x->stop); call fini in any case. */
int ty_spectrum_find(const struct ty_explain *x, const struct ty_spec_query *a, uint32_t cols,
		     struct ty_spectrum *out);
void ty_spectrum_fini(struct ty_spectrum *s);

/* The kinds in the window: states of threads and block requests first, then system calls by total
 * time. The caller frees *out. 0, -TY_ENOMEM or -TY_EINTR. */
struct ty_spec_kind_sum {
	struct ty_spec_kind kind;
	uint64_t n, total_ns, max_ns; /* n: timed ones */
};
int ty_spectrum_kinds(const struct ty_explain *x, const struct ty_spec_query *a,
		      struct ty_spec_kind_sum **out, uint32_t *n);

/* The spans of a rectangle: begun in [from, to) of a's window (with `before`: also earlier ones
 * that extend into the window), and min <= length < end. Longest first, at most `max`; *all: their
 * number. The caller frees *out. 0, -TY_ENOMEM or -TY_EINTR. */
int ty_spectrum_list(const struct ty_explain *x, const struct ty_spec_query *a, bool before,
		     uint64_t min_ns, uint64_t end_ns, uint32_t max, struct ty_spec_span **out,
		     uint32_t *n, uint64_t *all);

#endif
