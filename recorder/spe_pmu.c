/* SPDX-License-Identifier: MIT */
#include "spe_pmu.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "cpu_list.h"
#include "first_line.h"

/* PMSIRR_EL1.INTERVAL is bits 31:8. */
#define PERIOD_STEP 256u
#define PERIOD_MAX  0xffffff00u

/* Decimal, or hexadecimal with 0x; 0 when absent. */
static uint64_t read_number(const struct ty_spe_pmu *p, const char *name)
{
	char text[64];

	return ty_first_line(text, sizeof(text), "%s/%s", p->folder, name) ? strtoull(text, NULL, 0)
									   : 0;
}

ORDER(by_name, struct ty_spe_pmu, strcmp(a->name, b->name))

unsigned ty_spe_pmus(const char *devices, struct ty_spe_pmu *out, unsigned max)
{
	DIR *d = opendir(devices);
	struct dirent *e;
	unsigned n = 0;

	while (d && n < max && (e = readdir(d)) != NULL) {
		struct ty_spe_pmu *p = &out[n];
		char text[64];

		if (strncmp(e->d_name, "arm_spe_", 8) || strlen(e->d_name) >= sizeof(p->name))
			continue;
		*p = (struct ty_spe_pmu){0};
		strcpy(p->name, e->d_name);
		snprintf(p->folder, sizeof(p->folder), "%s/%s", devices, p->name);
		if (!ty_first_line(text, sizeof(text), "%s/type", p->folder))
			continue;
		p->type = (uint32_t)strtoul(text, NULL, 10);
		p->min_interval = read_number(p, "caps/min_interval");
		p->event_filter = read_number(p, "caps/event_filter");
		n++;
	}
	if (d)
		closedir(d);
	qsort(out, n, sizeof(*out), by_name);
	return n;
}

void ty_spe_why_not(char *out, size_t size)
{
	const char *why = "this is not an Arm CPU";

#if defined(__aarch64__)
	if (ty_file_has("/proc/cpuinfo", " hypervisor") ||
	    !access("/proc/device-tree/hypervisor", F_OK))
		why = "hidden by the hypervisor: use a bare-metal machine";
	else if (ty_file_has("/proc/cmdline", "kpti=off"))
		why = "the CPU lacks it, the firmware does not describe its interrupt, or the "
		      "driver is not loaded: modprobe arm_spe_pmu";
	else
		why = "the CPU lacks it, the driver is not loaded (modprobe arm_spe_pmu), or kpti "
		      "is on (boot with kpti=off)";
#endif
	snprintf(out, size, "%s", why);
}

bool ty_spe_has_cpu(const struct ty_spe_pmu *p, unsigned cpu)
{
	unsigned *cpus = malloc(TY_CPUS_MAX * sizeof(*cpus)), n = 0;
	char path[300];
	bool has = false;

	snprintf(path, sizeof(path), "%s/cpumask", p->folder);
	if (cpus)
		n = ty_cpu_list(path, cpus, TY_CPUS_MAX);
	for (unsigned i = 0; i < n; i++)
		has |= cpus[i] == cpu;
	free(cpus);
	return has;
}

uint64_t ty_spe_period(const struct ty_spe_pmu *p, uint64_t requested)
{
	uint64_t period = requested ? requested : TY_SPE_PERIOD;

	if (period < p->min_interval)
		period = p->min_interval;
	period = period / PERIOD_STEP * PERIOD_STEP;
	return period < PERIOD_STEP ? PERIOD_STEP : period > PERIOD_MAX ? PERIOD_MAX : period;
}

/* Put value into the field that format/NAME describes: "config1:0-63", "config:33". */
static int set_field(const struct ty_spe_pmu *p, struct perf_event_attr *attr, const char *name,
		     uint64_t value, const char *option, struct ty_err *err)
{
	__u64 *const words[] = {&attr->config, &attr->config1, &attr->config2,
#ifdef PERF_ATTR_SIZE_VER8
				&attr->config3
#endif
	};
	char file[64], text[64];
	unsigned word = 0, lo, hi;
	const char *colon;
	int n;

	snprintf(file, sizeof(file), "format/%s", name);
	if (!ty_first_line(text, sizeof(text), "%s/%s", p->folder, file))
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "%s: the kernel driver of %s does not support it (no %s)", option,
			       p->name, file);
	colon = strchr(text, ':');
	if (text[6] >= '1' && text[6] <= '9')
		word = (unsigned)(text[6] - '0');
	n = colon ? sscanf(colon + 1, "%u-%u", &lo, &hi) : 0;
	if (n == 1)
		hi = lo;
	if (strncmp(text, "config", 6) || n < 1 || hi > 63 || lo > hi || word > 3 ||
	    strchr(text, ','))
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "%s: unexpected text '%s' in %s/%s: this kernel's interface is not "
			       "supported. Please report it",
			       option, text, p->folder, file);
	if (hi - lo < 63 && value >> (hi - lo + 1))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "%s: %" PRIu64 " exceeds the maximum of %s (%" PRIu64 ")", option,
			       value, p->name, ((uint64_t)1 << (hi - lo + 1)) - 1);
	if (word == sizeof(words) / sizeof(*words))
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "%s: this tarry was built with kernel headers older than 6.3, which "
			       "lack %s (%s)",
			       option, name, text);
	*words[word] |= value << lo;
	return 0;
}

int ty_spe_config(const struct ty_spe_pmu *p, const struct ty_spe_opts *o,
		  struct perf_event_attr *attr, struct ty_err *err)
{
	static const struct {
		unsigned op;
		const char *field;
	} ops[] = {{TY_SPE_LOAD, "load_filter"},
		   {TY_SPE_STORE, "store_filter"},
		   {TY_SPE_BRANCH, "branch_filter"}};
	char text[16];
	int e;

	attr->type = p->type;
	attr->sample_period = ty_spe_period(p, o->period);
	e = set_field(p, attr, "ts_enable", 1, "--memory", err);
	/* So that a loop of the period's length is not always sampled at the same place. */
	if (!e && ty_first_line(text, sizeof(text), "%s/format/jitter", p->folder))
		e = set_field(p, attr, "jitter", 1, "--memory", err);
	if (!e && o->phys)
		e = set_field(p, attr, "pa_enable", 1, "--mem-phys", err);
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops) && !e; i++)
		if (o->ops & ops[i].op)
			e = set_field(p, attr, ops[i].field, 1, "--mem-ops", err);
	if (!e && o->min_latency)
		e = set_field(p, attr, "min_latency", o->min_latency, "--mem-latency", err);
	if (!e && p->event_filter && (o->events | o->events_not) & ~p->event_filter)
		e = ty_fail(
			err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			"--mem-events: %s cannot filter by some of these (its %s/caps/event_filter "
			"is %#" PRIx64 ")",
			p->name, p->folder, p->event_filter);
	if (!e && o->events)
		e = set_field(p, attr, "event_filter", o->events, "--mem-events", err);
	if (!e && o->events_not)
		e = set_field(p, attr, "inv_event_filter", o->events_not, "--mem-events", err);
	return e;
}
