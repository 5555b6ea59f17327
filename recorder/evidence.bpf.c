/* SPDX-License-Identifier: MIT */
/*
 * Runs in the kernel (BPF, CO-RE): reads what lies behind the pointers of traced threads' system
 * calls and writes it into a perf ring per CPU, because the time stamps there are those of the
 * trace clock. Loaded by evidence.c; records: evidence_record.h.
 *
 * The programs of single system calls (syscalls:sys_enter_NAME) run on their CPU one at a time,
 * without preemption, so that one scratch record per CPU serves them all. BPF cannot wait for a
 * page: what is not in memory at a call's enter is read again at its exit. Structures of the
 * kernel are declared with the few members that are used; the loader finds their places (BTF).
 *
 * Budget: a thread that is not traced costs a lookup in one array, a path 200 ns.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "evidence_bpf.h"

#define KERNEL __attribute__((preserve_access_index))

struct mm_struct {
	unsigned long arg_start, arg_end;
} KERNEL;
struct task_struct {
	int pid;
	struct mm_struct *mm;
} KERNEL;
struct linux_binprm {
	const char *filename;
} KERNEL;

/* Arguments of syscalls:sys_enter_NAME; of sys_exit_NAME a[0] is the result. */
struct call {
	__u64 common;
	__u64 nr;
	__u64 a[6];
};
struct scratch {
	struct ty_ev_record head;
	char bytes[TY_EV_BYTES];
};
/* Arguments of a call whose strings (bits) were not in memory. */
struct owed {
	__u64 a[TY_EV_ARGS];
	__u32 nr, strings;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} out SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TY_EV_CALLS);
	__type(key, __u32);
	__type(value, struct ty_ev_call);
} calls SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the loader knows the largest thread number */
	__type(key, __u32);
	__type(value, struct ty_ev_tids);
} tids SEC(".maps");
/* One for system calls, one for exec, which may come in the middle of one. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct owed);
} owed SEC(".maps");

const volatile __u32 everybody; /* is traced but the process `own`; else who is marked in tids */
const volatile __u32 own;
__u32 off;
__u64 lost;

char LICENSE[] SEC("license") = "Dual MIT/GPL";

static __always_inline __u8 *tid_byte(__u32 tid)
{
	__u32 at = tid / TY_EV_TIDS;
	struct ty_ev_tids *t = bpf_map_lookup_elem(&tids, &at);

	return t ? &t->of[tid % TY_EV_TIDS] : 0;
}

static __always_inline int is_traced(const __u8 *byte, __u64 id)
{
	return everybody ? id >> 32 != own : byte && *byte & TY_EV_TRACED;
}

static __always_inline struct scratch *scratch(__u32 i)
{
	return bpf_map_lookup_elem(&scratches, &i);
}

static __always_inline void emit(void *ctx, struct scratch *s, __u64 len)
{
	barrier_var(len);
	if (len > TY_EV_BYTES)
		len = TY_EV_BYTES;
	s->head.len = len;
	s->head.pad = 0;
	s->head.pad2 = 0;
	if (bpf_perf_event_output(ctx, &out, BPF_F_CURRENT_CPU, s, sizeof(s->head) + len))
		__sync_fetch_and_add(&lost, 1);
}

/* 0: the memory was not there. */
static __always_inline int put_string(void *ctx, __u32 tid, __u32 nr, __u32 arg, __u64 ptr,
				      __u8 flags)
{
	struct scratch *s = scratch(0);
	long n;

	if (!s)
		return 1;
	n = bpf_probe_read_user_str(s->bytes, sizeof(s->bytes), (const void *)ptr);
	s->head.ptr = ptr;
	s->head.tid = tid;
	s->head.nr = nr;
	s->head.kind = TY_EVK_STRING;
	s->head.arg = arg;
	s->head.flags = flags | (n < 0 ? TY_EVF_FAULT : n == sizeof(s->bytes) ? TY_EVF_CUT : 0);
	emit(ctx, s, n > 0 ? n : 0);
	return n >= 0;
}

static __always_inline void put_sockaddr(void *ctx, __u32 tid, __u32 nr, __u32 arg, __u64 ptr,
					 __u64 len)
{
	struct scratch *s = scratch(0);
	__u64 n = (__u32)len;
	long r;

	if (!s)
		return;
	barrier_var(
		n);  /* or the compiler compares half of it, which does not convince the loader */
	if (n > 128) /* struct sockaddr_storage */
		n = 128;
	r = bpf_probe_read_user(s->bytes, n, (const void *)ptr);
	s->head.ptr = ptr;
	s->head.tid = tid;
	s->head.nr = nr;
	s->head.kind = TY_EVK_SOCKADDR;
	s->head.arg = arg;
	s->head.flags = r ? TY_EVF_FAULT : 0;
	emit(ctx, s, r ? 0 : n);
}

static __always_inline void put_list(void *ctx, __u32 tid, __u32 nr, __u32 arg, __u64 ptr)
{
	struct scratch *s = scratch(0);
	__u64 at = 0, p = 0;
	long r = 0;
	__u8 flags = 0;

	if (!s)
		return;
	for (int i = 0; i <= TY_EV_LIST; i++) {
		r = bpf_probe_read_user(&p, sizeof(p), (const void *)(ptr + 8 * i));
		if (r || !p)
			break;
		barrier_var(at);
		if (i == TY_EV_LIST || at > TY_EV_BYTES - TY_EV_LIST_BYTES) {
			flags = TY_EVF_CUT;
			break;
		}
		r = bpf_probe_read_user_str(s->bytes + at, TY_EV_LIST_BYTES, (const void *)p);
		if (r < 0)
			break;
		at += r;
		if (r == TY_EV_LIST_BYTES)
			flags = TY_EVF_CUT;
	}
	s->head.ptr = ptr;
	s->head.tid = tid;
	s->head.nr = nr;
	s->head.kind = TY_EVK_STRINGS;
	s->head.arg = arg;
	s->head.flags = r < 0 ? TY_EVF_FAULT : flags;
	emit(ctx, s, r < 0 ? 0 : at);
}

