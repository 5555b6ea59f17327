/* SPDX-License-Identifier: MIT */
/*
 * Shared by stalls.c, stall_candidates.c, stall_cause.c (culprit, stall or not), stall_relations.c
 * (relations and the rule that decides), stall_retry.c (attempts), stall_idle.c (locks whose holder
 * is idle), stall_poll.c (polled locks), stall_woken.c (which thread woke the other),
 * stall_request.c (requests), stall_no_reply.c (those still without a reply),
 * stall_open_request.c (pending replies), stall_other_threads.c (another thread has the request),
 * stall_handoff.c (locks by the use of their words), stall_shared_work.c (turns and shared work),
 * stall_worker.c (worker pools), stall_process_tree.c (descendants), stall_futex_word.c (lock or
 * counter), stall_path.c (what the command lost), stall_rank.c (merging and ranking),
 * stall_compute.c (blocked event loops), stall_cpu.c, stall_steal.c, stall_stop_world.c,
 * stall_text.c and stall_text_cpu.c.
 */
#ifndef TY_STALLS_PRIV_H
#define TY_STALLS_PRIV_H

#include "futex_waker.h"
#include "file_lock_release.h"
#include "path_part.h"
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

/* One of several threads that ran on the CPU of a runnable thread. */
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
	bool steal;	       /* RUNNING: the hypervisor possibly took s.steal_ns */
	struct ty_wait_for w;
	struct ty_waker waker;
	struct ty_root root;
	uint64_t end_ns;      /* of its main span, clipped to the window */
	uint64_t aside_ns;    /* of it, the command's first thread slept voluntarily */
	uint64_t whole_ns;    /* of a wait for a lock of which only a part is reported; else 0 */
	uint64_t for_work_ns; /* of that, the holders of the lock were idle */
	uint64_t io_ns;	      /* of it, requests of the path were at block devices */
	uint64_t queued_ns;   /* and with the block layer, before that */
	uint64_t no_io_ns;    /* a request ended this, but none was under way yet */
	uint32_t ios, io;     /* requests meanwhile; the one that ended it or the longest */
	uint64_t rival_ns;    /* RUNNABLE: how long the culprit ran meanwhile */
	uint64_t ran_ns;      /* RUNNING: of a call that computed, on a CPU; */
	uint64_t waited_ns;   /* and runnable */
	uint64_t idle_ns;     /* RUNNABLE: how long that CPU was idle */
	struct ty_throttled held; /* by a CPU quota, RUNNABLE it or its root; path NULL: was not */
	uint64_t used_ns; /* of that quota, in the period before; 0: it is counted in held */
	struct ty_ran
		rivals[TY_STALL_RIVALS]; /* RUNNABLE, no culprit: the n threads that ran most */
	unsigned rivals_n;
	int32_t rival_prio; /* kernel's scale, 0..139; INT32_MIN: unknown */
	int32_t own_prio;
	uint32_t typical;	    /* s.waits > 1: one of them that is no extreme */
	uint32_t tries, first_span; /* > 1: this many waits with a timeout, one after the other */
	bool quota_seen;	    /* unfair: its cgroup has a quota, or that is unknown */
	bool run_inferred;	    /* of the threads that ran meanwhile */
	bool unfair;		    /* RUNNABLE: starved for longer than its priority explains */
	uint32_t job;		    /* ty_stall_job */
	bool explained;
	bool dropped;
	bool folded;	  /* no stall; or STOPPED and examined with its process */
	bool last_words;  /* the waker exited right then, as if its exit was waited for */
	bool one_call;	  /* s.waits > 1: all within one call */
	bool busy_waited; /* a wait for a lock (s.syscall), all of it or a part on the CPU
			   * (futex_waker.h)
			   */
	uint32_t polls;	  /* number of sleeps of a polled lock; attempts: the first, */
	uint32_t polled, poll_failed,
		poll_got;      /* the last failed one, the successful one (TY_NONE) */
	uint32_t poll_checked; /* process checked by kill with signal 0; TY_NONE */
	bool tracer;	       /* STOPPED by its tracer, which is the culprit */
	bool holder_idle;      /* a lock whose holders were idle for most of the wait */
	bool end_only; /* a wait for an end of a thread whose other waits are stalls of their own */
	bool connecting;     /* s.peer: it is being connected to */
	uint64_t longest_ns; /* s.waits > 1: of one of them; 0: unknown */
	bool path_counted;   /* in more_path_ns of the stall that includes it */
	size_t folded_into;  /* rank of the stall that includes this wait; 0: none */
	uint32_t others;     /* threads that waited for the same lock or CPU; the first of them */
	uint32_t other[TY_STALL_OTHERS];
	uint64_t other_ns[TY_STALL_OTHERS]; /* when they waited */
	/* Of s.more_waits; and the command's loss by the waits folded into it. */
	uint64_t more_ns, more_path_ns, more_aside_ns;
	uint64_t computed_ns; /* RUNNING: so much of it before a reply (stall_compute.c); 0 */
	bool kernel_timer;    /* its root is a kernel thread that a timer woke */
};

