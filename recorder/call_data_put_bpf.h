/* SPDX-License-Identifier: MIT */
/*
 * In the kernel: what all programs that record call data use: the maps, the call's arguments, the
 * budget, and a record. The programs of single system calls run one at a time per CPU, without
 * preemption.
 */
#ifndef TY_CALL_DATA_PUT_BPF_H
#define TY_CALL_DATA_PUT_BPF_H

#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "call_data_ring_bpf.h"

/* Of syscalls:sys_enter_NAME and sys_exit_NAME: the arguments (a program that is attached to a call
 * reads no more than this has), the result. */
struct call {
	__u64 common;
	__u64 nr;
	__s64 more[];
};
/* Arguments of a call whose strings (bits) were not in memory. */
struct deferred {
	__u64 a[TY_EV_ARGS];
	__u32 nr, strings;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TY_EV_CALLS);
	__type(key, __u32);
	__type(value, struct ty_ev_call);
} calls SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct deferred);
} deferred SEC(".maps");

/* The buffers of a thread's call that returns addresses (of messages: their name buffers). */
struct name_buffers {
	struct name_buffer {
		__u64 ptr, len;
	} of[TY_EV_MESSAGES];
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct name_buffers);
} name_buffers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ty_ev_budget);
} budgets SEC(".maps");

const volatile __u32 data; /* bytes of each buffer to record; 0: none */
__u32 off;

/* The system call's arguments: saved in the thread's registers, also at its exit. */
static __always_inline void get_args(__u64 a[6])
{
	struct pt_regs *r = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	ARGS(a, r);
}

/* What to read of a traced thread's system call, and the thread's byte (NULL: none). NULL: nothing.
 */
static __always_inline struct ty_ev_call *find_call(__u64 id, __u32 nr, __u8 **byte)
{
	*byte = tid_byte((__u32)id);
	if (off || !is_traced(*byte, id))
		return NULL;
	return bpf_map_lookup_elem(&calls, &nr);
}

/* The same, with its arguments. */
static __always_inline struct ty_ev_call *begin_call(__u64 id, __u32 nr, __u64 a[6], __u8 **byte)
{
	struct ty_ev_call *what = find_call(id, nr, byte);

	if (what)
		get_args(a);
	return what;
}

static __always_inline struct ty_ev_budget *budget(void)
{
	__u32 zero = 0;

	return data ? 0 : bpf_map_lookup_elem(&budgets, &zero);
}

/* False: this CPU has recorded structures at more than TY_EV_RATE. NULL: there is no limit. */
static __always_inline int affords(struct ty_ev_budget *b)
{
	__u64 ns, tick;

	if (!b)
		return 1;
	if (!b->left) {
		tick = bpf_jiffies64(); /* read inline; a clock would cost more than the rest */
		if (tick == b->tick)
			return 0;
		b->tick = tick;
		ns = bpf_ktime_get_ns();
		if (ns - b->ns < 1000000000 / TY_EV_RATE)
			return 0;
		b->left = (ns - b->ns) / (1000000000 / TY_EV_RATE);
		if (b->left > TY_EV_BURST)
			b->left = TY_EV_BURST;
		b->ns = ns;
	}
	b->left--;
	return 1;
}

/* Nothing is left of the budget in this tick: then a call costs least without its arguments. */
static __always_inline int is_spent(const struct ty_ev_budget *b)
{
	return b && !b->left && b->tick == bpf_jiffies64();
}

/* False: counted as left out. */
static __always_inline int may_record(void)
{
	struct ty_ev_budget *b = budget();

	if (affords(b))
		return 1;
	b->left_out++;
	return 0;
}

/* n bytes at ptr, at most `most`, as a record. head: tid, nr, arg and the flags so far.
 * Global functions like this one are verified once for each program, not at each call with what the
 * caller knows: head may be NULL to the verifier. */
__noinline int put_bytes(const struct ty_ev_record *head, __u8 kind, __u64 ptr, __u64 n, __u32 most)
{
	struct record *s = begin_record();
	__u8 flags;
	long r;

	if (!s || !head)
		return 0;
	flags = head->flags;
	if (most > TY_EV_BYTES)
		most = TY_EV_BYTES;
	if (n > most) {
		n = most;
		flags |= TY_EVF_CUT;
	}
	barrier_var(n);
	if (n > TY_EV_BYTES)
		n = TY_EV_BYTES;
	r = bpf_probe_read_user(s->bytes, n, (const void *)ptr);
	s->head.ptr = ptr;
	s->head.tid = head->tid;
	s->head.nr = head->nr;
	s->head.kind = kind;
	s->head.arg = head->arg;
	s->head.flags = r ? flags | TY_EVF_FAULT : flags;
	put_record(s, r ? 0 : n);
	return 0;
}

#endif
