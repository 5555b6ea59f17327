/* SPDX-License-Identifier: MIT */
/*
 * The path behind a time: what had to happen, back in time, so that a thread could go on.
 *
 * While the thread ran or was ready, that was it. While it waited and another thread ended the
 * wait, what counts is what that thread did meanwhile, and so on: segments are the leaves of this
 * recursion and cover the time exactly, each nanosecond once; hops are the waits that led there.
 * Several tries, each with a time-out or broken off by a signal (wait_retry.h), are one wait for
 * the one that ended the last. Ends visibly at timers and devices, at lost data, at the edge of the
 * recording, and at loops.
 *
 * Time on a CPU in which a lock was waited for (futex_waker.h) is a wait, too: what its holder did
 * counts.
 *
 * A kernel thread that a timer has woken may have been handed something before it ran, which woke
 * it no more: where one thread alone was about to hand something over then, and talks with the one
 * that waits by way of kernel threads at other times, it serves that one (inferred).
 */
#ifndef TY_CHAIN_H
#define TY_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "explain.h"
#include "vec.h"
#include "wakeup.h"

#define TY_PATH_DEPTH 48 /* waits behind waits that are followed */

enum ty_seg_what {
	TY_SEG_RUNS,	 /* on a CPU */
	TY_SEG_STOLEN,	 /* on a CPU that the hypervisor possibly took away (steal.h); inferred */
	TY_SEG_RUNNABLE, /* waits for a CPU */
	TY_SEG_DEVICE,	 /* waits; a device's interrupt ended it: of block devices only for as long
			  * as a request of this wait was in flight (block_requests.h) */
	TY_SEG_QUEUED,	 /* waits; its request was with the block layer, not yet with the device */
	TY_SEG_NO_REQUEST, /* waits; a request's completion ended it, but none was under way yet */
	TY_SEG_TIMER,	   /* waits; a timer ended it: a sleep, or a time-out */
	TY_SEG_IRQ,	   /* waits; an interrupt that is not recorded closer ended it */
	TY_SEG_UNWOKEN,	   /* waits; what ended it is not recorded */
	TY_SEG_OPEN,	   /* waits to the end of the recording */
	TY_SEG_LOST,	   /* events were lost: not known */
	TY_SEG_UNKNOWN,	   /* not known: before the recording, before its first event */
	TY_SEG_LOOP, /* waits for a thread that waits for it: the recording does not say more */
	TY_SEG_WHATS
};
const char *ty_seg_text(enum ty_seg_what w);
static inline bool ty_seg_on_cpu(unsigned what)
{
	return what == TY_SEG_RUNS || what == TY_SEG_STOLEN;
}

struct ty_hop { /* a wait that a thread ended */
	uint32_t thread, span;
	uint64_t start_ns, end_ns; /* the part that was explained */
	uint32_t parent;	   /* the hop that asked for it; TY_NONE: the first thread itself */
	struct ty_waker waker;
};

struct ty_seg {
	uint64_t start_ns, end_ns;
	uint32_t thread, span; /* whose; span TY_NONE: before its birth */
	uint32_t hop;	       /* the innermost wait that led here; TY_NONE */
	uint8_t what;	       /* enum ty_seg_what */
	uint8_t flags;	       /* TY_SF_* of the span */
	struct ty_waker waker; /* DEVICE, TIMER, IRQ: what ended it */
};

struct ty_path {
	VEC(struct ty_seg) seg; /* in time order */
	VEC(struct ty_hop) hop; /* a parent comes before its children */
	bool cut;		/* more segments than are kept: the earlier part is missing */
	bool inferred;		/* whom a kernel thread serves is, somewhere (see above) */
};

/* The path of the thread over [from, to), in place of what p holds (zero at first), whose memory is
 * used again. 0 or -TY_ENOMEM; path_fini in any case. */
int ty_path_find(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		 struct ty_path *p);
/* The same for one wait of a thread, which began before this span: at from_ns, in tries that timed
 * out. */
int ty_path_of_wait(const struct ty_explain *x, uint32_t span, uint64_t from_ns, uint64_t to_ns,
		    struct ty_path *p);
/* Of the path only what lies in [from, to); hops outside have no length then. */
void ty_path_cut(struct ty_path *p, uint64_t from_ns, uint64_t to_ns);
void ty_path_fini(struct ty_path *p);

/* The root: the thread (or, for waits that no thread ended, the waiting thread itself) that the
 * path spends most time with, and its longest segment. */
struct ty_root {
	uint32_t thread;		/* TY_NONE: an empty path */
	uint32_t seg;			/* the longest of what it did most */
	uint64_t ns;			/* with this thread in all */
	uint64_t what_ns[TY_SEG_WHATS]; /* of them */
};
/* What of it was the root's own work, or its wait for a CPU. */
static inline uint64_t ty_root_work_ns(const struct ty_root *r)
{
	return r->what_ns[TY_SEG_RUNS] + r->what_ns[TY_SEG_STOLEN] + r->what_ns[TY_SEG_RUNNABLE];
}
struct ty_root ty_path_root(const struct ty_path *p);

/*
 * One line of causes from a segment up: link[0] is the first thread's own wait, the last is the
 * segment's thread. At most n are written (the innermost are left out first); returns how many.
 */
struct ty_link {
	uint32_t thread, span;
	uint64_t start_ns, end_ns;
	uint8_t what;	       /* TY_SEG_* for the last; waits of the others: TY_SEG_WHATS */
	struct ty_waker waker; /* what ended it; inferred: that the next link's thread did */
};
uint32_t ty_path_links(const struct ty_path *p, uint32_t seg, struct ty_link *out, uint32_t n);

/* "blocked in futex", "ran in read" (for more than half of it), "ready, waiting for a CPU": what
 * the thread did in a link. */
void ty_link_text(const struct ty_explain *x, const struct ty_link *l, char *out, size_t size);

#endif
