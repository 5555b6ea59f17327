/* SPDX-License-Identifier: MIT */
/*
 * The Arm SPE PMUs of a machine (one for each kind of core: arm_spe_0, arm_spe_1...) and the
 * configuration of their events, by the PMU's own format folder, which gives the position of each
 * field. Sources: /sys/bus/event_source/devices/arm_spe_N; linux drivers/perf/arm_spe_pmu.c.
 */
#ifndef TY_SPE_PMU_H
#define TY_SPE_PMU_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

#define TY_SPE_DEVICES "/sys/bus/event_source/devices"
/* Default number of operations between two samples, unless below the PMU's minimum. */
#define TY_SPE_PERIOD 4096u
enum { TY_SPE_PMUS_MAX = 8 };

/* ty_spe_opts.ops: any of them; 0: every operation. */
#define TY_SPE_LOAD   1u
#define TY_SPE_STORE  2u
#define TY_SPE_BRANCH 4u

struct ty_spe_opts {
	unsigned ops;
	uint64_t min_latency; /* cycles; 0: any */
	uint64_t events;      /* bits that a sample must have */
	uint64_t events_not;  /* bits that a sample must not have */
	uint64_t period;      /* operations; 0: TY_SPE_PERIOD */
	bool phys;	      /* physical addresses, too */
};

struct ty_spe_pmu {
	char name[32];
	uint32_t type;
	uint64_t min_interval; /* operations; 0: unknown */
	uint64_t event_filter; /* supported bits; 0: unknown */
	char folder[160];
};

/* Lists those in `devices` (TY_SPE_DEVICES) by name; returns their number, at most max. */
unsigned ty_spe_pmus(const char *devices, struct ty_spe_pmu *out, unsigned max);
/* A clause: why there is none. */
void ty_spe_why_not(char *out, size_t size);
/* True when the PMU belongs to this CPU. */
bool ty_spe_has_cpu(const struct ty_spe_pmu *p, unsigned cpu);

/* The hardware's period for the requested one: a multiple of 256, at least the PMU's minimum. */
uint64_t ty_spe_period(const struct ty_spe_pmu *p, uint64_t requested);
/* Sets type, config*, sample_period. 0, or -TY_EUNSUPPORTED / -TY_EUSAGE: unsupported by this PMU,
 * err says what. */
int ty_spe_config(const struct ty_spe_pmu *p, const struct ty_spe_opts *o,
		  struct perf_event_attr *attr, struct ty_err *err);

#endif