/* True if its call waits for a time only, like poll and select without descriptors. */
static inline bool ty_stall_only_sleeps(const struct ty_candidate *c)
{
	return c->w.kind == TY_STALL_SLEEP || (c->w.kind == TY_STALL_EVENTS && !c->w.has_args);
}

/* Did it wait for a CPU during a call that computed, for 5% of the time? */
static inline bool ty_stall_shared_cpu(const struct ty_candidate *c)
{
	return c->waited_ns > c->s.duration_ns / 20;
}

/* Limits of searches backward: spans or calls of one thread; shorter waits are no pauses. */
#define TY_STALL_BACK	   512
#define TY_STALL_LOOKED	   64 /* other threads whose spans or calls are examined for one wait */
#define TY_STALL_LITTLE_NS UINT64_C(1000000)
/* Time slices of a CPU are about as long as the shortest stall: a runnable span must be longer. */
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

struct ty_blocked { /* an uninterruptible wait */
	uint64_t start_ns, end_ns,
		last_end_ns; /* the latest end of it and the earlier ones of its process */
	uint32_t process, thread;
};

#define TY_STALL_BLOCKS 256
struct ty_words {	     /* the futex operations of a thread in a block of its calls */
	uint32_t thread, id; /* id: the block's number + 1; 0: none was read */
	uint32_t n;
	uint64_t use[TY_STALL_BACK]; /* word | enum ty_futex_use, each once */
};

#define TY_FUTEX_USE UINT64_C(3) /* a word's address is a multiple of four */
struct ty_waits_on {
	bool waits, wakes;
};

struct ty_stall_search {
	const struct ty_explain *x;
	int naps[2]; /* numbers of nanosleep and clock_nanosleep, once they are known; -1: none */
	bool naps_known;
	struct ty_window w;
	struct ty_stalls_opts o;
	VEC(struct ty_candidate) cand;
	/* The job: the command, or an attached process that ended; in a recording of the whole
	 * machine, the job of the candidate. */
	struct ty_path path; /* its segments are in `at` */
	bool has_path;
	uint32_t path_end;  /* the thread at its end; TY_NONE: it has no segments */
	uint32_t job;	    /* of the current candidates; TY_NONE: none */
	bool job_asked;	    /* its path was looked for */
	size_t segs;	    /* of all jobs' paths so far */
	uint32_t jobs_left; /* jobs whose paths exceeded that limit */
	VEC(struct ty_own_sleep)
	own_sleeps;	      /* voluntary sleeps of the command's first thread; in order */
	struct ty_path spare; /* memory for that of the next candidate */
	struct ty_kept_paths paths;
	struct ty_path_at *at; /* the job's segments by thread, then time */
	size_t at_n;
	struct ty_prio_at {
		uint64_t ts_ns;
		uint32_t thread;
		int32_t prio;
	} * prio; /* by thread, then time; created on demand */
	size_t prios;
	bool prio_made;
	struct ty_cpu_spans *cpu_spans; /* stall_cpu.c */
	struct ty_waits *waits;		/* stall_worker.c */
	VEC(struct ty_blocked) blocked; /* by process and start; at least so long, 0: not made */
	uint64_t blocked_least_ns;
	struct ty_words *words;	     /* TY_STALL_BLOCKS results, by a hash of the query */
	VEC(struct ty_word_is) word; /* the ones examined */
	struct ty_gate {	     /* the last one: the object, and the waker's call */
		struct ty_wait_for what;
		uint32_t waiter, call;
		bool known, opens;
	} gate;
};

