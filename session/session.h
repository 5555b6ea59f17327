/* SPDX-License-Identifier: MIT */
/*
 * An opened recording: the file, its event formats, its events in order, the model built from them.
 * Progress and notes go to stderr; the caller prints errors.
 */
#ifndef TY_SESSION_H
#define TY_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "time_format.h"
#include "err.h"
#include "events.h"
#include "formats.h"
#include "model.h"
#include "paged_bytes.h"
#include "syscalls.h"
#include "texts.h"
#include "trace.h"
#include "vec.h"

/* An opened file. Which members are set depends on the flags; call fini in any state. */
struct ty_fd_snapshot;
struct ty_fd_others;
struct ty_call_data_index;
struct ty_strtab;
struct ty_wait_stacks;
struct ty_samples;
struct ty_counts;
/* Line of a thread in a section; sorted by tid, then by position in the text. */
struct ty_thread_line {
	int32_t tid;
	uint32_t at;
};
typedef VEC(struct ty_thread_line) ty_thread_lines;

/* Held by callbacks of ty_explain_session. Stacks have their own: unwinding takes long, and a view
 * reads arguments for its next frame. */
struct ty_session_locks {
	pthread_mutex_t reading, stacks, samples;
};

struct ty_session {
	struct ty_trace *trace;
	struct ty_formats *formats;
	struct ty_events *events; /* positioned at the first event */
	struct ty_model *model;
	const struct ty_sysarch *arch;
	struct ty_fd_snapshot *fds;	      /* open before the recording; created on first use */
	struct ty_fd_histories *fd_histories; /* created on first use, where there are no locks */
	struct ty_fd_others *others;	      /* ends of pipes and sockets; created on first use */
	struct ty_throttle_lines *held;	      /* throttled by CPU quotas; created on first use */
	struct ty_steal_lines *steal;	      /* stolen by the hypervisor; created on first use */
	struct ty_ticks *ticks;		      /* of the CPUs; created on first use */
	struct ty_call_data_index *call_data; /* created on first use; also NULL when none are
					       * recorded */
	bool call_data_read;		      /* call_data was created, or cannot be */
	struct ty_err call_data_err;	      /* why it cannot */
	struct ty_paged event_strings;	      /* ty_session_call_data */
	pthread_mutex_t event_strings_lock;
	bool event_strings_read;
	struct ty_strtab *addresses;   /* of sockets, as text */
	VEC(char *) address;	       /* by id: strings do not move when others are added */
	ty_thread_lines snapshot;      /* of TY_SEC_THREADS; created on first use */
	struct ty_wait_stacks *stacks; /* created on first use; also NULL when none are recorded */
	struct ty_samples *samples;    /* created on first use; also NULL when none are recorded */
	struct ty_samples *functions;  /* the same, of each only the innermost frame */
	struct ty_counts *counts;      /* created on first use; also NULL when none are recorded */
	const struct ty_texts *roots;  /* --symfs, for these; NULL */
	char arch_name[32];
	enum ty_clock clock;	       /* clock for times in text (ty_select_clock) */
	const struct ty_model *titled; /* the model that was given the command lines */
	bool titles_later;     /* ty_explain_session leaves ty_session_titles to another thread */
	bool write_index;      /* of the model, when it is built */
	uint64_t memory_bytes; /* memory limit for reading and the model */
	bool has_limit;	       /* it was given: memory that is freed is returned at once */
	struct ty_session_locks *locks; /* NULL: one thread only */
};
enum {
	TY_OPEN_EVENTS = 1,
	TY_OPEN_MODEL = 2,    /* implies EVENTS (rewound) */
	TY_OPEN_NO_INDEX = 4, /* neither read nor write an index file (--no-index) */
	TY_OPEN_LATER = 8, /* without an index file the model stays NULL: call ty_session_build */
	TY_OPEN_QUIET = 16 /* nothing on stderr: a view has the terminal */
};

/* Opens path (default tarry.dat when NULL); progress on stderr when that is a terminal. Warnings
 * (unfinished, truncated) are printed on stderr. memory_bytes: memory limit for reading and the
 * model (0: a quarter of the machine's). 0 or -TY_E... with err. */
int ty_session_open(struct ty_session *s, const char *path, unsigned flags, uint64_t memory_bytes,
		    struct ty_err *err);
/* Memory limit without --memory: a quarter of the machine's. */
uint64_t ty_memory_default(void);
/* Progress of building a model. */
struct ty_progress {
	uint64_t events; /* processed so far */
	double part;	 /* 0 .. 1 of the file; while finishing, of that */
	bool finishing;	 /* all events are processed; spans are being arranged */
};
struct ty_build_how {
	uint64_t memory_bytes; /* for reading ahead and the model */
	uint64_t most; /* process about this many events: a model of the beginning, without an index
			* file; 0: all */
	/* Called every few milliseconds; return false to cancel with -TY_EINTR. May be NULL. */
	bool (*on_progress)(void *ctx, const struct ty_progress *p);
	void *ctx;
};
/* Builds the model of a session opened with TY_OPEN_LATER. how NULL: of all events, within s's
 * memory limit, with progress on stderr and Ctrl-C; otherwise callable from any thread. */
int ty_session_build(struct ty_session *s, const struct ty_build_how *how, struct ty_err *err);

/* Sets further directories with the programs of the recorded machine (--symfs): borrowed. 0. */
int ty_session_symfs(struct ty_session *s, const struct ty_texts *roots);
/* The stacks of waits, owned by s; NULL: none are recorded (or out of memory). */
struct ty_wait_stacks *ty_session_stacks(struct ty_session *s);
/* The samples of what ran on the CPUs, unwound and named, as s->samples. 0; -TY_ENOTFOUND: none are
 * recorded; -TY_E... */
int ty_session_samples(struct ty_session *s, struct ty_err *err);
/* The functions that samples were in, without callers, which is much faster: as s->functions, in
 * order of threads, too. Explaining analyses (ty_explain_session) use them from then on. Nothing
 * where there are none, or where they cannot be read. 0, -TY_ENOMEM, or -TY_EINTR: *stop (may be
 * NULL) was set by another thread. */
int ty_session_functions(struct ty_session *s, const atomic_bool *stop);
/* The readings of performance counters, as s->counts. The same. */
int ty_session_counts(struct ty_session *s, struct ty_err *err);

/* A sentence about what the recording cannot contain; NULL: none. */
const char *ty_session_scope(const struct ty_session *s);

/* Removes a damaged index file and reports it. -TY_EFORMAT. */
int ty_index_damaged(const char *path, struct ty_err *err);
/* For a recording that kept its newest part (record --keep), with its model: its total duration,
 * and a sentence about it; NULL when nothing was dropped. */
enum { TY_KEPT_MAX = 200 };
uint64_t ty_session_recorded_ns(const struct ty_session *s);
/* CPU time of the recorder while it recorded, of all that it recorded; 0: unknown. */
uint64_t ty_recorder_cpu_ns(const struct ty_trace *t);
const char *ty_session_kept(const struct ty_session *s, char out[TY_KEPT_MAX]);
/* Call at the end of output: -TY_E... when the index file turned out to be damaged, or data of the
 * file could not be read, which the output lacks. */
int ty_session_check(const struct ty_session *s, struct ty_err *err);
void ty_session_fini(struct ty_session *s);

#endif
