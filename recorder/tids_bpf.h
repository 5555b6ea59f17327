/* SPDX-License-Identifier: MIT */
/* In the kernel: which threads are traced. call_data.bpf.c makes the map (the loader knows the
 * largest thread number), the other programs share it. */
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

/* All processes but `own` are traced; otherwise the threads marked in tids. */
const volatile __u32 trace_all;
const volatile __u32 own;

static __always_inline __u8 *tid_byte(__u32 tid)
{
	__u32 at = tid / TY_EV_TIDS;
	struct ty_ev_tids *t = bpf_map_lookup_elem(&tids, &at);

	return t ? &t->of[tid % TY_EV_TIDS] : 0;
}

/* byte: tid_byte of the thread, id: thread and process as bpf_get_current_pid_tgid. */
static __always_inline int is_traced(const __u8 *byte, __u64 id)
{
	return trace_all ? id >> 32 != own : byte && *byte & TY_EV_TRACED;
}

/* The idle thread of a CPU (tid 0) is not. */
static __always_inline int is_traced_thread(__u32 tid, __u32 tgid)
{
	return tid && is_traced(tid_byte(tid), (__u64)tgid << 32);
}

#endif
