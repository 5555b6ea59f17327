/* SPDX-License-Identifier: MIT */
/*
 * See wakeup.h. An interrupt's kind is read from the handler spans of its CPU around the wakeup; a
 * softirq's origin from the last softirq_raise of its vector on that CPU before the wakeup (Linux
 * kernel/softirq.c: a softirq runs on the CPU that raised it, each pending vector once).
 */
#include "wakeup.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* include/linux/interrupt.h */
#define SIGNAL_NS    UINT64_C(50000) /* from a wakeup to the signal that was its cause */
#define SIGNAL_LOOKS 256

enum {
	VEC_HI,
	VEC_TIMER,
	VEC_NET_TX,
	VEC_NET_RX,
	VEC_BLOCK,
	VEC_POLL,
	VEC_TASKLET,
	VEC_SCHED,
	VEC_HRTIMER,
	VEC_RCU
};

#define LOOK_BACK 64 /* handlers or points examined before a wakeup */
#define NEAR_NS	  UINT64_C(1000000)

/* The handler of this kind that ran on the CPU at t, the innermost; false: none is recorded. */
static bool handler_at(const struct ty_model *m, uint32_t cpu, uint64_t t, unsigned kinds,
		       struct ty_irq_span *out)
{
	uint32_t i = ty_model_irq_at(m, cpu, t + 1);

	for (unsigned k = 0; i && k < LOOK_BACK; k++) {
		if (!(kinds & 1u << ty_model_irq_kind(m, cpu, --i)))
			continue;
		*out = ty_model_irq_span(m, cpu, i);
		if (out->end_ns >= t)
			return true;
	}
	return false;
}

/* The block request that the interrupt completed before the wakeup at t. */
static uint32_t completed(const struct ty_model *m, uint32_t cpu, uint64_t from, uint64_t t)
{
	uint32_t i = ty_model_io_after(m, t), best = TY_NONE;
	uint64_t end = 0;

	/* Requests are in order of issue; one that ends here was issued not long ago: no more are
	 * examined than a device's queue holds, and few behind one that fits. */
	for (unsigned k = 0; i && k < (best == TY_NONE ? 512 : 64); k++) {
		struct ty_io io = ty_model_io(m, --i);

		if (io.busy_to_ns < from)
			break;
		if (io.end_cpu == cpu && io.end_ns <= t && io.end_ns >= from && io.end_ns >= end) {
			best = i;
			end = io.end_ns;
		}
	}
	return best;
}

static void by_hardirq(const struct ty_model *m, uint64_t t, struct ty_waker *w)
{
	struct ty_irq_span s;
	uint32_t i;

	if (handler_at(m, w->cpu, t, 1u << 0, &s)) {
		w->kind = TY_WAKER_DEVICE;
		w->name = s.name;
		w->act_ns = s.start_ns;
		w->io = completed(m, w->cpu, s.start_ns, w->ts_ns);
		return;
	}
	if (handler_at(m, w->cpu, t, 1u << 2, &s)) {
		const char *name = ty_model_str(m, s.name);

		w->kind = strstr(name, "timer") ? TY_WAKER_TIMER
			  : !strcmp(name, "reschedule") || !strncmp(name, "call_function", 13)
				  ? TY_WAKER_IPI
				  : TY_WAKER_UNKNOWN;
		w->name = s.name;
		w->act_ns = s.start_ns;
		if (w->kind != TY_WAKER_UNKNOWN)
			return;
	}
	/* No vector shows this: a timer's expiry right before does. */
	i = ty_model_point_after(m, w->cpu, t + 1);
	for (unsigned k = 0; i && k < LOOK_BACK; k++) {
		struct ty_point p = ty_model_point(m, w->cpu, --i);

		if (t - p.ts_ns > NEAR_NS)
			break;
		if (p.kind == TY_PT_HRTIMER && p.context & TY_EVF_HARDIRQ) {
			w->kind = TY_WAKER_TIMER;
			w->act_ns = p.ts_ns;
			return;
		}
	}
	w->kind = TY_WAKER_UNKNOWN;
}

static void by_softirq(const struct ty_model *m, uint64_t t, struct ty_waker *w, unsigned depth);

/* The thread or interrupt that raised the softirq s, which ran at t. */
static void by_raise(const struct ty_model *m, const struct ty_irq_span *s, uint64_t t,
		     struct ty_waker *w, unsigned depth)
{
	uint32_t i = ty_model_point_after(m, w->cpu, t + 1);

	for (unsigned k = 0; i && k < LOOK_BACK; k++) {
		struct ty_point p = ty_model_point(m, w->cpu, --i);

		if (p.kind != TY_PT_SOFTIRQ_RAISE || p.a != s->vec)
			continue;
		w->act_ns = p.ts_ns;
		if (p.context & (TY_EVF_HARDIRQ | TY_EVF_NMI)) {
			by_hardirq(m, p.ts_ns, w);
		} else if (p.context & TY_EVF_SOFTIRQ) {
			if (p.ts_ns < s->start_ns)
				by_softirq(m, p.ts_ns, w, depth + 1);
			else
				continue; /* raised by itself, to go on later */
		} else if (p.thread != TY_NONE) {
			w->kind = TY_WAKER_THREAD;
			w->thread = p.thread;
		}
		return;
	}
	/* The raise is not recorded: network and block softirqs are interrupts' second halves. */
	if (s->vec == VEC_NET_RX || s->vec == VEC_BLOCK)
		w->kind = TY_WAKER_DEVICE;
}

/* The thread or interrupt that caused the softirq running at t. depth: a softirq may raise
 * another. */
