/* SPDX-License-Identifier: MIT */
/*
 * What all subcommands share: the dispatch table's type, options common to all readers, an opened
 * trace. Messages go to stderr as "tarry: sentence"; exit status 0 good, 1 failed, 2 wrong usage.
 */
#ifndef TY_CLI_H
#define TY_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "clock_time.h"
#include "err.h"
#include "events.h"
#include "formats.h"
#include "model.h"
#include "options.h"
#include "syscalls.h"
#include "trace.h"
#include "vec.h"
#include "window.h"

enum { TY_EXIT_GOOD = 0, TY_EXIT_FAILED = 1, TY_EXIT_USAGE = 2, TY_EXIT_INTERRUPTED = 130 };

int ty_cmd_record(int argc, char **argv);
int ty_cmd_view(int argc, char **argv);
int ty_cmd_report(int argc, char **argv);
int ty_cmd_dump(int argc, char **argv);
int ty_cmd_export(int argc, char **argv);
int ty_cmd_doctor(int argc, char **argv);

/* "tarry: ..." on stderr; usage errors end with a hint at --help. Return the exit status. */
int ty_cli_fail(const struct ty_err *err);
/* All that was printed is out: 0, or -TY_E... with err. A reader that has seen enough (head) is no
 * failure. */
int ty_cli_written(struct ty_err *err);
int ty_cli_usage(const char *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What options of readers say. */
struct ty_select {
	const char *from,
		*to; /* as typed: seconds from start, +N / -N, clock time HH:MM:SS[.frac] */
	VEC(int32_t) tids;
	struct ty_texts comms;
	VEC(uint32_t) cpus;
	uint64_t memory_bytes; /* --memory; 0: the default */
	bool no_index;
	bool json;
	bool clock_chosen; /* --clock, where the command takes it */
	enum ty_clock clock;
};

/* Tables that fill a struct ty_select: which part of the file (--from --to --tid --comm --cpu), and
 * what some commands take besides. */
extern const struct ty_option ty_select_options[], ty_json_option[], ty_clock_option[],
	ty_memory_option[], ty_index_option[];
/* Taken, and without effect, where a reader has no model: so scripts may give them to all. */
extern const struct ty_option ty_unused_options[];
/* --cpu's numbers, for a command whose --cpu takes more. As the take of struct ty_option. */
int ty_select_take_cpus(void *sel, const char *arg, struct ty_err *err);
void ty_select_fini(struct ty_select *s);

/* An opened file. Members are there as asked for by the flags; fini in any state. */
struct ty_fd_names;
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
	struct ty_fd_names *fds;    /* open before the recording; made when first needed */
	struct ty_held_lines *held; /* by CPU quotas; made when first needed */
	ty_thread_lines snapshot;   /* of TY_SEC_THREADS; made when first needed */
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

/*
 * Resolve from/to against the trace: into w (borrowing from sel). Without a model the start is that
 * of the first event. 0, or -TY_EUSAGE with a sentence (not a time; from after to; outside the
 * trace). With a model, a choice of threads or CPUs that chooses none is told on stderr.
 */
int ty_select_window(const struct ty_select *sel, const struct ty_session *s, struct ty_window *w,
		     struct ty_err *err);

/* --at: an instant of the recording, whose model is there. 0, or -TY_EUSAGE with a sentence. */
int ty_select_instant(const struct ty_session *s, const char *opt, const char *arg, uint64_t *ts_ns,
		      struct ty_err *err);

/* The clock asked for, into s, whose model is there. 0, or -TY_EUSAGE with a sentence when it is
 * the wall clock and the file does not tell it. JSON keeps the clocks it always has. */
int ty_select_clock(const struct ty_select *sel, struct ty_session *s, struct ty_err *err);
/* That sentence. */
int ty_select_no_wall(const char *path, struct ty_err *err);

/* ty_select_window against known bounds of a file without a wall clock; end_ns is the last instant.
 */
int ty_select_range(const struct ty_select *sel, const char *path, uint64_t start_ns,
		    uint64_t end_ns, struct ty_window *w, struct ty_err *err);

/* Readers without a model learn only at the last event where the trace ends: -TY_EUSAGE with the
 * sentence when --from lies behind it, else 0. */
int ty_select_inside(const struct ty_select *sel, const struct ty_window *w, uint64_t last_ns,
		     struct ty_err *err);

#endif
