/* SPDX-License-Identifier: MIT */
/*
 * Reads the trace clock ("perf", the default clock of perf_event) in this process, by converting
 * the TSC with a calibration of its own, renewed periodically. The kernel's conversion (in perf's
 * mmap page) is missing in many virtual machines. For calibration, the process sets its own name to
 * its current value: the resulting perf record has the clock's time.
 */
#ifndef TY_PERF_CLOCK_H
#define TY_PERF_CLOCK_H

#include <stdint.h>

#include "err.h"

struct ty_perf_clock {
	int fd;
	void *ring;
	uint64_t tsc0, ns0;   /* the latest pair */
	uint64_t tsc_a, ns_a; /* the first one */
	double ns_per_tsc;
	uint64_t renew_tsc; /* when the next pair is due */
	uint64_t last_ns;   /* output never decreases */
};

/* 0, -TY_EUNSUPPORTED (not x86), -TY_ESYS. Takes 5 ms. */
int ty_perf_clock_open(struct ty_perf_clock *c, struct ty_err *err);
void ty_perf_clock_close(struct ty_perf_clock *c);
/* Now, in ns; within a microsecond or so of the kernel's. */
uint64_t ty_perf_clock_now(struct ty_perf_clock *c);

#endif
