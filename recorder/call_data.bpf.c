/* SPDX-License-Identifier: MIT */
/*
 * Runs in the kernel (BPF, CO-RE): reads the data behind the pointers of traced threads' system
 * calls and writes it to a perf ring per CPU, because the time stamps there are those of the trace
 * clock. Loaded by call_data.c; records: call_data_record.h.
 *
 * The programs of single system calls (syscalls:sys_enter_NAME) run one at a time per CPU, without
 * preemption, so one scratch record per CPU serves all. BPF cannot wait for a page: data that is
 * not in memory at a call's enter is read again at its exit. Kernel structures are declared with
 * only the members used; the loader relocates them (BTF).
 *
 * Budget: a thread that is not traced costs one array look-up, a path 200 ns.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "tids_bpf.h"

#define KERNEL __attribute__((preserve_access_index))

struct mm_struct {
	unsigned long arg_start, arg_end;
} KERNEL;
struct inode {
	unsigned long i_ino;
	unsigned short i_mode;
} KERNEL;
struct file {
	struct inode *f_inode;
	void *private_data;
} KERNEL;
struct fdtable {
	unsigned max_fds;
	struct file **fd;
} KERNEL;
struct files_struct {
	struct fdtable *fdt;
} KERNEL;
struct task_struct {
	int pid;
	struct mm_struct *mm;
	struct files_struct *files;
} KERNEL;
struct upid {
	int nr;
} KERNEL;
struct pid {
	struct upid numbers[1];
} KERNEL;
struct sock;
struct socket {
	short type;
	struct file *file;
	struct sock *sk;
} KERNEL;
struct sock_common {
	unsigned short skc_family;
	unsigned char skc_state;
	__u32 skc_daddr, skc_rcv_saddr;
	__u16 skc_dport, skc_num;
	char skc_v6_daddr[16], skc_v6_rcv_saddr[16];
} KERNEL;
struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
	struct pid *sk_peer_pid;
	struct socket *sk_socket;
} KERNEL;
struct sockaddr_un {
	unsigned short sun_family;
} KERNEL;
struct unix_address {
	int len;
	struct sockaddr_un name[];
} KERNEL;
struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
} KERNEL;
#if defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
} KERNEL;
struct pt_regs {
	struct user_pt_regs user_regs;
	__u64 orig_x0;
} KERNEL;
#define ARGS(a, r)                                                                                 \
	do {                                                                                       \
		(a)[0] = (r)->orig_x0;                                                             \
		(a)[1] = (r)->user_regs.regs[1];                                                   \
		(a)[2] = (r)->user_regs.regs[2];                                                   \
		(a)[3] = (r)->user_regs.regs[3];                                                   \
		(a)[4] = (r)->user_regs.regs[4];                                                   \
		(a)[5] = (r)->user_regs.regs[5];                                                   \
	} while (0)
#elif defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di, si, dx, r10, r8, r9;
} KERNEL;
#define ARGS(a, r)                                                                                 \
	do {                                                                                       \
		(a)[0] = (r)->di;                                                                  \
		(a)[1] = (r)->si;                                                                  \
		(a)[2] = (r)->dx;                                                                  \
		(a)[3] = (r)->r10;                                                                 \
		(a)[4] = (r)->r8;                                                                  \
		(a)[5] = (r)->r9;                                                                  \
	} while (0)
#else
#error "unknown registers of this machine"
#endif
struct linux_binprm {
	const char *filename;
} KERNEL;

/* Of syscalls:sys_enter_NAME; sys_exit_NAME has the result behind it. */
struct call {
	__u64 common;
	__u64 nr;
	__s64 result[];
};
struct scratch {
	struct ty_ev_record head;
	char bytes[TY_EV_BYTES];
};
/* Arguments of a call whose strings (bits) were not in memory. */
struct deferred {
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
/* One for system calls and one for exec, which may occur inside a call. */
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
	__type(value, struct deferred);
} deferred SEC(".maps");

/* The name buffer of a thread's recvmsg. */
struct name_buffer {
	__u64 ptr;
	__u64 len;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct name_buffer);
} name_buffers SEC(".maps");

