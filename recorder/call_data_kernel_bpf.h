/* SPDX-License-Identifier: MIT */
/* In the kernel: its structures, with only the members used; the loader relocates them (BTF). */
#ifndef TY_CALL_DATA_KERNEL_BPF_H
#define TY_CALL_DATA_KERNEL_BPF_H

#include <linux/types.h>

#define KERNEL __attribute__((preserve_access_index))

struct mm_struct {
	unsigned long arg_start, arg_end;
} KERNEL;
struct inode {
	unsigned long i_ino;
	unsigned short i_mode;
} KERNEL;
struct qstr {
	const unsigned char *name;
} KERNEL;
struct hlist_bl_node {
	void *pprev;
} KERNEL;
struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
} KERNEL;
struct vfsmount {
	struct dentry *mnt_root;
} KERNEL;
struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
} KERNEL;
struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
} KERNEL;
struct fs_struct {
	struct path root;
} KERNEL;
struct file {
	struct inode *f_inode;
	void *private_data;
	struct path f_path;
} KERNEL;
struct fdtable {
	unsigned max_fds;
	struct file **fd;
} KERNEL;
struct files_struct {
	struct fdtable *fdt;
} KERNEL;
struct fs_struct;
struct task_struct {
	int pid;
	struct mm_struct *mm;
	struct fs_struct *fs;
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
struct ns_common {
	unsigned int inum;
} KERNEL;
struct net {
	struct ns_common ns;
} KERNEL;
struct sock_common {
	struct {
		struct net *net;
	} KERNEL skc_net;
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
struct hw_perf_event {
	struct {
		long a;
	} prev_count;
} KERNEL;
struct perf_event {
	struct hw_perf_event hw;
} KERNEL;
struct linux_binprm {
	const char *filename;
} KERNEL;

#endif
