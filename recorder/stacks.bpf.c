/* SPDX-License-Identifier: MIT */
/*
 * Runs in the kernel (BPF, CO-RE): user stacks of long waits. Loaded by stacks.c.
 *
 * `look` is an iterator over all threads, which the recorder runs some hundred times a second: the
 * waiting threads pay nothing for it. A thread that is off the CPU, not runnable, and has not been
 * switched out since the previous scan has slept all the time in between. Its registers, stack and
 * kernel stack are copied, and the copy counts if the same still holds afterwards. Only a thread
 * that wakes one whose stack was copied runs a BPF program itself (`woken`): perf copies its
 * registers and stack.
 *
 * Budget: 60 ns per wakeup, 100 ns per scanned thread.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "stacks_bpf.h"
#include "tids_bpf.h"

#define KERNEL __attribute__((preserve_access_index))

enum {
	KTHREAD = 0x200000, /* PF_KTHREAD */
	USER64_CS = 0x33,   /* x86 */
	ARM32 = 0x10,	    /* AArch64: PSR_MODE32_BIT */
	PAGE = 4096,
#if defined(__TARGET_ARCH_arm64)
	NR_FUTEX = 98,
	NR_FLOCK = 32,
	NR_FCNTL = 25,
#else
	NR_FUTEX = 202,
	NR_FLOCK = 73,
	NR_FCNTL = 72,
#endif
	EBUSY = 16,
	VM_SHARED = 8,
	VM_PFNMAP = 0x400,
	VM_IO = 0x4000,
};

struct thread_struct {
	unsigned long fsbase; /* x86 */
} KERNEL;
struct pid {
	unsigned level;
} KERNEL;
struct task_struct {
	int pid, tgid, on_cpu;
	struct pid *thread_pid;
	unsigned int flags, __state;
	unsigned long nvcsw, nivcsw;
	struct thread_struct thread;
} KERNEL;
struct file;
struct anon_vma;
struct vm_area_struct {
	unsigned long vm_end, vm_flags;
	struct file *vm_file;
	struct anon_vma *anon_vma;
} KERNEL;
struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
} KERNEL;
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} KERNEL;
/* x86 and AArch64 in one. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip,
		cs, sp;
	__u64 regs[31], pc, pstate, orig_x0;
	int syscallno;
} KERNEL;

struct copy {
	struct ty_stk_seen seen;
	char stack[TY_STK_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} stacks_out SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TY_STK_SLOTS);
	__type(key, __u32);
	__type(value, struct ty_stk_slot);
} slots SEC(".maps");
/* Only one thread scans at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct copy);
} copies SEC(".maps");

__u32 off;
__u32 full;	    /* there is no room for what would be copied */
__u32 now;	    /* the number of the scan */
__s32 budget;	    /* stacks that may be copied yet */
__u32 from, to;	    /* the threads of this part of the scan: [from, to) */
__u32 starved;	    /* the first thread that the budget left out */
__u32 lock_from;    /* the first thread whose lock is read */
__u32 lock_starved; /* the first one that was left out, for the next scan */
__s32 locks;	    /* how many locks may still be read in this scan */
__u64 locks_left;   /* reads that were left out for that */
__u64 put_off;	    /* waits that could not be copied when they should have been */
__u64 copied_late;  /* and those of them that were later */
__u64 lost;
__u8 too_many_threads; /* a thread found no slot */

char LICENSE[] SEC("license") = "Dual MIT/GPL";

static __always_inline struct ty_stk_slot *slot_at(__u32 tid, __u32 way)
{
	__u32 at = (tid + way * TY_STK_STEP) % TY_STK_SLOTS;

	return bpf_map_lookup_elem(&slots, &at);
}

/* The thread's slot; none: it has not been seen asleep. */
static __always_inline struct ty_stk_slot *slot_of(__u32 tid)
{
	for (__u32 way = 0; way < TY_STK_WAYS; way++) {
		struct ty_stk_slot *s = slot_at(tid, way);

		if (!s || !s->tid)
			break;
		if (s->tid == tid)
			return s;
	}
	return 0;
}

