/* SPDX-License-Identifier: MIT */
/*
 * Pairs sys_enter and sys_exit: see syscall_pair.h for the rules and their reasons.
 *
 * Threads are in an array of slots with a free list. A slot exists from the thread's first relevant
 * event to its exit.
 */
#include "syscall_pair.h"

#include <stdlib.h>
#include <string.h>

#include "hash_index.h"

#define TID_MAX	    4194304 /* PID_MAX_LIMIT of include/linux/threads.h */
#define NR_UNKNOWN  INT64_MIN
#define BUFFERS_MAX 64
#define PLAIN_MAX   1024 /* numbers that ty_pairs_quick knows */

struct thread {
	struct ty_call call;	   /* valid when busy */
	int64_t fork_nr;	   /* fresh: what its parent was in, or NR_UNKNOWN */
	uint64_t seen_gaps;	   /* losses there had been at its latest sys_enter or sys_exit */
	uint64_t call_gaps;	   /* and when `call` began */
	int64_t exit_nr, exit_ret; /* its latest sys_exit */
	int32_t tid;		   /* 0: free slot */
	uint32_t next_free;
	uint16_t enter_buffer, exit_buffer; /* where its latest sys_enter and sys_exit were */
	uint8_t abi;
	bool busy;  /* a call is in progress */
	bool held;  /* `call` was interrupted: not reported yet whether it returned */
	bool fresh; /* its creation was seen, and no system call since */
	bool known; /* a system call or the creation was seen: nothing "began before" any more */
	bool execed;
};

struct ty_pairs {
	const struct ty_sysarch *arch;
	struct thread *slots;
	uint32_t slots_n, slots_cap, free_head;
	struct ty_hash_index by_tid;
	uint64_t seq;
	uint64_t gaps;	      /* losses among system call events so far */
	uint64_t gaps_any;    /* of any events */
	uint64_t now;	      /* of the latest event fed */
	bool losing;	      /* a loss of system call events lasts until the recording's end */
	uint64_t sys_buffers; /* bit per buffer in which system call events were seen */
	int32_t command_tid;
	/* By enum ty_abi, numbers that are of class OTHER in it; UNSURE: in every ABI. */
	uint64_t plain[TY_ABI_UNSURE + 1][PLAIN_MAX / 64];
};

static uint64_t plain_word(const struct ty_sysarch *arch, enum ty_abi abi, unsigned w)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < 64; i++) {
		int nr = (int)(w * 64 + i);

		if (!ty_syscall_is_x32(arch, nr) && ty_syscall_class(arch, abi, nr) == TY_SC_OTHER)
			bits |= UINT64_C(1) << i;
	}
	return bits;
}

struct ty_pairs *ty_pairs_new(const struct ty_sysarch *arch)
{
	struct ty_pairs *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->arch = arch;
	p->free_head = UINT32_MAX;
	p->command_tid = -1;
	for (unsigned w = 0; w < PLAIN_MAX / 64; w++) {
		uint64_t *all = &p->plain[TY_ABI_UNSURE][w];

		*all = UINT64_MAX;
		for (unsigned abi = 0; abi < TY_ABI_UNSURE; abi++) {
			p->plain[abi][w] = plain_word(arch, abi, w);
			*all &= p->plain[abi][w];
		}
	}
	return p;
}

void ty_pairs_free(struct ty_pairs *p)
{
	if (!p)
		return;
	free(p->slots);
	ty_hash_fini(&p->by_tid);
	free(p);
}

void ty_pairs_command(struct ty_pairs *p, int32_t tid)
{
	p->command_tid = tid;
}

static struct thread *find(const struct ty_pairs *p, int32_t tid)
{
	uint32_t slot = ty_hash_get(&p->by_tid, (uint32_t)tid);

	return slot == TY_HASH_NONE ? NULL : &p->slots[slot];
}

/* The thread's slot, made when there is none. Pointers to slots end here: the array may move. */
static struct thread *get(struct ty_pairs *p, int32_t tid)
{
	struct thread *t = find(p, tid);
	uint32_t slot;

