/* SPDX-License-Identifier: MIT */
/*
 * Runs in the kernel (BPF, CO-RE): reads the data behind the pointers of traced threads' system
 * calls and writes it to a ring per CPU. Loaded by call_data.c; records: call_data_record.h.
 *
 * One object of several headers, a concept each: the programs share the maps, the rings
 * and the helpers, which the verifier sees inlined into each.
 *
 * Budget: a thread that is not traced costs one array look-up, a path 200 ns.
 */
#include "call_data_fds_bpf.h"
#include "call_data_messages_bpf.h"
#include "call_data_put_bpf.h"
#include "call_data_strings_bpf.h"
#include "call_data_values_bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* struct task_struct *parent, *child: as the kernel does it for set_event_pid. */
SEC("raw_tp/sched_process_fork") int forked(struct bpf_raw_tracepoint_args *c)
{
	struct task_struct *parent = (void *)c->args[0], *child = (void *)c->args[1];
	__u8 *from = tid_byte(BPF_CORE_READ(parent, pid)), *to;

	if (!from || !(*from & TY_EV_TRACED))
		return 0;
	to = tid_byte(BPF_CORE_READ(child, pid));
	if (to)
		*to = TY_EV_TRACED;
	return 0;
}

SEC("raw_tp/sched_process_exit") int ended(struct bpf_raw_tracepoint_args *c)
{
	struct task_struct *task = (void *)c->args[0];
	__u8 *byte = tid_byte(BPF_CORE_READ(task, pid));

	if (byte && *byte)
		*byte = 0;
	return 0;
}

/* Run by the loader, in its process. args: the descriptor of the event that is the clock of a CPU,
 * and the CPU. */
SEC("raw_tp") int note_clock(struct bpf_raw_tracepoint_args *c)
{
	__u32 cpu = c->args[1];
	struct ty_ev_ring *r = bpf_map_lookup_elem(&rings, &cpu);
	struct file *f = file_of(c->args[0]);

	if (r && f)
		r->clock = (__u64)BPF_CORE_READ(f, private_data) +
			   __builtin_preserve_field_info(((struct perf_event *)0)->hw.prev_count,
							 BPF_FIELD_BYTE_OFFSET);
	return 0;
}

/* On that CPU: gives 0 if the address is that of the clock: both grow by the same. */
SEC("raw_tp") int check_clock(struct bpf_raw_tracepoint_args *c)
{
	struct ty_ev_ring *r = own_ring();
	__u64 ns[2], count[2];

	if (!r || !r->clock)
		return 1;
#pragma clang loop unroll(full)
	for (int i = 0; i < 2; i++) {
		count[i] = bpf_perf_event_read(&clocks, BPF_F_CURRENT_CPU);
		if ((__s64)count[i] < 0 ||
		    bpf_probe_read_kernel(&ns[i], sizeof(ns[i]), (const void *)r->clock))
			return 1;
	}
	return count[1] - count[0] != ns[1] - ns[0];
}
