/* SPDX-License-Identifier: MIT */
/* Counts the stalls of threads that take turns (fixture_turns.h). Included behind cmocka.h. */
#ifndef TY_FIXTURE_STALL_COUNT_H
#define TY_FIXTURE_STALL_COUNT_H

#include "fixture_turns.h"

enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_NANOSLEEP = 35,
	NR_GETPID = 39,
	NR_SOCKET = 41,
	NR_SENDTO = 44,
	NR_RECVFROM = 45,
	NR_EXECVE = 59,
	NR_FSYNC = 74,
	NR_WAIT4 = 61,
	NR_KILL = 62,
	NR_SEMOP = 65,
	NR_FUTEX = 202,
	NR_EPOLL_WAIT = 232,
	NR_OPENAT = 257,
	WAIT = 0,
	WAKE = 1,
	SET = 5,
	CLONE_THREAD = 0x10000,
	TAKE = 0x100, /* operations, by their place in memory */
	GIVE = 0x200
};

/* How many of the stalls are the thread's, or of all threads (0); the CPU's share aside. */
static inline unsigned count_stalls(int command, bool whole_machine, int tid)
{
	const struct ty_model *m = ty_mx_end();
	struct ty_explain x = explain(m, command);
	struct ty_stalls s;
	unsigned n = 0;

	x.whole_machine = whole_machine;
	s = stalls_by(&x, false);

	for (uint32_t i = 0; i < s.n; i++)
		n += (!tid || ty_model_thread(m, s.v[i].thread)->tid == tid) &&
		     s.v[i].kind != TY_STALL_RUNQUEUE;
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

static inline unsigned stalls_of_thread(int command, int tid)
{
	return count_stalls(command, false, tid);
}

#endif
