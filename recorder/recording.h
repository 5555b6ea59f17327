/* SPDX-License-Identifier: MIT */
/* One recording from start to end. */
#ifndef TY_RECORDING_H
#define TY_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "pt_record.h"
#include "mem_record.h"
#include "sampler.h"
#include "step_trace.h"
#include "user_probes.h"

enum { TY_RECORD_NOTES = 8 };
/* Minimum of what --keep can keep. */
#define TY_KEEP_MIN_NS	  1000000000ull
#define TY_KEEP_MIN_BYTES (16ull << 20)

#define TY_RECORD_DATA_MAX 4096u

struct ty_record_progress {
	uint64_t elapsed_ns, events, lost, file_bytes;
};

struct ty_record_opts {
	const char *out;   /* path of the file */
	char **argv;	   /* the command; NULL: none */
	const pid_t *pids; /* processes to record */
	size_t pids_n;
	bool all; /* system calls of all processes */
	bool no_syscalls, no_sched;
	bool no_strings; /* do not record data behind the pointers of system calls */
	/* First bytes of what each call reads or writes to record, at most TY_RECORD_DATA_MAX; 0:
	 * none. */
	uint64_t data_bytes;
	/* Minimum length of waits whose user stacks are recorded; 0: none. Without strings there
	 * are no stacks either: copies of stacks contain the same data. */
	uint64_t stacks_ns;
	struct ty_sampler_opts sampling; /* of what runs; without strings only with `all` */
	/* Groups of counters, "EVENT,EVENT..."; without strings only with `all`. */
	const char *const *counters;
	size_t counters_n;
	const char *const *events; /* SYSTEM:EVENT[:FILTER] to add */
	size_t events_n;
	struct ty_user_probe_opts probes;
	const struct ty_step_opts *step; /* single-step the command; NULL: off */
	const struct ty_pt_opts *pt;	 /* Intel PT of the command; NULL: none */
	const struct ty_spe_opts *spe;	 /* Arm SPE; NULL: none. Not together with pt. */
	uint64_t duration_ns;		 /* 0: no limit */
	/* Keep the newest part only: all of the last keep_ns, in a file of at most keep_bytes; 0:
	 * no such limit. Not with step, pt or spe. */
	uint64_t keep_ns, keep_bytes;
	uint64_t buffer_bytes; /* ring per CPU and buffer; 0: default */
	/* Called once when processes are recorded: how many were given, and how many descendants
	 * were found. May be NULL. */
	void (*started)(void *ctx, size_t given, size_t found);
	/* Called when the command stopped itself by this signal after PTRACE_TRACEME, waiting for a
	 * tracer that does not exist: only SIGCONT continues it. May be NULL. */
	void (*stopped)(void *ctx, pid_t tid, int sig);
	/* Called about twice a second when not NULL, from the calling thread. */
	void (*progress)(void *ctx, const struct ty_record_progress *p);
	/* The same after the recording has ended, while the file is finished. */
	void (*finishing)(void *ctx, uint64_t done_bytes, uint64_t total_bytes);
	void *ctx;
};

struct ty_record_result {
	/* Of the kept part; all_ns: from the first event to the end, including dropped data. */
	uint64_t elapsed_ns, events, lost, raw_bytes, file_bytes, all_ns;
	bool dropped; /* data was dropped */
	uint64_t cpu_user_ns,
		cpu_sys_ns; /* of the recorder, as in the file: without finishing it */
	int exit_code;	    /* what tarry should exit with when the recording failed: 1, 126, 127 */
	bool command_ended; /* command_status is valid */
	int command_status; /* from waitpid */
	pid_t still_running; /* the command, when it outlived the recording; else 0 */
	int signal; /* signal that ended the recording; 0: none, or it was only forwarded to the
		     * command */
	const char *stop; /* why it ended */
	unsigned swept;	  /* instances of dead recorders removed at the start */
	uint64_t steps;	  /* single-stepped instructions */
	bool steps_lost;  /* their number is unknown: the stepper was killed, or a write failed */
	struct ty_aux_result aux;		      /* of pt or spe */
	uint64_t strings, strings_lost;		      /* data behind pointers of system calls */
	uint64_t structures_left_out;		      /* of them, beyond the limit of a CPU */
	uint64_t stacks, stacks_limited, stacks_lost; /* limited: too many in a second */
	uint64_t samples, samples_lost;
	uint64_t readings, readings_lost; /* of counters */
	bool no_nice;			  /* the readers did not get a higher priority */
	bool finished;			  /* the finished file exists, even after a later failure */
	bool kept_spool;		  /* failed, but the recorded data is in the file */
	bool kept_whole; /* only finishing failed: all data is in the file, usually as a spool */
	/* Sentences about what is not recorded, contrary to expectation. */
	char notes[TY_RECORD_NOTES][320];
	unsigned notes_n;
};

/*
 * Records. Blocks SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD and handles them itself (except an
 * ignored SIGHUP, as under nohup): the first one goes to the command (forwarded when it did not
 * come from the terminal) and ends a recording without command; a second one ends the recording at
 * once. 0; never -TY_EINTR. On failure err says what to do and res->exit_code is the exit status.
 * All trace instances are removed on return. With opts->pt and its snapshot, SIGUSR2 is blocked too
 * and takes a snapshot. Leaves SIGCHLD default, SIGPIPE and SIGXFSZ ignored.
 */
int ty_record(const struct ty_record_opts *opts, struct ty_record_result *res, struct ty_err *err);

/* Waits for res->still_running, forwarding signals; sets command_ended and command_status. A
 * command whose status is unavailable has not "ended". Call from the thread that called
 * ty_record. */
void ty_record_wait(const struct ty_record_opts *opts, struct ty_record_result *res);

#endif
