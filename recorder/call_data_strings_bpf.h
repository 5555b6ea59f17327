/* SPDX-License-Identifier: MIT */
/* In the kernel: paths, socket addresses that are given, and the arguments of exec. What is not in
 * memory at a call's enter is read again at its exit: BPF cannot wait for a page. */
#ifndef TY_CALL_DATA_STRINGS_BPF_H
#define TY_CALL_DATA_STRINGS_BPF_H

#include "call_data_put_bpf.h"

/* Bytes with the NUL, or negative. Linux 6.1 returns 0 for an empty string. */
static __always_inline long read_string(char *to, __u32 most, __u64 ptr)
{
	const long n = bpf_probe_read_user_str(to, most, (const void *)ptr);

	if (n)
		return n;
	*to = 0;
	return 1;
}

/* 0: the memory was not there. */
__noinline int put_string(__u32 tid, __u32 nr, __u32 arg, __u64 ptr, __u8 flags)
{
	struct record *s = begin_record();
	long n;

	if (!s)
		return 1;
	n = read_string(s->bytes, sizeof(s->bytes), ptr);
	s->head.ptr = ptr;
	s->head.tid = tid;
	s->head.nr = nr;
	s->head.kind = TY_EVK_STRING;
	s->head.arg = arg;
	s->head.flags = flags | (n < 0 ? TY_EVF_FAULT : n == sizeof(s->bytes) ? TY_EVF_CUT : 0);
	put_record(s, n > 0 ? n : 0);
	return n >= 0;
}

static __always_inline void put_sockaddr(__u32 tid, __u32 nr, __u32 arg, __u64 ptr, __u64 len)
{
	struct record *s = begin_record();
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
	put_record(s, r ? 0 : n);
}

static __always_inline void put_list(__u32 tid, __u32 nr, __u32 arg, __u64 ptr)
{
	struct record *s = begin_record();
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
		s->bytes[at] = 0;
		r = bpf_probe_read_user_str(s->bytes + at, TY_EV_LIST_BYTES, (const void *)p);
		if (r < 0)
			break;
		/* 0: as in read_string; without a branch, which the loader's check would follow
		 * at each turn. */
		at += r | (__u64)(r - 1) >> 63;
	}
	s->head.ptr = ptr;
	s->head.tid = tid;
	s->head.nr = nr;
	s->head.kind = TY_EVK_STRINGS;
	s->head.arg = arg;
	s->head.flags = r < 0 ? TY_EVF_FAULT : flags;
	put_record(s, r < 0 ? 0 : at);
}

static __always_inline void defer(__u8 *byte, __u32 tid, __u32 nr, const __u64 a[6], __u32 strings)
{
	struct deferred o = {.nr = nr, .strings = strings};

	__builtin_memcpy(o.a, a, sizeof(o.a));
	if (!bpf_map_update_elem(&deferred, &tid, &o, BPF_ANY))
		*byte |= TY_EV_DEFERRED;
}

/* One loop, not unrolled: the loader's check takes as long as there are ways through a program. */
SEC("tp") int enter_call(struct call *c)
{
	__u64 id = bpf_get_current_pid_tgid(), a[6];
	__u32 tid = id, nr = c->nr, faults = 0, at, len_at;
	__u8 *byte;
	struct ty_ev_call *what = begin_call(id, nr, a, &byte);

	if (!what)
		return 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < TY_EV_ARGS; i++)
		if (what->strings >> i & 1 && a[i] && !put_string(tid, nr, i, a[i], 0))
			faults |= 1u << i;
	at = what->sockaddr - 1u;
	len_at = what->sockaddr;
	barrier_var(at); /* two numbers: Linux 6.1 does not derive the one from the other */
	barrier_var(len_at);
	if (at < TY_EV_ARGS && len_at <= TY_EV_ARGS && a[at])
		put_sockaddr(tid, nr, at, a[at], a[len_at]);
	if (faults && byte && what->exit)
		defer(byte, tid, nr, a, faults);
	return 0;
}

