/* SPDX-License-Identifier: MIT */
/*
 * Who woke a thread: not who happened to be current on the CPU, but the cause. An interrupt's
 * wakeup is the device's, the timer's or another CPU's; a softirq's is whoever's who raised it: the
 * thread's when it was raised in process context (loopback traffic), else the interrupt's.
 */
#ifndef TY_WAKEUP_H
#define TY_WAKEUP_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"

enum ty_waker_kind {
	TY_WAKER_NONE,	 /* no wakeup is recorded */
	TY_WAKER_THREAD, /* thread */
	TY_WAKER_DEVICE, /* an interrupt handler: name; io */
	TY_WAKER_TIMER,
	TY_WAKER_IPI,	  /* another CPU, which one is not recorded */
	TY_WAKER_UNKNOWN, /* an interrupt of which nothing more is recorded */
};

struct ty_waker {
	uint8_t kind;	 /* enum ty_waker_kind */
	bool net;	 /* by way of the network's softirq */
	bool inferred;	 /* in a path: whom a kernel thread served (chain.h);
			    or one of several that may have (futex_waker.h) */
	uint32_t thread; /* THREAD: who; else TY_NONE */
	uint32_t cpu;	 /* where the wakeup happened */
	uint64_t ts_ns;	 /* of the wakeup */
	uint64_t act_ns; /* when the cause acted: raised the softirq, began the interrupt */
	uint32_t name;	 /* DEVICE: string id of the handler's name; softirq's or vector's name of
			    others; 0 not known */
	uint32_t io;	 /* DEVICE: the block request that it completed; TY_NONE */
};

/* Cost: log(interrupts) + log(points) + few. edge TY_NONE: kind NONE. */
struct ty_waker ty_waker_find(const struct ty_model *m, uint32_t edge);

#endif
