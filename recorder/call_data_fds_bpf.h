/* SPDX-License-Identifier: MIT */
/* In the kernel: what a descriptor is that a call made, changed or received. */
#ifndef TY_CALL_DATA_FDS_BPF_H
#define TY_CALL_DATA_FDS_BPF_H

#include <bpf/bpf_endian.h>

#include "call_data_put_bpf.h"

enum { LISTENS = 10 /* TCP_LISTEN, of unix sockets, too */, INET = 2, INET6 = 10, UNIX = 1 };

static __always_inline void put_inet(struct ty_ev_fd *o, struct sock *sk)
{
	__u16 port = bpf_htons(BPF_CORE_READ(sk, __sk_common.skc_num));
	__u16 to = BPF_CORE_READ(sk, __sk_common.skc_dport);

	__builtin_memcpy(o->own, &o->family, 2);
	__builtin_memcpy(o->peer, &o->family, 2);
	__builtin_memcpy(o->own + 2, &port, 2);
	__builtin_memcpy(o->peer + 2, &to, 2);
	if (bpf_core_field_exists(sk->__sk_common.skc_net.net))
		o->net = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
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

static __always_inline struct file *file_of(__u32 fd)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct fdtable *t = BPF_CORE_READ(task, files, fdt);
	struct file **v = BPF_CORE_READ(t, fd), *f = 0;

	if (fd < BPF_CORE_READ(t, max_fds))
		bpf_probe_read_kernel(&f, sizeof(f), v + fd);
	return f;
}

static __always_inline int put_fd(struct ty_ev_fd *o, __u32 fd)
{
	struct file *f = file_of(fd);
	struct socket *s;
	struct sock *sk;

	__builtin_memset(o, 0, sizeof(*o));
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

static __always_inline struct mount *mount_of(struct vfsmount *m)
{
	return (struct mount *)((char *)m - __builtin_preserve_field_info(((struct mount *)0)->mnt,
									  BPF_FIELD_BYTE_OFFSET));
}

/* On the way from a file up to the root of the process. */
struct walk {
	struct dentry *at, *root;
	struct mount *on, *root_on;
	__u32 len, whole;
};

static long put_part(__u32 i, struct walk *w)
{
	struct record *s = this_record();
	struct dentry *at = w->at, *parent = BPF_CORE_READ(at, d_parent);
	struct mount *on = w->on, *up = BPF_CORE_READ(on, mnt_parent);
	const int root = at == w->root && on == w->root_on,
		  top = root || at == parent || at == BPF_CORE_READ(on, mnt.mnt_root);
	__u32 len = w->len;
	long n;

	if (top && !root && up != on) {
		w->at = BPF_CORE_READ(on, mnt_mountpoint);
		w->on = up;
		return 0;
	}
	if (top && len > sizeof(struct ty_ev_fd))
		w->whole = 1;
	barrier_var(len);
	if (!s || w->whole || len > TY_EV_BYTES - 256)
		return 1;
	n = root ? bpf_probe_read_kernel_str(s->bytes + len, 256, "/")
		 : bpf_probe_read_kernel_str(s->bytes + len, 256, BPF_CORE_READ(at, d_name.name));
	if (n <= 0)
		return 1;
	w->len += n;
	w->whole = top;
	w->at = parent;
	return top;
}

struct rights {
	const struct ty_ev_record *head;
	__u64 fds, n;
};

static long put_received(__u32 i, struct rights *r)
{
	struct record *s;
	struct walk w = {.whole = 1};
	struct task_struct *task = (void *)bpf_get_current_task();
	struct ty_ev_fd *o;
	struct vfsmount *on;
	struct dentry *at;
	struct file *f;
	__u32 fd;

	if (i >= r->n || bpf_probe_read_user(&fd, sizeof(fd), (const void *)(r->fds + 4 * i)))
		return 1;
	s = begin_record();
	if (!s)
		return 1;
	o = (struct ty_ev_fd *)s->bytes;
	if (!put_fd(o, fd))
		return 0;
	/* Not a constant: before Linux 6.7 the verifier checks a callback once, with the values
	 * that it knows of the caller's stack, and drops put_part's bound of a length that it
	 * knows. */
	s->head.pad2 = sizeof(*o);
	w.len = *(volatile __u32 *)&s->head.pad2;
	if ((o->mode & 0170000) != 0140000 && (o->mode & 0170000) != 0010000) {
		f = file_of(fd);
		w.whole = 0;
		at = BPF_CORE_READ(f, f_path.dentry);
		on = BPF_CORE_READ(f, f_path.mnt);
		w.at = at;
		w.on = mount_of(on);
		w.root = BPF_CORE_READ(task, fs, root.dentry);
		w.root_on = mount_of(BPF_CORE_READ(task, fs, root.mnt));
		/* The root of a file system is in no folder, either. */
		o->deleted = !BPF_CORE_READ(at, d_hash.pprev) && at != BPF_CORE_READ(on, mnt_root);
		bpf_loop(TY_EV_PARTS, put_part, &w, 0);
	}
	s->head.ptr = r->head->ptr;
	s->head.tid = r->head->tid;
	s->head.nr = r->head->nr;
	s->head.kind = TY_EVK_RECEIVED;
	s->head.arg = r->head->arg;
	s->head.flags = TY_EVF_EXIT | (w.whole ? 0 : TY_EVF_CUT);
	put_record(s, w.len);
	return 0;
}

/* The descriptors that a message brought: as the receiver has them. */
__noinline int put_rights(const struct ty_ev_record *head, __u64 control, __u64 len)
{
	struct rights r = {head, 0, 0};
	struct {
		__u64 len;
		__u32 level, type;
	} h;
	__u64 at = 0;

	if (!head)
		return 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < TY_EV_CONTROLS; i++) {
		if (at >= len || len - at < sizeof(h) ||
		    bpf_probe_read_user(&h, sizeof(h), (const void *)(control + at)) ||
		    h.len < sizeof(h) || h.len > len - at)
			return 0;
		if (h.level == 1 && h.type == 1) {
			r.fds = control + at + sizeof(h);
			r.n = (h.len - sizeof(h)) / 4;
			break;
		}
		at += (h.len + 7) & ~7ull;
	}
	if (r.n)
		bpf_loop(TY_EV_RECEIVED, put_received, &r, 0);
	return 0;
}

/* What the descriptors are that a call made or changed. */
SEC("tp") int leave_fds(struct call *c)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 nr = c->nr;
	__u8 *byte;
	struct ty_ev_call *what = find_call(id, nr, &byte);
	struct record *s;
	int fds[2] = {-1, -1};
	__u64 a[6];
	long r = c->more[0];

	if (!what || (r < 0 && (r != -115 || what->fds != TY_EV_FDS_FIRST))) /* EINPROGRESS */
		return 0;
	s = begin_record();
	if (!s)
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
		put_record(s, sizeof(struct ty_ev_fd));
	else if (put_fd((struct ty_ev_fd *)s->bytes + 1, fds[1]))
		put_record(s, 2 * sizeof(struct ty_ev_fd));
	return 0;
}

#endif
