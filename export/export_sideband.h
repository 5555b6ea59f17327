/* SPDX-License-Identifier: MIT */
/*
 * The records of executed instructions and memory samples (section TY_SEC_PERF of a recording, a
 * perf.data file in pipe form), in time order.
 */
#ifndef TY_EXPORT_SIDEBAND_H
#define TY_EXPORT_SIDEBAND_H

#include "thread_names.h"
#include "perf_data.h"
#include "perf_out.h"
#include "trace.h"
#include "window.h"

struct ty_export_sideband;

/*
 * Writes events and features of t's section to `out`. Of Intel PT, only what may overlap w's time
 * will be written; of samples, what w selects; Arm SPE's streams, mappings and the like unchanged.
 * w and comms (names of threads when `until` reaches a sample) are borrowed until free. *side is
 * NULL when t has no such section. 0 or -TY_E....
 */
int ty_export_sideband_new(const struct ty_trace *t, struct ty_perf_out *out,
			   const struct ty_window *w, const struct ty_thread_names *comms,
			   struct ty_export_sideband **side, struct ty_err *err);
void ty_export_sideband_free(struct ty_export_sideband *s);
/* Writes the records up to ns. 0 or -TY_E.... */
int ty_export_sideband_until(struct ty_export_sideband *s, uint64_t ns, struct ty_err *err);
/* True when AUX streams were written that extend beyond w's time: those of Arm SPE, or without a
 * clock. */
bool ty_export_sideband_uncut(const struct ty_export_sideband *s);
/* Bytes of AUX streams written so far. */
uint64_t ty_export_sideband_aux(const struct ty_export_sideband *s);

#endif
