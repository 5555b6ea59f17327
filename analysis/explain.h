/* SPDX-License-Identifier: MIT */
/* Input of the explaining analyses (wakeup, chain, stalls, ledger): the model, and callbacks for
 * facts that are not in it. */
#ifndef TY_EXPLAIN_H
#define TY_EXPLAIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "time_format.h"
#include "model.h"
#include "syscalls.h"

/* A cgroup throttled by its CPU quota. */
struct ty_throttled {
	uint64_t ns;  /* as counted, clipped to the queried time */
	bool unknown; /* part of the time has no count */
	uint64_t quota_us, period_us;
	const char *path;    /* of the group; borrowed */
	const int32_t *tids; /* its threads; borrowed */
	size_t tids_n;
};

/* A lock that is waited for, and its holder. */
struct ty_lock_seen {
	const char *kind; /* "mutex", "flock" */
	bool process;	  /* holder is a process, not a thread */
	bool certain; /* it is certainly such a lock: according to the kernel, or the thread waited
			 in a function that takes one. Otherwise its bytes resemble one */
	int32_t holder;
	unsigned looks; /* the last ones that found this holder */
	uint64_t at_ns; /* of the last scan */
	uint64_t word;	/* a futex' address; 0 */
	char name[128]; /* "g_lock (app.c:14)"; "" */
};

/* What a thread waited for, by a known function in its stack. */
enum ty_stack_role { TY_ROLE_NONE, TY_ROLE_LOCK, TY_ROLE_SLEEP };

struct ty_fd_received {
	int32_t fd;
	bool cloexec;
	const char *name; /* borrowed; NULL: unknown */
};

/* The other end of a pipe or socket. */
struct ty_fd_other {
	int32_t pid;	  /* a process that had it before the recording; else 0 */
	int32_t tid;	  /* else a thread that made it, */
	uint64_t ns;	  /* in the call that it was in then */
	const char *name; /* borrowed; NULL: unknown */
	bool several;	  /* further processes had it before the recording, or sockets of several
			     network namespaces have that address */
};

struct ty_counts;
struct ty_cpu_gaps;
struct ty_fd_histories;
struct ty_samples;
struct ty_kept_paths;
struct ty_span_blocks;
struct ty_ticks;
struct ty_woken;