/* The same, or a free one that becomes its own. */
static __always_inline struct ty_stk_slot *take_slot(__u32 tid)
{
	struct ty_stk_slot *s = slot_of(tid), *t;

	for (__u32 way = 0; !s && way < TY_STK_WAYS; way++) {
		t = slot_at(tid, way);
		if (!t || (t->tid && now - t->seen < 2))
			continue;
		t->asleep = t->copied = t->wanted = t->busy = 0;
		t->last = 0;
		t->tid = tid;
		s = t;
	}
	if (s)
		s->seen = now;
	else
		too_many_threads = 1;
	return s;
}

static __always_inline __u64 switches_of(const struct task_struct *t)
{
	return t->nvcsw + t->nivcsw;
}

static __always_inline int is_asleep(const struct task_struct *t)
{
	return !t->on_cpu && t->__state;
}

/* Registers in the order of their DWARF numbers, the program counter last: System V ABI, AMD64
 * supplement, figure 3.36; DWARF for the Arm 64-bit architecture, 4.1. Gives the stack pointer. */
static __always_inline __u64 copy_regs(struct pt_regs *r, struct ty_stk_seen *s)
{
	s->regs_n = 0;
	s->flags = 0;
	if (bpf_core_field_exists(r->orig_ax)) {
		if (BPF_CORE_READ(r, cs) != USER64_CS)
			return 0;
		s->regs[0] = BPF_CORE_READ(r, ax);
		s->regs[1] = BPF_CORE_READ(r, dx);
		s->regs[2] = BPF_CORE_READ(r, cx);
		s->regs[3] = BPF_CORE_READ(r, bx);
		s->regs[4] = BPF_CORE_READ(r, si);
		s->regs[5] = BPF_CORE_READ(r, di);
		s->regs[6] = BPF_CORE_READ(r, bp);
		s->regs[7] = BPF_CORE_READ(r, sp);
		s->regs[8] = BPF_CORE_READ(r, r8);
		s->regs[9] = BPF_CORE_READ(r, r9);
		s->regs[10] = BPF_CORE_READ(r, r10);
		s->regs[11] = BPF_CORE_READ(r, r11);
		s->regs[12] = BPF_CORE_READ(r, r12);
		s->regs[13] = BPF_CORE_READ(r, r13);
		s->regs[14] = BPF_CORE_READ(r, r14);
		s->regs[15] = BPF_CORE_READ(r, r15);
		s->regs[16] = BPF_CORE_READ(r, ip);
		s->regs_n = 17;
		if ((long)BPF_CORE_READ(r, orig_ax) < 0)
			s->flags = TY_STK_NO_CALL;
		return s->regs[7];
	}
	if (!bpf_core_field_exists(r->pstate) || BPF_CORE_READ(r, pstate) & ARM32)
		return 0;
	bpf_core_read(s->regs, 31 * sizeof(__u64), &r->regs);
	s->regs[31] = BPF_CORE_READ(r, sp);
	s->regs[32] = BPF_CORE_READ(r, pc);
	s->regs_n = 33;
	if (BPF_CORE_READ(r, syscallno) < 0)
		s->flags = TY_STK_NO_CALL;
	return s->regs[31];
}

struct area {
	__u64 end;
};

/* A page of a file may be on an unreachable server, and reading registers of a device may change
 * its state. So only the process's own memory is read: anonymous, or a private copy that was
 * written to. */
static long look_at_area(struct task_struct *t, struct vm_area_struct *v, struct area *a)
{
	const unsigned long flags = BPF_CORE_READ(v, vm_flags);

	if (flags & (VM_IO | VM_PFNMAP))
		return 0;
	if (!BPF_CORE_READ(v, vm_file) || (!(flags & VM_SHARED) && BPF_CORE_READ(v, anon_vma)))
		a->end = BPF_CORE_READ(v, vm_end);
	return 0;
}

/* What there is of the stack: to the end of the first page, and then page by page. Not 0: its
 * memory is locked, and reading it could wait for long. */
