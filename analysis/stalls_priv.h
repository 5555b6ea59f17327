/* SPDX-License-Identifier: MIT */
/* Shared by stalls.c (candidates, filter, rank), stall_cause.c (who held it up) and stall_text.c.
 */
#ifndef TY_STALLS_PRIV_H
#define TY_STALLS_PRIV_H

#include "stalls.h"
#include "waits.h"

struct ty_theft {      /* by one kind of interrupts */
	uint32_t name; /* ty_model_str */
	uint32_t n;
	uint64_t ns;
	uint8_t kind; /* as in ty_irq_span */
};

/* A wait that may be a stall. */
struct ty_cand {
	struct ty_stall s;
	struct ty_theft theft; /* RUNNING: what took most of stolen_ns */
	uint64_t stolen_ns;    /* RUNNING: interrupts took so much; 0: a long call */
	struct ty_wait_for w;
	struct ty_waker waker;
	struct ty_root root;
	uint64_t end_ns;    /* of its chief span, cut to the window */
	uint64_t io_ns;	    /* of it, a block request was under way for the path */
	uint32_t ios, io;   /* requests meanwhile; the one that ended it or the longest */
	uint64_t rival_ns;  /* RUNNABLE: how long the culprit ran meanwhile */
	uint64_t idle_ns;   /* RUNNABLE: how long that CPU was idle */
	int32_t rival_prio; /* kernel's scale, 0..139; INT32_MIN not known */
	int32_t own_prio;
	bool dropped;
};

struct ty_hunt {
	const struct ty_explain *x;
	struct ty_window w;
	struct ty_stalls_opts o;
	VEC(struct ty_cand) cand;
	struct ty_path path; /* of the command */
	bool has_path;
	struct ty_prio_at {
		uint64_t ts_ns;
		uint32_t thread;
		int32_t prio;
	} * prio; /* by thread, then time; made when first asked for */
	size_t prios;
	bool prio_made;
};

/* stall_cause.c: kind, culprit, chain of the candidate; false: it is waiting for work. The
 * candidate's thread, span, times, state and flags are given. 0/1, or -TY_ENOMEM. */
int ty_stall_explain(struct ty_hunt *h, struct ty_cand *c);
/* Nanoseconds of the command's path that go over this wait; or, unless direct, over its culprit
 * meanwhile, by another way. */
uint64_t ty_stall_on_path(const struct ty_hunt *h, const struct ty_cand *c, bool direct);
/* A finding is to be shown: what its descriptor is. */
void ty_stall_refine(struct ty_hunt *h, struct ty_cand *c);

/* stall_cpu.c: a ready thread, who had its CPU. 0/1, or -TY_ENOMEM. */
int ty_stall_run_queue(struct ty_hunt *h, struct ty_cand *c);
/*
 * The root itself stood ready for the most part, and one thread had its CPU: that one is to blame,
 * as the last link of the chain. 1 done, 0 it is not so.
 */
int ty_stall_blame_rival(struct ty_hunt *h, struct ty_cand *c, const struct ty_path *p);
/* What interrupts took of a running span within [a, b); most: which of them most. */
uint64_t ty_stall_theft(const struct ty_model *m, const struct ty_span *s, uint64_t a, uint64_t b,
			struct ty_theft *most);

/* stall_text.c: object, text and sentence. */
void ty_stall_say(const struct ty_hunt *h, struct ty_cand *c);

#endif
