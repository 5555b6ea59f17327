/* SPDX-License-Identifier: MIT */
/*
 * Stalls: when a thread that had work made no progress, who or what held it up, ranked. Computed
 * once; report and views show these objects.
 *
 * The rule of what is no stall (unless all is asked for): waiting for work.
 *
 * - Definite waits: a lock (flock, fcntl, futex words of locks; those that the kernel spins for,
 *   while it does, too: futex_waker.h), room to write, a device, a stop by
 *   a signal, a CPU, a vfork, an uninterruptible sleep; a sleep outside of any call (for a page of
 *   userfaultfd; inferred: for something else). Always a stall when long enough; but not the room
 *   that the next program of a shell's pipeline (from standard output to standard input) does not
 *   make because it computes, unless the command's path goes over that wait. Nor is a lock one
 *   for as long as those who had it waited for work, if that was most of the time: they accepted,
 *   and so does the next one, as far as is known; or they had asked nobody, and the next one waits
 *   where they did, and neither spoke first there since it had the lock. Of such a wait the longest
 *   time between that is told, inferred.
 * - Waits for a peer, one certain other side (read, recv, poll of one descriptor, futex,
 *   semaphores): a stall when the other side owed something:
 *   . It was asked: the waiter had woken it after it was last woken by it, and was the first of
 *     both to do so (or has now sent again what woke it then: nobody waited for it yet; by futex,
 *     where that is no call, inferred: the other one has not waited for requests since its last
 *     answer, and does so next). The one that was asked may have handed the matter on to the one
 *     that answers. A word that both wait on (an interpreter's lock) carries no requests.
 *   . The traced command could not go on without the waiter: its path passes through this wait,
 *     which is not one of many such waits and none for the requests of somebody whom the waiter
 *     serves. As a command counts, inferred, a process that was attached to and ended; of the whole
 *     machine each that came to its end, with those that it made and outlived (a million segments
 *     of path in all, the longest waits first; nothing behind the end of a process's first thread).
 *   . The command was busy with the very thread that is waited for; and the waiter, once, waited
 * for its turn (who ended the wait waits there, too, at other times: a lock that goes from hand to
 *     hand) and goes on to work; or, alone, had sent something before, or has work after and
 *     neither answers nor comes back for more (nor any of those who wait with it, whom one call
 *     lets go on, as at a gate); or, alone, was made for this one wait and ends then, and the one
 *     that is waited for has the same maker and is no program.
 *   . The word is a lock's, inferred: who waits on it wakes it at other times, too, and so does the
 *     one that ended the wait, while the one who had it did not wait there; and the waiter waited
 *     so but once; or, in tries, straight after another wait (for an interpreter's lock), so that
 *     it was about to go on, while it never comes there from work but when it has just let it go;
 *     and does not just end then.
 *   But never:
 *   . for the work of a program that the waiter has started and did not ask, or of several threads
 *     or processes that it has made to share it: others than who held it up worked meanwhile, and
 *     woke the waiter, too, wait for work where that one does, or had (as that one) worked since
 *     their birth and were done. Who waits on a descriptor must not have asked, either, unless it
 *     handed something to several descriptors, and others worked as long;
 *   . where a place is handed on: who is woken waits where the one that wakes it had waited before
 *     (on a descriptor; or for a time, each on the word where it is woken at other times);
 *   . if nothing was asked, when the other side gave more of the same before the waiter ran again.
 *   Nor does a program ask that waits at its standard input for the one that started it, on a pipe:
 *   what it said first greeted. Nor is a result that was handed over by descriptor a request where
 *   the waiter waits by futex then, was made by its process and does but end afterwards: it was
 *   told to.
 * - A wait for a peer that is not over when the recording ends: a stall when the waiter had woken
 *   somebody right before, who had not asked it first nor waited since before the recording, nor
 *   waits itself in the end where it waited before, or may, nor was answered by that on a
 *   descriptor where it had spoken first, nor has ended as a process since (only of descriptors it
 * is certain that it waits elsewhere); and not by what it waits for itself, as at a lock that is
 * handed on.
 * - A wait that a timer ended, but no sleep: a stall when the waiter for a peer had asked or sent
 *   anything (by futex only when somebody is seen waking that word at another time, or was asked
 *   right before); or the command waited for it, once, and went on to work (by futex, where nobody
 *   is ever seen waking that word: inferred, as runtimes sleep so, too).
 *   One wait in several tries, each with a time-out, is one wait for who ended the last; where
 *   the descriptors are behind a pointer, if that is the same (inferred). The same of a wait that
 *   a signal broke off, whatever its handler did, if that handed something to the thread itself
 *   (its own pipe or latch), too. What parts them: 1 ms of work, or 50 ms without a CPU.
 * - Waits for the end of a thread or child: a stall when the awaited one did nothing but wait (a
 *   program that was started may say what it has to say then; one that waits, as a shell, for the
 *   end of another one means that one); or it
 *   worked, all others of its kin (of the command; or of the waiter's process and what that made)
 *   did not, it is no program of its own, and the waiter goes on to compute
 *   or the awaited one is a child that did nothing else. Never when the waiter waits for one that
 *   sleeps again and again, nor when a stall of the awaited one tells it; behind the stalls that
 *   the awaited ones caused. What its own end wakes (SIGCHLD: any thread of its parent) it told
 *   nothing. A wait for signals or descriptors is one for a child's end when the child ended it so.
 * - Idle waits (epoll, poll of several, select, accept, sleeps, waits for signals): only
 *   . when asked as a peer (also when the descriptor that is read next says so);
 *   . when a signal of another thread ended it and the waiter owed an answer itself (it had
 *     received, and not sent since; or, if it was attached to amid that, sends a message then,
 *     where it is connected, and waits on another descriptor or takes the next at once, from whom
 *     it sent to, inferred), or had sent one and the command could not go on without it;
 *   . unasked those of the command's first thread, which it could not go on without, once in that
 *     call and for that thread, and went on to work: for a signal of a traced thread; or, inferred,
 *     for several descriptors, if who ended that was made by the command, too, and it worked for
 *     longer than a request takes to serve.
 * - A block device explains a wait for as long as a request of it was in flight or queued
 *   (block_requests.h); proven where that is nine tenths of it. Where a completion ended it but
 * most of it had no request, the kernel is to blame, inferred.
 * - A CPU that a thread had, or that it was ready for, and that gave no sign of life although its
 *   tick was due, or although it was idle and should have taken the thread, was possibly stolen by
 *   the hypervisor (steal.h; inferred). Of a long call, that time is not its own; what is behind a
 *   wait is proven only where less than a tenth of it may have been stolen so.
 * - A ready thread whose cgroup was held back by its CPU quota for as long, as samples of the
 *   kernel's count tell, or that stood beside its idle CPU while its cgroup is recorded to have had
 *   a quota, was not allowed to run (inferred). One
 *   that was passed over for far longer than its priority explains may not have been, or its group
 *   weighs little: nobody is to blame.
 *
 * Of two that wait for each other at both ends, one of them with a time-out, who asked last and was
 * not answered is held up, the other one waits for its next request.
 *
 * A signal stops a process: its threads are one stall. Waits of a thread that are alike and follow
 * closely, or that one call consists of, are one stall; so are all those with one cause
 * (stall_fold.c).
 *
 * Where a thread's own call is lost, and the one that ended its wait did so by a futex call, it
 * waited for that word (inferred; a lock by FUTEX_UNLOCK_PI, while other locks are not told from
 * other words; the calls futex_wake and futex_requeue are not looked at).
 *
 * A wait within a request (requests.h: received, not answered yet) is a stall, inferred, whatever
 * it waits for (a sleep of its own, too) but for whatever comes next (epoll and the like).
 *
 * A wait for another one that itself waited for a CPU is none unless it is long enough for a ready
 * thread. A stall that another one's chain passes through is told in that chain, not again;
 * but, where there is no command, one that is a good deal longer is.
 */
