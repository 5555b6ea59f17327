/* SPDX-License-Identifier: MIT */
/*
 * Shared by stalls.c (candidates), stall_cause.c (culprit, stall or not), stall_relations.c
 * (relations and the rule that decides), stall_retry.c (attempts), stall_idle.c (locks whose holder
 * is idle), stall_poll.c (polled locks), stall_request.c (requests), stall_open_request.c (pending
 * replies), stall_handoff.c (locks by the use of their words), stall_share.c (turns and shared
 * work), stall_worker.c (worker pools), stall_futex_word.c (lock or counter), stall_path.c (what
 * the command lost), stall_rank.c (merging and ranking), stall_cpu.c, stall_steal.c,
 * stall_stop_world.c and stall_text.c.
 */
#ifndef TY_STALLS_PRIV_H
#define TY_STALLS_PRIV_H

#include "futex_waker.h"
#include "file_lock_release.h"
#include "stalls.h"
#include "waits.h"

struct ty_theft {      /* by one kind of interrupts */
	uint32_t name; /* ty_model_str */
	uint32_t n;
	uint64_t ns;
	uint8_t kind; /* as in ty_irq_span */
};

#define TY_STALL_OTHERS 2 /* are named */
#define TY_STALL_RIVALS 3

/* One of several that ran in a ready thread's stead. */
struct ty_ran {
	uint32_t thread;
	int32_t prio;	    /* as rival_prio */
	uint64_t ns, at_ns; /* in all; an instant of it */
};

/* A wait that may be a stall. */
struct ty_candidate {
	struct ty_stall s;
	struct ty_theft theft; /* RUNNING: what took most of stolen_ns */
	uint64_t stolen_ns;    /* RUNNING: interrupts took so much; 0: a long call, or steal */
	bool steal;	       /* RUNNING: the hypervisor possibly did, s.steal_ns */
	struct ty_wait_for w;
	struct ty_waker waker;
	struct ty_root root;
	uint64_t end_ns;      /* of its chief span, cut to the window */
	uint64_t aside_ns;    /* of it, the command's first thread slept by its own choice */
	uint64_t whole_ns;    /* of a wait for a lock of which only a part is reported; else 0 */
	uint64_t for_work_ns; /* of that, those who had the lock waited for work */
	uint64_t io_ns;	      /* of it, requests of the path were at block devices */
	uint64_t queued_ns;   /* and with the block layer, before that */
	uint64_t no_io_ns;    /* a request ended this, but none was under way yet */
	uint32_t ios, io;     /* requests meanwhile; the one that ended it or the longest */
	uint64_t rival_ns;    /* RUNNABLE: how long the culprit ran meanwhile */
	uint64_t idle_ns;     /* RUNNABLE: how long that CPU was idle */
	struct ty_throttled held; /* by a CPU quota, RUNNABLE it or its root; path NULL: was not */
	uint64_t used_ns; /* of that quota, in the period before; 0: it is counted in held */
	struct ty_ran rivals[TY_STALL_RIVALS]; /* RUNNABLE, no culprit: who ran most, the first n */
	unsigned rivals_n;
	int32_t rival_prio; /* kernel's scale, 0..139; INT32_MIN not known */
	int32_t own_prio;
	uint32_t typical;	    /* s.waits > 1: one of them that is no extreme */
	uint32_t tries, first_span; /* > 1: so many waits with a time-out, one after the other */
	bool quota_seen; /* unfair: its cgroup has a quota, or whether it has is not known */
	bool unfair;	 /* RUNNABLE: passed over for longer than its priority explains */
	uint32_t job;	 /* ty_stall_job */
	bool explained;
	bool dropped;
	bool folded;	  /* no stall; or STOPPED and looked at, with its process's other threads */
	bool last_words;  /* who ended the wait ended right then: as if the end was waited for */
	bool one_call;	  /* s.waits > 1: all within one call */
	bool busy_waited; /* a wait for a lock (s.syscall), all of it or a part on the CPU
			   * (futex_waker.h)
			   */
	uint32_t polls; /* a polled lock: so many sleeps; tries: the first, the last that failed, */
	uint32_t polled, poll_failed, poll_got; /* and the one that got it (TY_NONE) */
	bool tracer;				/* STOPPED by its tracer, which is the culprit */
	bool holder_idle; /* a lock whose holders were idle for most of the wait */
	bool end_only; /* a wait for an end of a thread whose other waits are stalls of their own */
	bool connecting;     /* s.peer: it is being connected to */
	uint64_t longest_ns; /* s.waits > 1: of one of them; 0: not known */
	size_t folded_into;  /* rank of the one that it is one of the others of; 0: none */
	uint32_t others;     /* threads that waited for the same lock or CPU; the first of them */
	bool by_root; /* not all of them for the same lock or CPU, but for the same culprit */
	uint32_t other[TY_STALL_OTHERS];
	uint64_t other_ns[TY_STALL_OTHERS]; /* when they waited */
	/* Of s.more_waits; and what the command lost by those that are folded into it. */
	uint64_t more_ns, more_path_ns, more_aside_ns;
	bool kernel_timer; /* its root is a kernel thread that a timer woke */
};

