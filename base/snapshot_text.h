/* SPDX-License-Identifier: MIT */
/*
 * The lines of what a recording knows of the time before its events, and of what no event tells:
 * threads, descriptors, groups held back by a CPU quota (section.h: TY_SEC_THREADS, TY_SEC_FDS,
 * TY_SEC_QUOTA; tarry.dat(5)). Each reader takes a line and moves *text behind it (at first the
 * section's text; NULL is an empty one); what is no such line is passed over. Fields are borrowed
 * from the text, as they stand there (ty_unescape_field), and end before the next TAB or newline.
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

/* When it was taken (trace clock), by the last line that says so; false: none does. */
bool ty_snap_taken(const char *text, uint64_t *from_ns, uint64_t *to_ns);

struct ty_snap_thread {
	int32_t tid;	    /* > 0 */
	int32_t tgid, ppid; /* -1: unknown */
	char state;	    /* '?': unknown */
	int64_t nr;	    /* of the call that it is in; -1: in none, or not known */
	struct ty_snap_field policy, call, affinity, cgroup, comm;
};
bool ty_snap_thread(const char **text, struct ty_snap_thread *t);
/* The arguments of the call; false: they are not all there. */
bool ty_snap_args(const struct ty_snap_thread *t, uint64_t args[6]);

struct ty_snap_fd {
	enum {
		TY_SNAP_FD_END,	     /* no further line */
		TY_SNAP_FD_OPEN,     /* a descriptor */
		TY_SNAP_FD_CWD,	     /* the working directory: target */
		TY_SNAP_FD_LEFT_OUT, /* the list of pid is not whole; pid < 0: that of some is not
				      */
	} is;
	int32_t pid, fd;
	bool cloexec;
	struct ty_snap_field target;
};
struct ty_snap_fd ty_snap_fd(const char **text);

struct ty_snap_quota {
	uint64_t from_ns, to_ns; /* from < to */
	uint64_t throttled_ns;	 /* 0 with unknown */
	bool unknown;
	uint64_t quota_us, period_us;
	struct ty_snap_field path, tids;
	bool same_tids; /* as in the path's line before */
};
bool ty_snap_quota(const char **text, struct ty_snap_quota *q);
/* The threads one by one, from q.tids on; false: no further one. */
bool ty_snap_tid(struct ty_snap_field *tids, int32_t *tid);

#endif
