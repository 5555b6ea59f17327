/* SPDX-License-Identifier: MIT */
/* In the kernel: the map of traced threads. call_data.bpf.c makes it (the loader knows the largest
 * thread number), the other programs share it. */
#ifndef TY_TIDS_BPF_H
#define TY_TIDS_BPF_H

#include "call_data_bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ty_ev_tids);
} tids SEC(".maps");

#endif
