/* SPDX-License-Identifier: MIT */
/* In the kernel: messages, and addresses that a call returns. */
#ifndef TY_CALL_DATA_MESSAGES_BPF_H
#define TY_CALL_DATA_MESSAGES_BPF_H

#include "call_data_fds_bpf.h"
#include "call_data_put_bpf.h"
#include "call_data_values_bpf.h"

/* Keeps the size of the buffer, which the kernel overwrites. Messages: of each; others: accept,
 * recvfrom, getsockname, getpeername. */
SEC("tp") int enter_address(struct call *c)
{
	__u64 id = bpf_get_current_pid_tgid(), a[6], any = 0;
	__u32 tid = id, at, len_at, len = 0, n;
	__u8 *byte;
	struct ty_ev_call *what = begin_call(id, c->nr, a, &byte);
	struct name_buffers b = {0};

	if (!what)
		return 0;
	n = what->messages == TY_EV_MSG_ONE ? 1 : (__u32)a[2];
#pragma clang loop unroll(disable)
	for (__u32 i = 0; what->messages && i < TY_EV_MESSAGES && i < n; i++) {
		struct {
			__u64 name;
			__u32 len;
		} m = {0};

		bpf_probe_read_user(&m, 12, (const void *)(a[1] + TY_EV_MMSG_BYTES * i));
		b.of[i].ptr = m.name;
		b.of[i].len = m.len;
		any |= m.name;
	}
	at = what->address - 1u;
	len_at = what->address;
	barrier_var(at); /* as in enter_call */
	barrier_var(len_at);
	if (at < TY_EV_ARGS && len_at <= TY_EV_ARGS && a[at] && a[len_at] &&
	    !bpf_probe_read_user(&len, sizeof(len), (const void *)a[len_at])) {
		b.of[0].ptr = any = a[at];
		b.of[0].len = len;
	}
	if (any)
		bpf_map_update_elem(&name_buffers, &tid, &b, BPF_ANY);
	else if (what->messages || (at < TY_EV_ARGS && a[at]))
		bpf_map_delete_elem(&name_buffers, &tid);
	return 0;
}

SEC("tp") int leave_address(struct call *c)
{
	__u64 id = bpf_get_current_pid_tgid(), a[6], n;
	__u32 tid = id, at, len_at, size;
	__u8 *byte;
	struct ty_ev_call *what;
	struct ty_ev_address *o;
	struct name_buffers *names;
	struct record *s;

	if (c->more[0] < 0)
		return 0;
	what = begin_call(id, c->nr, a, &byte);
	if (!what)
		return 0;
	at = what->address - 1u;
	len_at = what->address;
	barrier_var(at);
	barrier_var(len_at);
	if (at >= TY_EV_ARGS || len_at > TY_EV_ARGS || !a[at] || !a[len_at] || !may_record())
		return 0;
	names = bpf_map_lookup_elem(&name_buffers, &tid);
	if (!names || names->of[0].ptr != a[at] ||
	    bpf_probe_read_user(&size, sizeof(size), (const void *)a[len_at]))
		return 0;
	s = begin_record();
	if (!s)
		return 0;
	o = (struct ty_ev_address *)s->bytes;
	o->room = names->of[0].len;
	o->size = size;
	n = size < o->room ? size : o->room;
	barrier_var(n);
	if (n > 128) /* struct sockaddr_storage */
		n = 128;
	if (bpf_probe_read_user(o->address, n, (const void *)a[at]))
		return 0;
	s->head.ptr = a[at];
	s->head.tid = tid;
	s->head.nr = c->nr;
	s->head.kind = TY_EVK_ADDRESS;
	s->head.arg = at;
	s->head.flags = TY_EVF_EXIT;
	put_record(s, sizeof(*o) + n);
	return 0;
}

struct user_msghdr {
	__u64 name, name_len, iov, iov_n, control, control_len, flags;
};

/* Without `data`, control messages up to one that is neither SCM_RIGHTS nor SCM_CREDENTIALS
 * (SOL_SOCKET), and of that one its header: what it holds may be secret. */
