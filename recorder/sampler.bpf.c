/* SPDX-License-Identifier: MIT */
/*
 * Runs in the kernel (BPF): is the sampled thread traced? Loaded by sampler.c, set on the sampling
 * event of each CPU: samples of other threads are never written.
 *
 * Budget: 50 ns a sample.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include "tids_bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

SEC("perf_event") int is_traced(void *ctx)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), at = tid / TY_EV_TIDS;
	struct ty_ev_tids *t = bpf_map_lookup_elem(&tids, &at);

	return t && t->of[tid % TY_EV_TIDS] & TY_EV_TRACED;
}
