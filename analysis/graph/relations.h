/* SPDX-License-Identifier: MIT */
/*
 * What may hold of a wait and the threads, calls and channels around it: the relations that rules
 * (rule.h) are made of. Each is true or false, is found at most once for a wait, and only if a rule
 * needs it (stall_relations.c finds them).
 *
 * The text completes "It holds that ..." and is what `report stalls --why` prints.
 */
#ifndef TY_RELATIONS_H
#define TY_RELATIONS_H

#include <stdbool.h>
#include <stdint.h>

#define TY_RELATIONS(X)                                                                            \
	/* The channel, and how the wait ended: recorded. */                                       \
	X(DEFINITE,                                                                                \
	  "the thread waited for a lock, a device, buffer space or a page, or was stopped")        \
	X(PEER, "the thread waited for one other thread or process")                               \
	X(END, "the thread waited for another thread or process to exit")                          \
	X(IDLE, "the call waits for any event (epoll, accept, a sleep, signals)")                  \
	X(EVENTS, "the call waits for any of several descriptors")                                 \
	X(SLEEP, "the call only sleeps")                                                           \
	X(POLLED, "attempts to take a lock failed repeatedly, with sleeps between")                \
	X(WORD, "the wait was on a futex")                                                         \
	X(LOCK_BY_STACK, "the stack shows a function that takes a lock")                           \
	X(SLEEP_BY_STACK, "the stack shows a function that sleeps")                                \
	X(CHANNEL_KNOWN, "the one descriptor waited on is known, or a signal ended the wait")      \
	X(UNCALLED, "the thread slept outside of any system call, and no page was read for it")    \
	X(BY_THREAD, "a thread was the waker")                                                     \
	X(BY_TIMER, "a timer was the waker")                                                       \
	X(TIMED_OUT, "the call timed out")                                                         \
	X(STILL_WAITING, "the thread was still waiting when the recording ended")                  \
	X(BEGAN_BEFORE, "the wait began before the recording")                                     \
	X(END_LOST, "the end of the wait is among lost events")                                    \
	X(WORK_LOST,                                                                               \
	  "the thread waited for a lock, had sent something, or the command waited for it")        \
	X(ACCEPTS, "the thread accepts connections on this socket")                                \
	X(CONNECTING,                                                                              \
	  "the call connects, or the thread was awaiting a connection and a timer of the "         \
	  "network was the waker")                                                                 \
	X(TERMINAL, "the thread read from a terminal")                                             \
	X(HOLDER_IDLE, "the holders of the lock were idle for most of the wait")                   \
	X(WAKER_RUNNABLE, "the wait was short, and its waker was runnable for most of it")         \
	X(NO_CPU, "the thread was runnable")                                                       \
	X(CPU_EXPLAINED, "either other threads or a quota explains why the thread had no CPU")     \
	X(COMPUTED, "the thread computed before it replied, and either several clients waited or " \
		    "this took ten times as long as most")                                         \
	X(ON_CPU, "the thread ran or was runnable, in one call or for one stretch")                \
	/* Messages. */                                                                            \
	X(SENT, "the thread had sent something before it waited")                                  \
	X(SENT_LAST,                                                                               \
	  "the thread, client of this connection, sent a request and has received nothing since")  \
	X(NO_REPLY_YET,                                                                            \
	  "the thread sent a request, either on this connection or to a thread that had sent it "  \
	  "none, and had no reply yet")                                                            \
	X(REPLY_CERTAIN, "the descriptor and its client and server side are known")                \
	X(SENT_REQUEST, "the thread woke its waker first, and had no reply yet")                   \
	X(SENT_OR_WOKE, "the thread had sent something, or had just woken a thread by futex")      \
	X(SERVED, "the thread is the server of this connection and had replied")                   \
	X(SERVES_FD, "the thread is the server of that descriptor")                                \
	X(NEXT_FD, "the next read of the thread shows which descriptor was ready")                 \
	X(ENDED_BY_REQUEST, "the thread had delivered its result, and only exited afterwards")     \
	X(IN_REQUEST,                                                                              \
	  "the thread had received a request, not replied yet, and did not wait for more of it")   \
	X(MAYBE_IN_REQUEST,                                                                        \
	  "the thread had received a request, and not replied when its wait ended")                \
	X(AWAITS_REPLY, "the thread was awaiting a reply to its own request, or a connection")     \
	/* Signals. */                                                                             \
	X(SIGNALLED, "a signal sent by a thread woke the thread")                                  \
	X(REPLY_PENDING, "the thread had received something and sent nothing since")               \
	X(REPLY_PENDING_UNSEEN, "the thread replied right after the signal")                       \
	/* Locks, pools, children. */                                                              \
	X(PASSED_ON, "waiter and waker both wait on that futex and both wake it, as with a lock")  \
	X(WORK_SHARED, "either several threads share the work or a slot in a pool is handed over") \
	X(FOR_PROGRAM,                                                                             \
	  "the process of the thread had started the program that worked, or both are in one "     \
	  "pipeline")                                                                              \
	X(WORLD_STOPPED, "threads of the process slept together while one worked alone")           \
	X(PEER_IDLE,                                                                               \
	  "threads of its process were idle for most of the wait (on a timer, on a thread that "   \
	  "they had not woken, or, in a server, on any event), with no request in progress")       \
	X(KILLED, "the thread did not run again before its process exited")                        \
	X(AWAITED_HELD_UP,                                                                         \
	  "the child that exited either had only waited or was the only child still running")      \
	/* The command's critical path, and what the thread did afterwards. */                     \
	X(ON_PATH, "the critical path covers at least half of the wait")                           \
	X(NEEDED_ONCE, "the command's first thread needed this event once, and then ran; it was "  \
		       "no signal that stops a service")                                           \
	X(RECURS, "the thread waits about as long in the same call at other times")                \
	X(RECURS_SAME_WAKER, "the same waker wakes the thread from similar waits at other times")  \
	X(COMPUTED_AFTER, "the thread computed afterwards")                                        \
	X(RELATED, "waker and waiter belong to one command or process")                            \
	X(RUNTIME_SLEEP,                                                                           \
	  "the futex wait recurs and a timer is the waker, as in sleeps of runtimes")              \
	X(WAKE_EXPECTED,                                                                           \
	  "another thread wakes that futex at other times, or had just been woken by this one")    \
	X(HAD_WORK,                                                                                \
	  "the critical path ran through the awaited thread, and the waiter had work pending")

enum ty_relation {
	TY_R_NONE, /* ends a list */
#define X(name, text) TY_R_##name,
	TY_RELATIONS(X)
#undef X
		TY_R_COUNT
};

/* "a lock, a device, ... was waited for" */
const char *ty_relation_text(enum ty_relation r);

/* Of one wait; relations are found on demand. */
struct ty_relations {
	bool (*find)(void *ctx, enum ty_relation r);
	void *ctx;
	uint8_t known[TY_R_COUNT]; /* 0: not evaluated yet; 1: does not hold; 2: holds */
};

bool ty_relation_holds(struct ty_relations *of, enum ty_relation r);

#endif