	if (t)
		return t;
	if (p->free_head != UINT32_MAX) {
		slot = p->free_head;
		p->free_head = p->slots[slot].next_free;
	} else {
		if (p->slots_n == p->slots_cap) {
			uint32_t cap = p->slots_cap ? p->slots_cap * 2 : 256;
			struct thread *s = realloc(p->slots, cap * sizeof(*s));

			if (!s)
				return NULL;
			p->slots = s;
			p->slots_cap = cap;
		}
		slot = p->slots_n++;
	}
	t = &p->slots[slot];
	memset(t, 0, sizeof(*t));
	t->tid = tid;
	t->abi = ty_sysarch_has_compat(p->arch) ? TY_ABI_UNSURE : TY_ABI_NATIVE64;
	t->fork_nr = NR_UNKNOWN;
	if (ty_hash_add(&p->by_tid, (uint32_t)tid, slot)) {
		t->next_free = p->free_head;
		p->free_head = slot;
		return NULL;
	}
	return t;
}

static void forget(struct ty_pairs *p, struct thread *t)
{
	uint32_t slot = (uint32_t)(t - p->slots);

	ty_hash_drop(&p->by_tid, (uint32_t)t->tid, slot);
	t->tid = 0;
	t->busy = t->held = false;
	t->next_free = p->free_head;
	p->free_head = slot;
}

/* Were events lost that could have ended the thread's call? Losses count from when they are met in
 * the stream, so one that ends with this very sys_enter lies before it. */
static bool gap_inside(const struct ty_pairs *p, const struct thread *t)
{
	return p->gaps != t->call_gaps || p->losing;
}

/* Ends are taken early (ty_pairs_quick), so that times may come out of order. */
static inline void note_time(struct ty_pairs *p, uint64_t ns)
{
	if (ns > p->now)
		p->now = ns;
}

#define SIGNAL_KILL 9

static void release(struct thread *t, uint8_t how, struct ty_pair_step *step)
{
	if (!t->held)
		return;
	t->held = false;
	t->call.how = how;
	step->done[step->done_n++] = t->call;
}

/* The pending call is over without a return. */
static void close_call(const struct ty_pairs *p, struct thread *t, uint64_t ns, uint8_t how,
		       struct ty_pair_step *step)
{
	struct ty_call *c;

	release(t, TY_CALL_RETURNED, step);
	if (!t->busy)
		return;
	t->busy = false;
	c = &step->done[step->done_n++];
	*c = t->call;
	c->end_ns = ns;
	c->end_tid = t->tid;
	c->gap_inside = gap_inside(p, t);
	c->how = how;
}

static uint8_t how_lost(const struct ty_pairs *p, const struct thread *t)
{
	return gap_inside(p, t) ? TY_CALL_END_LOST : TY_CALL_END_MISSING;
}

/* A fork or exec event occurred inside call nr: the ABI in which nr does that. */
static void prove_by_class(const struct ty_pairs *p, struct thread *t, enum ty_syscall_class want)
{
	bool native, compat;

	if (!t->busy || t->abi != TY_ABI_UNSURE)
		return;
	native = ty_syscall_class(p->arch, TY_ABI_NATIVE64, t->call.nr) == want;
	compat = ty_syscall_class(p->arch, TY_ABI_COMPAT32, t->call.nr) == want;
	if (native == compat || gap_inside(p, t))
		return;
	t->abi = native ? TY_ABI_NATIVE64 : TY_ABI_COMPAT32;
	t->call.abi = t->abi;
}

static uint8_t enter_abi(const struct ty_pairs *p, struct thread *t, const struct ty_event *ev)
{
	uint64_t any = 0;

	if (ty_syscall_is_x32(p->arch, ev->u.enter.nr))
		return TY_ABI_X32;
	if (t->abi == TY_ABI_NATIVE64 || !ty_sysarch_has_compat(p->arch))
		return TY_ABI_NATIVE64;
	for (unsigned i = 0; i < 6; i++)
		any |= ev->u.enter.args[i];
	if (any >> 32) {
		/* A 32-bit image that makes a 64-bit call: from here on both are possible. */
		t->abi = t->abi == TY_ABI_COMPAT32 ? TY_ABI_UNSURE : TY_ABI_NATIVE64;
		return TY_ABI_NATIVE64;
	}
	return t->abi == TY_ABI_X32 ? TY_ABI_UNSURE : t->abi;
}