#ifndef TY_STALLS_H
#define TY_STALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "chain.h"
#include "err.h"
#include "explain.h"
#include "requests.h"
#include "rule.h"
#include "window.h"

/* name in JSON, what it is called in sentences */
#define TY_STALL_KINDS(X)                                                                          \
	X(LOCK, "lock", "a lock")                                                                  \
	X(FUTEX, "futex", "a futex")                                                               \
	X(PIPE, "pipe", "a pipe")                                                                  \
	X(SOCKET, "socket", "a socket")                                                            \
	X(EVENTFD, "eventfd", "an eventfd")                                                        \
	X(SEMAPHORE, "semaphore", "a semaphore")                                                   \
	X(QUEUE, "queue", "a message queue")                                                       \
	X(FD, "fd", "a descriptor")                                                                \
	X(CHILD, "child", "a child")                                                               \
	X(JOIN, "join", "the end of a thread")                                                     \
	X(STOPPED, "stopped", "being continued")                                                   \
	X(RUNQUEUE, "runqueue", "a CPU")                                                           \
	X(THROTTLED, "throttled", "CPU quota")                                                     \
	X(IO, "io", "a block device")                                                              \
	X(FAULT, "fault", "a page")                                                                \
	X(TIMER, "timer", "a timer")                                                               \
	X(UNINTERRUPTIBLE, "uninterruptible", "the kernel")                                        \
	X(CPU, "cpu", "a long system call")                                                        \
	X(IRQ, "irq", "interrupts")                                                                \
	X(LOST, "lost", "lost events")                                                             \
	X(SIGNAL, "signal", "a signal")                                                            \
	X(SLEEP, "sleep", "its own sleep")                                                         \
	X(EVENTS, "events", "whatever comes")                                                      \
	X(OTHER, "other", "something")                                                             \
	X(STEAL, "steal", "the hypervisor")