/* All processes but `own` are traced; otherwise the threads marked in tids. */
const volatile __u32 trace_all;
const volatile __u32 own;
const volatile __u32 data; /* bytes of each buffer to record; 0: none */
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
	return trace_all ? id >> 32 != own : byte && *byte & TY_EV_TRACED;
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
static __always_inline int put_string(void *ctx, __u32 tid, __u32 nr, __u32 arg, __u64 ptr,
				      __u8 flags)
{
	struct scratch *s = scratch(0);
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
	emit(ctx, s, r < 0 ? 0 : at);
}

/* The system call's arguments: saved in the thread's registers, also at its exit. */
static __always_inline void get_args(__u64 a[6])
{
	struct pt_regs *r = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	ARGS(a, r);
}

static __always_inline void defer(__u8 *byte, __u32 tid, __u32 nr, const __u64 a[6], __u32 strings)
{
	struct deferred o = {.nr = nr, .strings = strings};

	__builtin_memcpy(o.a, a, sizeof(o.a));
	if (!bpf_map_update_elem(&deferred, &tid, &o, BPF_ANY))
		*byte |= TY_EV_DEFERRED;
}

/* Starts on a traced thread's system call: its arguments and the thread's byte (NULL: none).
 * Returns what to read of the call; NULL: nothing. */
static __always_inline struct ty_ev_call *begin_call(__u64 id, __u32 nr, __u64 a[6], __u8 **byte)
{
	struct ty_ev_call *what;

	*byte = tid_byte((__u32)id);
	if (off || !is_traced(*byte, id))
		return NULL;
	what = bpf_map_lookup_elem(&calls, &nr);
	if (what)
		get_args(a);
	return what;
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
		if (what->strings >> i & 1 && a[i] && !put_string(c, tid, nr, i, a[i], 0))
			faults |= 1u << i;
	at = what->sockaddr - 1u;
	len_at = what->sockaddr;
	barrier_var(at); /* two numbers: Linux 6.1 does not derive the one from the other */
	barrier_var(len_at);
	if (at < TY_EV_ARGS && len_at <= TY_EV_ARGS && a[at])
		put_sockaddr(c, tid, nr, at, a[at], a[len_at]);
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
	if (path && !put_string(c, tid, nr, at, path, 0) && byte && what->exit)
		defer(byte, tid, nr, a, 1u << at);
	if (list)
		put_list(c, tid, nr, at + 1, list);
	return 0;
}

/* n bytes at ptr, at most `most`, as a record. head: tid, nr, arg and the flags so far. */
static __always_inline void put_bytes(void *ctx, const struct ty_ev_record *head, __u8 kind,
				      __u64 ptr, __u64 n, __u32 most)
{
	struct scratch *s = scratch(0);
	__u8 flags = head->flags;
	long r;

	if (!s)
		return;
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
	emit(ctx, s, r ? 0 : n);
}

struct buffers {
	void *ctx;
	const struct ty_ev_record *head;
	__u64 ptr, n, left;
};

static long put_buffer(__u32 i, struct buffers *b)
{
	struct {
		__u64 base, len;
	} v;

	if (i >= b->n || !b->left ||
	    bpf_probe_read_user(&v, sizeof(v), (const void *)(b->ptr + sizeof(v) * i)))
		return 1;
	if (v.len > b->left)
		v.len = b->left;
	b->left -= v.len;
	if (v.base && v.len)
		put_bytes(b->ctx, b->head, TY_EVK_MEMORY, v.base, v.len, data);
	return 0;
}

/* The first bytes of a vector's buffers, of which `left` hold something. By bpf_loop: the verifier
 * checks every iteration of a plain loop, and gives up. */
static __always_inline void put_buffers(void *ctx, const struct ty_ev_record *head, __u64 ptr,
					__u64 n, __u64 left)
{
	struct buffers b = {ctx, head, ptr, n, left};

	if (data)
		bpf_loop(TY_EV_BUFFERS, put_buffer, &b, 0);
}

struct user_msghdr {
	__u64 name, name_len, iov, iov_n, control, control_len, flags;
};

/* Without `data`, control messages up to one that is neither SCM_RIGHTS nor SCM_CREDENTIALS
 * (SOL_SOCKET), and of that one its header: what it holds may be secret. */