/* execve, execveat: a path, then a list of strings. */
SEC("tp") int enter_exec(struct call *c)
{
	__u64 id = bpf_get_current_pid_tgid(), a[6], path, list;
	__u32 tid = id, nr = c->nr, at;
	__u8 *byte;
	struct ty_ev_call *what = begin_call(id, nr, a, &byte);

	if (!what)
		return 0;
	at = what->list == 2 ? 0 : 1;
	path = at ? a[1] : a[0];
	list = at ? a[2] : a[1];
	if (path && !put_string(tid, nr, at, path, 0) && byte && what->exit)
		defer(byte, tid, nr, a, 1u << at);
	if (list)
		put_list(tid, nr, at + 1, list);
	return 0;
}

/* The strings that were not in memory at the call's enter, at its exit. */
static __always_inline void put_deferred(__u8 *byte, __u32 tid, __u32 nr)
{
	struct deferred *o;

	*byte &= ~TY_EV_DEFERRED;
	o = bpf_map_lookup_elem(&deferred, &tid);
	if (!o)
		return;
#pragma clang loop unroll(disable)
	for (int i = 0; i < TY_EV_ARGS; i++)
		if (o->nr == nr && o->strings >> i & 1)
			put_string(tid, nr, i, o->a[i], TY_EVF_EXIT);
	bpf_map_delete_elem(&deferred, &tid);
}

SEC("tp") int leave(struct call *c)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	__u8 *byte = tid_byte(tid);

	if (byte && *byte & TY_EV_DEFERRED)
		put_deferred(byte, tid, c->nr);
	return 0;
}

/* In the ring's next record: the path of the exec, if it was not in memory, and the arguments. */
static __always_inline void put_exec(struct ty_ev_ring *ring, struct task_struct *task, __u32 tid,
				     __u32 old, struct linux_binprm *b)
{
	__u8 *then = tid_byte(old);
	struct record *s = begin_record_of(ring);
	unsigned long from, to, n;
	struct deferred *o;
	long r;

	o = then && *then & TY_EV_DEFERRED ? bpf_map_lookup_elem(&deferred, &old) : 0;
	if (o) { /* the memory of the call no longer exists, but the kernel has its copy */
		*then &= ~TY_EV_DEFERRED;
		r = bpf_probe_read_kernel_str(s->bytes, sizeof(s->bytes),
					      BPF_CORE_READ(b, filename));
		s->head.tid = old;
		s->head.nr = o->nr;
		s->head.ptr = o->strings & 1 ? o->a[0] : o->a[1];
		s->head.kind = TY_EVK_STRING;
		s->head.arg = !(o->strings & 1);
		s->head.flags = TY_EVF_EXIT | (r < 0 ? TY_EVF_FAULT : 0);
		put_record(s, r > 0 ? r : 0);
		bpf_map_delete_elem(&deferred, &old);
		s = begin_record_of(ring);
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
	s->head.tid = tid;
	s->head.ptr = from;
	s->head.nr = 0;
	s->head.kind = TY_EVK_ARGV;
	s->head.arg = 0;
	r = bpf_probe_read_user(s->bytes, n, (const void *)from);
	if (r) {
		s->head.flags |= TY_EVF_FAULT;
		n = 0;
	}
	put_record(s, n);
}

/* struct task_struct *, pid_t old_pid, struct linux_binprm *. The arguments were just copied onto
 * the new stack: they are in memory. Newer kernels may interrupt this program for another. */
SEC("raw_tp/sched_process_exec") int executed(struct bpf_raw_tracepoint_args *c)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct ty_ev_ring *ring = own_ring();

	if (off || !is_traced(tid_byte((__u32)id), id))
		return 0;
	if (!ring || __sync_lock_test_and_set(&ring->busy, 1)) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	put_exec(ring, (void *)c->args[0], id, c->args[1], (void *)c->args[2]);
	__sync_lock_test_and_set(&ring->busy, 0);
	return 0;
}

#endif