static int feed_enter(struct ty_pairs *p, const struct ty_event *ev, struct ty_pair_step *step)
{
	struct thread *t = get(p, ev->tid);
	const uint64_t *a = ev->u.enter.args;
	uint64_t val = ty_enter_val(a[0], a[1], a[2], a[3], a[4], a[5]);
	struct ty_call *c;

	if (!t)
		return -TY_ENOMEM;
	/* Buffers that trace the same events hold every call twice. */
	if (t->busy && ev->buffer != t->enter_buffer && ev->u.enter.nr == t->call.nr &&
	    val == t->call.val)
		return 0;
	t->enter_buffer = ev->buffer;
	close_call(p, t, ev->ts_ns, how_lost(p, t), step);
	c = &t->call;
	memset(c, 0, sizeof(*c));
	c->seq = p->seq++;
	c->start_ns = ev->ts_ns;
	c->loc = ev->loc;
	memcpy(c->args, a, sizeof(c->args));
	c->val = val;
	c->nr = ev->u.enter.nr;
	c->tid = c->end_tid = ev->tid;
	c->cpu = ev->cpu;
	c->abi = enter_abi(p, t, ev);
	c->how = TY_CALL_OPEN;
	t->call_gaps = p->gaps;
	t->busy = t->known = true;
	t->fresh = t->execed = false;
	t->seen_gaps = p->gaps;
	step->started = true;
	step->call = *c;
	return 0;
}

/* Does a sys_exit of this number end the pending call? */
static bool ends(const struct ty_pairs *p, const struct thread *t, int64_t nr, int64_t ret)
{
	enum ty_syscall_class class = ty_syscall_class(p->arch, t->call.abi, t->call.nr);
	enum ty_abi abi;

	if (class == TY_SC_FORK && ret == 0)
		return false; /* a child's: the parent's end and death were lost, the tid reused */
	if (nr == t->call.nr)
		return true;
	if (nr == -1 && class == TY_SC_SIGRETURN)
		return true;
	return class == TY_SC_EXEC && ret == 0 && ty_syscall_exec_proves(p->arch, nr, &abi) &&
	       (t->execed || !gap_inside(p, t));
}

/* The end of something that is no call of this thread: its own creation, the recorder's wait. */
static bool not_a_call(const struct ty_pairs *p, const struct thread *t, int64_t nr, int64_t ret)
{
	if (t->tid == p->command_tid && !t->known)
		return true;
	if (ret != 0)
		return false;
	/* Parent in no call: it is the kernel, which starts programs itself (modprobe...). */
	if (t->fresh && (nr == t->fork_nr || t->fork_nr == NR_UNKNOWN))
		return true;
	return ty_syscall_class(p->arch, t->abi, nr) == TY_SC_FORK;
}

