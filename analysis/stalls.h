/* SPDX-License-Identifier: MIT */
/*
 * Stalls: waits in which a thread with work made no progress, their cause, and their rank.
 * Computed once; report and views show these objects.
 *
 * Idle waits are not stalls (unless opts.all). The verdict on a wait is that of one rule of a
 * table (graph/rule.h, docs/design/wait-graph.md); this is what the rules amount to:
 *
 * - Definite waits: a lock (flock, fcntl, futex words of locks; also while the kernel spins for
 *   it: futex_waker.h), room to write, a device, a stop by a signal, a CPU, a vfork, an
 *   uninterruptible sleep; a sleep outside of any call (for a page of userfaultfd; inferred:
 *   for something else). A stall when long enough. Exceptions: a shell's pipeline whose next
 *   program computes, unless the command's path goes over that wait; and a lock whose holders
 *   were idle for most of the wait. Of the latter the longest time between is reported,
 *   inferred.
 * - Waits for a peer, one certain other side (read, recv, poll of one descriptor, futex,
 *   semaphores). A stall in these cases:
 *   . The waiter had sent a request: it woke the peer after the peer last woke it, and was the
 *     first of both to do so; or it has now sent again what did so then, while the peer was not
 *     waiting yet (inferred where the request is a futex wakeup without a waiter). The peer may
 *     have handed the request on. A word that both wait on (an interpreter's lock) carries no
 *     requests.
 *   . The command needed it: its path passes through this wait, which is not one of many such
 *     waits and not for the requests of a client. A process that was attached to and ended
 *     counts as a command, inferred; of the whole machine so does each process that ended, with
 *     its descendants (a million segments of path in all, the longest waits first; nothing
 *     behind the end of a process's first thread).
 *   . The command was busy with the awaited thread, and the waiter, once, waited for its turn
 *     (its waker waits there, too, at other times) and computes then; or, alone, it had sent
 *     something before, or has work after and neither replies nor waits there again (nor do
 *     others that the same call woke, as at a gate); or, alone, it was made for this one wait
 *     and exits then, and the awaited thread has the same maker and is not a program.
 *   . The word is used as a lock, inferred: waiter and waker both wait on it and both wake it
 *     at other times, while the holder did not wait there; and the waiter waited so once, or,
 *     in attempts, straight after another wait, never from work unless it had just released it;
 *     and does not just exit then.
 *   Never in these cases:
 *   . The wait is for the work of a program that the waiter started without a request to it, or
 *     of several threads or processes that it made to share the work (others than the culprit
 *     worked meanwhile, woke the waiter, too, and are idle where that one is, or have ended). A
 *     waiter on a descriptor must not have sent a request, unless it sent to several
 *     descriptors and others worked as long.
 *   . A slot is handed over: the wakee waits where its waker had waited before.
 *   . Without a request, the other side sent more of the same before the waiter ran again.
 *   . A program at its standard input, a pipe, waits for the one that started it: what it sent
 *     first was a greeting. Or a thread that its process made, which handed its result over by
 *     descriptor, waits by futex and only exits afterwards.
 * - A wait for a peer that is still open when the recording ends: a stall when the waiter had
 *   woken a thread right before which was not its client, did not wait since before the
 *   recording, does not wait in its old place in the end, sent no reply on a descriptor where
 *   it is the client, and has not ended as a process; and not by the object that is waited for
 *   now, as at a lock.
 * - A wait that a timer ended, other than a sleep: a stall when the waiter for a peer had sent
 *   a request or anything else (by futex only when that word is woken at another time, or a
 *   thread was woken right before); or the command needed it once and then computed (by futex,
 *   where no thread ever wakes that word: inferred, because runtimes sleep so, too). Attempts
 *   with a timeout are one wait for the waker of the last; where the descriptors are behind a
 *   pointer, if that is the same (inferred). So are those that a signal interrupted, also if
 *   its handler wrote to the thread's own pipe. 1 ms of work, or 50 ms without a CPU, separates
 *   them.
 * - Waits for the end of a thread or child: a stall when the awaited one only waited (a program
 *   may print its results; a shell that waits for another one stands for that one); or when it
 *   alone of its command or process family worked, is not a program, and the waiter computes
 *   afterwards or the awaited child did nothing else. Never when it sleeps again and again, nor
 *   when its own stall reports it; ranked behind the stalls that the awaited ones caused. The
 *   wakeups of its exit (SIGCHLD) are not messages. Waits for signals or descriptors that a
 *   child's end ended are such waits.
 * - Idle waits (epoll, poll of several, select, accept, sleeps, waits for signals) are stalls
 *   only
 *   . after a request, as for a peer (also when the next read shows the descriptor);
 *   . when a signal of another thread ended it and the waiter had a reply pending (or, where it
 *     was attached to in between, sends one right then, inferred), or had sent a request that
 *     the command needed;
 *   . of the command's first thread, when the command needed it once and computed then: for a
 *     signal of a traced thread; or, inferred, for several descriptors, if the command made the
 *     waker and computes for longer than a request takes.
 * - A block device explains a wait while a request of it was in flight or queued
 *   (block_requests.h); proven for nine tenths of the wait. Where a completion ended it but
 *   most of it had no request, the cause is the kernel, inferred.
 * - A CPU without any activity although its tick was due, or although it was idle and had a
 *   thread to run, was possibly stolen by the hypervisor (steal.h; inferred). That time is not
 *   a call's own, and a cause is proven only where less than a tenth may have been stolen.
 * - A runnable thread whose cgroup was throttled for as long, by samples of the kernel's count,
 *   or that waited beside its idle CPU while its cgroup had a quota, is throttled (inferred).
 *   One that waited far longer than its priority explains may have been, or its group has a low
 *   weight: no culprit.
 *
 * Of two threads that wait for each other at both ends, one with a timeout, the one whose last
 * request got no reply is held up; the other one waits for its next request. A signal stops a
 * process: its threads are one stall. Similar waits of a thread in close succession, or in one
 * call, are one stall; so are all those with one cause (stall_fold.c).
 *
 * Where a thread's own call is lost and its waker made a futex call, it waited for that word
 * (inferred; only FUTEX_UNLOCK_PI shows a lock; futex_wake and futex_requeue are not
 * evaluated). A wait within a request (requests.h: received, no reply yet) is a stall,
 * inferred, a sleep of its own included, unless it is for any event (epoll and the like). A
 * wait for a thread that itself was runnable is a stall only if that is long enough. A stall in
 * another one's chain is reported in that chain only; but, without a command, not one that is a
 * good deal longer.
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
	uint64_t sum_ns;   /* with those and the waits of all these threads; 0: of this one alone */
	bool sum_inferred; /* the cause of one of the others, at least */
	bool by_root;	   /* some of them for another object, but because of the same culprit */
	bool all_threads;  /* STOPPED: these are all that the process had */
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
	uint64_t rank_ns;    /* it ranks by that: path_ns with the other waits of that cause; or,
				where none adds to that, all that its thread lost by the cause */
	bool ranks_last;     /* whatever it lost: no thread is to blame, or others explain it */
	uint64_t steal_ns;   /* of it, the CPU was possibly stolen by the hypervisor (steal.h) */
	uint64_t steal_counted_ns;  /* so much steal the kernel counted about then, on that CPU */
	uint32_t request_to;	    /* the receiver of its request at sent_request_ns; TY_NONE */
	uint64_t sent_request_ns;   /* it woke that one or sent something; 0: not so, not known */
	uint64_t request_ns;	    /* it had received a request then; 0 */
	const struct ty_rule *rule; /* why it is a stall, or is none */
	struct ty_link link[TY_STALL_LINKS]; /* the chain, victim first */
	uint32_t links;
	uint64_t root_ns; /* the last one's time of this kind in all; 0: that of the link */
	char object[192]; /* "futex 0x7f..", "fd 5", "device 254:0"; "" */
	char peer[192];	  /* whose reply it had not yet: "fd 5 <TCP:[..->10.0.0.1:80]>"; "" */
	char file[128];	  /* waits for a device: what the call acts on; "": unknown */
	char text[640];	  /* the cause in words */
	char sentence[960];
};

struct ty_stalls {
	struct ty_stall *v; /* by rank */
	uint32_t n;
	struct ty_stall *rejected; /* opts.rejected: idle waits, ranked as findings are */
	uint32_t rejected_n;
	bool by_command;    /* ranked by their effect on the command, not by length */
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
/* ty_link_text of link[k], with its time. */
bool ty_stall_link_text(const struct ty_explain *x, const struct ty_stall *s, uint32_t k,
			char out[TY_LINK_TEXT]);
/* The name of the call it waited in; "" when it is not known. buf: as for ty_explain_call. */
const char *ty_stall_call(const struct ty_explain *x, const struct ty_stall *s, char buf[32]);

#endif
