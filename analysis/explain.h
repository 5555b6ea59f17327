/* SPDX-License-Identifier: MIT */
/* What the explaining analyses (wakeup, chain, stalls, ledger) look at. */
#ifndef TY_EXPLAIN_H
#define TY_EXPLAIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock_time.h"
#include "model.h"
#include "syscalls.h"

/* A cgroup's CPU quota kept its threads from running. */
struct ty_throttled {
	uint64_t ns;  /* as counted, but never longer than what was asked for */
	bool unknown; /* for a part of the time no count is known */
	uint64_t quota_us, period_us;
	const char *path;    /* of the group; borrowed */
	const int32_t *tids; /* its threads; borrowed */
	size_t tids_n;
};

struct ty_cpu_gaps;
struct ty_ticks;

struct ty_explain {
	const struct ty_model *m;
	const struct ty_sysarch *arch; /* may be NULL: system calls have no names */
	/* The arguments of a call: 0, or negative when they are not recorded. May be NULL. */
	int (*args)(void *ctx, const struct ty_syscall *c, uint64_t args[6]);
	/* What argument `arg` of the thread's call points to: a string ("/etc/passwd"), or a socket
	 * address ("socket:[127.0.0.1:80]", "UNIX:[/run/x]"; with "->" before it where the call
	 * connects or sends there). Borrowed; NULL: not known. May be NULL. */
	const char *(*pointee)(void *ctx, uint32_t thread, uint32_t call, unsigned arg);
#define TY_POINTEE_FD                                                                              \
	6 /* as arg (and 1 more: the second one): what the descriptor is that the                  \
	   * call made or gave an address, as the kernel had it at its end */
	/*
	 * What a descriptor was that was open before the recording, as looked at when it began,
	 * from fds_since_ns to fds_ns: text (a path, "TCP:[..]"), borrowed; NULL: not known. May be
	 * NULL.
	 */
	const char *(*fd_before)(void *ctx, int32_t pid, int32_t fd, bool *cloexec);
	/* The process had more then, for which there was no room. With fd_before. */
	bool (*fds_left_out)(void *ctx, int32_t pid);
	/* Did some socket listen at the address then ("127.0.0.1:80", n bytes), as far as
	 * descriptors were listed? May be NULL. */
	bool (*listens)(void *ctx, const char *at, size_t n);
	/*
	 * Was the thread's cgroup (or one above it) held back in [from, to), or may it have been,
	 * as far as samples tell? They are some 100 ms apart. Of several groups that which was for
	 * longest. May be NULL.
	 */
	bool (*throttled)(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns,
			  struct ty_throttled *out);
	/* Had a cgroup of the thread a CPU quota at some time in [from, to), as far as samples
	 * tell? out: which, without ns. May be NULL: not recorded. */
	bool (*quota)(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns,
		      struct ty_throttled *out);
	/*
	 * What the kernel counted as taken by the hypervisor from the CPU, by samples that overlap
	 * [from, to) (they are some 100 ms apart, and count in steps of USER_HZ): at most that
	 * long. 0 where none was counted. May be NULL: not recorded.
	 */
	uint64_t (*steal)(void *ctx, uint32_t cpu, uint64_t from_ns, uint64_t to_ns);
	/* Where in its program the thread waited in [from, to): "app_function (app.c:14)", by the
	 * recorded stack, in buf; false: there is none. May be NULL. */
	bool (*where)(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns, char *buf,
		      size_t n);
	/* The CPUs' ticks (steal.h). NULL: not known; nothing is told to be stolen then. */
	const struct ty_ticks *ticks;
	uint64_t fds_since_ns, fds_ns; /* 0: nothing was looked at */
	void *ctx;
	int32_t command_tid;  /* the traced command's first thread; 0: none was traced */
	bool whole_machine;   /* recorded without a command, and not of chosen processes */
	int32_t recorder_pid; /* its waits are no stalls of what it recorded; 0: not known */
	enum ty_clock clock;  /* of the times in sentences */
	const char *file;     /* the recording, in commands that are proposed; NULL: no name */
	/* For many ledgers: the gaps of a window that holds theirs (ty_cpu_gaps_find). NULL: each
	 * ledger looks at all gaps of the recording. */
	const struct ty_cpu_gaps *gaps;
	/* Set by another thread: give up, with -TY_EINTR. NULL: never. */
	const atomic_bool *stop;
	/* How many more steps (spans looked at, more or less) may be made; at 0 as with stop. NULL:
	 * any number. */
	uint64_t *steps;
};

static inline bool ty_explain_stopped(const struct ty_explain *x)
{
	if (x->steps && (!*x->steps || !--*x->steps))
		return true;
	return x->stop && atomic_load_explicit(x->stop, memory_order_relaxed);
}

/* The name of a call by index, "" for TY_NONE; in buf where the table has none. */
const char *ty_explain_call(const struct ty_explain *x, uint32_t call, char buf[32]);

/* What the call does, as 64-bit machines have it (sendfile for sendfile64); never NULL. */
const struct ty_sysrow *ty_explain_row(const struct ty_explain *x, uint32_t call);

/*
 * The same, and of socketcall and ipc what they carry, where arguments are recorded. behind: the
 * arguments are not those of the row (socketcall's lie behind a pointer).
 */
const struct ty_sysrow *ty_explain_deed(const struct ty_explain *x, const struct ty_syscall *c,
					bool *behind);

/* The first call of the thread that is not over at t; TY_NONE. One that the thread did not return
 * from (exit, or a kill) lasts as long as the thread. */
uint32_t ty_explain_call_after(const struct ty_model *m, uint32_t thread, uint64_t t_ns);
static inline uint64_t ty_explain_call_end(const struct ty_syscall *c)
{
	return c->flags & TY_SF_ENDED ? UINT64_MAX : c->end_ns;
}

#endif