static int feed_exit(struct ty_pairs *p, const struct ty_event *ev, struct ty_pair_step *step)
{
	int64_t nr = ev->u.exit.nr, ret = ev->u.exit.ret;
	struct thread *t = get(p, ev->tid);
	enum ty_abi abi;
	struct ty_call *c;
	bool is_exec;

	if (!t)
		return -TY_ENOMEM;
	if (!t->busy && t->known && ev->buffer != t->exit_buffer && nr == t->exit_nr &&
	    ret == t->exit_ret)
		return 0; /* as in feed_enter */
	t->exit_buffer = ev->buffer;
	t->exit_nr = nr;
	t->exit_ret = ret;
	release(t, TY_CALL_RETURNED, step);
	if (t->busy && !ends(p, t, nr, ret))
		close_call(p, t, ev->ts_ns, how_lost(p, t), step);
	is_exec = t->busy ? ty_syscall_class(p->arch, t->call.abi, t->call.nr) == TY_SC_EXEC
			  : t->execed;
	if (is_exec && ret == 0 && ty_syscall_exec_proves(p->arch, nr, &abi))
		t->abi = (uint8_t)abi;
	if (!t->busy && not_a_call(p, t, nr, ret))
		goto out;
	c = &step->done[step->done_n++];
	if (t->busy) {
		*c = t->call;
		c->how = TY_CALL_RETURNED;
		c->gap_inside = gap_inside(p, t);
	} else {
		memset(c, 0, sizeof(*c));
		c->seq = p->seq++;
		c->loc = ev->loc;
		c->nr = nr;
		c->tid = ev->tid;
		c->cpu = ev->cpu;
		c->abi = ty_syscall_is_x32(p->arch, nr) ? TY_ABI_X32 : t->abi;
		if (p->gaps != t->seen_gaps || p->losing)
			c->how = TY_CALL_NO_ENTER_LOST;
		else
			c->how = t->known ? TY_CALL_NO_ENTER : TY_CALL_NO_ENTER_BEFORE;
	}
	c->end_ns = ev->ts_ns;
	c->ret = ret;
	c->end_tid = ev->tid;
	if (c->how == TY_CALL_RETURNED && ty_call_interrupted(ret)) {
		t->call = *c;
		t->held = true;
		step->done_n--;
	}
out:
	t->busy = t->fresh = t->execed = false;
	t->known = true;
	t->seen_gaps = p->gaps;
	return 0;
}

uint32_t ty_pairs_slot(const struct ty_pairs *p, int32_t tid)
{
	const struct thread *t = find(p, tid);

	return t ? (uint32_t)(t - p->slots) : UINT32_MAX;
}

static bool enter_quick(struct ty_pairs *p, struct thread *t, const struct ty_brief *br)
{
	struct ty_call *c = &t->call;

	/* See feed_enter for what an argument above 32 bits proves. */
	if (t->busy || (br->val & 1 ? t->abi != TY_ABI_NATIVE64 : t->abi == TY_ABI_X32))
		return false;
	t->enter_buffer = br->buffer;
	c->val = br->val;
	if (br->args)
		memcpy(c->args, br->args, 3 * sizeof(*br->args));
	c->seq = p->seq++;
	c->start_ns = br->ts_ns;
	c->end_ns = 0;
	c->loc = br->loc;
	c->nr = br->nr;
	c->ret = 0;
	c->tid = c->end_tid = br->tid;
	c->cpu = br->cpu;
	c->abi = t->abi;
	c->how = TY_CALL_OPEN;
	c->gap_inside = false;
	t->call_gaps = t->seen_gaps = p->gaps;
	t->busy = t->known = true;
	t->fresh = t->execed = false;
	return true;
}

static const struct ty_call *exit_quick(struct ty_pairs *p, struct thread *t,
					const struct ty_brief *br)
{
	struct ty_call *c = &t->call;
	int64_t ret = (int64_t)br->val;

	if (!t->busy || br->nr != c->nr || ty_call_interrupted(ret))
		return NULL;
	t->exit_buffer = br->buffer;
	t->exit_nr = br->nr;
	t->exit_ret = ret;
	c->how = TY_CALL_RETURNED;
	c->gap_inside = gap_inside(p, t);
	c->end_ns = br->ts_ns;
	c->ret = ret;
	t->busy = t->fresh = t->execed = false;
	t->known = true;
	t->seen_gaps = p->gaps;
	return c;
}

/* enter_quick and exit_quick at once. */
static const struct ty_call *both_quick(struct ty_pairs *p, struct thread *t,
					const struct ty_brief *br)
{
	if (ty_call_interrupted(br->ret) || !enter_quick(p, t, br))
		return NULL;
	t->exit_buffer = br->buffer;
	t->exit_nr = br->nr;
	t->exit_ret = br->ret;
	t->call.how = TY_CALL_RETURNED;
	t->call.gap_inside = p->losing;
	t->call.end_ns = br->end_ns;
	t->call.ret = br->ret;
	t->busy = false;
	return &t->call;
}

