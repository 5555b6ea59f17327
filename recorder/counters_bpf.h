/* SPDX-License-Identifier: MIT */
/* What the program in the kernel (counters.bpf.c) and its loader (counters.c) share. */
#ifndef TY_COUNTERS_BPF_H
#define TY_COUNTERS_BPF_H

#include "counter_record.h"

/* What a reading is: the first bytes of it, as many as there are counters and groups. */
struct ty_ct_reading {
	__u64 dur_ns;
	__u32 pid, tid;
	__u32 flags, zero;
	__u64 v[TY_COUNTERS_MAX + 2 * TY_COUNTER_GROUPS_MAX];
};
#define TY_CT_READING_HEAD 24u

#endif
