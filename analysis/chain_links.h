/* SPDX-License-Identifier: MIT */
/* The root of a path, and the chain of causes from a thread's own wait to it, with its text. */
#ifndef TY_CHAIN_LINKS_H
#define TY_CHAIN_LINKS_H

#include "chain.h"

/* The root: the thread that the path spends most time in (for waits without a waking thread, the
 * waiter itself), and its longest segment. */
struct ty_root {
	uint32_t thread;		/* TY_NONE: an empty path */
	uint32_t seg;			/* the longest segment of its main activity */
	uint64_t ns;			/* total time in this thread */
	uint64_t what_ns[TY_SEG_WHATS]; /* by activity */
};
/* The part of it that was the root's own work, or its time runnable. */
static inline uint64_t ty_root_work_ns(const struct ty_root *r)
{
	return r->what_ns[TY_SEG_RUNS] + r->what_ns[TY_SEG_STOLEN] + r->what_ns[TY_SEG_RUNNABLE];
}
struct ty_root ty_path_root(const struct ty_path *p);

/*
 * A linear chain of causes up to a segment: link[0] is the first thread's own wait, the last link
 * is the segment's thread. Writes at most n links (omitting the innermost first); returns their
 * number.
 */
struct ty_link {
	uint32_t thread, span;
	uint64_t start_ns, end_ns;
	uint64_t all_ns; /* of its kind in all (a wait: in such calls, ended by the same thread), at
			    least that of the link; 0: the first */
	uint8_t what;	 /* TY_SEG_* for the last; waits of the others: TY_SEG_WHATS */
	struct ty_waker waker; /* what ended it; inferred: that it was the next link's thread */
};
uint32_t ty_path_links(const struct ty_model *m, const struct ty_path *p, uint32_t seg,
		       struct ty_link *out, uint32_t n);

/* What the thread did in a link: "slept 1.2 s in read(fd 5 <pipe:[7]>)", "waited 1.2 s for the lock
 * on fd 8 </x> (flock)", "ran 1.2 s in read" (for more than half of it), "waited 1.2 s for a CPU".
 * length: "1.2 s"; "": without it. True: it waited for a lock, which the thread of the next link
 * held. Searches for the name of a descriptor: for findings. */
#define TY_LINK_TEXT 320
bool ty_link_text(const struct ty_explain *x, const struct ty_link *l, const char *length,
		  char *out, size_t size);

#endif