struct ty_explain {
	const struct ty_model *m;
	const struct ty_sysarch *arch; /* may be NULL: system calls have no names */
	/* The arguments of a call: 0, or negative when they are not recorded. May be NULL. Where
	 * the first ones will do, ty_explain_args is much faster. */
	int (*args)(void *ctx, const struct ty_syscall *c, uint64_t args[6]);
	bool args_in_model; /* those of the model are the same */
	/* What argument `arg` of the thread's call points to: a string ("/etc/passwd"), or a socket
	 * address ("socket:[127.0.0.1:80]", "UNIX:[/run/x]"; with "->" before it when the call
	 * connects or sends to it). Borrowed; NULL: unknown. May be NULL. */
	const char *(*pointee)(void *ctx, uint32_t thread, uint32_t call, unsigned arg);
#define TY_POINTEE_FD                                                                              \
	6 /* as arg (and 1 more: the second one): what the descriptor is that the                  \
	   * call made or gave an address, as the kernel had it at its end */
	/* The only descriptor that the thread's poll was for; room: it was for room to write, and
	 * found that alone. False: several, or unknown. May be NULL. */
	bool (*polled)(void *ctx, uint32_t thread, uint32_t call, int32_t *fd, bool *room);
	/* The only descriptor that was ready when the thread's poll, select or epoll_wait returned;
	 * -1: none, several, or not recorded. May be NULL. */
	int32_t (*ready)(void *ctx, uint32_t thread, uint32_t call);
	/* Descriptor i that the thread's call received (SCM_RIGHTS); false: there is no such. NULL:
	 * none is recorded. */
	bool (*received)(void *ctx, uint32_t thread, uint32_t call, unsigned i,
			 struct ty_fd_received *out);
	/*
	 * A descriptor that was open before the recording, as of the snapshot taken from
	 * fds_since_ns to fds_ns: text (a path, "TCP:[..]"), borrowed; NULL: unknown. May be NULL.
	 */
	const char *(*fd_before)(void *ctx, int32_t pid, int32_t fd, bool *cloexec);
	/* The first descriptor from `from` on of which fd_before has a text, INT32_MAX: none. NULL:
	 * each is tried. */
	int32_t (*fd_listed)(void *ctx, int32_t pid, int32_t from);
	/* True when the process had further descriptors that the snapshot omits. With fd_before. */
	bool (*fds_left_out)(void *ctx, int32_t pid);
	/*
	 * The process that made, or had, the other end of the pipe or socket with that name before
	 * t, not the process not_pid. access: 'r', 'w': how this end is used, 0: unknown. by_tid:
	 * the thread that made this end; 0: it is of not_pid since before the recording. False:
	 * unknown. May be NULL.
	 */
	bool (*fd_other)(void *ctx, const char *name, char access, uint64_t t_ns, int32_t not_pid,
			 int32_t by_tid, struct ty_fd_other *out);
	/* True when a listed socket was listening at the address then ("127.0.0.1:80", n bytes).
	 * May be NULL. */
	bool (*listens)(void *ctx, const char *at, size_t n);
	/*
	 * True when the thread's cgroup (or one above it) was, or may have been, throttled in
	 * [from, to), according to samples about 100 ms apart. out: of several groups the one
	 * throttled longest. May be NULL.
	 */
	bool (*throttled)(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns,
			  struct ty_throttled *out);
	/* True when a cgroup of the thread had a CPU quota in all of [from, to), according to
	 * samples. out: which, without ns. May be NULL: not recorded. */
	bool (*quota)(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns,
		      struct ty_throttled *out);
	/*
	 * Time stolen from the CPU by the hypervisor, from samples that overlap [from, to) (about
	 * 100 ms apart, in units of USER_HZ): at most that long. 0 when none was counted. May be
	 * NULL: not recorded.
	 */
	uint64_t (*steal)(void *ctx, uint32_t cpu, uint64_t from_ns, uint64_t to_ns);
	/* Where in its program the thread waited in [from, to): "app_function (app.c:14)", from the
	 * recorded stack, in buf; false: no stack. May be NULL. */
	bool (*where)(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns, char *buf,
		      size_t n);
	/* The same stack, a line for each frame, innermost first; waker: of the thread that woke it
	 * then. *of_tid: whose it is. False: none. May be NULL. */
	bool (*stack)(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns, bool waker,
		      int32_t *of_tid, struct ty_buf *out);
	/* The role of its wait in [from, to), by the same stack. May be NULL. */
	enum ty_stack_role (*role)(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns);
	/* The name of a block device and what was mounted from it, "vda (254:0, /)", in buf; false:
	 * not recorded. May be NULL. */
	bool (*disk)(void *ctx, uint32_t major, uint32_t minor, char *buf, size_t n);
	/* The holder of the lock that the thread waited for in [from, to), as read while it waited;
	 * false: unknown. May be NULL. */
	bool (*holder)(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns,
		       struct ty_lock_seen *out);
	/* The CPUs' ticks (steal.h). NULL: unknown; no time is then reported as stolen. */
	const struct ty_ticks *ticks;
	uint64_t fds_since_ns, fds_ns; /* 0: no snapshot */
	void *ctx;
	int32_t command_tid; /* the traced command's first thread; 0: no command */
#define TY_COMMAND_UNKNOWN UINT64_MAX
	uint64_t command_ns; /* of a file that holds a part of its life: all of it. 0: as found */
	int32_t path_tid;    /* of an exported part: where the command's path lies at its end; 0 */
	bool path_inferred;
	bool whole_machine;   /* recorded without a command and without selected processes */
	int32_t recorder_pid; /* its waits are not stalls of the recorded system; 0: unknown */
	enum ty_clock clock;  /* of the times in sentences */
	const char *file;     /* the recording's name for proposed commands; NULL: none */
	/* Cache for many ledgers: the gaps of a window that contains theirs (ty_cpu_gaps_find).
	 * NULL: each ledger scans all gaps of the recording. */
	const struct ty_cpu_gaps *gaps;
	/* Descriptors of processes, for one thread (fd_kind.h). NULL: each look-up begins anew. */
	struct ty_fd_histories *fd_histories;
	/* Caches of a search for stalls; else NULL (stall_woken.c, path_part.h, span_blocks.h). */
	struct ty_woken *woken;
	struct ty_kept_paths *paths;
	struct ty_span_blocks *spans;
	/* Performance counters; NULL: none. */
	const struct ty_counts *counts;
	/* CPU samples in order of threads, too (ty_samples_by_thread), which divide a ledger's user
	 * mode by function. NULL: it is not divided. */
	const struct ty_samples *samples;
	/* Set by another thread to cancel with -TY_EINTR. NULL: never. */
	const atomic_bool *stop;
	/* Remaining number of steps (roughly spans visited); at 0, cancels as with stop. NULL:
	 * unlimited. */
	uint64_t *steps;
};

