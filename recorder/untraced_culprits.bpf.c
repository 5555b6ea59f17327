/* SPDX-License-Identifier: MIT */
/*
 * Runs in the kernel (BPF, CO-RE): processes that are not traced, but hold up traced ones. Loaded
 * by untraced_culprits.c.
 *
 * `look` is an iterator over all threads, which the recorder runs ten times a second: it finds
 * traced threads that wait for a CPU, what runs there, and tracers (ptrace) that stopped one.
 * `signalled` is run by the sender of a signal: its arguments are read at once, since a `kill` has
 * ended before anyone could read them in /proc.
 *
 * Budget: 60 us of CPU time per scan of 125 threads.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "untraced_culprits_bpf.h"
#include "tids_bpf.h"

#define KERNEL __attribute__((preserve_access_index))

enum {
	KTHREAD = 0x200000, /* PF_KTHREAD */
	STOPPED = 4 | 8,    /* __TASK_STOPPED, __TASK_TRACED */
	CONT = 18,	    /* SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU: one after the other */
	TTOU = 22,
	WAITING = 16384,
};

struct mm_struct {
	unsigned long arg_start, arg_end;
} KERNEL;
struct thread_info {
	__u32 cpu;
} KERNEL;
struct task_struct {
	struct thread_info thread_info;
	int pid, tgid, on_cpu;
	unsigned int flags, __state, ptrace;
	unsigned long nvcsw, nivcsw;
	struct task_struct *parent, *real_parent;
	struct mm_struct *mm;
} KERNEL;
struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
} KERNEL;
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} KERNEL;

/* A traced thread that waited for a CPU in that scan and in so many before, and had been switched
 * out so often. */
struct waiting {
	__u64 switches;
	__u32 scan, before;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, WAITING);
	__type(key, __u32);
	__type(value, struct waiting);
} waits SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10);
} senders SEC(".maps");

__u32 now;		       /* the number of the scan */
__u32 tracers;		       /* of this scan */
__u32 waited[TY_CULPRIT_CPUS]; /* by CPU: the last scan that found a thread waiting for it */

char LICENSE[] SEC("license") = "Dual MIT/GPL";

static __always_inline void put(struct bpf_iter__task *ctx, __u32 kind, __u32 cpu, __u32 pid)
{
	struct ty_culprit_seen seen = {kind, cpu, pid};

	bpf_seq_write(ctx->meta->seq, &seen, sizeof(seen));
}

SEC("iter/task") int look(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct waiting w = {0}, *was;
	__u32 tid, cpu;

	if (!t || t->flags & KTHREAD || !t->pid)
		return 0;
	tid = t->pid;
	if (!is_traced_thread(tid, t->tgid)) {
		if (t->on_cpu && (__u32)t->tgid != own)
			put(ctx, TY_CULPRIT_RUNS, t->thread_info.cpu, t->tgid);
		return 0;
	}
	if (t->ptrace && t->__state & STOPPED && tracers < TY_CULPRIT_TRACERS) {
		tracers++;
		put(ctx, TY_CULPRIT_TRACER, 0, BPF_CORE_READ(t, parent, tgid));
	}
	if (t->on_cpu || t->__state)
		return 0;
	w.switches = t->nvcsw + t->nivcsw;
	w.scan = now;
	was = bpf_map_lookup_elem(&waits, &tid);
	if (was && was->scan + 1 == now && was->switches == w.switches)
		w.before = was->before + 1;
	cpu = t->thread_info.cpu;
	if (w.before >= 2 && cpu < TY_CULPRIT_CPUS && waited[cpu] != now) {
		waited[cpu] = now;
		put(ctx, TY_CULPRIT_WAITS, cpu, 0);
	}
	bpf_map_update_elem(&waits, &tid, &w, BPF_ANY);
	return 0;
}

/* int signal, struct kernel_siginfo *, struct task_struct *, int group, int result */
SEC("tp_btf/signal_generate") int signalled(__u64 *ctx)
{
	const struct task_struct *to = (void *)ctx[2];
	struct task_struct *self;
	struct ty_culprit_sender *s;
	unsigned long from, n;

	if (ctx[0] < CONT || ctx[0] > TTOU || !is_traced_thread(to->pid, to->tgid))
		return 0;
	self = bpf_get_current_task_btf();
	if (self->flags & KTHREAD || (__u32)self->tgid == own || !self->mm ||
	    is_traced_thread(self->pid, self->tgid))
		return 0;
	s = bpf_ringbuf_reserve(&senders, sizeof(*s), 0);
	if (!s)
		return 0;
	from = BPF_CORE_READ(self, mm, arg_start);
	n = BPF_CORE_READ(self, mm, arg_end) - from;
	if (n > TY_CULPRIT_ARGS)
		n = TY_CULPRIT_ARGS;
	s->pid = self->tgid;
	s->parent = BPF_CORE_READ(self, real_parent, tgid);
	s->n = bpf_probe_read_user(s->args, n, (void *)from) ? 0 : n;
	bpf_ringbuf_submit(s, 0);
	return 0;
}