static __always_inline void put_control(void *ctx, const struct ty_ev_record *head, __u64 ptr,
					__u64 len)
{
	struct ty_ev_record of = *head;
	struct {
		__u64 len;
		__u32 level, type;
	} h;
	__u64 end = 0;

#pragma clang loop unroll(disable)
	for (int i = 0; !data && i < TY_EV_CONTROLS; i++) {
		if (end >= len || len - end < sizeof(h) ||
		    bpf_probe_read_user(&h, sizeof(h), (const void *)(ptr + end)))
			break;
		if (h.level != 1 || (h.type != 1 && h.type != 2) || h.len < sizeof(h) ||
		    h.len > len - end) {
			end += sizeof(h);
			break;
		}
		end += (h.len + 7) & ~7ull;
	}
	if (!data && end < len) {
		len = end;
		of.flags |= TY_EVF_CUT;
	}
	put_bytes(ctx, &of, TY_EVK_MEMORY, ptr, len, TY_EV_VALUES_BYTES);
}

/* What a struct msghdr points to: its name, its vector with the buffers, its control data. At exit
 * msg_namelen is the length of the whole name, even when the buffer was shorter, so the buffer is
 * that of the enter; NULL: this is the enter. */
static __always_inline void put_message(void *ctx, const struct ty_ev_record *head, __u64 ptr,
					__u64 left, const struct name_buffer *name)
{
	struct user_msghdr m;

	if (bpf_probe_read_user(&m, sizeof(m), (const void *)ptr))
		return;
	m.name_len = (__u32)m.name_len;
	if (name) {
		m.name = name->ptr;
		m.name_len = m.name_len < name->len ? m.name_len : name->len;
	}
	if (m.name && m.name_len)
		put_bytes(ctx, head, TY_EVK_MEMORY, m.name, m.name_len, 128);
	if (m.iov && m.iov_n) {
		put_bytes(ctx, head, TY_EVK_MEMORY, m.iov, m.iov_n * 16, TY_EV_VALUES_BYTES);
		put_buffers(ctx, head, m.iov, m.iov_n, left);
	}
	if (m.control && m.control_len)
		put_control(ctx, head, m.control, m.control_len);
}

/* The values that the call's arguments point to. when: IN, or LATE|OUT with the result. */
static __always_inline void put_values(void *ctx, struct ty_ev_call *what, __u32 tid, __u32 nr,
				       const __u64 a[6], __u8 when, __s64 result)
{
	struct ty_ev_record head = {.tid = tid, .nr = nr};
	const __u64 left = when & TY_EV_IN ? ~0ull : result > 0 ? result : 0;

	head.flags = when & TY_EV_IN ? 0 : TY_EVF_EXIT;
#pragma clang loop unroll(disable)
	for (int i = 0; i < 5; i++) {
		const struct ty_ev_value *v = &what->values[i];
		__u32 at = v->arg - 1u, of = v->count;
		__u64 ptr, n = 1;

		if (at > 5)
			break;
		ptr = a[at];
		if (!ptr || !(v->when & when) || (v->when & TY_EV_DATA && !data))
			continue;
		if (!(when & TY_EV_IN) && v->when & TY_EV_OUT &&
		    (result < 0 || (v->when & TY_EV_SOME && !result)))
			continue;
		if (of < 6)
			n = (__u32)a[of];
		else if (of == TY_EV_RESULT)
			n = (__u64)result < a[2] ? (__u64)result : a[2];
		else if (of == TY_EV_BITS)
			n = ((__u32)a[0] + 63) / 64;
		head.arg = at;
		put_bytes(ctx, &head, TY_EVK_VALUES, ptr, n * v->bytes,
			  v->when & TY_EV_DATA ? data : TY_EV_VALUES_BYTES);
		if (v->when & TY_EV_IOV)
			put_buffers(ctx, &head, ptr, n, left);
		if (when & TY_EV_IN && v->when & TY_EV_MSG)
			put_message(ctx, &head, ptr, left, 0);
	}
}

enum { EPOLL_CTL_DEL = 2 };
/* FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2 */
#define FUTEX_WAITS (1u << 0 | 1u << 6 | 1u << 9 | 1u << 11 | 1u << 13)

SEC("tp") int enter_values(struct call *c)
{
	__u64 id = bpf_get_current_pid_tgid(), a[6];
	__u32 nr = c->nr;
	__u8 *byte;
	struct ty_ev_call *what = begin_call(id, nr, a, &byte);

	if (!what || (what->only == TY_EV_FUTEX_WAITS && !(FUTEX_WAITS >> (a[1] & 31) & 1)) ||
	    (what->only == TY_EV_NOT_DEL && (__u32)a[1] == EPOLL_CTL_DEL))
		return 0;
	put_values(c, what, id, nr, a, TY_EV_IN, 0);
	return 0;
}

