/* SPDX-License-Identifier: MIT */
/*
 * The path behind a stretch of time: what had to happen, back in time, for a thread to proceed.
 *
 * While the thread ran or was runnable, it is its own path. While it waited and another thread woke
 * it, the path is what that thread did meanwhile, recursively: segments are the leaves of this
 * recursion and cover the time exactly, each nanosecond once; hops are the waits that led there. A
 * retried wait, with timeouts or interruptions by signals between the attempts (wait_retry.h), is
 * one wait for the final waker. So are waits for several children (wait_children.h), and waits of
 * an event loop that its timers ended, if the last waker had begun before (ty_wait_loop_first,
 * inferred). The path ends, visibly, at timers and devices, at lost data, at the edge of the
 * recording, and at a waker that itself slept then (a loop).
 *
 * CPU time spent spinning for a lock (futex_waker.h) is a wait, too: the path is its holder's.
 *
 * A kernel thread woken by a timer may have been handed work before it ran, without a second
 * wakeup. When exactly one thread was about to hand over work at that moment, and communicates with
 * the waiter through kernel threads at other times, the kernel thread is attributed to it
 * (inferred).
 */
#ifndef TY_CHAIN_H
#define TY_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "explain.h"
#include "vec.h"
#include "wakeup.h"

#define TY_PATH_DEPTH 48 /* maximum depth of waits behind waits */
#define TY_PATH_SEGS  (1u << 20)

enum ty_seg_what {
	TY_SEG_RUNS,	   /* running */
	TY_SEG_STOLEN,	   /* running, but the CPU was possibly stolen by the hypervisor (steal.h);
			    * inferred */
	TY_SEG_RUNNABLE,   /* runnable */
	TY_SEG_DEVICE,	   /* waits, woken by a device's interrupt; for block devices only while a
			    * request of this wait was in flight (block_requests.h) */
	TY_SEG_QUEUED,	   /* waits; its request was in the block layer, not yet at the device */
	TY_SEG_NO_REQUEST, /* waits, woken by a request's completion, with no request in flight yet
			    */
	TY_SEG_TIMER,	   /* waits, woken by a timer: a sleep or a timeout */
	TY_SEG_IRQ,	   /* waits, woken by an interrupt of unknown kind */
	TY_SEG_UNWOKEN,	   /* waits, wakeup not recorded */
	TY_SEG_KILLED,	   /* waits, until a signal of another thread killed it */
	TY_SEG_OPEN,	   /* waits, unfinished when the recording ended */
	TY_SEG_LOST,	   /* unknown because of lost events */
	TY_SEG_UNKNOWN,	   /* unknown: before the recording or the thread's first event */
	TY_SEG_LOOP, /* waits for a thread that waits for it: the recording does not show more */
	TY_SEG_WHATS
};
/* Borrowed; m: of the segment, for its noun. */
const char *ty_seg_text(const struct ty_model *m, enum ty_seg_what w);
static inline bool ty_seg_on_cpu(unsigned what)
{
	return what == TY_SEG_RUNS || what == TY_SEG_STOLEN;
}

struct ty_hop { /* A wait ended by a thread. */
	uint32_t thread, span;
	uint64_t start_ns, end_ns; /* the explained part */
	uint32_t parent; /* the hop that depends on it; TY_NONE: the first thread itself */
	uint8_t depth;	 /* number of its parents */
	struct ty_waker waker;
};

struct ty_seg {
	uint64_t start_ns, end_ns;
	uint32_t thread, span; /* the waiter; span TY_NONE: before its birth */
	uint32_t hop;	       /* the innermost wait that led here; TY_NONE */
	uint8_t what;	       /* enum ty_seg_what */
	uint8_t flags;	       /* TY_SF_* of the span */
	struct ty_waker waker; /* DEVICE, TIMER, IRQ: what ended it */
};

struct ty_path {
	VEC(struct ty_seg) seg; /* in time order */
	VEC(struct ty_hop) hop; /* a parent comes before its children */
	bool cut;		/* too many segments: the earlier part is missing */
	bool inferred;		/* some kernel thread's client is inferred (see above) */
	bool bound; /* a wait on the CPU was not followed because of the waits before it */
};

/* Computes the path of the thread over [from, to). Replaces the content of p (zero at first) and
 * reuses its memory. 0 or -TY_ENOMEM; call path_fini in any case. */
int ty_path_find(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		 struct ty_path *p);
/* The same for one wait of a thread that began before this span, at from_ns, and was retried after
 * timeouts. */
int ty_path_of_wait(const struct ty_explain *x, uint32_t span, uint64_t from_ns, uint64_t to_ns,
		    struct ty_path *p);
/* Clips the path to [from, to); hops outside get no length. */
void ty_path_cut(struct ty_path *p, uint64_t from_ns, uint64_t to_ns);
/* Adds the segments and hops of a path that is to be freed then. 0 or -TY_ENOMEM. */
int ty_path_append(struct ty_path *to, struct ty_path *from);
void ty_path_fini(struct ty_path *p);

#endif
