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

SEC("perf_event") int sampled(void *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();

	return is_traced(tid_byte(id), id);
}
