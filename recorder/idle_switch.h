/* SPDX-License-Identifier: MIT */
/* Does each CPU deliver the events of switches away from idle? (Some virtual machines do not.) */
#ifndef TY_IDLE_SWITCH_H
#define TY_IDLE_SWITCH_H

#include <stdint.h>

#include "err.h"

enum ty_idle_verdict {
	TY_IDLE_UNTESTED, /* the CPU never was idle while it was looked at */
	TY_IDLE_DELIVERED,
	TY_IDLE_MISSING,
};

/*
 * Test the n CPUs, all at once, in a private trace instance, for some 15 ms (and as long again
 * where no answer came). More than TY_IDLE_CPUS_MAX CPUs: the first ones are tested, the others
 * stay UNTESTED. 0 or -TY_E... (no verdict is changed then).
 */
enum { TY_IDLE_CPUS_MAX = 64 };
int ty_idle_switch_test(const char *root, const unsigned *cpus, unsigned n,
			enum ty_idle_verdict *verdict, struct ty_err *err);

#endif
