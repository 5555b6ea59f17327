/* SPDX-License-Identifier: MIT */
/*
 * Stalls: waits in which a thread with work made no progress, their cause, and their rank.
 * Computed once; report and views show these objects.
 *
 * Idle waits are not stalls (unless opts.all). One rule of a table decides on each wait
 * (graph/rules.c, docs/design/wait-graph.md); the facts that rules are made of are found by the
 * files that stalls_priv.h lists. What explains a wait without a thread to blame, a device, the
 * hypervisor, a quota, is in docs/design/stalls.md.
 */
#ifndef TY_STALLS_H
#define TY_STALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "chain_links.h"
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
	char object[192]; /* "futex 0x7f..", "fd 5", "device 254:0"; "" */
	char peer[192];	  /* whose reply it had not yet: "fd 5 <TCP:[..->10.0.0.1:80]>"; "" */
	char file[128];	  /* waits for a device: what the call acts on; "": unknown */
	char *text;	  /* the cause in words; of ty_stalls, as sentence is */
	char *sentence;
};

#define TY_STALL_TEXT	  640u /* with the NUL */
#define TY_STALL_SENTENCE 960u

struct ty_stalls {
	struct ty_stall *v; /* by rank */
	uint32_t n;
	struct ty_stall *rejected; /* opts.rejected: idle waits, ranked as stalls are */
	uint32_t rejected_n;
	bool by_command;    /* ranked by their effect on the command, not by length */
	uint32_t jobs_left; /* processes that ended, of a whole machine, whose path was not
			       computed: those before took too long a path already */
};

#define TY_STALLS_MIN_NS UINT64_C(20000000)

struct ty_stalls_opts {
	bool all;	 /* waiting for work, too */
	bool rejected;	 /* list idle waits apart, each with its rule */
	uint64_t min_ns; /* shortest; 0: TY_STALLS_MIN_NS */
	/* A wait within one of these is a stall, whatever is waited for (unless for whatever comes
	 * next); borrowed. NULL: none are known. */
	const struct ty_requests *requests;
};

/*
 * The stalls inside w (its choice of threads included), by rank: first those that the command lost
 * most by (on its path; while its first thread sleeps by its own choice, what its other threads
 * lose), then the longest. Stalls without a culprit come after all others (a CPU that many shared,
 * waits that other stalls explain), unknown causes last. Time in which a thread's state is
 * unknown counts a quarter. At most `max` are kept. 0 or -TY_E... with err.
 */
int ty_stalls_find(const struct ty_explain *x, const struct ty_window *w,
		   const struct ty_stalls_opts *o, uint32_t max, struct ty_stalls *out,
		   struct ty_err *err);
void ty_stalls_fini(struct ty_stalls *s);
/* The first stall whose chain begins with a wait of the thread that has all of [from, to) in it,
 * in several tries perhaps: what that chain says holds for each of them. NULL: there is none. */
const struct ty_stall *ty_stalls_around(const struct ty_stalls *s, uint32_t thread,
					uint64_t from_ns, uint64_t to_ns);
/* When it was over; of several waits together the last one. */
static inline uint64_t ty_stall_end_ns(const struct ty_stall *s)
{
	return s->waits > 1 ? s->last_end_ns : s->start_ns + s->duration_ns;
}
/* ty_link_text of link[k], with its time in all: "slept 1.200 s of the 1.258 s". */
bool ty_stall_link_text(const struct ty_explain *x, const struct ty_link *link, uint32_t k,
			char out[TY_LINK_TEXT]);
/* The name of the call it waited in; "" when it is not known. buf: as for ty_explain_call. */
const char *ty_stall_call(const struct ty_explain *x, const struct ty_stall *s, char buf[32]);
/* Of its cause: "proven", "inferred"; "cause unknown" if the wait had not ended and has none, or if
 * its events were lost. */
const char *ty_stall_grade(const struct ty_stall *s);

#endif
