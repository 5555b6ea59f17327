/* SPDX-License-Identifier: MIT */
/*
 * System calls out of events: sys_enter and sys_exit of a thread become one call. A small state
 * machine, fed with all events in time order; no I/O. What is not recorded is said, never made up:
 *
 * - The child's lone sys_exit after fork, vfork, clone, clone3 belongs to the fork: no call.
 *   (0 is returned by these calls to the child only, so this holds without the fork event too.)
 * - execve by a thread that is not the leader goes on under the leader's tid
 *   (sched_process_exec.old_pid). The kernel reports the end of a successful execve and execveat
 *   with the number of the *new* image's execve, which proves the ABI of all that follows (x86).
 * - rt_sigreturn ends with number -1: the kernel forgets the number on purpose.
 * - A call that is interrupted (ERESTART...) by a SIGKILL, an exit_group or an exec of another
 *   thread never returns to its program: the kernel reports its sys_exit, then delivers signal 9.
 *   Such a sys_exit is held back until the thread's next event tells.
 * - A file may hold the same events in several buffers (trace-cmd -B): each call counts once.
 * - A sys_exit without sys_enter either began before the recording, or its start was lost, or was
 *   refused by seccomp or a tracer before the tracepoint (TY_CALL_NO_ENTER_*).
 * - The events do not say whether a caller is 32-bit. Proofs that are used: the x32 bit; an
 *   argument above 32 bits (native); execve's end (above); a fork or exec event in the middle of a
 *   call whose number forks or execs in one ABI only. Children inherit. Without a proof the call's
 *   abi is TY_ABI_UNSURE. Not detectable: `int 0x80` by a 64-bit program.
 *
 * Budget: one hash look-up per sys_enter and sys_exit, no allocation but the table's growth. Memory
 * is bounded by the kernel's largest possible tid (4,194,304); threads are forgotten at their exit.
 */
#ifndef TY_SYSCALL_PAIR_H
#define TY_SYSCALL_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "event.h"
#include "syscalls.h"

enum ty_call_how {
	TY_CALL_RETURNED,	 /* both ends recorded: the whole truth */
	TY_CALL_NO_ENTER_BEFORE, /* began before the thread's first recorded call: end only */
	TY_CALL_NO_ENTER_LOST,	 /* events were lost before: end only */
	TY_CALL_NO_ENTER,	 /* nothing lost: refused by seccomp or a tracer; end only */
	TY_CALL_EXITED,		 /* the thread ended inside it: exit, exit_group, or killed; end_ns:
				    its end, or where the kernel left the call to die */
	TY_CALL_END_LOST,	 /* its return is not there, and events were lost that could have
				    been it; end_ns: when that showed */
	TY_CALL_END_MISSING,	 /* its return is not in the file though nothing was lost */
	TY_CALL_OPEN,		 /* still going on when the recording ended; nothing was lost */
};

struct ty_call {
	uint64_t seq;	   /* calls are numbered from 0 by their start (end-only calls: by end) */
	uint64_t start_ns; /* sys_enter; 0 with NO_ENTER_* */
	uint64_t end_ns;   /* sys_exit; EXITED, END_LOST: see there; 0 with OPEN */
	ty_loc loc;	   /* of the sys_enter (NO_ENTER_*: of the sys_exit) */
	uint64_t args[6];  /* zero with NO_ENTER_* */
	int64_t nr;	   /* as the sys_enter says (NO_ENTER_*: the sys_exit) */
	int64_t ret;	   /* RETURNED and NO_ENTER_* only */
	int32_t tid;	   /* at its start */
	int32_t end_tid;   /* at its end: differs after execve by a thread that is not the leader */
	uint32_t cpu;	   /* where it began (NO_ENTER_*: ended) */
	uint8_t abi;	   /* enum ty_abi */
	uint8_t how;	   /* enum ty_call_how */
	bool gap_inside;   /* events that could have ended it were lost while it lasted: with
			      RETURNED the end may be that of a later call of the same number */
};

/* Is only its end recorded? */
static inline bool ty_call_end_only(const struct ty_call *c)
{
	return c->how == TY_CALL_NO_ENTER_BEFORE || c->how == TY_CALL_NO_ENTER_LOST ||
	       c->how == TY_CALL_NO_ENTER;
}

/* What one event led to. done: calls that are over, at most 2. started: a sys_enter began the call
 * in `call` (how OPEN); it will be in done, or come from ty_pairs_open_next. */
struct ty_pair_step {
	unsigned done_n;
	bool started;
	struct ty_call done[2];
	struct ty_call call;
};

struct ty_pairs;

/* arch is borrowed. NULL: out of memory. */
struct ty_pairs *ty_pairs_new(const struct ty_sysarch *arch);
void ty_pairs_free(struct ty_pairs *p);

/*
 * The recorder's own child waits in a read() until all is armed, then becomes the command: the end
 * of that wait is no call of the command. tid: MACHINE's command_tid.
 */
void ty_pairs_command(struct ty_pairs *p, int32_t tid);

/* Feed one event; fills *step. Kinds that do not matter return at once. 0 or -TY_ENOMEM. */
int ty_pairs_feed(struct ty_pairs *p, const struct ty_event *ev, struct ty_pair_step *step,
		  struct ty_err *err);

/*
 * The same for the usual case, without a look-up: a sys_enter or sys_exit of a thread that is known
 * (slot), of a call that only begins and returns; both ends at once where *br has both. false:
 * nothing has happened, feed the whole event. *done: the call that is over, borrowed until the next
 * feed, or NULL. Arguments are not kept.
 */
bool ty_pairs_quick(struct ty_pairs *p, uint32_t slot, const struct ty_brief *br,
		    const struct ty_call **done);
/* Right after that took both ends of a call: the thread's latest call there, to be followed by more
 * of its kind (plain numbers, both ends known, no restart), of which the last is told alone. */
const struct ty_call *ty_pairs_latest(const struct ty_pairs *p, uint32_t slot);
void ty_pairs_ran(struct ty_pairs *p, uint32_t slot, uint64_t calls, const struct ty_brief *last);
/* The number of a call that only begins and returns in that ABI (UNSURE: in every one)? */
bool ty_pairs_plain(const struct ty_pairs *p, uint8_t abi, int32_t nr);
/* A result that says that the call will be made again, or was broken off by a signal. */
static inline bool ty_call_interrupted(int64_t ret)
{
	return ret <= -512 && ret >= -516 &&
	       ret != -515; /* -ERESTARTSYS .. -ERESTART_RESTARTBLOCK */
}
/* The slot of tid, UINT32_MAX when it has none; one that is outdated does no harm. */
uint32_t ty_pairs_slot(const struct ty_pairs *p, int32_t tid);

/* Is this call, an execve or clone say, in progress for the thread? NULL: none. Borrowed until the
 * next feed. */
const struct ty_call *ty_pairs_current(const struct ty_pairs *p, int32_t tid);

/* After the last event: calls still in progress (OPEN, or END_LOST where a loss may have swallowed
 * their end), and returned ones that were held back, in no order. *it starts at 0; false at the
 * end. */
bool ty_pairs_open_next(const struct ty_pairs *p, uint32_t *it, struct ty_call *out);

#endif