__noinline int put_control(const struct ty_ev_record *head, __u64 ptr, __u64 len)
{
	struct ty_ev_record of;
	struct {
		__u64 len;
		__u32 level, type;
	} h;
	__u64 end = 0;

	if (!head)
		return 0;
	of = *head;
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
	return put_bytes(&of, TY_EVK_MEMORY, ptr, len, TY_EV_VALUES_BYTES);
}

/* The messages of a call: n of `bytes` each. left: of a single one's buffers, so many bytes hold
 * something. */
struct messages {
	const struct ty_ev_record *head;
	__u64 ptr, n, bytes, left;
	__u32 received;
};

/* What a struct msghdr points to: its name, its vector with the buffers, its control data. At exit
 * msg_namelen is the length of the whole name, even when the buffer was shorter, so the buffer is
 * that of the enter. */
static long put_message(__u32 i, struct messages *g)
{
	const __u64 ptr = g->ptr + g->bytes * i;
	struct name_buffers *names;
	struct name_buffer *name;
	struct user_msghdr m;
	__u64 left = g->left;
	__u32 len = 0;

	if (i >= g->n || bpf_probe_read_user(&m, sizeof(m), (const void *)ptr))
		return 1;
	if (g->received && g->bytes > sizeof(m)) { /* struct mmsghdr */
		bpf_probe_read_user(&len, sizeof(len), (const void *)(ptr + sizeof(m)));
		left = len;
	}
	m.name_len = (__u32)m.name_len;
	if (g->received) {
		names = bpf_map_lookup_elem(&name_buffers, &g->head->tid);
		barrier_var(i);
		if (i >= TY_EV_MESSAGES)
			return 1;
		name = names ? &names->of[i] : NULL;
		m.name = name ? name->ptr : 0;
		if (name && m.name_len > name->len)
			m.name_len = name->len;
	}
	if (m.name && m.name_len)
		put_bytes(g->head, TY_EVK_MEMORY, m.name, m.name_len, 128);
	if (m.iov && m.iov_n) {
		put_bytes(g->head, TY_EVK_MEMORY, m.iov, m.iov_n * 16, TY_EV_VALUES_BYTES);
		put_buffers(g->head, m.iov, m.iov_n, left);
	}
	if (!m.control || !m.control_len)
		return 0;
	put_control(g->head, m.control, m.control_len);
	if (g->received)
		put_rights(g->head, m.control, m.control_len);
	return 0;
}

static __always_inline int put_messages(struct messages *g)
{
	put_bytes(g->head, TY_EVK_VALUES, g->ptr, g->n * g->bytes, TY_EV_VALUES_BYTES);
	bpf_loop(TY_EV_MESSAGES, put_message, g, 0);
	return 0;
}

/* sendmsg: it may wait, so at its enter. */
SEC("tp") int enter_send(struct call *c)
{
	__u64 id = bpf_get_current_pid_tgid(), a[6];
	__u8 *byte;
	struct ty_ev_record head = {.tid = id, .nr = c->nr, .arg = 1};
	struct messages g = {&head, 0, 1, TY_EV_MSG_BYTES, ~0ull, 0};

	if (!begin_call(id, c->nr, a, &byte) || !a[1] || !may_record())
		return 0;
	g.ptr = a[1];
	return put_messages(&g);
}

/* recvmsg, recvmmsg; sendmmsg, whose lengths the kernel writes. */
SEC("tp") int leave_messages(struct call *c)
{
	__u64 id = bpf_get_current_pid_tgid(), a[6];
	__u8 *byte;
	struct ty_ev_record head = {.tid = id, .nr = c->nr, .arg = 1, .flags = TY_EVF_EXIT};
	struct ty_ev_call *what = begin_call(id, c->nr, a, &byte);
	struct messages g = {&head, 0, 1, TY_EV_MSG_BYTES, ~0ull, 0};
	const __s64 result = c->more[0];

	if (!what || !a[1] || (result < 0 && what->messages != TY_EV_MSG_SENT) || !may_record())
		return 0;
	g.ptr = head.ptr = a[1];
	g.received = what->messages != TY_EV_MSG_SENT;
	if (what->messages == TY_EV_MSG_ONE) {
		g.left = result;
	} else {
		g.bytes = TY_EV_MMSG_BYTES;
		g.n = g.received ? result : (__u32)a[2];
	}
	return put_messages(&g);
}

#endif