/* Does its call wait for a time only? poll and select without descriptors do, too. */
static inline bool ty_stall_only_sleeps(const struct ty_candidate *c)
{
	return c->w.kind == TY_STALL_SLEEP || (c->w.kind == TY_STALL_EVENTS && !c->w.has_args);
}

/* Bounded looks back: so many spans or calls of one thread; shorter waits are no pauses. */
#define TY_STALL_BACK	   512
#define TY_STALL_LOOKED	   64 /* other threads whose spans or calls are looked at for one wait */
#define TY_STALL_LITTLE_NS UINT64_C(1000000)
/* A CPU's time slices are of a like length as the shortest stall: ready must last longer. */
#define TY_STALL_RUNNABLE_TIMES 5 / 2

static inline bool ty_stall_is_wait(unsigned state)
{
	return state == TY_ST_SLEEPING || state == TY_ST_BLOCKED || state == TY_ST_STOPPED;
}

struct ty_word_is { /* a futex word of a process */
	uint64_t word;
	int32_t tgid;
	bool counts;
};

struct ty_own_sleep {
	uint64_t start_ns, end_ns, before_ns; /* the sum of those before it */
};

#define TY_STALL_BLOCKS 256
struct ty_words {	     /* what a thread does with futex words in a block of its calls */
	uint32_t thread, id; /* id: the block's number + 1; 0: none was looked at */
	uint32_t n;
	uint64_t use[TY_STALL_BACK]; /* word | enum ty_futex_use, each once */
};

struct ty_waits_on {
	bool waits, wakes;
};

struct ty_stall_search {
	const struct ty_explain *x;
	struct ty_rulebook rules;
	struct ty_window w;
	struct ty_stalls_opts o;
	VEC(struct ty_candidate) cand;
	/* Of the command, or of a process that was attached to and ended; of the whole machine the
	 * job of the candidate. */
	struct ty_path path;
	bool has_path;
	uint32_t job;	    /* of the candidates that are looked at now; TY_NONE: of none */
	bool job_asked;	    /* its path was looked for */
	size_t segs;	    /* of all jobs' paths so far */
	uint32_t jobs_left; /* for whose paths that was too many */
	VEC(struct ty_own_sleep)
	own_sleeps;	       /* the command's first thread sleeps by its own choice; in order */
	struct ty_path spare;  /* memory for that of the next candidate */
	struct ty_path_at *at; /* its segments by thread, then time */
	struct ty_prio_at {
		uint64_t ts_ns;
		uint32_t thread;
		int32_t prio;
	} * prio; /* by thread, then time; made when first asked for */
	size_t prios;
	bool prio_made;
	struct ty_words *words;	     /* TY_STALL_BLOCKS, by a hash: what was asked */
	VEC(struct ty_word_is) word; /* those that were looked at */
	struct ty_gate {	     /* the last one: what was waited for, and the call that woke */
		struct ty_wait_for what;
		uint32_t waiter, call;
		bool known, opens;
	} gate;
};

/* stalls.c: one more candidate. 0 or -TY_ENOMEM. */
int ty_stall_add(struct ty_stall_search *h, uint32_t thread, uint32_t span, uint64_t a, uint64_t b,
		 uint8_t state, uint8_t flags);

/* stall_rank.c */
/* For so long were both stalls. */
uint64_t ty_stall_overlap(const struct ty_candidate *a, const struct ty_candidate *b);
/* For qsort: longer ones first, of equal ones the earlier. */
int ty_stall_by_length(const void *pa, const void *pb);
/* Ranks the first n candidates, which are explained: those contained in another one are dropped,
 * the others come first, by rank. 0 or -TY_ENOMEM. */
int ty_stall_rank(struct ty_stall_search *h, size_t n);

