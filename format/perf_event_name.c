/* SPDX-License-Identifier: MIT */
/*
 * The name of an event that the file does not name, as perf derives it from the attribute
 * (tools/perf/util/evsel.c, evsel__name). Numbers: enum perf_type_id and the ids below it in
 * linux/perf_event.h.
 */
#include <inttypes.h>
#include <stdio.h>

#include "perf_file.h"

enum { HARDWARE = 0, SOFTWARE = 1, HW_CACHE = 3, RAW = 4 };

static const char *const hardware[] = {"cycles",
				       "instructions",
				       "cache-references",
				       "cache-misses",
				       "branches",
				       "branch-misses",
				       "bus-cycles",
				       "stalled-cycles-frontend",
				       "stalled-cycles-backend",
				       "ref-cycles"};
static const char *const software[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches"};
static const char *const cache[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
				    "iTLB",	 "branch",    "node"};
static const char *const operation[] = {"load", "store", "prefetch"};

#define NAMED(table, i) ((i) < sizeof(table) / sizeof(*(table)) ? (table)[i] : NULL)

static int base_name(const struct ty_perf_attr *a, char out[TY_PERF_EVENT_NAME])
{
	const uint64_t c = a->config;
	const char *name = a->type == HARDWARE	 ? NAMED(hardware, c)
			   : a->type == SOFTWARE ? NAMED(software, c)
						 : NULL;
	const char *of = NAMED(cache, c & 0xff), *op = NAMED(operation, c >> 8 & 0xff);

	if (name)
		return snprintf(out, TY_PERF_EVENT_NAME, "%s", name);
	if (a->type == HW_CACHE && of && op && c >> 16 <= 1)
		return snprintf(out, TY_PERF_EVENT_NAME, "%s-%s%s", of, op,
				c >> 16		     ? "-misses"
				: op == operation[2] ? "es"
						     : "s");
	if (a->type == RAW)
		return snprintf(out, TY_PERF_EVENT_NAME, "raw 0x%" PRIx64, c);
	return 0;
}

bool ty_perf_event_name(const struct ty_perf_attr *a, char out[TY_PERF_EVENT_NAME])
{
	static const struct {
		unsigned bit; /* exclude_... */
		char shown;
	} modes[] = {{5, 'k'}, {4, 'u'}, {6, 'h'}}, machines[] = {{19, 'H'}, {20, 'G'}};
	const unsigned excluded = a->flags >> 4 & 7, precise = a->flags >> 15 & 3;
	const bool no_host = a->flags >> 19 & 1, no_guest = a->flags >> 20 & 1;
	int n = base_name(a, out), start = n;

	if (!n)
		return false;
	out[n++] = ':';
	for (unsigned i = 0; excluded && i < 3; i++)
		if (!(a->flags >> modes[i].bit & 1))
			out[n++] = modes[i].shown;
	for (unsigned i = 0; i < precise; i++)
		out[n++] = 'p';
	/* perf before 6.13 has ":HG" where nothing is excluded, and no ":H" where guests alone
	 * are, which was its default; later ones show what is excluded. This is in both. */
	if (no_host || (no_guest && (excluded || precise)))
		for (unsigned i = 0; i < 2; i++)
			if (!(a->flags >> machines[i].bit & 1))
				out[n++] = machines[i].shown;
	out[n == start + 1 ? start : n] = 0;
	return true;
}
