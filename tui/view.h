/* SPDX-License-Identifier: MIT */
/*
 * A view is a table of callbacks over its own state; the program (app.h) keeps a stack of views and
 * gives the topmost one the screen and the input. Views write cells and know no terminal.
 */
#ifndef TY_VIEW_H
#define TY_VIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "explain.h"
#include "grid.h"
#include "keys.h"
#include "log_file.h"
#include "model.h"
#include "palette.h"
#include "syscalls.h"
#include "window.h"

/* The smallest supported screen. */
#define TY_VIEW_MIN_W 40
#define TY_VIEW_MIN_H 10

enum ty_view_result {
	TY_VIEW_IGNORED, /* nothing changed */
	TY_VIEW_CHANGED, /* draw again */
	TY_VIEW_REDRAW,	 /* draw every cell again, whatever the terminal shows */
	TY_VIEW_CLOSE,	 /* leave this view */
	TY_VIEW_PUSH,	 /* open the view that `child` returns */
	TY_VIEW_HELP,	 /* open the help */
	TY_VIEW_QUIT
};

enum ty_mouse_what {
	TY_MOUSE_CLICK,	 /* left button down */
	TY_MOUSE_DOUBLE, /* down again at the same place, soon after */
	TY_MOUSE_DRAG,	 /* moved with the left button held down */
	TY_MOUSE_DROP,	 /* left button up */
	TY_MOUSE_WHEEL_UP,
	TY_MOUSE_WHEEL_DOWN,
	TY_MOUSE_COUNT
};
struct ty_mouse {
	enum ty_mouse_what what;
	int x, y;
	bool ctrl; /* Ctrl was held down */
};

/* The help of a page: its keys, and sentences. */
struct ty_help_key {
	enum ty_action a, b; /* b TY_ACT_NONE: one action's keys */
	const char *what;
};
struct ty_help_topic {
	const char *title;
	const char *enter; /* the effect of Enter, where the keys leave that open; NULL */
	const struct ty_help_key *keys;
	size_t keys_n;
	const char *const *lines;
	size_t lines_n;
	const char *about; /* a sentence before the lines; NULL */
};
/* For a key that a page does not have. */
#define TY_NO_KEY "this key has no effect here; ? shows the keys of this page"

struct ty_view_ops {
	const char *name;
	/* The help of this page; NULL: the timeline's. */
	struct ty_help_topic (*help)(const void *self);
	void (*draw)(void *self, struct ty_grid *g, const struct ty_palette *p);
	enum ty_view_result (*act)(void *self, enum ty_action a);
	enum ty_view_result (*mouse)(void *self, const struct ty_mouse *m);
	/* While text is being typed (a prompt), keys are passed here instead of as actions. Both
	 * NULL: never. */
	bool (*wants_text)(const void *self);
	enum ty_view_result (*text)(void *self, uint32_t key);
	/* True while the view has nothing to act on yet: keys are kept, and given to it when it
	 * has, but for those that leave it, redraw or open help. NULL: never. */
	bool (*loading)(const void *self);
	/* The view that TY_VIEW_PUSH opens; NULL when that is never returned. */
	void (*child)(void *self, const struct ty_view_ops **ops, void **child);
	/* Called after the view above it was closed; the result counts as for a key. NULL: no
	 * effect. */
	enum ty_view_result (*resumed)(void *self);
	/* Long work, in slices of a few milliseconds between checks of the input. wait_ms: -1:
	 * nothing to do, else milliseconds until the next slice; both NULL: never any. */
	int (*wait_ms)(const void *self);
	enum ty_view_result (*work)(void *self);
};

struct ty_view_input;
struct ty_flow_input; /* flow_view.h */
struct ty_memory_input;
struct ty_samples;
struct ty_call_objects;
struct ty_sample_marks;
struct ty_counts;
/* How far the indexing of a recording's rest is. */
struct ty_indexing_news {
	double part;   /* 0 .. 1 */
	double left_s; /* negative: unknown yet */
	/* When it is over: */
	const struct ty_view_input *all; /* the whole recording; lives as long as the first input */
	bool failed;			 /* none; err has the reason */
	struct ty_err err;
};

/* Services that the program provides for a view. A function may be NULL when unsupported. All get
 * ctx. */