/* The first descriptor from `from` on that fd_before may have a text of; INT32_MAX: none. */
static inline int32_t ty_explain_fd_listed(const struct ty_explain *x, int32_t pid, int32_t from)
{
	if (!x->fd_before)
		return INT32_MAX;
	return x->fd_listed ? x->fd_listed(x->ctx, pid, from) : from;
}

static inline bool ty_explain_stopped(const struct ty_explain *x)
{
	if (x->steps && (!*x->steps || !--*x->steps))
		return true;
	return x->stop && atomic_load_explicit(x->stop, memory_order_relaxed);
}

/* A block device in a sentence: "disk vda (254:0, /)", or "disk 254:0" when its name is not
 * recorded. */
#define TY_DISK_TEXT 120
const char *ty_explain_disk(const struct ty_explain *x, uint32_t major, uint32_t minor,
			    char buf[TY_DISK_TEXT]);

/* Name of a call by index, "" for TY_NONE; in buf when the table has none. */
const char *ty_explain_call(const struct ty_explain *x, uint32_t call, char buf[32]);

/* The call's row, with 64-bit names (sendfile for sendfile64); never NULL. */
const struct ty_sysrow *ty_explain_row(const struct ty_explain *x, uint32_t call);

/*
 * The same, but for socketcall and ipc the operation they carry, when arguments are recorded.
 * behind: the arguments are not those of the row (socketcall's are behind a pointer).
 */
const struct ty_sysrow *ty_explain_deed(const struct ty_explain *x, const struct ty_syscall *c,
					bool *behind);

/* The first n arguments of a call, at most TY_MODEL_ARGS; the others are undefined. As x->args,
 * which may be NULL. */
int ty_explain_args(const struct ty_explain *x, const struct ty_syscall *c, unsigned n,
		    uint64_t args[6]);

/* True when both calls are of one number, and their first n arguments are recorded and equal. */
bool ty_explain_same_args(const struct ty_explain *x, const struct ty_syscall *a,
			  const struct ty_syscall *b, unsigned n);

/* The thread's first call that ends after t; TY_NONE. A call from which the thread did not return
 * (exit, or a kill) lasts as long as the thread. */
uint32_t ty_explain_call_after(const struct ty_model *m, uint32_t thread, uint64_t t_ns);
/* The call in which the thread was for more than half of [from, to); TY_NONE. */
uint32_t ty_explain_main_call(const struct ty_model *m, uint32_t thread, uint64_t from,
			      uint64_t to);
static inline uint64_t ty_explain_call_end(const struct ty_syscall *c)
{
	return c->flags & TY_SF_ENDED ? UINT64_MAX : c->end_ns;
}

#endif