/* stall_candidates.c. True if the thread's waits may be stalls: of a chosen thread; without a
 * choice of one that is neither the kernel's nor tarry's; traced_only: of a traced one. */
bool ty_stall_of_interest(const struct ty_stall_search *h, uint32_t thread, bool traced_only);
/* Adds the candidates of the thread. 0 or -TY_E... */
int ty_stall_collect(struct ty_stall_search *h, uint32_t thread);
/* One more candidate. 0 or -TY_ENOMEM. */
int ty_stall_add(struct ty_stall_search *h, uint32_t thread, uint32_t span, uint64_t a, uint64_t b,
		 uint8_t state, uint8_t flags);

/* stall_rank.c */
/* How long both stalls lasted at the same time. */
uint64_t ty_stall_overlap(const struct ty_candidate *a, const struct ty_candidate *b);
/* For qsort: longer ones first, of equal ones the earlier. */
int ty_stall_by_length(const void *pa, const void *pb);
/* Ranks the first n candidates, which are explained: drops those contained in another one, and puts
 * the rest first, by rank. 0 or -TY_ENOMEM. */
int ty_stall_rank(struct ty_stall_search *h, size_t n);

/* stall_fold.c, of the first n: merges similar waits of a thread into one that represents all; 0 or
 * -TY_ENOMEM. And, of ranked ones, merges those with the same cause into the first. */
int ty_stall_fold_similar(struct ty_stall_search *h, size_t n);
void ty_stall_fold_causes(struct ty_stall_search *h, size_t n);

/* The chain of a candidate that has no path: the wait itself. */
static inline void ty_stall_only_link(struct ty_candidate *c, enum ty_seg_what what,
				      struct ty_waker waker)
{
	c->s.link[0] = (struct ty_link){.thread = c->s.thread,
					.span = c->s.span,
					.start_ns = c->s.start_ns,
					.end_ns = c->end_ns,
					.what = what,
					.waker = waker};
	c->s.links = 1;
}

/* stall_cause.c: kind, culprit, chain of the candidate; false: an idle wait. The candidate's
 * thread, span, times, state and flags are given. 0/1, or -TY_ENOMEM. */
int ty_stall_explain(struct ty_stall_search *h, struct ty_candidate *c);
/* The call in which the thread began to wait: of several attempts the first. */
uint32_t ty_stall_first_call(const struct ty_stall_search *h, const struct ty_candidate *c);
/* stall_relations.c: the rule that decides on the candidate, whose kind and grade are described so
 * far; returns whether to show it. p: the path of a wait; NULL: no wait, or no path. cpu_explained:
 * of a runnable one, the result of ty_stall_run_queue. */
bool ty_stall_judge(struct ty_stall_search *h, struct ty_candidate *c, const struct ty_path *p,
		    int cpu_explained);
/* For a stall that is shown: finds when it sent or received the request on which its rule is
 * based. */
void ty_stall_find_evidence(const struct ty_stall_search *h, struct ty_candidate *c);
/* For a stall that is shown: finds the object of its descriptor. */
void ty_stall_refine(struct ty_stall_search *h, struct ty_candidate *c);

/* stall_retry.c: of the candidates of one thread, from this one on and in order of time, merges the
 * attempts of one wait. 0 or -TY_EINTR. */
int ty_stall_join_tries(struct ty_stall_search *h, size_t from);
/* The same for attempts that are each too short to be a candidate. 0, -TY_EINTR or -TY_ENOMEM. */
int ty_stall_short_tries(struct ty_stall_search *h, uint32_t thread);

/* stall_poll.c */
/* Merges candidates of the thread that are sleeps between attempts to take a lock. 0, -TY_EINTR or
 * -TY_ENOMEM. */
int ty_stall_polled(struct ty_stall_search *h, uint32_t thread);

