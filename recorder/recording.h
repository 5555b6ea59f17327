/* SPDX-License-Identifier: MIT */
/* One recording from beginning to end. */
#ifndef TY_RECORDING_H
#define TY_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "pt_record.h"
#include "mem_record.h"
#include "step_trace.h"

enum { TY_RECORD_NOTES = 8 };
/* The least that can be kept of a recording. */
#define TY_KEEP_MIN_NS	  1000000000ull
#define TY_KEEP_MIN_BYTES (16ull << 20)

struct ty_record_progress {
	uint64_t elapsed_ns, events, lost, file_bytes;
};

struct ty_record_opts {
	const char *out;   /* path of the file */
	char **argv;	   /* the command; NULL: none */
	const pid_t *pids; /* processes to record */
	size_t pids_n;
	bool all; /* everybody's system calls */
	bool no_syscalls, no_sched;
	bool no_strings; /* nothing of what lies behind the pointers of system calls */
	/* User stacks of waits that long; 0: none, and none without strings: copies of stacks hold
	 * what strings hold. */
	uint64_t stacks_ns;
	const char *const *events; /* SYSTEM:EVENT[:FILTER] to add */
	size_t events_n;
	const struct ty_step_opts *step; /* single-step the command; NULL: do not */
	const struct ty_pt_opts *pt;	 /* Intel PT of the command; NULL: none */
	const struct ty_spe_opts *spe;	 /* Arm SPE; NULL: none. Not together with pt. */
	uint64_t duration_ns;		 /* 0: no limit */
	/* Keep the newest part only: all of the last keep_ns, in a file of at most keep_bytes; 0:
	 * no such bound. Not together with step, pt or spe. */
	uint64_t keep_ns, keep_bytes;
	uint64_t buffer_bytes; /* ring per CPU and buffer; 0: default */
	/* Called once when processes are recorded: how many were given, and how many more were
	 * found that descend from them. May be NULL. */
	void (*started)(void *ctx, size_t given, size_t found);
	/* Called when the command stopped itself by this signal after PTRACE_TRACEME, for a tracer
	 * that is not there: only SIGCONT continues it. May be NULL. */
	void (*stopped)(void *ctx, pid_t tid, int sig);
	/* Called about twice a second when not NULL, from the calling thread. */
	void (*progress)(void *ctx, const struct ty_record_progress *p);
	/* The same once the recording has ended, while the file is finished. */
	void (*finishing)(void *ctx, uint64_t done_bytes, uint64_t total_bytes);
	void *ctx;
};

struct ty_record_result {
	/* Of what was kept; all_ns: from the first event to the end, whatever was kept. */
	uint64_t elapsed_ns, events, lost, raw_bytes, file_bytes, all_ns;
	bool dropped;			  /* something was not kept */
	uint64_t cpu_user_ns, cpu_sys_ns; /* of the recorder itself */
	int exit_code;	    /* what tarry should exit with when the recording failed: 1, 126, 127 */
	bool command_ended; /* command_status is valid */
	int command_status; /* as waitpid gives it */
	pid_t still_running; /* the command, when the recording ended before it; else 0 */
	int signal; /* that ended the recording; 0: none, or it was only sent on to the command */
	const char *stop; /* why it ended */
	unsigned swept;	  /* instances of dead recorders that were removed at the start */
	uint64_t steps;	  /* instructions that were single-stepped */
	bool steps_lost;  /* how many is not known: the stepper was killed, or could not write */
	struct ty_aux_result aux;		      /* of pt or spe */
	uint64_t strings, strings_lost;		      /* that lay behind pointers of system calls */
	uint64_t stacks, stacks_limited, stacks_lost; /* limited: too many in a second */
	bool no_nice;				      /* the readers got no higher priority */
	bool finished;	 /* the finished file is there, even if something failed then */
	bool kept_spool; /* failed, but what was recorded is in the file */
	bool kept_whole; /* only finishing failed: all is in the file, mostly as a spool */
	/* Whole sentences about what is not recorded as one may expect it. */
	char notes[TY_RECORD_NOTES][320];
	unsigned notes_n;
};

/*
 * Record. Blocks SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD and answers them itself (but for
 * a SIGHUP that is ignored, as nohup has it): the first
 * one is left to the command (sent on when it did not come from the terminal) and ends a recording
 * without command; a second one ends the recording at once. 0; -TY_EINTR never. On failure err says
 * what to do and res->exit_code how to exit. All trace instances are gone on return.
 * With opts->pt and its snapshot, SIGUSR2 is blocked too and takes a snapshot.
 * Leaves SIGCHLD default, SIGPIPE and SIGXFSZ ignored.
 */
int ty_record(const struct ty_record_opts *opts, struct ty_record_result *res, struct ty_err *err);

/* Wait for res->still_running, sending signals on; fills command_ended and command_status. A
 * command whose status cannot be had has not "ended". From the thread that called ty_record. */
void ty_record_wait(const struct ty_record_opts *opts, struct ty_record_result *res);

#endif
