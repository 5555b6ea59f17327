/* SPDX-License-Identifier: MIT */
/*
 * System calls out of events: sys_enter and sys_exit of a thread become one call. A small state
 * machine, fed with all events in time order; no I/O. Missing parts are marked, never invented:
 *
 * - The child's lone sys_exit after fork, vfork, clone, clone3 belongs to the fork: no call.
 *   (0 is returned by these calls to the child only, so this holds without the fork event too.)
 * - execve by a thread other than the leader continues under the leader's tid
 *   (sched_process_exec.old_pid). The kernel reports the end of a successful execve and execveat
 *   with the number of the *new* image's execve, which proves the ABI of all that follows (x86).
 * - rt_sigreturn ends with number -1: the kernel forgets the number on purpose.
 * - A call that is interrupted (ERESTART...) by a SIGKILL, an exit_group or an exec of another
 *   thread never returns to its program: the kernel reports its sys_exit, then delivers signal 9.
 *   Such a sys_exit is delayed until the thread's next event decides.
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
	TY_CALL_RETURNED,	 /* both ends recorded */
	TY_CALL_NO_ENTER_BEFORE, /* began before the thread's first recorded call: end only */
	TY_CALL_NO_ENTER_LOST,	 /* events were lost before: end only */
	TY_CALL_NO_ENTER,	 /* nothing lost: refused by seccomp or a tracer; end only */
	TY_CALL_EXITED,		 /* the thread ended inside it: exit, exit_group, or killed; end_ns:
				  * its end, or when the kernel abandoned the call */
	TY_CALL_END_LOST,	 /* its return is missing, and events were lost that could have
				  * included it; end_ns: when that was detected */
	TY_CALL_END_MISSING,	 /* its return is not in the file though nothing was lost */
	TY_CALL_OPEN,		 /* unfinished when the recording ended; nothing was lost */
};

struct ty_call {
	uint64_t seq;	   /* calls are numbered from 0 by their start (end-only calls: by end) */
	uint64_t start_ns; /* sys_enter; 0 with NO_ENTER_* */
	uint64_t end_ns;   /* sys_exit; EXITED, END_LOST: see there; 0 with OPEN */
	ty_loc loc;	   /* of the sys_enter (NO_ENTER_*: of the sys_exit) */
	uint64_t args[6];  /* zero with NO_ENTER_* */
	uint64_t val;	   /* ty_enter_val of them, which ty_pairs_quick keeps, too */
	int64_t nr;	   /* from the sys_enter (NO_ENTER_*: the sys_exit) */
	int64_t ret;	   /* RETURNED and NO_ENTER_* only */
	int32_t tid;	   /* at its start */
	int32_t end_tid;   /* at its end: differs after execve by a thread other than the leader */
	uint32_t cpu;	   /* where it began (NO_ENTER_*: ended) */
	uint8_t abi;	   /* enum ty_abi */
	uint8_t how;	   /* enum ty_call_how */
	bool gap_inside;   /* events that could include its end were lost during the call: with
			    * RETURNED the end may be that of a later call of the same number */
};

/* True when only its end is recorded. */
static inline bool ty_call_end_only(const struct ty_call *c)
{
	return c->how == TY_CALL_NO_ENTER_BEFORE || c->how == TY_CALL_NO_ENTER_LOST ||
	       c->how == TY_CALL_NO_ENTER;
}

/* Result of one event. done: finished calls, at most 2. started: a sys_enter began the call in
 * `call` (how OPEN); it will appear in done or in ty_pairs_open_next. */
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
 * Names the traced command (MACHINE's command_tid). The recorder's child waits in a read() until
 * recording is armed, then becomes the command: the end of that read is not a call of the command.
 */
void ty_pairs_command(struct ty_pairs *p, int32_t tid);

/* Feeds one event; fills *step. Irrelevant kinds return at once. 0 or -TY_ENOMEM. */
int ty_pairs_feed(struct ty_pairs *p, const struct ty_event *ev, struct ty_pair_step *step,
		  struct ty_err *err);

/*
 * Fast path without a look-up: a sys_enter or sys_exit of a known thread (slot), of a plain call
 * (ty_pairs_plain); both ends at once when *br has both. False: nothing was changed, feed the whole
 * event. *done: the finished call, borrowed until the next feed, or NULL. Arguments are not kept.
 */
bool ty_pairs_quick(struct ty_pairs *p, uint32_t slot, const struct ty_brief *br,
		    const struct ty_call **done);
/* Right after that consumed both ends of a call: the thread's latest call, to which the caller may
 * apply more calls of the same kind (plain numbers, both ends known, no restart) and report only
 * the last. */
const struct ty_call *ty_pairs_latest(const struct ty_pairs *p, uint32_t slot);
void ty_pairs_ran(struct ty_pairs *p, uint32_t slot, uint64_t calls, const struct ty_brief *last);
/* True when a call of that number only begins and returns in that ABI (UNSURE: in all). */
bool ty_pairs_plain(const struct ty_pairs *p, uint8_t abi, int32_t nr);
/* True for a result that means the call will be restarted or was interrupted by a signal. */
static inline bool ty_call_interrupted(int64_t ret)
{
	return ret <= -512 && ret >= -516 &&
	       ret != -515; /* -ERESTARTSYS .. -ERESTART_RESTARTBLOCK */
}
/* The slot of tid, UINT32_MAX when it has none; a stale one is harmless. */
uint32_t ty_pairs_slot(const struct ty_pairs *p, int32_t tid);

/* The thread's call in progress (such as an execve or clone); NULL: none. Borrowed until the next
 * feed. */
const struct ty_call *ty_pairs_current(const struct ty_pairs *p, int32_t tid);

/* After the last event: calls still in progress (OPEN, or END_LOST when a loss may include their
 * end), and returned ones that were held back, in no order. *it starts at 0; false at the end. */
bool ty_pairs_open_next(const struct ty_pairs *p, uint32_t *it, struct ty_call *out);

#endif