/* n: how many arguments the call has; what is not there may not be read. */
static __always_inline int enter(struct call *c, const int n)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tid = id, nr = c->nr, faults = 0;
	__u8 *byte = tid_byte(tid);
	struct ty_ev_call *what;
	struct owed o = {};

	if (off || !is_traced(byte, id))
		return 0;
	what = bpf_map_lookup_elem(&calls, &nr);
	if (!what)
		return 0;
#pragma unroll
	for (int i = 0; i < n && i < TY_EV_ARGS; i++) {
		o.a[i] = c->a[i];
		if (what->strings >> i & 1 && c->a[i] && !put_string(c, tid, nr, i, c->a[i], 0))
			faults |= 1u << i;
		if (i + 1 < n && what->sockaddr == i + 1 && c->a[i])
			put_sockaddr(c, tid, nr, i, c->a[i], c->a[i + 1]);
	}
	if (faults && byte && what->exit) {
		o.nr = nr;
		o.strings = faults;
		if (!bpf_map_update_elem(&owed, &tid, &o, BPF_ANY))
			*byte |= TY_EV_OWED;
	}
	return 0;
}

#define ENTER(n)                                                                                   \
	SEC("tp") int enter_##n(struct call *c)                                                    \
	{                                                                                          \
		return enter(c, n);                                                                \
	}
ENTER(1)
ENTER(2)
ENTER(3)
ENTER(4)
ENTER(5)
ENTER(6)

/* With a list of strings, which takes the loader's check too long for all of them. */
static __always_inline int enter_list(struct call *c, const int n, const int arg)
{
	__u64 id = bpf_get_current_pid_tgid();

	enter(c, n);
	if (!off && is_traced(tid_byte(id), id) && c->a[arg])
		put_list(c, id, c->nr, arg, c->a[arg]);
	return 0;
}

SEC("tp") int enter_execve(struct call *c)
{
	return enter_list(c, 3, 1);
}

SEC("tp") int enter_execveat(struct call *c)
{
	return enter_list(c, 5, 2);
}

SEC("tp") int leave(struct call *c)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), nr = c->nr;
	__u8 *byte = tid_byte(tid);
	struct owed *o;

	if (!byte || !(*byte & TY_EV_OWED))
		return 0;
	*byte &= ~TY_EV_OWED;
	o = bpf_map_lookup_elem(&owed, &tid);
	if (!o)
		return 0;
#pragma unroll
	for (int i = 0; i < TY_EV_ARGS; i++)
		if (o->nr == nr && o->strings >> i & 1)
			put_string(c, tid, nr, i, o->a[i], TY_EVF_EXIT);
	bpf_map_delete_elem(&owed, &tid);
	return 0;
}

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

/* struct task_struct *, pid_t old_pid, struct linux_binprm *. The arguments were just copied onto
 * the new stack: they are in memory. */
SEC("raw_tp/sched_process_exec") int executed(struct bpf_raw_tracepoint_args *c)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct task_struct *task = (void *)c->args[0];
	__u32 tid = id, old = c->args[1];
	__u8 *byte = tid_byte(tid), *then = tid_byte(old);
	struct linux_binprm *b = (void *)c->args[2];
	unsigned long from, to, n;
	struct scratch *s = scratch(1);
	struct owed *o;
	long r;

	if (off || !s || !is_traced(byte, id))
		return 0;
	s->head.tid = tid;
	o = then && *then & TY_EV_OWED ? bpf_map_lookup_elem(&owed, &old) : 0;
	if (o) { /* the memory of the call is gone, but the kernel has its copy */
		*then &= ~TY_EV_OWED;
		r = bpf_probe_read_kernel_str(s->bytes, sizeof(s->bytes),
					      BPF_CORE_READ(b, filename));
		s->head.tid = old;
		s->head.nr = o->nr;
		s->head.ptr = o->strings & 1 ? o->a[0] : o->a[1];
		s->head.kind = TY_EVK_STRING;
		s->head.arg = !(o->strings & 1);
		s->head.flags = TY_EVF_EXIT | (r < 0 ? TY_EVF_FAULT : 0);
		emit(c, s, r > 0 ? r : 0);
		bpf_map_delete_elem(&owed, &old);
		s->head.tid = tid;
	}
	from = BPF_CORE_READ(task, mm, arg_start);
	to = BPF_CORE_READ(task, mm, arg_end);
	n = to - from;
	barrier_var(n);
	s->head.flags = 0;
	if (n > TY_EV_BYTES) {
		n = TY_EV_BYTES;
		s->head.flags = TY_EVF_CUT;
	}
	s->head.ptr = from;
	s->head.nr = 0;
	s->head.kind = TY_EVK_ARGV;
	s->head.arg = 0;
	r = bpf_probe_read_user(s->bytes, n, (const void *)from);
	if (r) {
		s->head.flags |= TY_EVF_FAULT;
		n = 0;
	}
	emit(c, s, n);
	return 0;
}