SEC("tp") int leave_values(struct call *c)
{
	__u64 id = bpf_get_current_pid_tgid(), a[6];
	__u32 nr = c->nr;
	__u8 *byte;
	struct ty_ev_call *what = begin_call(id, nr, a, &byte);

	if (what)
		put_values(c, what, id, nr, a, TY_EV_LATE | TY_EV_OUT, c->result[0]);
	return 0;
}

/* recvmsg: its second argument points to a struct msghdr, whose msg_namelen the kernel changes. */
SEC("tp") int enter_receive(struct call *c)
{
	__u64 id = bpf_get_current_pid_tgid(), a[6];
	__u32 tid = id;
	__u8 *byte;
	struct {
		__u64 name, name_len;
	} m;
	struct name_buffer b = {0};

	if (!begin_call(id, c->nr, a, &byte))
		return 0;
	if (!bpf_probe_read_user(&m, sizeof(m), (const void *)a[1])) {
		b.ptr = m.name;
		b.len = (__u32)m.name_len;
	}
	if (b.ptr && b.len)
		bpf_map_update_elem(&name_buffers, &tid, &b, BPF_ANY);
	else
		bpf_map_delete_elem(&name_buffers, &tid);
	return 0;
}

SEC("tp") int leave_receive(struct call *c)
{
	__u64 id = bpf_get_current_pid_tgid(), a[6];
	__u32 tid = id;
	__u8 *byte;
	struct ty_ev_record head = {.tid = tid, .nr = c->nr, .arg = 1, .flags = TY_EVF_EXIT};
	struct name_buffer name = {0}, *was;

	if (c->result[0] < 0 || !begin_call(id, c->nr, a, &byte) || !a[1])
		return 0;
	was = bpf_map_lookup_elem(&name_buffers, &tid);
	if (was)
		name = *was;
	put_bytes(c, &head, TY_EVK_VALUES, a[1], 56, TY_EV_VALUES_BYTES);
	put_message(c, &head, a[1], c->result[0], &name);
	return 0;
}

SEC("tp") int leave(struct call *c)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), nr = c->nr;
	__u8 *byte = tid_byte(tid);
	struct deferred *o;

	if (!byte || !(*byte & TY_EV_DEFERRED))
		return 0;
	*byte &= ~TY_EV_DEFERRED;
	o = bpf_map_lookup_elem(&deferred, &tid);
	if (!o)
		return 0;
#pragma unroll
	for (int i = 0; i < TY_EV_ARGS; i++)
		if (o->nr == nr && o->strings >> i & 1)
			put_string(c, tid, nr, i, o->a[i], TY_EVF_EXIT);
	bpf_map_delete_elem(&deferred, &tid);
	return 0;
}

enum { LISTENS = 10 /* TCP_LISTEN, of unix sockets, too */, INET = 2, INET6 = 10, UNIX = 1 };

static __always_inline void put_inet(struct ty_ev_fd *o, struct sock *sk)
{
	__u16 port = bpf_htons(BPF_CORE_READ(sk, __sk_common.skc_num));
	__u16 to = BPF_CORE_READ(sk, __sk_common.skc_dport);

	__builtin_memcpy(o->own, &o->family, 2);
	__builtin_memcpy(o->peer, &o->family, 2);
	__builtin_memcpy(o->own + 2, &port, 2);
	__builtin_memcpy(o->peer + 2, &to, 2);
	if (o->family == INET) {
		BPF_CORE_READ_INTO((__u32 *)(o->own + 4), sk, __sk_common.skc_rcv_saddr);
		BPF_CORE_READ_INTO((__u32 *)(o->peer + 4), sk, __sk_common.skc_daddr);
	} else if (bpf_core_field_exists(sk->__sk_common.skc_v6_daddr)) {
		bpf_core_read(o->own + 8, 16, &sk->__sk_common.skc_v6_rcv_saddr);
		bpf_core_read(o->peer + 8, 16, &sk->__sk_common.skc_v6_daddr);
	}
}

