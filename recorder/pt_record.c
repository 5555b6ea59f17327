/* SPDX-License-Identifier: MIT */
/*
 * See pt_record.h. Facts of the PMU: /sys/bus/event_source/devices/intel_pt; config bits: linux
 * arch/x86/include/asm/msr-index.h, IA32_RTIT_CTL.
 */
#include "pt_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "first_line.h"
#include "perf_record.h"
#include "perf_write.h"

#define PMU "/sys/bus/event_source/devices/intel_pt"
enum {
	MTC_PERIOD = 3, /* as perf: every 2^3 ticks of the crystal clock */
	PSB_PERIOD = 3, /* every 2^(3 + 11) bytes */
	MTC_SHIFT = 14,
	PSB_SHIFT = 24,
	SWITCH_CPU_WIDE = 3, /* perf's word for how switches are recorded */
};
#define CONFIG_PT     (1ull << 0)
#define CONFIG_CYC    (1ull << 1)
#define CONFIG_MTC    (1ull << 9)
#define CONFIG_TSC    (1ull << 10)
#define CONFIG_NORET  (1ull << 11)
#define CONFIG_BRANCH (1ull << 13)
#define MTC_FREQ_BITS (15ull << MTC_SHIFT)

static uint64_t pmu_number(const char *name, int base, uint64_t absent)
{
	char text[32], *end;
	uint64_t v;

	ty_first_line(text, sizeof(text), PMU "/%s", name);
	v = strtoull(text, &end, base);
	return end == text ? absent : v;
}

static bool pmu_has(const char *name)
{
	char path[200];

	snprintf(path, sizeof(path), PMU "/%s", name);
	return !access(path, R_OK);
}

/* TSC, a coarse clock between, and PSBs often enough to enter the stream anywhere. */
static uint64_t config(void)
{
	uint64_t c = CONFIG_TSC;

	if (pmu_has("format/pt") && pmu_has("format/branch"))
		c |= CONFIG_PT | CONFIG_BRANCH;
	if (pmu_number("caps/mtc", 10, 0) &&
	    pmu_number("caps/mtc_periods", 16, 0) >> MTC_PERIOD & 1)
		c |= CONFIG_MTC | (uint64_t)MTC_PERIOD << MTC_SHIFT;
	if (pmu_number("caps/psb_cyc", 10, 0) &&
	    pmu_number("caps/psb_periods", 16, 0) >> PSB_PERIOD & 1)
		c |= (uint64_t)PSB_PERIOD << PSB_SHIFT;
	return c;
}

struct info {
	uint32_t type;
	bool snapshot;
	char filter[];
};

static void put_info(void *ctx, struct ty_buf *b, const struct perf_event_mmap_page *m)
{
	const struct info *i = ctx;
	uint64_t words[TY_PT_INFO_WORDS] = {
		[TY_PT_INFO_PMU_TYPE] = i->type,
		[TY_PT_INFO_TSC_BIT] = CONFIG_TSC,
		[TY_PT_INFO_NORETCOMP_BIT] = CONFIG_NORET,
		[TY_PT_INFO_SCHED_SWITCH] = SWITCH_CPU_WIDE,
		[TY_PT_INFO_SNAPSHOT] = i->snapshot,
		[TY_PT_INFO_PER_CPU] = 1,
		[TY_PT_INFO_MTC_BIT] = CONFIG_MTC,
		[TY_PT_INFO_MTC_FREQ_BITS] = MTC_FREQ_BITS,
		[TY_PT_INFO_CYC_BIT] = CONFIG_CYC,
		[TY_PT_INFO_NONTURBO_RATIO] = pmu_number("max_nonturbo_ratio", 10, 0),
		[TY_PT_INFO_FILTER_LEN] = strlen(i->filter),
	};
#if defined(__x86_64__) || defined(__i386__)
	unsigned eax, ebx, ecx, edx;

	if (__get_cpuid(0x15, &eax, &ebx, &ecx, &edx)) {
		words[TY_PT_INFO_TSC_CTC_N] = ebx;
		words[TY_PT_INFO_TSC_CTC_D] = eax;
	}
#endif
	if (m->cap_user_time_zero) {
		words[TY_PT_INFO_TIME_SHIFT] = m->time_shift;
		words[TY_PT_INFO_TIME_MULT] = m->time_mult;
		words[TY_PT_INFO_TIME_ZERO] = m->time_zero;
		words[TY_PT_INFO_HAVE_TIME_ZERO] = 1;
	}
	ty_perf_put_auxtrace_info(b, TY_PERF_AUXTRACE_INTEL_PT, words, TY_PT_INFO_WORDS, i->filter);
}

int ty_pt_rec_open(struct ty_aux_rec **out, const struct ty_pt_opts *o, pid_t pid,
		   const unsigned *cpus, unsigned n, struct ty_err *err)
{
	uint64_t type = pmu_number("type", 10, UINT64_MAX);
	const char *filter = o->filter ? o->filter : "", *name = "intel_pt";
	struct info *i = calloc(1, sizeof(*i) + strlen(filter) + 1);
	const struct perf_event_attr attr = {
		.type = (uint32_t)type,
		.size = sizeof(attr),
		.config = config(),
		.sample_period = 1,
		.sample_type = TY_AUX_SAMPLE,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.exclude_kernel = !o->kernel,
		.exclude_hv = 1,
		.sample_id_all = 1,
	};
	const struct ty_aux_events ev = {.option = "--flow",
					 .what = "Intel PT",
					 .attrs = &attr,
					 .names = &name,
					 .attrs_n = 1,
					 .cpus = cpus,
					 .cpus_n = n,
					 .tids = &pid,
					 .tids_n = 1,
					 .filter = o->filter,
					 .snapshot = o->snapshot,
					 .put_info = put_info,
					 .ctx = i};

	*out = NULL;
	if (!i)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	if (type > UINT32_MAX) {
		free(i);
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "this machine has no Intel PT (" PMU " is missing)");
	}
	i->type = (uint32_t)type;
	i->snapshot = o->snapshot;
	strcpy(i->filter, filter);
	return ty_aux_rec_open(out, &ev, err);
}