enum ty_stall_kind {
#define X(name, json, text) TY_STALL_##name,
	TY_STALL_KINDS(X)
#undef X
		TY_STALL_KINDS_N
};
const char *ty_stall_kind_name(enum ty_stall_kind k);

#define TY_STALL_LINKS 16

struct ty_stall {
	uint32_t thread;
	uint32_t span; /* its chief span, ty_model_span */
	uint64_t start_ns, duration_ns;
	uint64_t named_ns;   /* the instant at which its name is taken */
	uint32_t waits;	     /* > 1: so many spans together, in [start, last_end) */
	uint32_t threads;    /* > 1: so many threads, this one among them, had the same stall */
	uint32_t more_waits; /* of the thread, that had the same cause */
	uint64_t sum_ns;  /* with those and the waits of all these threads; 0: of this one alone */
	bool all_threads; /* STOPPED: these are all that the process had */
	uint64_t last_end_ns;
	uint8_t state;	  /* enum ty_state */
	uint8_t kind;	  /* enum ty_stall_kind */
	uint8_t flags;	  /* TY_SF_* of the span */
	bool proven;	  /* else inferred */
	bool in_request;  /* of a request that was not answered yet: opts.requests */
	bool by_waker;	  /* its call is not recorded; the waker's shows that it waited by futex */
	uint32_t syscall; /* ty_model_syscall; TY_NONE */
	uint32_t culprit; /* thread index; TY_NONE: no thread */
	uint64_t culprit_ns; /* the instant at which its name is taken */
	uint64_t path_ns;    /* what it adds to the command's wall time */
	uint64_t steal_ns;   /* of it, the CPU was possibly stolen by the hypervisor (steal.h) */
	uint64_t steal_counted_ns;  /* so much steal the kernel counted about then, on that CPU */
	uint32_t request_to;	    /* the receiver of its request at sent_request_ns; TY_NONE */
	uint64_t sent_request_ns;   /* it woke that one or sent something; 0: not so, not known */
	uint64_t request_ns;	    /* it had received a request then; 0 */
	const struct ty_rule *rule; /* why it is a stall, or is none */
	struct ty_link link[TY_STALL_LINKS]; /* the chain, victim first */
	uint32_t links;
	char object[96]; /* "futex 0x7f..", "fd 5", "device 254:0"; "" */
	char peer[128];	 /* whose reply it had not yet: "fd 5 <TCP:[..->10.0.0.1:80]>"; "" */
	char text[640];	 /* the cause in words */
	char sentence[960];
};

struct ty_stalls {
	struct ty_stall *v; /* by rank */
	uint32_t n;
	struct ty_stall *rejected; /* opts.rejected: idle waits, ranked as findings are */
	uint32_t rejected_n;
	uint32_t jobs_left; /* processes that ended, of a whole machine, that were not asked for
			     * their path: those before took too long a path already */
};

struct ty_stalls_opts {
	bool all;	 /* waiting for work, too */
	bool rejected;	 /* list idle waits apart, each with its rule */
	uint64_t min_ns; /* shortest; 0: 20 ms */
	/* A wait within one of these is a stall, whatever is waited for (unless for whatever comes
	 * next); borrowed. NULL: none are known. */
	const struct ty_requests *requests;
};

/*
 * The stalls inside w (its choice of threads included), by rank: first those that the command lost
 * most by (on its path; while its first thread sleeps by its own choice, what its other threads
 * lose), then the longest. Stalls without a culprit come after all others (a CPU that many shared,
 * waits that other findings explain), unknown causes last. Time in which a thread's state is
 * unknown counts a quarter. At most `max` are kept. 0 or -TY_E... with err.
 */
int ty_stalls_find(const struct ty_explain *x, const struct ty_window *w,
		   const struct ty_stalls_opts *o, uint32_t max, struct ty_stalls *out,
		   struct ty_err *err);
void ty_stalls_fini(struct ty_stalls *s);
/* The first finding whose chain begins with a wait of the thread that has all of [from, to) in it,
 * in several tries perhaps: what that chain says holds for each of them. NULL: there is none. */
const struct ty_stall *ty_stalls_around(const struct ty_stalls *s, uint32_t thread,
					uint64_t from_ns, uint64_t to_ns);
/* When it was over; of several waits together the last one. */
static inline uint64_t ty_stall_end_ns(const struct ty_stall *s)
{
	return s->waits > 1 ? s->last_end_ns : s->start_ns + s->duration_ns;
}
/* The name of the call it waited in; "" when it is not known. buf: as for ty_explain_call. */
const char *ty_stall_call(const struct ty_explain *x, const struct ty_stall *s, char buf[32]);

#endif
