/* SPDX-License-Identifier: MIT */
/*
 * Converts perf records into a flow: memory maps, exec, fork, context switches, time conversion,
 * the CPU description of AUXTRACE_INFO. Used for perf.data files, for tarry's sideband section and
 * for bare record files. Records may come in any order (perf's files hold them per CPU); they are
 * applied by time at the end.
 */
#ifndef TY_FLOW_PERF_H
#define TY_FLOW_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "flow.h"
#include "perf_record.h"

struct ty_flow_perf;

struct ty_flow_perf *ty_flow_perf_new(struct ty_flow *f); /* NULL: out of memory */
void ty_flow_perf_free(struct ty_flow_perf *p);

/* Sets the CPU from a file's "GenuineIntel,6,94,3" (CPUID feature) and the attr.config of its PT
 * event. */
void ty_flow_perf_cpuid(struct ty_flow_perf *p, const char *text);
void ty_flow_perf_config(struct ty_flow_perf *p, uint64_t config);

/* Sets a file's build id when its mappings do not have it; call before adding them. 0 or
 * -TY_ENOMEM. */
int ty_flow_perf_build_id(struct ty_flow_perf *p, const char *name, const uint8_t *id, size_t n);

/*
 * Adds one record. id: its tail (have 0: none). cpu: the CPU that wrote it when its tail does not
 * say; -1 unknown. Malformed records are skipped and counted. 0, -TY_ENOMEM or -TY_ELIMIT.
 */
int ty_flow_perf_record(struct ty_flow_perf *p, const struct ty_perf_rec *r,
			const struct ty_perf_id *id, int32_t cpu);
/* Adds a whole file of bare records. */
int ty_flow_perf_file(struct ty_flow_perf *p, const uint8_t *bytes, size_t n, uint64_t sample_type,
		      int32_t cpu);

/*
 * States that CLOCK_MONOTONIC was mono_ns when the recording's clock was t_ns; ascending. Without
 * any, records of JIT compilers (jitdump) have no time.
 */
int ty_flow_perf_monotonic(struct ty_flow_perf *p, uint64_t mono_ns, uint64_t t_ns);
/* True when a JIT compiler's dump (jit-PID.dump) belongs to the records. */
bool ty_flow_perf_has_jit(const struct ty_flow_perf *p);
/* Statistics of those dumps, valid after finishing. */
struct ty_flow_jit {
	uint32_t files, missing, damaged; /* missing: not found, or not a jitdump */
	uint64_t functions;
	uint64_t left_out; /* without a time, and at the address of another function */
};
struct ty_flow_jit ty_flow_perf_jit(const struct ty_flow_perf *p);

/* Applies all records. Call before ty_flow_start. 0 or -TY_E... */
int ty_flow_perf_finish(struct ty_flow_perf *p);
/* Number of malformed records. */
uint64_t ty_flow_perf_bad(const struct ty_flow_perf *p);

#endif