/* stall_woken.c (further ones: stall_woken.h) */
/* TY_STALL_BLOCKS blocks of wakeups, by a hash; to be freed. NULL: out of memory. */
struct ty_woken *ty_stall_woken_new(void);
/* When `who` last woke the thread up to t with a message; 0: not recorded. */
uint64_t ty_stall_last_woke(const struct ty_explain *x, uint32_t thread, uint32_t who, uint64_t t);
/* True if the thread had not waited for anything between its creation and t. */
bool ty_stall_just_born(const struct ty_model *m, uint32_t thread, uint64_t t);
/* True if the waker received data, and so made space for the waiting sender. */
bool ty_stall_made_room(const struct ty_explain *x, const struct ty_waker *k);
/* True if the waker itself wrote or read, like the other end of a pipe. */
bool ty_stall_handed(const struct ty_explain *x, const struct ty_waker *k);
/* True if the thread woke one other than `but` in [from, to]. */
bool ty_stall_woke_another(const struct ty_explain *x, uint32_t thread, uint64_t from, uint64_t to,
			   uint32_t but);

/* stall_request.c */
/* True if, before its wait, the thread had sent a request to its waker without a reply yet, and is
 * the client of the two; or it had sent one to `first`, which was processing it when the wait began
 * and forwarded it. fd: where a reply would arrive, possibly before the wait; -1: unknown. */
bool ty_stall_sent_request(const struct ty_stall_search *h, const struct ty_candidate *c,
			   uint32_t first, int64_t fd);
/* True if a slot is handed over from one waiter to the next: the waker gave its slot to the thread,
 * or the thread had given its slot to the waker, or to `first`. */
bool ty_stall_hands_on(const struct ty_stall_search *h, const struct ty_candidate *c,
		       uint32_t first);
/* True if the thread itself waits on this word (ty_wait_word) around t. */
bool ty_stall_waits_on(const struct ty_stall_search *h, uint32_t thread, uint64_t word, uint64_t t);
/* The descriptor to which the thread sent data at t; -1: none known. */
int64_t ty_stall_given_to(const struct ty_explain *x, uint32_t thread, uint64_t t);
/* True if peer, woken at `span`, waited for the same thing again, up to t. */
bool ty_stall_went_back(const struct ty_explain *x, uint32_t peer, uint32_t span, uint64_t t);
/* True if the thread, after its wait, woke its waker. */
bool ty_stall_answers(const struct ty_stall_search *h, const struct ty_candidate *c);
/* True if the thread, since its last long wait before the call, sent something (fd >= 0: there).
 * The receiver may not have waited for it; then no wakeup is recorded. */
bool ty_stall_sent(const struct ty_stall_search *h, uint32_t thread, uint32_t call, int64_t fd);
/* The role of the thread on descriptor fd before the wait; fd -1: unknown. Of a connection whose
 * side is known (fd_sides.h) that one; else from its own calls. Client: it connected or sent first
 * (if fd is one-way, on the descriptor by which it last woke the other end). Server: it accepted or
 * received first, or is a program that waits at its standard input for the one that started it. */
struct ty_stall_side {
	bool is_client, is_server; /* neither: unknown */
	bool sent;		   /* sent something there */
	bool sent_last;		   /* and received nothing since */
	bool inferred; /* for a pair of descriptors, from the end that sent first, possibly a
			  greeting */
};
struct ty_stall_side ty_stall_side(const struct ty_stall_search *h, const struct ty_candidate *c,
				   int64_t fd);
/* True if the thread is the server of fd at `call`. */
bool ty_stall_is_server(const struct ty_stall_search *h, uint32_t thread, uint32_t call,
			int64_t fd);
/* True if the waker had woken the thread before, and sent first, as a thread that distributes work
 * does. */
bool ty_stall_woken_before(const struct ty_stall_search *h, const struct ty_candidate *c);
/* True if the thread, which waits by futex, had sent something to the waker or to `first` by
 * descriptor, and only exits after the wait (ty_stall_only_ends). Then it had sent its result, and
 * the wakeup was a request to exit. */
bool ty_stall_ended_by_request(const struct ty_stall_search *h, const struct ty_candidate *c,
			       uint32_t first);

/* From this span of the thread on, forward or backward, the next wait that is not for a lock. */
bool ty_stall_next_wait(const struct ty_explain *x, uint32_t thread, uint32_t span, bool forward,
			struct ty_wait_for *w, uint32_t *call);

/* stall_no_reply.c */
/* Of a wait that is open when the recording ends: when the thread, since its last long wait, woke
 * another one that had not sent it a request, and that is not done with this one; *to: which. 0: no
 * such request. */