/* stall_fold.c, of the first n: waits of a thread that are alike, as one, which stands for all; 0
 * or -TY_ENOMEM. And, ranked, those that have the same cause, as the first of them. */
int ty_stall_fold_similar(struct ty_stall_search *h, size_t n);
void ty_stall_fold_causes(struct ty_stall_search *h, size_t n);

/* stall_cause.c: kind, culprit, chain of the candidate; false: it is waiting for work. The
 * candidate's thread, span, times, state and flags are given. 0/1, or -TY_ENOMEM. */
int ty_stall_explain(struct ty_stall_search *h, struct ty_candidate *c);
/* The call that the thread began to wait in: of several tries the first. */
uint32_t ty_stall_first_call(const struct ty_stall_search *h, const struct ty_candidate *c);
/* stall_relations.c: the rule that decides on the candidate, whose kind and grade are described so
 * far; is it to be shown? p: the path of a wait; NULL: it is no wait, or has none. cpu_explained:
 * of a runnable one, what ty_stall_run_queue gave. */
bool ty_stall_judge(struct ty_stall_search *h, struct ty_candidate *c, const struct ty_path *p,
		    int cpu_explained);
/* A finding is to be shown: when it asked, or had received a request, where its rule rests on that.
 */
void ty_stall_find_evidence(const struct ty_stall_search *h, struct ty_candidate *c);
/* A finding is to be shown: what its descriptor is. */
void ty_stall_refine(struct ty_stall_search *h, struct ty_candidate *c);

/* stall_retry.c: of the candidates of one thread, from this one on and in order of time, those that
 * are one wait in several tries become one. 0 or -TY_EINTR. */
int ty_stall_join_tries(struct ty_stall_search *h, size_t from);
/* The same of tries each of which is too short to be a candidate. 0, -TY_EINTR or -TY_ENOMEM. */
int ty_stall_short_tries(struct ty_stall_search *h, uint32_t thread);

/* stall_poll.c */
/* Candidates of the thread that are sleeps between tries for a lock become one. 0, -TY_EINTR or
 * -TY_ENOMEM. */
int ty_stall_polled(struct ty_stall_search *h, uint32_t thread);
/* By which other thread, and when, the polled lock was released, as recorded. */
struct ty_release ty_stall_poll_releaser(const struct ty_stall_search *h,
					 const struct ty_candidate *c);

/* stall_request.c */
/* Before its wait the thread had sent a request to its waker and had no reply yet, and it is the
 * client of the two; or it had sent one to `first`, which had it in hand when the wait began and
 * handed it on. fd: where a reply would arrive, which may have come before the wait; -1: unknown.
 */
bool ty_stall_sent_request(const struct ty_stall_search *h, const struct ty_candidate *c,
			   uint32_t first, int64_t fd);
/* Was the waker idle right before, until a thread that it had never woken woke it; or did another
 * thread of the process wake it, of which that holds, or which a timer had woken that neither of
 * both had set (a pool's clock)? Then it did no work for the waiter. */
bool ty_stall_waker_was_idle(const struct ty_stall_search *h, const struct ty_candidate *c);
/* ty_stall_sent_request of a request without a recorded wakeup: a futex request to a thread that
 * does not wait yet wakes nothing. Inferred: the waker, which waits for this thread's messages at
 * other times, has not done so since its last reply, and does so again before it sends more. */
bool ty_stall_sent_unseen_request(const struct ty_stall_search *h, const struct ty_candidate *c);
/* Is a place handed on by who waits there to the next: who ended the wait gave its own to the
 * thread, or the thread had given its own to that one, or to `first`? */
bool ty_stall_hands_on(const struct ty_stall_search *h, const struct ty_candidate *c,
		       uint32_t first);
/* When did `who` last wake the thread up to t, with something to say? 0: not seen. */
uint64_t ty_stall_last_woke(const struct ty_explain *x, uint32_t thread, uint32_t who, uint64_t t);
/* Had the thread not waited for anything between its birth and t? */
bool ty_stall_just_born(const struct ty_model *m, uint32_t thread, uint64_t t);
/* Did the waker take something, and so make room for who waits to give? */
bool ty_stall_made_room(const struct ty_explain *x, const struct ty_waker *k);
/* Does the thread itself wait on this word (ty_wait_word) around t? */
bool ty_stall_waits_on(const struct ty_explain *x, uint32_t thread, uint64_t word, uint64_t t);
/* The descriptor that the thread gave something to at t; -1: none that is known. */
int64_t ty_stall_given_to(const struct ty_explain *x, uint32_t thread, uint64_t t);
/* Did the waker itself write or read, as the other side of a pipe does? */
bool ty_stall_handed(const struct ty_explain *x, const struct ty_waker *k);
/* Since the thread last waited for a while, before this wait, did it wake another one, except to
 * reply? */
