/* SPDX-License-Identifier: MIT */
/*
 * Writes the parts of a perf.data file in pipe form. What tarry stores of PT (section.h,
 * TY_SEC_PERF) is such a file, so that one reader reads both, and perf reads it too. Formats:
 * perf.data-file-format.txt, perf_event_open(2).
 */
#ifndef TY_PERF_WRITE_H
#define TY_PERF_WRITE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "buf.h"

/* Words of intel_pt's AUXTRACE_INFO (linux tools/perf/util/intel-pt.h). */
enum {
	TY_PT_INFO_PMU_TYPE,
	TY_PT_INFO_TIME_SHIFT,
	TY_PT_INFO_TIME_MULT,
	TY_PT_INFO_TIME_ZERO,
	TY_PT_INFO_HAVE_TIME_ZERO,
	TY_PT_INFO_TSC_BIT,
	TY_PT_INFO_NORETCOMP_BIT,
	TY_PT_INFO_SCHED_SWITCH,
	TY_PT_INFO_SNAPSHOT,
	TY_PT_INFO_PER_CPU,
	TY_PT_INFO_MTC_BIT,
	TY_PT_INFO_MTC_FREQ_BITS,
	TY_PT_INFO_TSC_CTC_N,
	TY_PT_INFO_TSC_CTC_D,
	TY_PT_INFO_CYC_BIT,
	TY_PT_INFO_NONTURBO_RATIO,
	TY_PT_INFO_FILTER_LEN,
	TY_PT_INFO_WORDS
};

/* The file's header; host, architecture and CPU. */
void ty_perf_put_machine(struct ty_buf *b);
/* The names of PMU types. */
void ty_perf_put_pmus(struct ty_buf *b, const uint32_t *types, const char *const *names,
		      unsigned n);
/* An event and the ids of its records. */
void ty_perf_put_attr(struct ty_buf *b, const struct perf_event_attr *attr, const uint64_t *ids,
		      unsigned n);
/* n words whose meaning depends on type, followed by a text ("": none). */
void ty_perf_put_auxtrace_info(struct ty_buf *b, uint32_t type, const uint64_t *words, unsigned n,
			       const char *text);
/* ns = zero + counter * mult / 2^shift, as page says, with its rule for short counters. */
void ty_perf_put_time_conv(struct ty_buf *b, const struct perf_event_mmap_page *page);
/* The initial records of the single-stepper: header, one intel_pt event, host and architecture,
 * AUXTRACE_INFO and TIME_CONV. Time stamps in the packets are ns of the perf clock. */
void ty_perf_put_head(struct ty_buf *b);
struct ty_perf_where {
	pid_t pid, tid;
	uint64_t time_ns;
	uint64_t id; /* of the event; 0: that of ty_perf_put_head */
};
/* prot: PROT_*; build_id: build_id_n bytes, 0: unknown. */
void ty_perf_put_mmap2(struct ty_buf *b, const struct ty_perf_where *w, uint64_t addr, uint64_t len,
		       uint64_t off, int prot, const uint8_t *build_id, unsigned build_id_n,
		       const char *path);
void ty_perf_put_comm(struct ty_buf *b, const struct ty_perf_where *w, const char *comm, bool exec);
void ty_perf_put_task(struct ty_buf *b, const struct ty_perf_where *w, bool fork, pid_t ppid,
		      pid_t ptid);
void ty_perf_put_itrace_start(struct ty_buf *b, const struct ty_perf_where *w);
/* A piece of the AUX stream of a thread (cpu -1) or of a CPU (tid -1); n is a multiple of 8. */
void ty_perf_put_auxtrace(struct ty_buf *b, int cpu, pid_t tid, uint32_t idx, uint64_t off,
			  const void *p, size_t n);

#endif
