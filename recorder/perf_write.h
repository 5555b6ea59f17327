/* SPDX-License-Identifier: MIT */
/*
 * A perf.data file in pipe form, piece by piece: what tarry stores of PT (section.h, TY_SEC_PERF)
 * is one, so that one reader reads both and perf reads it too. Formats: perf.data-file-format.txt,
 * perf_event_open(2).
 */
#ifndef TY_PERF_WRITE_H
#define TY_PERF_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "buf.h"

/* Header, one intel_pt event, host and architecture, AUXTRACE_INFO and TIME_CONV: time stamps in
 * the packets are ns of the perf clock. */
void ty_perf_put_head(struct ty_buf *b);
struct ty_perf_where {
	pid_t pid, tid;
	uint64_t time_ns;
};
void ty_perf_put_mmap2(struct ty_buf *b, const struct ty_perf_where *w, uint64_t addr, uint64_t len,
		       uint64_t off, const uint8_t *build_id, unsigned build_id_n,
		       const char *path);
void ty_perf_put_comm(struct ty_buf *b, const struct ty_perf_where *w, const char *comm, bool exec);
void ty_perf_put_task(struct ty_buf *b, const struct ty_perf_where *w, bool fork, pid_t ppid,
		      pid_t ptid);
void ty_perf_put_itrace_start(struct ty_buf *b, const struct ty_perf_where *w);
/* A piece of the AUX stream of a thread; n is a multiple of 8. */
void ty_perf_put_auxtrace(struct ty_buf *b, pid_t tid, uint32_t idx, uint64_t off, const void *p,
			  size_t n);

#endif
