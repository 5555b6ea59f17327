/* SPDX-License-Identifier: MIT */
/*
 * Finds the cause of a wakeup, rather than the thread that was current on the CPU. An interrupt's
 * wakeup is attributed to the device, the timer or another CPU; a softirq's to whatever raised it:
 * the thread when raised in process context (loopback traffic), otherwise the interrupt.
 */
#ifndef TY_WAKEUP_H
#define TY_WAKEUP_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"
#include "process_titles.h"

enum ty_waker_kind {
	TY_WAKER_NONE,	 /* no wakeup is recorded */
	TY_WAKER_THREAD, /* thread */
	TY_WAKER_DEVICE, /* an interrupt handler: name; io */
	TY_WAKER_TIMER,
	TY_WAKER_IPI,	  /* another CPU, not recorded which */
	TY_WAKER_UNKNOWN, /* an interrupt of unknown kind */
};

struct ty_waker {
	uint8_t kind;	 /* enum ty_waker_kind */
	bool net;	 /* through the network softirq */
	bool inferred;	 /* in a path: a kernel thread's client (chain.h); or one of several
			  * candidates (futex_waker.h) */
	uint32_t thread; /* THREAD: the waker; else TY_NONE */
	uint32_t cpu;	 /* CPU of the wakeup */
	uint64_t ts_ns;	 /* of the wakeup */
	uint64_t act_ns; /* when the cause acted: raised the softirq, entered the interrupt */
	uint32_t name;	 /* DEVICE: string id of the handler's name; others: name of the softirq or
			  * vector; 0 unknown */
	uint32_t io;	 /* DEVICE: the block request that it completed; TY_NONE */
};

#define TY_NO_WAKER ((struct ty_waker){.kind = TY_WAKER_NONE, .thread = TY_NONE, .io = TY_NONE})

/* The call by which a thread woke it; TY_NONE: no thread did, or in no recorded call. */
static inline uint32_t ty_waker_call(const struct ty_model *m, const struct ty_waker *k)
{
	return k->kind == TY_WAKER_THREAD ? ty_model_syscall_at(m, k->thread, k->act_ns) : TY_NONE;
}

/* In a sentence, of a wakeup by TIMER through the network. */
#define TY_NET_TIMER_TEXT                                                                          \
	"a packet (delayed ACK or retransmission) sent when a network timer expired"

/* What follows "woken by": "nginx/812", "a timer", "device interrupt virtio1-input.0", "I/O
 * completion (virtio1-req.0)", "softirq RCU", "an interrupt", "an unknown waker". */
#define TY_WAKER_TEXT (TY_WHO_MAX + 32)
const char *ty_waker_text(const struct ty_model *m, const struct ty_waker *w,
			  char out[TY_WAKER_TEXT]);

/* The signal by which a thread woke this one's process; 0: none is recorded. The kernel reports it
 * after the wakeup. Cost: log(points) + 256 of a CPU. */
int ty_waker_signal(const struct ty_model *m, uint32_t thread, const struct ty_waker *by);
/* The signal by which a thread killed this one, which waited in the span and made no call any more:
 * it had not waited for that. 0: none. */
int ty_waker_killed(const struct ty_model *m, const struct ty_span *s, const struct ty_waker *by);
/* Cost: log(interrupts) + log(points) + few. edge TY_NONE: kind NONE. */
struct ty_waker ty_waker_find(const struct ty_model *m, uint32_t edge);
/* Is this thread the waker? Then out. Cheaper, because most wakeups are known at once to be another
 * thread's, or an interrupt's. */
bool ty_waker_is(const struct ty_model *m, uint32_t edge, uint32_t thread, struct ty_waker *out);

#endif
