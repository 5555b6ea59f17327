/* SPDX-License-Identifier: MIT */
/* Tests whether each CPU delivers the events of switches from idle. (Some virtual machines do
 * not.) */
#ifndef TY_IDLE_SWITCH_H
#define TY_IDLE_SWITCH_H

#include <stdint.h>

#include "err.h"

enum ty_idle_verdict {
	TY_IDLE_UNTESTED, /* the CPU was never idle during the test */
	TY_IDLE_DELIVERED,
	TY_IDLE_MISSING,
};

/*
 * Tests the n CPUs concurrently, in a private trace instance, for about 15 ms (and as long again
 * when there was no result). Beyond TY_IDLE_CPUS_MAX CPUs, the remaining ones stay UNTESTED. 0 or
 * -TY_E... (verdicts are unchanged then).
 */
enum { TY_IDLE_CPUS_MAX = 64 };
int ty_idle_switch_test(const char *root, const unsigned *cpus, unsigned n,
			enum ty_idle_verdict *verdict, struct ty_err *err);

#endif
