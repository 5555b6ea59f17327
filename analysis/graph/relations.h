/* SPDX-License-Identifier: MIT */
/*
 * What may hold of a wait and the threads, calls and channels around it: the relations that rules
 * (rule.h) are made of. Each is yes or no, is found at most once for a wait, and only if a rule
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
	X(DEFINITE, "a lock, a device, room to write, a page or a stop was waited for")            \
	X(PEER, "one other thread or process was waited for")                                      \
	X(END, "the end of a thread or process was waited for")                                    \
	X(IDLE, "the call waits for whatever comes (epoll, accept, a sleep, signals)")             \
	X(EVENTS, "the call waits for any of several descriptors")                                 \
	X(SLEEP, "the call only sleeps")                                                           \
	X(POLLED, "tries for a lock failed again and again, with sleeps between")                  \
	X(WORD, "a futex word was waited on")                                                      \
	X(ON_FD, "the descriptor waited on is known")                                              \
	X(UNINTERRUPTIBLE, "the wait was uninterruptible, for no child")                           \
	X(UNCALLED, "it slept outside of any call, and no page was served")                        \
	X(BY_THREAD, "a thread ended the wait")                                                    \
	X(BY_TIMER, "a timer ended the wait")                                                      \
	X(TIMED_OUT, "the call returned because its time was up")                                  \
	X(STILL_WAITING, "it was still waiting when the recording ended")                          \
	X(BEGAN_BEFORE, "the wait began before the recording")                                     \
	X(END_LOST, "the end of the wait is among lost events")                                    \
	X(ACCEPTS, "the thread accepts connections there")                                         \
	X(HOLDER_IDLE, "the holders of the lock were idle for most of the wait")                   \
	X(WAKER_RUNNABLE, "the thread waited for was runnable for most of a short wait")           \
	X(NO_CPU, "it was runnable")                                                               \
	X(CPU_EXPLAINED, "what ran instead, or a quota, explains why it had no CPU")               \
	X(ON_CPU, "it was on a CPU all the time")                                                  \
	X(STATE_LOST, "its state is unknown because of lost events")                               \
	/* Messages. */                                                                            \
	X(SENT, "the thread had sent something before it waited")                                  \
	X(SENT_THERE, "the thread had sent something on that descriptor before it waited")         \
	X(SPOKE_LAST, "the thread is the client there, and had sent and heard nothing since")      \
	X(REPLY_CERTAIN, "which descriptor and which side of it is known")                         \
	X(ASKED, "the thread had woken its waker and had no reply yet; it did so first of both")   \
	X(ASKED_UNSEEN, "the waker has not waited for requests since its last reply")              \
	X(ASKED_ANYBODY, "the thread had just woken somebody who had not asked it first")          \
	X(ASKED_OR_SENT, "the thread had sent something, or had just woken somebody by futex")     \
	X(SERVES, "the waker asks and the thread replies")                                         \
	X(SERVED, "the thread is the server there and had replied")                                \
	X(SERVES_FD, "the thread is the server of that descriptor")                                \
	X(NEXT_FD, "what the thread read next says which descriptor was ready")                    \
	X(REPLIES, "the thread woke its waker in turn afterwards")                                 \
	X(GIVEN_MORE, "the waker gave more of the same before the thread ran again")               \
	X(TOLD_TO_END, "the thread had handed over its result and only ended afterwards")          \
	X(IN_REQUEST, "the thread had received a request and not replied yet")                     \
	/* Signals. */                                                                             \
	X(SIGNALLED, "a thread ended the wait by a signal")                                        \
	X(SIGNALLER_TRACED, "the thread that sent the signal is recorded")                         \
	X(OWES_REPLY, "the thread had received something and sent nothing since")                  \
	X(OWED_UNSEEN, "the thread replied right after the signal")                                \
	/* Locks, pools, children. */                                                              \
	X(PASSED_ON, "waiter and waker both wait on that word and both wake it, as at a lock")     \
	X(FOR_WORKERS, "several threads shared the work that the wait was for")                    \
	X(WORK_SHARED, "several share the work, or a place in a pool is handed over")              \
	X(FOR_PROGRAM, "the process of the thread had started the program that worked")            \
	X(SHELL_PIPELINE, "the next program of a shell's pipeline computed")                       \
	X(WORLD_STOPPED, "threads of the process stopped together for one that worked alone")      \
	X(ASKED_IDLE, "the waker was idle itself meanwhile, until somebody new asked it")          \
	X(AWAITED_HELD_UP, "what ended had only waited, or alone worked for the waiter")           \
	/* The command's critical path, and what the thread did afterwards. */                     \
	X(ON_PATH, "the critical path goes over at least half of the wait")                        \
	X(ON_PATH_ANY, "the critical path goes over the wait or its culprit for half of it")       \
	X(NEEDED_ONCE, "the command's first thread needed it once, and then computed")             \
	X(COMES_AGAIN, "the thread waits about as long in the same call at other times")           \
	X(COMES_AGAIN_SAME, "the same waker ends like waits of the thread at other times")         \
	X(CALLS_AGAIN, "the thread makes the same call on that descriptor again")                  \
	X(GOES_ON, "the thread computed afterwards")                                               \
	X(COMPUTES, "the thread computed for longer than a request takes")                         \
	X(RELATED, "waker and waiter belong to one command or process")                            \
	X(RUNTIME_SLEEP, "the futex wait recurs and a timer ends it, as runtimes sleep")           \
	X(WAKE_EXPECTED, "another thread is seen to wake that word, or was woken right before")    \
	X(HAD_WORK, "the command was busy with the thread waited for, and the waiter had work")

enum ty_relation {
	TY_R_NONE, /* ends a list */
#define X(name, text) TY_R_##name,
	TY_RELATIONS(X)
#undef X
		TY_R_COUNT
};

/* "a lock, a device, ... was waited for" */
const char *ty_relation_text(enum ty_relation r);

/* Of one wait, as far as asked. */
struct ty_relations {
	bool (*find)(void *ctx, enum ty_relation r);
	void *ctx;
	uint8_t known[TY_R_COUNT]; /* 0: not asked yet; 1: does not hold; 2: holds */
};

bool ty_relation_holds(struct ty_relations *of, enum ty_relation r);

#endif