static inline bool is_plain(const struct ty_pairs *p, uint8_t abi, int32_t nr)
{
	uint32_t n = (uint32_t)nr;

	return n < PLAIN_MAX && p->plain[abi][n / 64] >> n % 64 & 1;
}

bool ty_pairs_plain(const struct ty_pairs *p, uint8_t abi, int32_t nr)
{
	return is_plain(p, abi, nr);
}

bool ty_pairs_quick(struct ty_pairs *p, uint32_t slot, const struct ty_brief *br,
		    const struct ty_call **done)
{
	struct thread *t;

	*done = NULL;
	if (slot >= p->slots_n)
		return false;
	t = &p->slots[slot];
	if (t->tid != br->tid || t->held || !is_plain(p, t->abi, br->nr))
		return false;
	if (br->kind == TY_EV_SYS_EXIT)
		*done = exit_quick(p, t, br);
	else if (br->end_ns)
		*done = both_quick(p, t, br);
	else if (!enter_quick(p, t, br))
		return false;
	if (!*done && (br->kind == TY_EV_SYS_EXIT || br->end_ns))
		return false;
	note_time(p, br->end_ns ? br->end_ns : br->ts_ns);
	if (br->buffer < BUFFERS_MAX)
		p->sys_buffers |= (uint64_t)1 << br->buffer;
	return true;
}

const struct ty_call *ty_pairs_latest(const struct ty_pairs *p, uint32_t slot)
{
	return &p->slots[slot].call;
}

void ty_pairs_ran(struct ty_pairs *p, uint32_t slot, uint64_t calls, const struct ty_brief *last)
{
	p->seq += calls - 1;
	both_quick(p, &p->slots[slot], last);
	note_time(p, last->end_ns);
}

/* task_newtask and sched_process_fork: either alone will do. */
static int feed_new(struct ty_pairs *p, const struct ty_event *ev, int32_t parent, int32_t child,
		    bool is_fork, struct ty_pair_step *step)
{
	uint8_t abi = ty_sysarch_has_compat(p->arch) ? TY_ABI_UNSURE : TY_ABI_NATIVE64;
	int64_t nr = NR_UNKNOWN;
	struct thread *t;

	if (child <= 0 || child > TID_MAX || child == parent)
		return 0;
	t = parent > 0 && parent <= TID_MAX ? find(p, parent) : NULL;
	if (t) {
		if (is_fork)
			prove_by_class(p, t, TY_SC_FORK);
		abi = t->abi;
		if (t->busy && !gap_inside(p, t))
			nr = t->call.nr;
	}
	t = get(p, child);
	if (!t)
		return -TY_ENOMEM;
	/* The previous thread with this number has ended; its exit event was lost or not
	 * recorded. */
	close_call(p, t, ev->ts_ns, p->gaps_any ? TY_CALL_END_LOST : TY_CALL_END_MISSING, step);
	t->abi = abi;
	t->fork_nr = nr;
	t->fresh = t->known = true;
	t->execed = false;
	t->seen_gaps = p->gaps;
	return 0;
}

static int feed_exec(struct ty_pairs *p, const struct ty_event *ev, struct ty_pair_step *step)
{
	int32_t tid = ev->u.exec.tid, old = ev->u.exec.old_tid;
	struct thread *t, moved;

	if (tid <= 0 || tid > TID_MAX || old <= 0 || old > TID_MAX)
		return 0;
	if (old != tid) {
		t = find(p, tid);
		if (t && t->execed && !find(p, old))
			return 0; /* the same event out of another buffer */
		if (t) {	  /* the leader, killed by this exec */
			close_call(p, t, ev->ts_ns, TY_CALL_EXITED, step);
			forget(p, t);
		}
		t = find(p, old);
		if (!t)
			return 0;
		moved = *t;
		forget(p, t);
		t = get(p, tid);
		if (!t)
			return -TY_ENOMEM;
		moved.tid = tid;
		*t = moved;
	} else {
		t = get(p, tid);
		if (!t)
			return -TY_ENOMEM;
	}
	prove_by_class(p, t, TY_SC_EXEC);
	t->execed = true;
	/* Until the end of the call proves the new image's ABI (on x86 it always does). */
	if (ty_sysarch_has_compat(p->arch))
		t->abi = TY_ABI_UNSURE;
	return 0;
}

