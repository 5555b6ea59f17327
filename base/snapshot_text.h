/* SPDX-License-Identifier: MIT */
/*
 * Parses the snapshot sections of a recording: threads, file descriptors, command lines and cgroups
 * throttled by a CPU quota (section.h: TY_SEC_THREADS, TY_SEC_FDS, TY_SEC_COMMANDS, TY_SEC_QUOTA;
 * tarry.dat(5)). Each reader returns one line and advances *text past it. *text is
 * the section's text at first; NULL is an empty one. Malformed lines are skipped. Fields are
 * borrowed from the text, still escaped (ty_unescape_field), and end at the next TAB or newline.
 */
#ifndef TY_SNAPSHOT_TEXT_H
#define TY_SNAPSHOT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ty_snap_field {
	const char *s;
	size_t n; /* 0: missing */
};

/* When the snapshot was taken (trace clock), according to the last line that states it. False when
 * none does. */
bool ty_snap_taken(const char *text, uint64_t *from_ns, uint64_t *to_ns);

struct ty_snap_thread {
	int32_t tid;	    /* > 0 */
	int32_t tgid, ppid; /* -1: unknown */
	char state;	    /* '?': unknown */
	int64_t nr;	    /* of the current system call; -1: in none, or unknown */
	struct ty_snap_field policy, call, affinity, cgroup, comm;
};
bool ty_snap_thread(const char **text, struct ty_snap_thread *t);
/* The arguments of the call. False when they are incomplete. */
bool ty_snap_args(const struct ty_snap_thread *t, uint64_t args[6]);

struct ty_snap_fd {
	enum {
		TY_SNAP_FD_END,	     /* no further line */
		TY_SNAP_FD_TAKEN,    /* those that follow are known from taken_ns on */
		TY_SNAP_FD_OPEN,     /* a descriptor */
		TY_SNAP_FD_CWD,	     /* the working directory: target */
		TY_SNAP_FD_LEFT_OUT, /* the descriptors of pid are incomplete; pid < 0: those of
				      * some processes */
	} is;
	uint64_t taken_ns;
	int32_t pid, fd;
	bool cloexec;
	char access;  /* 'r', 'w', 'b' (both); 0: unknown */
	uint32_t net; /* its network namespace; 0: unknown */
	struct ty_snap_field target;
};
struct ty_snap_fd ty_snap_fd(const char **text);

/* A line of TY_SEC_COMMANDS: a process' command line, read at ns. */
struct ty_snap_command {
	uint64_t ns;
	int32_t pid;			/* > 0 */
	struct ty_snap_field arguments; /* with TABs between them */
};
bool ty_snap_command(const char **text, struct ty_snap_command *c);

struct ty_snap_quota {
	uint64_t from_ns, to_ns; /* from < to */
	uint64_t throttled_ns;	 /* 0 when unknown */
	bool unknown;
	uint64_t quota_us, period_us;
	struct ty_snap_field path, tids;
	bool same_tids; /* the same as in the previous path's line */
};
bool ty_snap_quota(const char **text, struct ty_snap_quota *q);
/* Iterates over thread ids, starting with q.tids. False when there is no further one. */
bool ty_snap_tid(struct ty_snap_field *tids, int32_t *tid);

#endif