static __always_inline int copy_stack(struct task_struct *t, __u64 sp, struct copy *c, int give_up)
{
	__u64 n = PAGE - sp % PAGE, at = 0;
	struct area area = {0};
	long e;

	c->seen.stack_n = 0;
	if (!sp)
		return 0;
	e = bpf_find_vma(t, sp, look_at_area, &area, 0);
	if (e == -EBUSY && !give_up)
		return 1;
	for (__u32 i = 0; i < TY_STK_BYTES / PAGE + 1; i++) {
		if (at + n > TY_STK_BYTES)
			n = TY_STK_BYTES - at;
		barrier_var(n);
		if (at >= TY_STK_BYTES || n > PAGE || !n || sp + at >= area.end)
			break;
		barrier_var(at);
		if (at > TY_STK_BYTES - PAGE)
			break;
		if (bpf_copy_from_user_task(c->stack + at, n, (void *)(sp + at), t, 0))
			break;
		at += n;
		n = PAGE;
	}
	c->seen.stack_n = at;
	if (at + PAGE > TY_STK_BYTES || !area.end)
		c->seen.flags |= TY_STK_CUT;
	return 0;
}

/* Which call the thread is in, and its arguments. */
static __always_inline int call_of(struct task_struct *t, __u64 a[3])
{
	struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(t);

	if (bpf_core_field_exists(r->orig_ax)) {
		if (BPF_CORE_READ(r, cs) != USER64_CS)
			return -1;
		a[0] = BPF_CORE_READ(r, di);
		a[1] = BPF_CORE_READ(r, si);
		a[2] = BPF_CORE_READ(r, dx);
		return (int)BPF_CORE_READ(r, orig_ax);
	}
	if (!bpf_core_field_exists(r->syscallno) || BPF_CORE_READ(r, pstate) & ARM32)
		return -1;
	a[0] = BPF_CORE_READ(r, orig_x0);
	bpf_core_read(a + 1, 2 * sizeof(__u64), &r->regs[1]);
	return BPF_CORE_READ(r, syscallno);
}

/* The memory that names the holder of the lock that the thread waits for: the recorder decodes the
 * copy. A futex word in a mapped file is not read, because reading it may block for long. */
static __always_inline void look_at_lock(struct bpf_iter__task *ctx, struct task_struct *t,
					 struct ty_stk_slot *s, struct copy *c, __u64 switches)
{
	struct area area = {0};
	__u64 a[3] = {0};
	int nr = call_of(t, a);

	if (nr != NR_FUTEX && nr != NR_FLOCK && nr != NR_FCNTL)
		return;
	if (locks <= 0 && !lock_starved)
		lock_starved = t->pid;
	if (locks <= 0) {
		__sync_fetch_and_add(&locks_left, 1);
		return;
	}
	locks--;
	__builtin_memset(&c->seen, 0, sizeof(c->seen));
	c->seen.pid = t->tgid;
	c->seen.tid = t->pid;
	c->seen.looks = now - s->first;
	c->seen.lock = 1;
	c->seen.nr = nr;
	c->seen.regs[0] = a[0];
	c->seen.regs[1] = a[1];
	c->seen.regs[2] = a[2];
	if (nr == NR_FUTEX) {
		/* Threads of another PID namespace name themselves by other numbers. */
		if (BPF_CORE_READ(t, thread_pid, level))
			return;
		if (bpf_find_vma(t, a[0], look_at_area, &area, 0) || a[0] >= area.end ||
		    area.end - a[0] < sizeof(c->seen.words) ||
		    bpf_copy_from_user_task(c->seen.words, sizeof(c->seen.words), (void *)a[0], t,
					    0))
			return;
	}
	if (is_asleep(t) && switches_of(t) == switches)
		bpf_seq_write(ctx->meta->seq, &c->seen, sizeof(c->seen));
}

/* The numbers of five significant bits. */
static __always_inline int is_lock_look(__u32 n)
{
	__u32 step = 1;

#pragma unroll
	for (__u32 i = 0; i < 27; i++)
		if (n >> 5 >= step)
			step <<= 1;
	return !(n & (step - 1));
}

