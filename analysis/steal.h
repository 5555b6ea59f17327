/* SPDX-License-Identifier: MIT */
/*
 * Time possibly stolen from a CPU by the hypervisor.
 *
 * A CPU that runs a thread has a timer tick at least once per period (CONFIG_HZ). If neither a due
 * tick nor any other event of the CPU is recorded for TY_STEAL_LATE_NS, the CPU was possibly not
 * running: inferred, because a kernel with interrupts disabled looks the same. Stolen time counts
 * from when the tick was due, so it is a lower bound.
 *
 * No time is called stolen for a CPU whose ticks are not recorded, for one that needs none while
 * running (nohz_full), for an idle one (which needs none either), and where its events were lost.
 */
#ifndef TY_STEAL_H
#define TY_STEAL_H

#include "explain.h"

#define TY_STEAL_LATE_NS UINT64_C(1000000)

/* Tick period of each CPU; 0: no expected tick. */
struct ty_ticks {
	uint64_t *period_ns;
	uint32_t cpus;
};

/*
 * tick_ns: the machine's recorded period; 0: unknown, measured if enough ticks are recorded.
 * nohz_full: CPUs without ticks ("2-3,7"); NULL or "": none. 0 or -TY_ENOMEM; call fini in any
 * case. Cost: the first few hundred interrupts of each CPU.
 */
int ty_ticks_find(const struct ty_model *m, uint64_t tick_ns, const char *nohz_full,
		  struct ty_ticks *t);
void ty_ticks_fini(struct ty_ticks *t);

struct ty_stolen {
	uint64_t from_ns, to_ns;
};

/*
 * The first time in [from, to) of the thread's run `s` (state RUNNING, full length) in which its
 * CPU was possibly stolen; false: none. Cost: one step per interrupt of the CPU, and for a late one
 * the thread's calls since the previous one.
 */
bool ty_stolen_next(const struct ty_explain *x, const struct ty_span *s, uint64_t from_ns,
		    uint64_t to_ns, struct ty_stolen *out);
/* The sum over [from, to) of the run. */
uint64_t ty_stolen_of_run(const struct ty_explain *x, const struct ty_span *s, uint64_t from_ns,
			  uint64_t to_ns);
/* The sum over the thread's runs in [from, to), at most the first 4096. */
uint64_t ty_stolen_of_thread(const struct ty_explain *x, uint32_t thread, uint64_t from_ns,
			     uint64_t to_ns);
/* The sum over all threads' runs on the CPU, with the same limit. */
uint64_t ty_stolen_of_cpu(const struct ty_explain *x, uint32_t cpu, uint64_t from_ns,
			  uint64_t to_ns);
/*
 * An idle CPU starts a newly runnable thread at once. Returns how long, in [from, to) with a
 * runnable thread waiting for it, the CPU was idle and had no event; 0 if its events were lost or
 * its switches from idle are not recorded.
 */
uint64_t ty_silent_while_idle(const struct ty_explain *x, uint32_t cpu, uint64_t from_ns,
			      uint64_t to_ns);

#endif
