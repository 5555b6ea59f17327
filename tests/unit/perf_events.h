/* SPDX-License-Identifier: MIT */
/* perf.data files with tracepoints, for tests: formats and samples around perf_write.h. */
#ifndef PERF_EVENTS_H
#define PERF_EVENTS_H

#include "perf_write.h"

enum { PE_SWITCH = 300, PE_ENTER = 301, PE_EXIT = 302 };

/* w for samples of tracepoints (pipe form), with the formats of the three above. */
void pe_init(struct perf_write *w);
/* A sample: common fields, then n bytes. */
void pe_sample(struct perf_write *w, struct pw_at at, uint16_t id, const void *fields, size_t n);
void pe_switch(struct perf_write *w, struct pw_at at, int32_t next, uint64_t prev_state);
/* A system call's entry (enter) or end. */
void pe_call(struct perf_write *w, struct pw_at at, bool enter, int64_t nr);
void pe_lost(struct perf_write *w, struct pw_at at, uint64_t count);
void pe_round(struct perf_write *w);
/* FORK or EXIT of at's thread, by parent. */
void pe_task(struct perf_write *w, struct pw_at at, bool fork, int32_t pid, int32_t tid);
/* ID_INDEX: the event belongs to a CPU, and to a thread or all (-1). */
void pe_index(struct perf_write *w, int64_t cpu, int64_t tid);

#endif
