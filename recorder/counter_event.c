/* SPDX-License-Identifier: MIT */
/* See counter_event.h. */
#include "counter_event.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_list.h"
#include "first_line.h"

enum { LINE = 256, DEPTH = 1 };

struct known {
	const char *name;
	uint64_t config;
};

static const struct known software[] = {{"cpu-clock", PERF_COUNT_SW_CPU_CLOCK},
					{"task-clock", PERF_COUNT_SW_TASK_CLOCK},
					{"page-faults", PERF_COUNT_SW_PAGE_FAULTS},
					{"faults", PERF_COUNT_SW_PAGE_FAULTS},
					{"context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES},
					{"cs", PERF_COUNT_SW_CONTEXT_SWITCHES},
					{"cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS},
					{"migrations", PERF_COUNT_SW_CPU_MIGRATIONS},
					{"minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN},
					{"major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ},
					{"alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS},
					{"emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS},
					{0}};

static const struct known hardware[] = {
	{"cycles", PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-cycles", PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", PERF_COUNT_HW_BUS_CYCLES},
	{"stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"idle-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"idle-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES},
	{0}};

static const struct known caches[] = {
	{"L1-dcache", PERF_COUNT_HW_CACHE_L1D}, {"L1-icache", PERF_COUNT_HW_CACHE_L1I},
	{"LLC", PERF_COUNT_HW_CACHE_LL},	{"dTLB", PERF_COUNT_HW_CACHE_DTLB},
	{"iTLB", PERF_COUNT_HW_CACHE_ITLB},	{"branch", PERF_COUNT_HW_CACHE_BPU},
	{"node", PERF_COUNT_HW_CACHE_NODE},	{0}};

#define CACHE(op, result)                                                                          \
	PERF_COUNT_HW_CACHE_OP_##op << 8 | PERF_COUNT_HW_CACHE_RESULT_##result << 16
static const struct known cache_ways[] = {{"loads", CACHE(READ, ACCESS)},
					  {"load-misses", CACHE(READ, MISS)},
					  {"stores", CACHE(WRITE, ACCESS)},
					  {"store-misses", CACHE(WRITE, MISS)},
					  {"prefetches", CACHE(PREFETCH, ACCESS)},
					  {"prefetch-misses", CACHE(PREFETCH, MISS)},
					  {0}};

static const struct known *find(const struct known *v, const char *name)
{
	while (v->name && strcmp(v->name, name) != 0)
		v++;
	return v->name ? v : NULL;
}

static bool is_cache(const char *name, uint64_t *config)
{
	for (const struct known *c = caches, *way; c->name; c++) {
		const size_t n = strlen(c->name);

		if (strncmp(name, c->name, n) != 0 || name[n] != '-' ||
		    !(way = find(cache_ways, name + n + 1)))
			continue;
		*config = c->config | way->config;
		return true;
	}
	return false;
}

/* A name that becomes part of a path. */
static bool is_file_name(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/') && strlen(s) < TY_COUNTER_NAME;
}

/* value's bits into the places that a format says: "config:0-7,32-35". */
static bool place(struct perf_event_attr *a, const char *format, uint64_t value)
{
	const char *colon = strchr(format, ':'), *p = colon ? colon + 1 : NULL;
	const size_t n = colon ? (size_t)(colon - format) : 0;
	uint64_t bits = 0;

	while (p && *p) {
		char *end;
		const unsigned long from = strtoul(p, &end, 10);
		unsigned long to = from;

		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		if (from > to || to > 63 || (*end && *end != ','))
			return false;
		for (unsigned long b = from; b <= to; b++, value >>= 1)
			bits |= (value & 1) << b;
		p = *end ? end + 1 : NULL;
	}
	if (value)
		return false;
	if (n == 6 && !strncmp(format, "config", n))
		a->config |= bits;
	else if (n == 7 && !strncmp(format, "config1", n))
		a->config1 |= bits;
	else if (n == 7 && !strncmp(format, "config2", n))
		a->config2 |= bits;
	else
		return false;
	return true;
}

struct pmu {
	const char *devices, *name;
	const char *whole; /* for messages */
	struct ty_err *err;
};

/* "event=0x3c,umask=1", or the name of an event of the PMU, whose terms are in a file. */
static int take_terms(const struct pmu *pmu, char *terms, struct perf_event_attr *a, int depth)
{
	char line[LINE], *save = NULL;

	for (char *t = strtok_r(terms, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		char *equals = strchr(t, '='), *end = NULL;
		uint64_t value = 1;

		if (equals) {
			*equals = 0;
			errno = 0;
			value = strtoull(equals + 1, &end, 0);
			if (end == equals + 1 || *end || errno)
				return ty_fail(pmu->err, TY_EUSAGE, TY_NO_OFFSET,
					       "--counter %s: '%s' is not a number (%s=0x3c)",
					       pmu->whole, equals + 1, t);
		}
		if (!is_file_name(t))
			return ty_fail(pmu->err, TY_EUSAGE, TY_NO_OFFSET,
				       "--counter %s: '%s' is not the name of a term", pmu->whole,
				       t);
		if (equals && !strncmp(t, "config", 6) &&
		    (!t[6] || (!t[7] && t[6] > '0' && t[6] < '3'))) {
			*(t[6] == '1'	? &a->config1
			  : t[6] == '2' ? &a->config2
					: &a->config) |= value;
			continue;
		}
		if (ty_first_line(line, sizeof(line), "%s/%s/format/%s", pmu->devices, pmu->name,
				  t)) {
			if (!place(a, line, value))
				return ty_fail(pmu->err, TY_EUSAGE, TY_NO_OFFSET,
					       "--counter %s: the value of %s is too large (%s)",
					       pmu->whole, t, line);
			continue;
		}
		if (equals || depth == DEPTH ||
		    !ty_first_line(line, sizeof(line), "%s/%s/events/%s", pmu->devices, pmu->name,
				   t))
			return ty_fail(pmu->err, TY_ENOTFOUND, TY_NO_OFFSET,
				       "--counter %s: %s has no term or event '%s' (see "
				       "%s/%s/format and events)",
				       pmu->whole, pmu->name, t, pmu->devices, pmu->name);
		if (take_terms(pmu, line, a, depth + 1))
			return -pmu->err->code;
	}
	return 0;
}

/* Has a PMU one set of counters for several CPUs? Its cpumask then lacks some of those online. */
static bool is_shared(const char *devices, const char *name)
{
	unsigned mask[TY_CPUS_MAX], online[TY_CPUS_MAX], m, n, i = 0, k = 0;
	char path[2 * LINE];

	snprintf(path, sizeof(path), "%s/%s/cpumask", devices, name);
	m = ty_cpu_list(path, mask, TY_CPUS_MAX);
	n = m ? ty_cpu_list("/sys/devices/system/cpu/online", online, TY_CPUS_MAX) : 0;
	while (i < m && k < n && mask[i] <= online[k])
		k += mask[i++] == online[k];
	return k < n;
}

/* PMU/TERMS/; name is changed. *rest: what follows. */
static int take_pmu(const char *devices, const char *whole, char *name, struct ty_counter_event *e,
		    char **rest, struct ty_err *err)
{
	char line[LINE], *terms = strchr(name, '/'), *end;
	struct pmu pmu = {devices, name, whole, err};

	*terms++ = 0;
	end = strchr(terms, '/');
	if (!end || (end[1] && end[1] != ':' && !strchr("ukh", end[1])))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "--counter %s: the terms of a PMU end with a slash "
			       "(cpu/event=0x3c,umask=0/)",
			       whole);
	*end = 0;
	*rest = end + 1 + (end[1] == ':');
	if (!is_file_name(name) || !ty_first_line(line, sizeof(line), "%s/%s/type", devices, name))
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "--counter %s: this machine has no PMU '%s' (ls %s)", whole, name,
			       devices);
	if (is_shared(devices, name))
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "--counter %s: PMU '%s' counts for several CPUs together, not for a "
			       "thread (its cpumask). Use perf stat -a",
			       whole, name);
	e->attr.type = (uint32_t)strtoul(line, NULL, 10);
	return take_terms(&pmu, terms, &e->attr, 0);
}

static int take_tracepoint(const char *tracefs, const char *whole, const char *system,
			   const char *event, struct ty_counter_event *e, struct ty_err *err)
{
	char line[LINE];

	if (!is_file_name(system) || !is_file_name(event) ||
	    !ty_first_line(line, sizeof(line), "%s/events/%s/%s/id", tracefs, system, event))
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "--counter %s: unknown event (perf list, and %s/events, list them)",
			       whole, tracefs);
	e->attr.type = PERF_TYPE_TRACEPOINT;
	e->attr.config = strtoull(line, NULL, 10);
	return 0;
}

/* Letters u, k, h: only in user code, in the kernel, in a hypervisor. */
static bool take_modifiers(const char *p, struct perf_event_attr *a)
{
	if (!*p)
		return true;
	a->exclude_user = a->exclude_kernel = a->exclude_hv = 1;
	for (; *p; p++) {
		if (*p == 'u')
			a->exclude_user = 0;
		else if (*p == 'k')
			a->exclude_kernel = 0;
		else if (*p == 'h')
			a->exclude_hv = 0;
		else
			return false;
	}
	return true;
}

static bool is_raw(const char *name, uint64_t *config)
{
	char *end;

	if (*name != 'r' || !name[1] || strspn(name + 1, "0123456789abcdefABCDEF") > 16)
		return false;
	*config = strtoull(name + 1, &end, 16);
	return !*end && end > name + 1;
}

int ty_counter_event(const char *p, size_t n, const char *devices, const char *tracefs,
		     struct ty_counter_event *out, struct ty_err *err)
{
	char name[TY_COUNTER_NAME], *modifiers = "", *colon;
	struct perf_event_attr *a = &out->attr;
	const struct known *k;
	uint64_t config;
	int e = 0;

	*out = (struct ty_counter_event){.attr.size = sizeof(*a)};
	if (!n || n >= sizeof(name))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "--counter '%.*s': an event name is 1 to %zu characters long",
			       (int)n, p, sizeof(name) - 1);
	memcpy(out->name, p, n);
	memcpy(name, p, n);
	name[n] = 0;
	for (size_t i = 0; i < n; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
				       "--counter '%s': the event name contains a blank or a "
				       "character that is not ASCII",
				       name);
	if (strchr(name, '/')) {
		e = take_pmu(devices, out->name, name, out, &modifiers, err);
		if (e)
			return e;
	} else {
		colon = strchr(name, ':');
		if (colon)
			*colon = 0;
		if ((k = find(software, name)))
			*a = (struct perf_event_attr){.size = sizeof(*a),
						      .type = PERF_TYPE_SOFTWARE,
						      .config = k->config};
		else if ((k = find(hardware, name)))
			a->config = k->config; /* PERF_TYPE_HARDWARE is 0 */
		else if (is_cache(name, &config))
			a->type = PERF_TYPE_HW_CACHE, a->config = config;
		else if (is_raw(name, &config))
			a->type = PERF_TYPE_RAW, a->config = config;
		else if (colon) {
			char *more = strchr(colon + 1, ':');

			if (more)
				*more = 0;
			e = take_tracepoint(tracefs, out->name, name, colon + 1, out, err);
			if (e)
				return e;
			colon = more;
		} else {
			return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
				       "--counter %s: unknown event (perf list lists them)",
				       out->name);
		}
		modifiers = colon ? colon + 1 : "";
	}
	if (!take_modifiers(modifiers, a))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "--counter %s: unknown modifier '%s' (u: user code, k: kernel)",
			       out->name, modifiers);
	out->is_time = a->type == PERF_TYPE_SOFTWARE && (a->config == PERF_COUNT_SW_CPU_CLOCK ||
							 a->config == PERF_COUNT_SW_TASK_CLOCK);
	return 0;
}

size_t ty_counter_name_length(const char *list)
{
	bool terms = false;
	size_t n = 0;

	for (; list[n] && (terms || list[n] != ','); n++)
		terms ^= list[n] == '/';
	return n;
}
