/* SPDX-License-Identifier: MIT */
/*
 * Runs in the kernel (BPF): reads the counters of this CPU when a traced thread is switched in and
 * when it is switched out, and now and then while it runs. What they grew by in between is written
 * as a reading of that thread. Loaded by counters.c.
 *
 * The switch itself is counted after this program has run, so that each reading has the switch by
 * which the thread came to the CPU in place of the one by which it left. All run with interrupts
 * off, so that none meets another on its CPU.
 *
 * Budget: 100 ns and 40 ns a counter for a switch to or from a traced thread, 10 ns for others.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "counters_bpf.h"
#include "tids_bpf.h"

struct task_struct {
	int pid, tgid;
} __attribute__((preserve_access_index));

/* Of the thread that runs on a CPU. */
struct running {
	__u64 since_ns;
	__u32 armed; /* it is traced, and `was` is of when it began */
	__u32 known; /* bit per counter: `was` could be read; a failed read gives 0 */
	struct bpf_perf_event_value was[TY_COUNTERS_MAX], now[TY_COUNTERS_MAX];
	struct ty_ct_reading out;
};

/* By CPU and counter. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, 1);
} counter_events SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} readings SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct running);
} runs SEC(".maps");

const volatile __u32 counters, groups;
const volatile __u32 group_of[TY_COUNTERS_MAX]; /* ascending */
__u64 lost;
__u32 off;

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* A bit for each counter that could be read. */
static __always_inline __u32 read_all(struct bpf_perf_event_value *to)
{
	const __u32 at = bpf_get_smp_processor_id() * counters;
	__u32 known = 0;

	for (__u32 i = 0; i < TY_COUNTERS_MAX && i < counters; i++)
		if (!bpf_perf_event_read_value(&counter_events, at + i, &to[i], sizeof(to[i])))
			known |= 1u << i;
	return known;
}

/* A reading of the thread that was running until now. */
static __always_inline void put(void *ctx, struct running *r, __u32 pid, __u32 tid, __u64 now_ns)
{
	const __u32 known = read_all(r->now), both = known & r->known;
	__u32 len;

	r->out.dur_ns = now_ns - r->since_ns;
	r->out.pid = pid;
	r->out.tid = tid;
	r->out.flags = both == (1u << counters) - 1 ? 0 : TY_CT_UNREAD;
	for (__u32 i = 0; i < TY_COUNTERS_MAX && i < counters; i++) {
		__u32 g = counters + 2 * group_of[i];

		r->out.v[i] = both >> i & 1 ? r->now[i].counter - r->was[i].counter : 0;
		if (g < TY_COUNTERS_MAX + 2 * TY_COUNTER_GROUPS_MAX - 1) {
			r->out.v[g] = both >> i & 1 ? r->now[i].enabled - r->was[i].enabled : 0;
			r->out.v[g + 1] = both >> i & 1 ? r->now[i].running - r->was[i].running : 0;
		}
		r->was[i] = r->now[i];
	}
	r->known = known;
	r->since_ns = now_ns;
	len = TY_CT_READING_HEAD + 8 * (counters + 2 * groups);
	if (len > sizeof(r->out))
		return;
	if (bpf_perf_event_output(ctx, &readings, BPF_F_CURRENT_CPU, &r->out, len))
		__sync_fetch_and_add(&lost, 1);
}

static __always_inline void arm(struct running *r, __u64 now_ns)
{
	r->known = read_all(r->was);
	r->since_ns = now_ns;
	r->armed = 1;
}

/* bool, struct task_struct *from, *to */
SEC("tp_btf/sched_switch") int switched(__u64 *ctx)
{
	struct task_struct *from = (void *)ctx[1], *to = (void *)ctx[2];
	__u32 zero = 0, armed;
	struct running *r = bpf_map_lookup_elem(&runs, &zero);
	__u64 now_ns;

	if (!r || off)
		return 0;
	armed = is_traced_thread(to->pid, to->tgid);
	if (!r->armed && !armed)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (r->armed)
		put(ctx, r, from->tgid, from->pid, now_ns);
	else
		arm(r, now_ns);
	r->armed = armed;
	return 0;
}

SEC("perf_event") int ticked(void *ctx)
{
	const __u64 id = bpf_get_current_pid_tgid();
	__u32 zero = 0;
	struct running *r = bpf_map_lookup_elem(&runs, &zero);

	if (!r || off)
		return 0;
	if (r->armed)
		put(ctx, r, id >> 32, id, bpf_ktime_get_ns());
	else if (is_traced_thread(id, id >> 32))
		arm(r, bpf_ktime_get_ns());
	return 0;
}
