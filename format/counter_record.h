/* SPDX-License-Identifier: MIT */
/*
 * Readings of performance counters (the records of TY_SEC_COUNTERS); see section.h. The machine
 * fact `counter` says what is counted, a line per counter in their order: "GROUP UNIT NAME", groups
 * from 0 in ascending order, unit ns or count.
 *
 * A record is a head; then per counter how much it grew; then per group for how long (ns) it was
 * enabled, and for how long of that it counted: all u64, in the machine's byte order, without
 * padding. So all records of a file have one size.
 *
 * Of perf stat record (machine fact `counter_intervals=1`) a reading is of an interval, in which a
 * thread may have waited, too: on all CPUs (cpu TY_CT_NO_CPU), or of all threads of a CPU (tid -1).
 */
#ifndef TY_COUNTER_RECORD_H
#define TY_COUNTER_RECORD_H

#include <linux/types.h>

enum { TY_COUNTERS_MAX = 16, TY_COUNTER_GROUPS_MAX = 8 }; /* that tarry records */
enum { TY_COUNTERS_READ = 32 }; /* and reads, each in a group of its own */

/* A thread ran on a CPU from ns - dur_ns to ns. */
struct ty_counter_head {
	__u64 ns; /* trace clock */
	__u64 dur_ns;
	__u32 pid, tid;
	__u16 cpu, flags;
	__u32 zero;
};
_Static_assert(sizeof(struct ty_counter_head) == 32, "on disk");

enum { TY_CT_NO_CPU = 0xffff };

enum ty_counter_flag {
	TY_CT_LOST = 1,	  /* no reading: up to ns, dur_ns readings were lost; all else is 0 */
	TY_CT_UNREAD = 2, /* the kernel refused to read a counter: its values do not count */
};

#define TY_COUNTER_RECORD(counters, groups)                                                        \
	(sizeof(struct ty_counter_head) + 8 * ((counters) + 2 * (size_t)(groups)))

#endif
