/* SPDX-License-Identifier: MIT */
/*
 * Time that a CPU may not have had, because the hypervisor ran something else on it.
 *
 * A CPU that runs a thread has its timer tick at least once a period (CONFIG_HZ). Where its tick is
 * due and neither that nor any other event of the CPU is recorded for TY_STEAL_LATE_NS more, the
 * CPU was possibly not running: inferred, because a kernel that keeps interrupts off looks the
 * same. What is stolen counts from when the tick was due, so that it is never more than was lost.
 *
 * Nothing is said, and the time is not called stolen, of a CPU whose ticks are not recorded, of one
 * that needs none while it runs (nohz_full), of an idle one (it needs none either), and where
 * events of it were lost.
 */
#ifndef TY_STEAL_H
#define TY_STEAL_H

#include "explain.h"

#define TY_STEAL_LATE_NS UINT64_C(1000000)

/* The period of each CPU's tick; 0: it has none that could be missing. */
struct ty_ticks {
	uint64_t *period_ns;
	uint32_t cpus;
};

/*
 * tick_ns: the machine's period as recorded; 0: not known, it is measured where enough ticks are
 * recorded. nohz_full: the list of CPUs that need no tick ("2-3,7"); NULL or "": none. 0 or
 * -TY_ENOMEM; fini in any case. Cost: the first few hundred interrupts of each CPU.
 */
int ty_ticks_find(const struct ty_model *m, uint64_t tick_ns, const char *nohz_full,
		  struct ty_ticks *t);
void ty_ticks_fini(struct ty_ticks *t);

struct ty_stolen {
	uint64_t from_ns, to_ns;
};

/*
 * The first time in [from, to) of the thread's run `s` (state RUNNING, its whole length) in which
 * its CPU was possibly stolen; false: there is none. Cost: one step per interrupt of the CPU, and
 * where one comes late the thread's calls since the one before.
 */
bool ty_stolen_next(const struct ty_explain *x, const struct ty_span *s, uint64_t from_ns,
		    uint64_t to_ns, struct ty_stolen *out);
/* All of it in [from, to) of the run. */
uint64_t ty_stolen_of_run(const struct ty_explain *x, const struct ty_span *s, uint64_t from_ns,
			  uint64_t to_ns);
/* Of what the thread ran in [from, to), at most the first 4096 runs. */
uint64_t ty_stolen_of_thread(const struct ty_explain *x, uint32_t thread, uint64_t from_ns,
			     uint64_t to_ns);
/* Of what anybody ran on the CPU then, with the same limit. */
uint64_t ty_stolen_of_cpu(const struct ty_explain *x, uint32_t cpu, uint64_t from_ns,
			  uint64_t to_ns);
/*
 * An idle CPU that a thread is made ready for takes it at once. How long, in [from, to) in which
 * one was ready for it, the CPU was idle and gave no sign of life; 0 where its events were lost or
 * its switches from idle are not recorded (ty_steal_idle_known).
 */
uint64_t ty_silent_while_idle(const struct ty_explain *x, uint32_t cpu, uint64_t from_ns,
			      uint64_t to_ns);

#endif
