/* SPDX-License-Identifier: MIT */
/*
 * Probes in user code (uprobes): the regions of programs that use tarry.h, functions (--span), and
 * static probes (--usdt). They are events of their own group in tracefs, tarry_PID_STARTTIME, with
 * one layout that the readers know (decoder/event.h): kind, name, value.
 */
#ifndef TY_USER_PROBES_H
#define TY_USER_PROBES_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "buf.h"
#include "event_set.h"
#include "proc_snapshot.h"
#include "sdt_notes.h"

enum {
	TY_PROBES_MAX = 4096,
	TY_PROBE_GROUP = 64,
	TY_PROBE_NAME = 200,
	TY_SPAN_ARGS = 8,
	TY_SPAN_ARG_NAME = 28
};

/* A function whose calls are recorded: as instants, or as spans by a probe of their return too. */
struct ty_span_point {
	bool returns;
	char name[TY_PROBE_NAME + 1];
	char path[4096];
	uint64_t offset; /* of its first byte in the file, */
	dev_t dev;	 /* which is this one, and was changed then last */
	ino_t ino;
	struct timespec changed;
	struct ty_span_arg {
		char name[TY_SPAN_ARG_NAME];
		unsigned reg; /* integer register of the ABI, from 0 */
		char type[4]; /* of the kernel: s32 */
	} args[TY_SPAN_ARGS];
	unsigned args_n; /* 0: the first six integer registers are recorded */
};

/* A static probe, in the file or in all that the traced processes have mapped (path NULL). */
struct ty_usdt_point {
	char provider[TY_SDT_NAME], name[TY_SDT_NAME];
	const char *path;
};

struct ty_user_probe_opts {
	bool no_regions;	  /* no tarry.h */
	const char *const *files; /* programs and libraries to search besides those found */
	size_t files_n;
	const struct ty_span_point *spans;
	size_t spans_n;
	const struct ty_usdt_point *usdt;
	size_t usdt_n;
};

struct ty_user_probes {
	char root[TY_TRACEFS_PATH], group[TY_PROBE_GROUP];
	unsigned events; /* defined; 0: nothing is to be removed */
	unsigned usdt_found;
	struct ty_event_set *set;
	struct ty_buf labels; /* "probe=EVENT NAME" lines of TY_SEC_MACHINE: the name of the event's
				 records, where they do not contain it */
	VEC(struct ty_user_file {
		dev_t dev;
		ino_t ino;
	})
	seen;
};

/*
 * Define the probes and add them to the set: in the command (a path; NULL), in what the processes
 * have mapped, with `all` in what any process has, and as opts says. Files without probes cost
 * their section table. 0; -TY_E... with err when a probe requested by name cannot be defined.
 */
int ty_user_probes_define(struct ty_user_probes *u, const char *root,
			  const struct ty_user_probe_opts *opts, const char *command,
			  const ty_proc_pids *pids, bool all, struct ty_event_set *set,
			  struct ty_err *err);
/* Remove them; no instance may have them enabled any more. Any state. */
void ty_user_probes_remove(struct ty_user_probes *u);
/* Removes the probes of recorders that have ended; call after removing their instances. Returns how
 * many. */
unsigned ty_user_probes_sweep(const char *root);
/* Defines a plain probe at "FILE:OFFSET" under a name, in no set. 0; -TY_ESYS with errno. Remove in
 * any case. */
int ty_user_probes_one(struct ty_user_probes *u, const char *root, const char *event,
		       const char *at);
/* Is a probe of this very program hit? 0, or -TY_E... with a clause that says what fails. Nothing
 * is left. */
int ty_user_probes_trial(const char *root, struct ty_err *err);

#endif