struct ty_view_host {
	void *ctx;
	/* "3, 0x7f.., 512" of a system call (model index), into buf; NULL when unavailable. */
	const char *(*syscall_args)(void *ctx, uint32_t syscall, char *buf, size_t n);
	/*
	 * Writes [from, to) to a file in the form given by its suffix (.txt, .json, .dat), in the
	 * background. start returns 0 or -TY_E... with a sentence; poll true when it has ended,
	 * with its message.
	 */
	int (*export_start)(void *ctx, const char *path, uint64_t from_ns, uint64_t to_ns,
			    struct ty_err *err);
	bool (*export_poll)(void *ctx, char *said, size_t n);
	void (*export_stop)(void *ctx);
	/* The model holds the first part of the recording, while all of it is being indexed: true
	 * when that is over. NULL: the model is of all. */
	bool (*indexing_poll)(void *ctx, struct ty_indexing_news *news);
	/* What was kept of this recording when it was last open (timeline_marks_write.c), into out;
	 * and keep it: 0 or -TY_E... with a sentence. lock: against other views of the recording,
	 * around reading it again and keeping it. All or none are NULL. */
	void (*keep_load)(void *ctx, struct ty_buf *out);
	void (*keep_lock)(void *ctx, bool on);
	int (*keep_save)(void *ctx, const char *text, size_t n, struct ty_err *err);
	/* The first keys were shown. NULL: no effect. */
	void (*first_keys_shown)(void *ctx);
	/* Reads what names of processes need, called in the thread that searches for stalls, before
	 * it does. NULL: it is there. */
	void (*titles_load)(void *ctx);
	/*
	 * The memory samples of the recording, read when it is opened (in a thread where `aside`):
	 * 0, -TY_ENOTFOUND: it has none, -TY_EINTR when *stop is set. NULL: it has none.
	 */
	int (*memory_load)(void *ctx, const atomic_bool *stop, const struct ty_memory_input **out,
			   struct ty_err *err);
	/* The samples of what ran on the CPUs, read when they are first requested (in a thread
	 * where `aside`): 0, -TY_EINTR when *stop is set, or with err. NULL: it has none. */
	int (*samples_load)(void *ctx, const atomic_bool *stop, const struct ty_samples **out,
			    struct ty_err *err);
	/* The same without callers, which is much faster, and by thread, too
	 * (ty_samples_by_thread). */
	int (*functions_load)(void *ctx, const atomic_bool *stop, const struct ty_samples **out,
			      struct ty_err *err);
	/* The files that calls act on, read on first use (in a thread where
	 * `aside`), which takes a pass over the recording; permille: how far it is. As above. NULL:
	 * they cannot be read. */
	int (*objects_load)(void *ctx, const atomic_bool *stop, atomic_uint *permille,
			    const struct ty_call_objects **out, struct ty_err *err);
	/* The times of these samples, and performance counters, read when it is opened (in a thread
	 * where `aside`); *marks or *counts NULL: it has none. As above. */
	int (*lanes_load)(void *ctx, const atomic_bool *stop, const struct ty_sample_marks **marks,
			  const struct ty_counts **counts, struct ty_err *err);
};

/* What a timeline is opened on. Everything is borrowed and must outlive the view. */
struct ty_view_input {
	const struct ty_model *model;
	const char *path;
	const char *note;	 /* "unfinished recording", ...; NULL */
	const char *scope;	 /* a note on facts unknown from the first part; NULL */
	const char *kept;	 /* that it is the newest part of a recording; NULL */
	struct ty_window window; /* first window of time, and the choice of threads and CPUs */
	const struct ty_sysarch *arch;
	const struct ty_explain *explain; /* for stalls and chains; NULL: there are none */
	struct ty_view_host host;
	const struct ty_flow_input *flow; /* executed instructions; NULL: none were recorded */
	uint64_t recorder_cpu_ns;	  /* the recorder's own CPU time; UINT64_MAX: unknown */
	enum ty_clock clock;		  /* that times are shown in; the model knows it */
	uint32_t at_finding;		  /* 1..: start on that finding; 0: at the start */
	const struct ty_log *log;     /* lines of log files, sorted; NULL: none were requested */
	const char *const *log_names; /* of its files */
	bool first; /* the user has not seen the first keys yet: they are shown, once the screen
		     * has room for them */
	bool aside; /* analyses run in threads of their own: input never waits for them */
};

#endif