static void by_softirq(const struct ty_model *m, uint64_t t, struct ty_waker *w, unsigned depth)
{
	struct ty_irq_span s;
	struct ty_waker raised;

	w->kind = TY_WAKER_UNKNOWN;
	if (depth > 3 || !handler_at(m, w->cpu, t, 1u << 1, &s))
		return;
	w->name = s.name;
	w->act_ns = s.start_ns;
	w->net = s.vec == VEC_NET_RX || s.vec == VEC_NET_TX;
	if (s.vec == VEC_TIMER || s.vec == VEC_HRTIMER) {
		w->kind = TY_WAKER_TIMER;
		return;
	}
	raised = *w;
	by_raise(m, &s, t, &raised, depth);
	/* A completion is the device's, on whichever CPU, or driver's own thread (loop's), it was
	 * raised. A device's interrupt that did it names the device. */
	if (s.vec == VEC_BLOCK && !depth && raised.io == TY_NONE) {
		w->io = completed(m, w->cpu, s.start_ns, t);
		w->kind = TY_WAKER_DEVICE;
	}
	/* A delayed acknowledgement or a retransmission: what it delivers is data. */
	raised.net |= w->net && raised.kind == TY_WAKER_TIMER;
	if (w->io == TY_NONE)
		*w = raised;
}

struct ty_waker ty_waker_find(const struct ty_model *m, uint32_t edge)
{
	struct ty_waker w = TY_NO_WAKER;
	struct ty_edge e;

	if (edge == TY_NONE)
		return w;
	e = ty_model_edge(m, edge);
	w.cpu = e.cpu;
	w.ts_ns = w.act_ns = e.ts_ns;
	if (e.context & (TY_EVF_HARDIRQ | TY_EVF_NMI)) {
		by_hardirq(m, e.ts_ns, &w);
	} else if (e.context & TY_EVF_SOFTIRQ) {
		by_softirq(m, e.ts_ns, &w, 0);
	} else if (e.waker != TY_NONE) {
		w.kind = TY_WAKER_THREAD;
		w.thread = e.waker;
	} else {
		w.kind = TY_WAKER_UNKNOWN;
	}
	return w;
}

bool ty_waker_is(const struct ty_model *m, uint32_t edge, uint32_t thread, struct ty_waker *out)
{
	struct ty_edge e;

	if (edge == TY_NONE)
		return false;
	/* Behind a softirq may be any thread; behind another interrupt is none. */
	e = ty_model_edge(m, edge);
	if (e.context & (TY_EVF_HARDIRQ | TY_EVF_NMI) ||
	    (!(e.context & TY_EVF_SOFTIRQ) && e.waker != thread))
		return false;
	*out = ty_waker_find(m, edge);
	return out->kind == TY_WAKER_THREAD && out->thread == thread;
}

const char *ty_waker_text(const struct ty_model *m, const struct ty_waker *w,
			  char out[TY_WAKER_TEXT])
{
	const char *name = w->name ? ty_model_str(m, w->name) : "";

	switch ((enum ty_waker_kind)w->kind) {
	case TY_WAKER_THREAD: return ty_model_who(m, w->thread, w->act_ns, out);
	case TY_WAKER_DEVICE:
		if (w->io == TY_NONE)
			snprintf(out, TY_WAKER_TEXT, "%s%s",
				 *name ? "device interrupt " : "a device interrupt", name);
		else
			/* BLOCK: the softirq of all of them. */
			snprintf(out, TY_WAKER_TEXT,
				 *name && strcmp(name, "BLOCK") ? "block I/O completion (%s)"
								: "block I/O completion",
				 name);
		return out;
	case TY_WAKER_TIMER: return w->net ? TY_NET_TIMER_TEXT : "a timer";
	case TY_WAKER_IPI: return "an interrupt from another CPU";
	case TY_WAKER_UNKNOWN:
		if (!*name)
			return "an interrupt";
		/* Softirqs have names in capitals, vectors have not. */
		snprintf(out, TY_WAKER_TEXT, "%s %s", isupper(*name) ? "softirq" : "interrupt",
			 name);
		return out;
	case TY_WAKER_NONE: break;
	}
	return "an unknown waker";
}

int ty_waker_signal(const struct ty_model *m, uint32_t thread, const struct ty_waker *by)
{
	int32_t tgid = ty_model_thread(m, thread)->tgid;
	uint32_t i = by->kind == TY_WAKER_THREAD
			     ? ty_model_point_after(m, by->cpu, by->ts_ns + SIGNAL_NS)
			     : 0;

	for (unsigned n = 0; i && n < SIGNAL_LOOKS; n++) {
		struct ty_point p = ty_model_point(m, by->cpu, --i);

		if (p.ts_ns < by->ts_ns)
			break;
		if (p.kind == TY_PT_SIGNAL && p.thread == by->thread && p.b < TY_NONE &&
		    (p.b == thread ||
		     (tgid > 0 && ty_model_thread(m, (uint32_t)p.b)->tgid == tgid)))
			return (int)p.a;
	}
	return 0;
}

int ty_waker_killed(const struct ty_model *m, const struct ty_span *s, const struct ty_waker *by)
{
	const struct ty_thread *t = ty_model_thread(m, s->thread);
	uint32_t call;
	int sig;

	if (!t->traced || !t->died)
		return 0;
	call = ty_model_syscall_after(m, s->thread, s->end_ns);
	if (call != TY_NONE && call + 1 < t->syscalls_first + t->syscalls_n)
		return 0;
	sig = ty_waker_signal(m, s->thread, by);
	return sig == SIGCHLD || sig == SIGCONT || sig == SIGWINCH || sig == SIGURG ? 0 : sig;
}