bool ty_stall_sent_any_request(const struct ty_stall_search *h, const struct ty_candidate *c);
/* Did the thread, after its wait, wake the one that had ended it, in turn? */
bool ty_stall_answers(const struct ty_stall_search *h, const struct ty_candidate *c);
/* Did the thread wake another one than `but` in [from, to]? */
bool ty_stall_woke_another(const struct ty_explain *x, uint32_t thread, uint64_t from, uint64_t to,
			   uint32_t but);
/* Did the thread, since it last waited for a while before the call, send something (fd >= 0:
 * there)? The receiver need not have waited for it, so that no wakeup is recorded. */
bool ty_stall_sent(const struct ty_stall_search *h, uint32_t thread, uint32_t call, int64_t fd);
/* The side that the thread has on descriptor fd before the wait, by its own calls; fd -1: unknown.
 * Client: connected or sent first (where fd goes one way only, on the one by which it last woke the
 * other side). Server: accepted or received first, or is a program that waits at its standard input
 * for the one that started it. */
struct ty_stall_side {
	bool is_client, is_server; /* neither: not known */
	bool sent;		   /* handed something over there */
	bool sent_last;		   /* and heard nothing since */
	bool inferred; /* of two descriptors, by who spoke first, which may have been a greeting */
};
struct ty_stall_side ty_stall_side(const struct ty_stall_search *h, const struct ty_candidate *c,
				   int64_t fd);
/* Is the peer the client, and the thread the server? */
bool ty_stall_serves(const struct ty_stall_search *h, const struct ty_candidate *c);
/* Had the one that ended the wait woken the thread before, and spoken first, as who hands out work
 * does? */
bool ty_stall_woken_before(const struct ty_stall_search *h, const struct ty_candidate *c);
/* Does the same one end other waits of the thread in the same call, before or after? */
bool ty_stall_woken_similarly(const struct ty_stall_search *h, const struct ty_candidate *c);
/* Had the thread, which waits by futex, sent something to the waker, or to `first`, by descriptor,
 * and does it only exit after the wait (ty_stall_only_ends)? Then that was its result, and the
 * wakeup a request to exit. */
bool ty_stall_ended_by_request(const struct ty_stall_search *h, const struct ty_candidate *c,
			       uint32_t first);

/* From this span of the thread on, forward or backward, the next wait that is no lock's. */
bool ty_stall_next_wait(const struct ty_explain *x, uint32_t thread, uint32_t span, bool forward,
			struct ty_wait_for *w, uint32_t *call);

/* stall_open_request.c */
/* Did another thread end the wait by sending a signal? */
bool ty_stall_signalled(const struct ty_stall_search *h, const struct ty_candidate *c);
/* Is who made a stopped thread go on its tracer: by ptrace, or, where its calls are not recorded,
 * by no signal (inferred)? */
bool ty_stall_by_tracer(const struct ty_stall_search *h, const struct ty_candidate *c,
			bool *inferred);
/* Had the thread received something before its wait, and not sent anything since? */
bool ty_stall_has_open_request(const struct ty_stall_search *h, const struct ty_candidate *c);
/* The same where the request is older than the recording: does it send a message after its wait,
 * without a request, where it is connected, and then wait elsewhere on a descriptor, as for its
 * next request, or take that at once; from no other peer than that one? (inferred) */
bool ty_stall_has_unseen_request(const struct ty_stall_search *h, const struct ty_candidate *c);

/* stall_idle.c */
/* Does a wait in this call accept? Such a thread waits for a new peer, whatever it sent to others
 * before. */
bool ty_stall_accepts(const struct ty_explain *x, uint32_t thread, uint32_t call,
		      const struct ty_wait_for *w);
/* Of a wait for a lock, whose path is p: if those who had it waited for work themselves for most of
 * the time, it and its path are cut to the longest time between that. 1; 0: which is too short to
 * be a stall; -TY_ENOMEM or -TY_EINTR. */
int ty_stall_cut_idle(const struct ty_stall_search *h, struct ty_candidate *c, struct ty_path *p);