static void feed_gap(struct ty_pairs *p, const struct ty_event *ev)
{
	/* Once it is known which buffers hold system calls, others cannot lose any. */
	if (!p->sys_buffers || ev->buffer >= BUFFERS_MAX || p->sys_buffers >> ev->buffer & 1) {
		p->gaps++;
		p->losing |= ev->u.gap.to_end;
	}
	p->gaps_any++;
}

int ty_pairs_feed(struct ty_pairs *p, const struct ty_event *ev, struct ty_pair_step *step,
		  struct ty_err *err)
{
	int r = 0;

	step->done_n = 0;
	step->started = false;
	note_time(p, ev->ts_ns);
	if (ev->decode_error)
		return 0;
	switch (ev->kind) {
	case TY_EV_SYS_ENTER:
	case TY_EV_SYS_EXIT:
		if (ev->tid <= 0 || ev->tid > TID_MAX)
			return 0;
		if (ev->buffer < BUFFERS_MAX)
			p->sys_buffers |= (uint64_t)1 << ev->buffer;
		r = ev->kind == TY_EV_SYS_ENTER ? feed_enter(p, ev, step) : feed_exit(p, ev, step);
		break;
	case TY_EV_NEWTASK: r = feed_new(p, ev, ev->tid, ev->u.newtask.tid, false, step); break;
	case TY_EV_FORK:
		r = feed_new(p, ev, ev->u.fork.parent_tid, ev->u.fork.child_tid, true, step);
		break;
	case TY_EV_EXEC: r = feed_exec(p, ev, step); break;
	case TY_EV_EXIT: {
		struct thread *t = ev->u.tex.tid > 0 ? find(p, ev->u.tex.tid) : NULL;

		if (t) {
			bool lost = gap_inside(p, t) && ty_syscall_class(p->arch, t->call.abi,
									 t->call.nr) != TY_SC_EXIT;

			close_call(p, t, ev->ts_ns, lost ? TY_CALL_END_LOST : TY_CALL_EXITED, step);
			forget(p, t);
		}
		break;
	}
	case TY_EV_SIGNAL_DELIVER: {
		struct thread *t = ev->tid > 0 ? find(p, ev->tid) : NULL;

		if (t)
			release(t, ev->u.sig.sig == SIGNAL_KILL ? TY_CALL_EXITED : TY_CALL_RETURNED,
				step);
		break;
	}
	case TY_EV_GAP: feed_gap(p, ev); break;
	default: break;
	}
	if (r < 0)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
			       "out of memory while pairing system calls of %u threads",
			       p->by_tid.n);
	return 0;
}

const struct ty_call *ty_pairs_current(const struct ty_pairs *p, int32_t tid)
{
	const struct thread *t = find(p, tid);

	return t && t->busy ? &t->call : NULL;
}

bool ty_pairs_open_next(const struct ty_pairs *p, uint32_t *it, struct ty_call *out)
{
	while (*it < p->slots_n) {
		const struct thread *t = &p->slots[(*it)++];

		if (t->tid && t->held) {
			*out = t->call;
			return true;
		}
		if (t->tid && t->busy) {
			*out = t->call;
			out->end_tid = t->tid;
			out->gap_inside = gap_inside(p, t);
			if (out->gap_inside &&
			    ty_syscall_class(p->arch, t->call.abi, t->call.nr) != TY_SC_EXIT) {
				out->how = TY_CALL_END_LOST;
				out->end_ns = p->now;
			}
			return true;
		}
	}
	return false;
}
