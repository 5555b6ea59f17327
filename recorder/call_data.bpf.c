/* SPDX-License-Identifier: MIT */
/*
 * Runs in the kernel (BPF, CO-RE): reads the data behind the pointers of traced threads' system
 * calls and writes it to a perf ring per CPU, because the time stamps there are those of the trace
 * clock. Loaded by call_data.c; records: call_data_record.h.
 *
 * One object of several headers, a concept each: the programs share the maps, the scratch records
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