/* stall_handoff.c */
/* What the thread does with the word (ty_wait_word) around t. */
struct ty_waits_on ty_stall_on_word(const struct ty_stall_search *h, uint32_t thread, uint64_t word,
				    uint64_t t);
/* Is the futex word of the wait a lock, of whatever value? The thread and its waker (if its calls
 * are recorded) both wait on it and both wake it, while the holder did not wait for it. The thread
 * came to it, in attempts, from another wait (and never from work without having released it), or
 * waited so only once; and does not just exit then. p: the path of the wait. */
bool ty_stall_is_passed_on(const struct ty_stall_search *h, const struct ty_candidate *c,
			   const struct ty_path *p);

/* stall_share.c */
/* Does who ended the wait wait there itself at another time, as for a lock that goes from hand to
 * hand? Who hands out work does not. */
bool ty_stall_takes_turns(const struct ty_stall_search *h, const struct ty_candidate *c);
/* Has the waiter, since it last heard from the one that ended its wait, handed something to several
 * descriptors, and others that it has to do with, of the same maker, worked half as long as that
 * one or longer? Then work was shared out. */
bool ty_stall_shares_out(const struct ty_stall_search *h, const struct ty_candidate *c);

/* stall_stop_world.c */
/* Was the thread stopped with others of its process for one that worked alone (stop-the-world)? p:
 * the path of the wait. */
bool ty_stall_stops_world(const struct ty_stall_search *h, const struct ty_candidate *c,
			  const struct ty_path *p);

/* stall_worker.c */
/* Does the thread, after `at`, wait for this thing again, however short? */
bool ty_stall_returns_to(const struct ty_stall_search *h, uint32_t thread,
			 const struct ty_wait_for *what, uint64_t at);
/* Is the other one a thread of the command, as the thread is; or else of the thread's process or of
 * one that this has started? Where processes are not known: did the thread or its maker make it, or
 * may they have? */
bool ty_stall_is_related(const struct ty_stall_search *h, uint32_t thread, uint32_t other);
/* Does this wait of a thread look like the candidate's: the same call, or, where that of one of
 * both is not recorded, by a futex (of this thread, the same word)? */
bool ty_stall_waits_similarly(const struct ty_stall_search *h, const struct ty_candidate *c,
			      const struct ty_span *s);
/* Does the thread wait again, in the same call and about as long, for the same thread; or (any) for
 * whatever? */
bool ty_stall_waits_again(const struct ty_stall_search *h, const struct ty_candidate *c, bool any);
/* Does another thread ever end a wait of the thread on the futex word that this call waits on? */
bool ty_stall_ever_woken(const struct ty_explain *x, uint32_t thread, uint32_t call);
/* Does the thread make the same call on the same descriptor again, if without a wait? */
bool ty_stall_calls_again(const struct ty_stall_search *h, const struct ty_candidate *c);
/* Does another thread wait for the same object at the same time, as in a pool? */
bool ty_stall_waits_in_pool(const struct ty_stall_search *h, const struct ty_candidate *c);
/* In user mode for a while from t on, before its next long wait (but for a lock)? */
bool ty_stall_computes_after(const struct ty_explain *x, uint32_t thread, uint64_t t);
/* The same, so many times as long. */
bool ty_stall_computes(const struct ty_explain *x, uint32_t thread, uint64_t t, unsigned times);
/* Does the thread end after the wait without another one (but for the end of its process)? */
bool ty_stall_ends_then(const struct ty_model *m, const struct ty_candidate *c);
/* Was the thread made by its process, as for a task, and does it end after the wait without having
 * worked? */
bool ty_stall_only_ends(const struct ty_stall_search *h, const struct ty_candidate *c);
/* Before the thread ran again, had who ended its wait, after a pause, done the same at the same
 * place again? So work is given, the next before the first was taken on. */
bool ty_stall_is_sent_more(const struct ty_stall_search *h, const struct ty_candidate *c);
/* A wait for a peer that no other wait depends on: had the waiter work? */
bool ty_stall_had_work(struct ty_stall_search *h, const struct ty_candidate *c);
/* Is what a wait for a peer came to work that several share, which the waiter's process has made
 * for that? p: the path of the wait. */
bool ty_stall_is_for_workers(const struct ty_stall_search *h, const struct ty_candidate *c,
			     const struct ty_path *p);
/* Does a program make no room in the pipe of its standard input because it works, and did the
 * program that waits for that, to write to its standard output, come from the same maker, as in a
 * shell's pipeline? Not where the command's path goes over the wait. */