uint64_t ty_stall_no_reply(const struct ty_stall_search *h, const struct ty_candidate *c,
			   uint32_t *to);

/* stall_other_threads.c: true if another thread of the process was blocked for most of the wait,
 * most of that time with a request open; so that thread has it. */
bool ty_stall_elsewhere(struct ty_stall_search *h, const struct ty_candidate *c, uint32_t process);

/* stall_compute.c: adds what the thread of that request (h->o.requests->v) computed before it
 * replied as a candidate, if that held up clients. The thread is of interest. 0 or -TY_ENOMEM. */
int ty_stall_computed(struct ty_stall_search *h, uint32_t request);

/* stall_clients.c */
#define TY_STALL_CLIENTS 2 /* that are named */
/* How many clients waited for the thread of this stall inside a request (request_ns); the first of
 * them in out. 0 also where they are not recorded. */
uint32_t ty_stall_clients(const struct ty_stall_search *h, const struct ty_candidate *c,
			  uint32_t out[TY_STALL_CLIENTS]);

/* stall_open_request.c */
bool ty_stall_is_stop_signal(uint64_t sig);
/* True if another thread ended the wait by sending a signal; one that stops or kills is no message.
 */
bool ty_stall_signalled(const struct ty_stall_search *h, const struct ty_candidate *c);
/* True if the thread that resumed a stopped thread is its tracer: by ptrace, or, if its calls are
 * not recorded, without a signal (inferred). */
bool ty_stall_by_tracer(const struct ty_stall_search *h, const struct ty_candidate *c,
			bool *inferred);
/* True if the thread had received something before its wait, and sent nothing since. */
bool ty_stall_has_open_request(const struct ty_stall_search *h, const struct ty_candidate *c);
/* The same if the request is older than the recording (inferred): after its wait, and without a
 * request, the thread sends a message on a connection, and then waits on another descriptor, as for
 * its next request, or receives that at once; it has no other peer. */
bool ty_stall_has_unseen_request(const struct ty_stall_search *h, const struct ty_candidate *c);

/* stall_idle.c */
/* True if a wait in this call accepts: such a thread waits for a new peer, whatever it sent to
 * others before. */
bool ty_stall_accepts(const struct ty_explain *x, uint32_t thread, uint32_t call,
		      const struct ty_wait_for *w);
/* Of a wait for a lock, whose path is p: if its holders were idle themselves for most of the time,
 * cuts the wait and its path to the longest part between idle times. 1; 0: that part is too short
 * to be a stall; -TY_ENOMEM or -TY_EINTR. */
int ty_stall_cut_idle(const struct ty_stall_search *h, struct ty_candidate *c, struct ty_path *p);
/* True if so of a futex that is a lock only by what else is known of it. */
bool ty_stall_holder_idle(const struct ty_stall_search *h, const struct ty_candidate *c,
			  const struct ty_path *p);

/* stall_handoff.c */
/* The operations of the thread on the word (ty_wait_word) around t. */
struct ty_waits_on ty_stall_on_word(const struct ty_stall_search *h, uint32_t thread, uint64_t word,
				    uint64_t t);
/* True if the futex word of the wait is a lock, whatever its value. The thread and its waker (if
 * its calls are recorded) both wait on it and both wake it, while the holder did not wait for it.
 * The thread waited so only once; or began to wait for it, in attempts, after another wait, or
 * released it afterwards, and never waits so after work without having released it. It does not
 * only exit then. p: the path of the wait. */
bool ty_stall_is_passed_on(const struct ty_stall_search *h, const struct ty_candidate *c,
			   const struct ty_path *p);

/* stall_shared_work.c */
/* True if the waiter, since its waker's previous message, sent to several descriptors, and if other
 * threads with the same parent that it communicates with worked at least half as long as the waker.
 * Then work was distributed. */
bool ty_stall_shares_out(const struct ty_stall_search *h, const struct ty_candidate *c);

/* stall_stop_world.c */
/* True if the thread was stopped together with others of its process for one that worked alone
 * (stop-the-world). p: the path of the wait. */
bool ty_stall_stops_world(const struct ty_stall_search *h, const struct ty_candidate *c,
			  const struct ty_path *p);

/* stall_process_tree.c */
/* True if the thread had executed another program before t. What it executes later says nothing of
 * t. */
