/* SPDX-License-Identifier: MIT */
/*
 * The Arm SPE PMUs of a machine (one for each kind of core: arm_spe_0, arm_spe_1...) and how an
 * event of theirs is configured: by the PMU's own format folder, which says where each field lies.
 * Sources: /sys/bus/event_source/devices/arm_spe_N; linux drivers/perf/arm_spe_pmu.c.
 */
#ifndef TY_SPE_PMU_H
#define TY_SPE_PMU_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

#define TY_SPE_DEVICES "/sys/bus/event_source/devices"
/* Operations between two samples, unless asked for otherwise or too few for the PMU. */
#define TY_SPE_PERIOD 4096u
enum { TY_SPE_PMUS_MAX = 8 };

/* ty_spe_opts.ops: any of them; 0: every operation. */
#define TY_SPE_LOAD   1u
#define TY_SPE_STORE  2u
#define TY_SPE_BRANCH 4u

struct ty_spe_opts {
	unsigned ops;
	uint64_t min_latency; /* cycles; 0: any */
	uint64_t events;      /* bits that a sample must have, all of them */
	uint64_t events_not;  /* bits none of which it may have */
	uint64_t period;      /* operations; 0: TY_SPE_PERIOD */
	bool phys;	      /* physical addresses, too */
};

struct ty_spe_pmu {
	char name[32];
	uint32_t type;
	uint64_t min_interval; /* operations; 0: not told */
	uint64_t event_filter; /* bits that can be asked for; 0: not told */
	char folder[160];
};

/* Those in `devices` (TY_SPE_DEVICES), by name; how many, at most max. */
unsigned ty_spe_pmus(const char *devices, struct ty_spe_pmu *out, unsigned max);
/* Why there is none: a clause. */
void ty_spe_why_not(char *out, size_t size);
/* Does the PMU belong to this CPU? */
bool ty_spe_has_cpu(const struct ty_spe_pmu *p, unsigned cpu);

/* The period the hardware takes for the one asked for: a multiple of 256, not below the PMU's
 * least. */
uint64_t ty_spe_period(const struct ty_spe_pmu *p, uint64_t asked);
/* type, config*, sample_period. 0, or -TY_EUNSUPPORTED / -TY_EUSAGE: this PMU cannot, err says
 * what. */
int ty_spe_config(const struct ty_spe_pmu *p, const struct ty_spe_opts *o,
		  struct perf_event_attr *attr, struct ty_err *err);

#endif
