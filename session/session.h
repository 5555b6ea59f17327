/* SPDX-License-Identifier: MIT */
/*
 * An opened recording: the file, its event formats, its events in order, the model built from them.
 * Progress and notes go to stderr; errors are the caller's to print.
 */
#ifndef TY_SESSION_H
#define TY_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "clock_time.h"
#include "err.h"
#include "events.h"
#include "formats.h"
#include "model.h"
#include "syscalls.h"
#include "texts.h"
#include "trace.h"
#include "vec.h"

/* An opened file. Members are there as asked for by the flags; fini in any state. */
struct ty_fd_names;
struct ty_evidence_index;
struct ty_strtab;
struct ty_wait_stacks;
/* Where a section has the line of a thread; in order of tid, then of the text. */
struct ty_thread_line {
	int32_t tid;
	uint32_t at;
};
typedef VEC(struct ty_thread_line) ty_thread_lines;

struct ty_session {
	struct ty_trace *trace;
	struct ty_formats *formats;
	struct ty_events *events; /* at the first event */
	struct ty_model *model;
	const struct ty_sysarch *arch;
	struct ty_fd_names *fds;	    /* open before the recording; made when first needed */
	struct ty_throttle_lines *held;	    /* by CPU quotas; made when first needed */
	struct ty_steal_lines *steal;	    /* by the hypervisor; made when first needed */
	struct ty_ticks *ticks;		    /* of the CPUs; made when first needed */
	struct ty_evidence_index *evidence; /* made when first needed; NULL also: none recorded */
	struct ty_strtab *addresses;	    /* of sockets, as text */
	VEC(char *) address;	       /* by id: a text stays where it is while others are added */
	ty_thread_lines snapshot;      /* of TY_SEC_THREADS; made when first needed */
	struct ty_wait_stacks *stacks; /* made when first needed; NULL also: none recorded */
	const struct ty_texts *roots;  /* --symfs, for these; NULL */
	char arch_name[32];
	enum ty_clock clock;   /* that text shows times in (ty_select_clock) */
	bool write_index;      /* of the model, when it is built */
	uint64_t memory_bytes; /* what reading and the model may take */
};
enum {
	TY_OPEN_EVENTS = 1,
	TY_OPEN_MODEL = 2,    /* implies EVENTS (rewound) */
	TY_OPEN_NO_INDEX = 4, /* neither read nor write an index file (--no-index) */
	TY_OPEN_LATER = 8     /* without an index the model stays NULL: ty_session_build */
};

/* Open path (default tarry.dat when NULL); progress on stderr when that is a terminal. Warnings
 * (unfinished, truncated) are printed to stderr. memory_bytes: what reading and the model may take
 * (0: a quarter of the machine's). 0 or -TY_E... with err. */
int ty_session_open(struct ty_session *s, const char *path, unsigned flags, uint64_t memory_bytes,
		    struct ty_err *err);
/* What reading may take where --memory does not say: a quarter of the machine's. */
uint64_t ty_memory_default(void);
/* How far the building of a model is. */
struct ty_progress {
	uint64_t events; /* taken so far */
	double part;	 /* 0 .. 1 of the file; when finishing, of that */
	bool finishing;	 /* all events are taken, and their spans are being arranged */
};
struct ty_build_how {
	uint64_t memory_bytes; /* for reading ahead and the model */
	uint64_t most; /* take so many events (more or less): a model of the begin, without an
			  index; 0: all */
	/* Every few milliseconds; false: give up, with -TY_EINTR. May be NULL. */
	bool (*tell)(void *ctx, const struct ty_progress *p);
	void *ctx;
};
/* The model of a session that was opened without (TY_OPEN_LATER). how NULL: of all, in s's memory,
 * with progress on stderr and Ctrl-C; else it may be done in any thread. */
int ty_session_build(struct ty_session *s, const struct ty_build_how *how, struct ty_err *err);

/* Where else the programs of the recorded machine are (--symfs): borrowed. 0. */
int ty_session_symfs(struct ty_session *s, const struct ty_texts *roots);
/* The stacks of waits, s's; NULL: none are recorded (or out of memory). */
struct ty_wait_stacks *ty_session_stacks(struct ty_session *s);

/* What the recording could not tell from the first, in words; NULL: nothing to be said. */
const char *ty_session_scope(const struct ty_session *s);

/* An index file turned out to be damaged: remove it, and say so. -TY_EFORMAT. */
int ty_index_damaged(const char *path, struct ty_err *err);
/* Of a recording that kept its newest part (record --keep), with its model: how long it was in all,
 * and that in words; NULL when nothing was dropped. */
enum { TY_KEPT_MAX = 200 };
uint64_t ty_session_recorded_ns(const struct ty_session *s);
const char *ty_session_kept(const struct ty_session *s, char out[TY_KEPT_MAX]);
/* When all is shown: -TY_EFORMAT when the index file that it came from turned out to be damaged. */
int ty_session_check(const struct ty_session *s, struct ty_err *err);
void ty_session_fini(struct ty_session *s);

#endif