bool ty_stall_is_program(const struct ty_stall_search *h, uint32_t thread, uint64_t t_ns);
/* True if the thread was created by a thread of this process, or of one that it started. */
bool ty_stall_descends(const struct ty_model *m, uint32_t thread, int32_t tgid);
/* True if both are threads of the command; or else if the other one is in the thread's process or
 * in one that it started. If processes are unknown: if the thread or its parent created it, or may
 * have. */
bool ty_stall_is_related(const struct ty_stall_search *h, uint32_t thread, uint32_t other);

/* stall_worker.c */
/* True if the thread, after `at`, waits for this object again, for any time. */
bool ty_stall_returns_to(const struct ty_stall_search *h, uint32_t thread,
			 const struct ty_wait_for *what, uint64_t at);
/* True if the thread waits again, in the same call and about as long, for the same thread, or (any)
 * for any object. */
bool ty_stall_waits_again(const struct ty_stall_search *h, const struct ty_candidate *c, bool any);
/* True if another thread ever ends a wait of the thread on the futex word of this call. */
bool ty_stall_ever_woken(const struct ty_explain *x, uint32_t thread, uint32_t call);
/* Memory for what threads wait for; to be freed. NULL: out of memory. */
struct ty_waits *ty_stall_waits_new(void);
/* True if another thread waits for the same object at the same time, as in a pool. */
bool ty_stall_waits_in_pool(const struct ty_stall_search *h, const struct ty_candidate *c);
/* True if it is in user mode for a while from t on, before its next long wait (except for a lock,
 * or for a thread that had no CPU). */
bool ty_stall_computes_after(const struct ty_explain *x, uint32_t thread, uint64_t t);
/* True if the thread exits after the wait without another one (except for the end of its
 * process). */
bool ty_stall_ends_then(const struct ty_model *m, const struct ty_candidate *c);
/* True if the thread was created by its process, as for a task, and exits after the wait without
 * having worked. */
bool ty_stall_only_ends(const struct ty_stall_search *h, const struct ty_candidate *c);
/* For a wait for a peer on which no other wait depends: true if the waiter had work. */
bool ty_stall_had_work(struct ty_stall_search *h, const struct ty_candidate *c);
/* True if the wait for a peer leads to work shared by several threads, which the waiter's process
 * created for that. p: the path of the wait. */
bool ty_stall_is_for_workers(const struct ty_stall_search *h, const struct ty_candidate *c,
			     const struct ty_path *p);
/* True if it leads to the work of a program that the waiter's process started, or that writes in
 * the pipeline in which the waiter reads. */
bool ty_stall_is_for_program(const struct ty_stall_search *h, const struct ty_candidate *c,
			     const struct ty_path *p);
/* True if the thread is a program that was started by the process of its waker. */
bool ty_stall_is_started(const struct ty_stall_search *h, const struct ty_candidate *c);
/* True if a wait for the end of another thread is a stall. p: the path of the wait. */
bool ty_stall_is_end(const struct ty_stall_search *h, const struct ty_candidate *c,
		     const struct ty_path *p);

/* stall_futex_word.c: whether the word of a wait that resembles a lock is a counter, from the
 * values of other waits on it. 0/1, or -TY_ENOMEM. */
int ty_stall_counts(struct ty_stall_search *h, const struct ty_candidate *c);

/* stall_path.c */
/* To be called once the command's path is found. 0 or -TY_ENOMEM. */
int ty_stall_path_sort(struct ty_stall_search *h);
/* Call before that: finds the voluntary sleeps of the command's first thread. 0 or -TY_ENOMEM. */
int ty_stall_find_own_sleeps(struct ty_stall_search *h);
/* The part of the candidate's time in these sleeps; 0: no thread of the command. Cost:
 * log(sleeps). */
uint64_t ty_stall_aside(const struct ty_stall_search *h, const struct ty_candidate *c);
/* In a recording of the whole machine: the job of the candidate's thread. That is its process, or
 * its farthest ancestor such that all processes up to it ended during the recording, none before
 * its descendants. TY_NONE: the process did not end, and may be a service; or its first thread had
 * ended before the wait. */