/* Its path without family; false: it has none. */
static __always_inline int put_path(struct ty_ev_fd *o, struct sock *sk)
{
	struct unix_address *a = BPF_CORE_READ((struct unix_sock *)sk, addr);
	__u32 n = a ? BPF_CORE_READ(a, len) : 0;

	if (n <= 2 || n > 110)
		return 0;
	n -= 2;
	barrier_var(n);
	if (n > sizeof(o->path) || bpf_probe_read_kernel(o->path, n, (char *)a->name + 2))
		return 0;
	o->path_len = n;
	return 1;
}

static __always_inline void put_unix(struct ty_ev_fd *o, struct sock *sk)
{
	struct sock *peer = BPF_CORE_READ((struct unix_sock *)sk, peer);

	o->peer_pid = BPF_CORE_READ(sk, sk_peer_pid, numbers[0].nr);
	if (peer)
		o->peer_inode = BPF_CORE_READ(peer, sk_socket, file, f_inode, i_ino);
	if (!put_path(o, sk) && peer)
		o->path_is_peers = put_path(o, peer);
}

static __always_inline int put_fd(struct ty_ev_fd *o, __u32 fd)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct fdtable *t = BPF_CORE_READ(task, files, fdt);
	struct file **v = BPF_CORE_READ(t, fd), *f = 0;
	struct socket *s;
	struct sock *sk;

	__builtin_memset(o, 0, sizeof(*o));
	if (fd >= BPF_CORE_READ(t, max_fds))
		return 0;
	bpf_probe_read_kernel(&f, sizeof(f), v + fd);
	if (!f)
		return 0;
	o->fd = fd;
	o->inode = BPF_CORE_READ(f, f_inode, i_ino);
	o->mode = BPF_CORE_READ(f, f_inode, i_mode);
	if ((o->mode & 0170000) != 0140000)
		return 1;
	s = BPF_CORE_READ(f, private_data);
	sk = BPF_CORE_READ(s, sk);
	if (!sk)
		return 1;
	o->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	o->type = BPF_CORE_READ(s, type);
	o->protocol = BPF_CORE_READ(sk, sk_protocol);
	if (o->family == INET || o->family == INET6)
		put_inet(o, sk);
	else if (o->family == UNIX)
		put_unix(o, sk);
	o->listens = BPF_CORE_READ(sk, __sk_common.skc_state) == LISTENS &&
		     (o->type == 1 || o->type == 5);
	return 1;
}

/* What the descriptors are that a call made or changed. */
SEC("tp") int leave_fds(struct call *c)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 nr = c->nr;
	struct scratch *s = scratch(0);
	struct ty_ev_call *what;
	int fds[2] = {-1, -1};
	__u64 a[6];
	long r = c->result[0];

	if (off || !s || !is_traced(tid_byte(id), id))
		return 0;
	what = bpf_map_lookup_elem(&calls, &nr);
	if (!what || (r < 0 && (r != -115 || what->fds != TY_EV_FDS_FIRST))) /* EINPROGRESS */
		return 0;
	get_args(a);
	s->head.arg = what->fds == TY_EV_FDS_PAIR4 ? 3 : 0;
	s->head.ptr = what->fds == TY_EV_FDS_PAIR4 ? a[3] : a[0];
	if (what->fds == TY_EV_FDS_RESULT)
		fds[0] = r;
	else if (what->fds == TY_EV_FDS_FIRST)
		fds[0] = s->head.ptr;
	else if (bpf_probe_read_user(fds, sizeof(fds), (const void *)s->head.ptr))
		return 0;
	s->head.tid = id;
	s->head.nr = nr;
	s->head.kind = TY_EVK_FDS;
	s->head.flags = TY_EVF_EXIT;
	if (!put_fd((struct ty_ev_fd *)s->bytes, fds[0]))
		return 0;
	if (fds[1] < 0)
		emit(c, s, sizeof(struct ty_ev_fd));
	else if (put_fd((struct ty_ev_fd *)s->bytes + 1, fds[1]))
		emit(c, s, 2 * sizeof(struct ty_ev_fd));
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
	struct deferred *o;
	long r;

	if (off || !s || !is_traced(byte, id))
		return 0;
	s->head.tid = tid;
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
		emit(c, s, r > 0 ? r : 0);
		bpf_map_delete_elem(&deferred, &old);
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
