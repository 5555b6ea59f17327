/* SPDX-License-Identifier: MIT */
/* What the programs in the kernel (untraced_culprits.bpf.c) and their loader (untraced_culprits.c)
 * share. */
#ifndef TY_UNTRACED_CULPRITS_BPF_H
#define TY_UNTRACED_CULPRITS_BPF_H

#define TY_CULPRIT_CPUS	   4096u
#define TY_CULPRIT_TRACERS 64u	 /* of a scan */
#define TY_CULPRIT_ARGS	   2048u /* bytes, a power of two: as of the command lines in the file */

enum {
	TY_CULPRIT_RUNS = 1, /* pid runs on the CPU and is not traced */
	TY_CULPRIT_WAITS,  /* a traced thread has waited for the CPU in three scans; one per CPU */
	TY_CULPRIT_TRACER, /* pid has stopped a traced thread by ptrace */
};
/* What a scan of all threads found. */
struct ty_culprit_seen {
	__u32 kind, cpu, pid;
};

/* A signal that stops or continues a traced process: its sender, which is not traced, its parent,
 * and n bytes of its arguments. */
struct ty_culprit_sender {
	__u32 pid, parent, n, pad;
	char args[TY_CULPRIT_ARGS];
};

#endif