static __always_inline void put_off_copy(struct ty_stk_slot *s)
{
	if (!s->wanted)
		put_off++;
	s->wanted = 1;
}

SEC("iter.s/task") int look(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct ty_stk_slot *s;
	__u32 zero = 0, tid;
	__u64 switches, len;
	struct copy *c;
	long n;

	if (!t || t->flags & KTHREAD)
		return 0;
	tid = t->pid;
	if (tid < from || tid >= to)
		return 0;
	s = is_traced_thread(tid, t->tgid) ? take_slot(tid) : 0;
	c = bpf_map_lookup_elem(&copies, &zero);
	if (!s || !c)
		return 0;
	switches = switches_of(t);
	if (!s->asleep || s->switches != switches || !is_asleep(t)) {
		s->asleep = s->copied = s->wanted = s->busy = 0;
		s->switches = switches;
		s->first = now;
		s->asleep = is_asleep(t);
		return 0;
	}
	if (!full && tid >= lock_from && is_lock_look(now - s->first))
		look_at_lock(ctx, t, s, c, switches);
	if (s->copied)
		return 0;
	if (full) {
		__sync_fetch_and_add(&lost, 1);
		s->copied = 1;
		return 0;
	}
	c->seen.lock = 0;
	if (budget <= 0 || (budget < TY_STK_SCARCE && s->last && now - s->last < TY_STK_MANY &&
			    now - s->first < TY_STK_MANY)) {
		if (!starved && budget <= 0)
			starved = tid;
		put_off_copy(s);
		return 0;
	}
	c->seen.pid = t->tgid;
	c->seen.tid = tid;
	c->seen.looks = now - s->first;
	c->seen.switches = switches;
	c->seen.self =
		bpf_core_field_exists(t->thread.fsbase) ? BPF_CORE_READ(t, thread.fsbase) : 0;
	if (copy_stack(t, copy_regs((struct pt_regs *)bpf_task_pt_regs(t), &c->seen), c,
		       s->busy >= TY_STK_BUSY)) {
		s->busy++;
		put_off_copy(s);
		return 0;
	}
	n = bpf_get_task_stack(t, c->seen.kernel, sizeof(c->seen.kernel), 0);
	c->seen.kernel_n = n > 0 ? (__u32)n / 8 : 0;
	if (!is_asleep(t) || switches_of(t) != switches)
		return 0;
	len = c->seen.stack_n;
	barrier_var(len);
	if (len > TY_STK_BYTES)
		len = TY_STK_BYTES;
	if (bpf_seq_write(ctx->meta->seq, c, sizeof(c->seen) + len))
		return 0; /* it is shown again */
	if (s->wanted)
		copied_late++;
	budget--;
	s->last = now;
	s->copied = 1;
	return 0;
}

/* A thread that was interrupted in user code has not woken anything. (In a system call the two
 * cases cannot be distinguished here: ty_stack_wait uses the wakeup event.) */
static __always_inline int in_call(struct task_struct *self)
{
	struct pt_regs *r = (void *)bpf_task_pt_regs(self);

	if (bpf_core_field_exists(r->orig_ax))
		return (long)BPF_CORE_READ(r, orig_ax) >= 0;
	return !bpf_core_field_exists(r->syscallno) || BPF_CORE_READ(r, syscallno) >= 0;
}

/* struct task_struct * */
SEC("tp_btf/sched_waking") int woken(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0], *self;
	__u32 tid = task->pid;
	struct ty_stk_slot *s = slot_of(tid);

	if (!s || !s->copied || s->tid != tid || off || s->switches != switches_of(task))
		return 0;
	s->copied = s->wanted = s->busy = 0; /* no other wakes it */
	s->asleep = 0;
	self = bpf_get_current_task_btf();
	if (!self->pid || self->flags & KTHREAD || !in_call(self))
		return 0;
	if (full || bpf_perf_event_output(ctx, &stacks_out, BPF_F_CURRENT_CPU, &tid, sizeof(tid)))
		__sync_fetch_and_add(&lost, 1);
	return 0;
}