uint32_t ty_stall_job(const struct ty_stall_search *h, const struct ty_candidate *c);
/* Makes the path of h->job the current one, unless the limit of path lengths is reached. 0,
 * -TY_ENOMEM or -TY_EINTR. */
int ty_stall_job_path(struct ty_stall_search *h);
/* Nanoseconds of the command's path that are in this wait; or, unless direct, in its culprit
 * meanwhile by another branch. Cost: log(segments) + those of the wait. */
uint64_t ty_stall_on_path(const struct ty_stall_search *h, const struct ty_candidate *c,
			  bool direct);

/* Memory for look-ups in the spans of CPUs; to be freed. NULL: out of memory. */
struct ty_cpu_spans *ty_cpu_spans_new(const struct ty_model *m);
/* stall_cpu.c: for a runnable thread, the threads that had its CPU. 0/1, or -TY_ENOMEM. */
int ty_stall_run_queue(struct ty_stall_search *h, struct ty_candidate *c);
/*
 * If the root was itself runnable for most of the time, once or repeatedly, and one thread had its
 * CPU: that one is the cause, as the last link of the chain. 1: done; 2: the root was runnable, but
 * several threads shared its CPU; 0: neither.
 */
int ty_stall_blame_rival(struct ty_stall_search *h, struct ty_candidate *c,
			 const struct ty_path *p);
/* stall_steal.c */
/* Adds the run s as a candidate if the hypervisor possibly took a long part of it. 1; 0: no; or
 * -TY_ENOMEM. */
int ty_stall_add_steal(struct ty_stall_search *h, uint32_t thread, uint32_t span,
		       const struct ty_span *s, uint64_t a, uint64_t b);
/* Of a run, whose kind and grade are set: the stolen time, and whether it changes the kind. */
void ty_stall_judge_run(struct ty_stall_search *h, struct ty_candidate *c);
/* Of a wait for a CPU: the time stolen from that CPU; true: most of the wait. */
bool ty_stall_steal_of_queue(struct ty_stall_search *h, struct ty_candidate *c, uint32_t cpu);
/* The same for a wait with this path, whose grade is set. */
void ty_stall_steal_of_path(struct ty_candidate *c, const struct ty_path *p);
/* True if the stolen part is large enough to be reported, and to make the stall inferred. */
bool ty_stall_steal_matters(const struct ty_candidate *c);

/* The time of interrupts in a running span within [a, b); most: the kind with most of it. */
uint64_t ty_stall_theft(const struct ty_model *m, const struct ty_span *s, uint64_t a, uint64_t b,
			struct ty_theft *most);

/* Adds which other threads waited for the disk, if the stall was a wait for one without a request
 * in flight. stall_disk.c */
struct ty_sentence;
void ty_stall_say_disk_users(struct ty_sentence *o, const struct ty_stall_search *h,
			     const struct ty_candidate *c);
/* stall_text_cpu.c: the cause in words, where it is the CPU. The CPU that the thread ran on, or
 * waited for. */
uint32_t ty_stall_cpu_of(const struct ty_stall_search *h, const struct ty_candidate *c);
/* True if another CPU was idle for half of the wait. Then what ran on the thread's own CPU is not
 * all of the cause: a quota that is not recorded, or the scheduler, left it there. */
bool ty_stall_was_left(const struct ty_stall_search *h, const struct ty_candidate *c);
void ty_stall_say_run_queue(struct ty_sentence *o, const struct ty_stall_search *h,
			    const struct ty_candidate *c);
void ty_stall_say_throttled(struct ty_sentence *o, const struct ty_candidate *c);
void ty_stall_say_theft(struct ty_sentence *o, const struct ty_stall_search *h,
			const struct ty_candidate *c);
/* What the hypervisor possibly took: the whole cause, or (aside) a part of it. */
void ty_stall_say_steal(struct ty_sentence *o, const struct ty_stall_search *h,
			const struct ty_candidate *c, bool aside);
/* stall_text.c: object, and text and sentence, which have room for TY_STALL_TEXT and
 * TY_STALL_SENTENCE bytes. */
void ty_stall_say(const struct ty_stall_search *h, struct ty_candidate *c);
/* True if the waker waits there itself at another time, as for a lock that is handed over. A thread
 * that distributes work does not. */
bool ty_stall_takes_turns(const struct ty_stall_search *h, const struct ty_candidate *c);

#endif