bool ty_stall_in_pipeline(const struct ty_stall_search *h, const struct ty_candidate *c,
			  const struct ty_path *p);
/* Did it come to the work of a program that the waiter's process has started? */
bool ty_stall_is_for_program(const struct ty_stall_search *h, const struct ty_candidate *c,
			     const struct ty_path *p);
/* Is the thread a program that the process of the one that ended its wait has started? */
bool ty_stall_is_started(const struct ty_stall_search *h, const struct ty_candidate *c);
/* Did a thread of this process, or of one that it has started, make the thread? */
bool ty_stall_descends(const struct ty_model *m, uint32_t thread, int32_t tgid);
/* A wait for the end of another one: is that a stall? p: the path of the wait. */
bool ty_stall_is_end(const struct ty_stall_search *h, const struct ty_candidate *c,
		     const struct ty_path *p);

/* stall_futex_word.c: is the word of a wait that looks like a lock's a counter? By the values of
 * other waits on it. 0/1, or -TY_ENOMEM. */
int ty_stall_counts(struct ty_stall_search *h, const struct ty_candidate *c);

/* stall_path.c */
/* To be called once the command's path is found. 0 or -TY_ENOMEM. */
int ty_stall_path_sort(struct ty_stall_search *h);
/* Before that: where the command's first thread sleeps by its own choice. 0 or -TY_ENOMEM. */
int ty_stall_find_own_sleeps(struct ty_stall_search *h);
/* How much of the candidate's time is such; 0: it is no thread of the command. Cost: log(sleeps).
 */
uint64_t ty_stall_aside(const struct ty_stall_search *h, const struct ty_candidate *c);
/* Where the whole machine was recorded: the job that the candidate's thread belongs to. That is its
 * process; or that of its ancestors which is farthest up, if all up to it came to their end while
 * that was recorded, none before those below it. TY_NONE: it is still there, and serves for all
 * that is known; or its first thread was gone before the wait. */
uint32_t ty_stall_job(const struct ty_stall_search *h, const struct ty_candidate *c);
/* The path of h->job is the one to ask from now on, unless paths were too long already. 0,
 * -TY_ENOMEM or -TY_EINTR. */
int ty_stall_job_path(struct ty_stall_search *h);
/* Nanoseconds of the command's path that go over this wait; or, unless direct, over its culprit
 * meanwhile, by another way. Cost: log(segments) + those of the wait. */
uint64_t ty_stall_on_path(const struct ty_stall_search *h, const struct ty_candidate *c,
			  bool direct);

/* stall_cpu.c: a ready thread, who had its CPU. 0/1, or -TY_ENOMEM. */
int ty_stall_run_queue(struct ty_stall_search *h, struct ty_candidate *c);
/*
 * The root itself stood ready for the most part, at once or again and again, and one thread had its
 * CPU: that one is to blame, as the last link of the chain. 1 done, 2 the root stood ready, but
 * several shared its CPU, 0 it is not so.
 */
int ty_stall_blame_rival(struct ty_stall_search *h, struct ty_candidate *c,
			 const struct ty_path *p);
/* stall_steal.c */
/* The run s may be one of which the hypervisor took long: a candidate. 1; 0: it is none, or
 * -TY_ENOMEM. */
int ty_stall_add_steal(struct ty_stall_search *h, uint32_t thread, uint32_t span,
		       const struct ty_span *s, uint64_t a, uint64_t b);
/* Of a run, whose kind and grade are set: what was taken of it, and if that makes it another. */
void ty_stall_judge_run(struct ty_stall_search *h, struct ty_candidate *c);
/* Of a wait for a CPU: what was taken of that CPU; true: it was most of the wait. */
bool ty_stall_steal_of_queue(struct ty_stall_search *h, struct ty_candidate *c, uint32_t cpu);
/* Of a wait with this path, whose grade is set. */
void ty_stall_steal_of_path(struct ty_candidate *c, const struct ty_path *p);
/* It is enough of the finding to be reported, and to make it inferred. */
bool ty_stall_steal_matters(const struct ty_candidate *c);

/* What interrupts took of a running span within [a, b); most: which of them most. */
uint64_t ty_stall_theft(const struct ty_model *m, const struct ty_span *s, uint64_t a, uint64_t b,
			struct ty_theft *most);

/* stall_text.c: object, text and sentence. */
void ty_stall_say(const struct ty_stall_search *h, struct ty_candidate *c);

#endif
