/* SPDX-License-Identifier: MIT */
/*
 * Shared by the parts of a recording: recording.c (main loop), recording_start.c (up to the first
 * event), recording_signals.c (signals and the command's exit), recording_sections.c (sections
 * written during recording), recording_end.c (sections written at its end).
 */
#ifndef TY_RECORDING_PRIV_H
#define TY_RECORDING_PRIV_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "cgroup_quota.h"
#include "command.h"
#include "counters.h"
#include "cpu_list.h"
#include "call_data.h"
#include "event_set.h"
#include "command_lines.h"
#include "untraced_culprits.h"
#include "follow_pids.h"
#include "idle_switch.h"
#include "meta_writer.h"
#include "aux_record.h"
#include "proc_snapshot.h"
#include "ring_reader.h"
#include "recording.h"
#include "sampler.h"
#include "spool.h"
#include "stacks.h"
#include "string_events.h"
#include "steal_samples.h"
#include "tracefs.h"

#define TY_REC_CLOCK "perf"
#define TY_REC_NS    1000000000ull
/* Limit of a text collected in memory. */
#define TY_REC_TEXT (256u << 20)

struct self_test {
	pthread_t thread;
	bool started;
	const char *root;
	unsigned n, cpus[TY_IDLE_CPUS_MAX];
	enum ty_idle_verdict verdict[TY_IDLE_CPUS_MAX];
};

struct ty_keep; /* keep.h */

struct recording {
	const struct ty_record_opts *o;
	struct ty_record_result *res;
	unsigned end_notes; /* of its notes, those of the recording's end begin there */
	char root[TY_TRACEFS_PATH];
	struct ty_event_set set;
	struct ty_user_probes probes;
	struct ty_instance inst[TY_READER_INSTANCES];
	const struct ty_instance *insts[TY_READER_INSTANCES];
	const char *names[TY_READER_INSTANCES]; /* of the file's buffers */
	unsigned insts_n;
	uint64_t ring_bytes;
	struct ty_command command;
	struct ty_step step;
	struct ty_aux_rec *aux;
	struct ty_spool *spool;
	struct ty_meta meta;
	struct ty_readers *readers;
	struct ty_call_data *call_data; /* NULL: no strings are recorded */
	int call_data_hold; /* closed after the instances are removed (ty_call_data_finish) */
	char call_data_why[TY_CALL_DATA_WHY];
	struct ty_buf string_events; /* without call_data: calls whose events have strings; */
	unsigned string_bytes;	     /* at most so many of each (string_events.h); 0: unknown */
	struct ty_command_lines *commands; /* NULL: none are recorded */
	struct ty_culprits *culprits;	   /* NULL: none of their command lines */
	struct ty_buf command_text;	   /* lines of TY_SEC_COMMANDS not written yet */
	struct ty_stacks *stacks;	   /* NULL: none are recorded */
	char stacks_why[TY_CALL_DATA_WHY];
	struct ty_sampler *sampler; /* NULL: nothing is sampled */
	char sampler_why[TY_CALL_DATA_WHY];
	struct ty_counters_rec *counters; /* NULL: none are recorded */
	struct ty_keep *keep;		  /* NULL: everything is kept */
	struct ty_buf thread_names;
	ty_proc_tasks tasks; /* threads at the last read of /proc */
	ty_proc_pids family; /* -p: the given processes, then their descendants */
	struct ty_quotas quotas;
	struct ty_steal_samples steal;
	struct ty_buf stolen;	 /* lines of TY_SEC_STEAL not written yet */
	struct ty_buf throttled; /* lines of TY_SEC_QUOTA not written yet */
	struct self_test test;
	pthread_t remover;
	bool removing;
	sigset_t old_mask;
	int signals, spool_failed; /* fds */
	int marker;
	struct pollfd *polls; /* signals, spool_failed, then pidfds */
	size_t polls_n;
	unsigned cpus[TY_CPUS_MAX], cpus_n;
	uint64_t start_ns, off_ns, progress_at_ns;
	unsigned signals_seen;
	bool child_gone;
	bool foreign_pids; /* this process is in a pid namespace: its pids are not the kernel's */
	bool no_follow;	   /* the kernel does not follow children */
};

static inline uint64_t ty_rec_clock_ns(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return (uint64_t)t.tv_sec * TY_REC_NS + (uint64_t)t.tv_nsec;
}

/* Adds a sentence to res->notes (recording_sections.c). */
void ty_rec_note(struct recording *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Everything up to the first event; 0 or -TY_E.... */
int ty_rec_start(struct recording *r, struct ty_err *err);

int ty_rec_open_signals(struct recording *r, struct ty_err *err);
/* `reset`: signals whose disposition the command gets unchanged. */
void ty_rec_set_dispositions(sigset_t *reset);
/* Reaps the command if it has exited. */
void ty_rec_reap(struct recording *r);
/* Handles pending signals. Returns why the recording ends, or NULL. */
const char *ty_rec_take_signals(struct recording *r);

/* Writes a marker that relates the trace clock to the others; see TY_CLOCK_MARKER. */
void ty_rec_mark_clock(struct recording *r);
/* Tests which CPUs deliver switches from idle (idle_switch.h), in a thread. */
void ty_rec_self_test_start(struct recording *r);
void ty_rec_self_test_wait(struct recording *r);
/* Sections of the start, of the end, and additions to what the start could not determine. */
int ty_rec_put_machine(struct recording *r, struct ty_err *err);
/* The vDSO, when executed instructions are recorded. */
int ty_rec_put_vdso(struct recording *r, struct ty_err *err);
/* With --flow-kernel the kernel's code and its names; a note says what is unavailable. */
int ty_rec_put_kernel(struct recording *r, struct ty_err *err);
int ty_rec_put_threads(struct recording *r, struct ty_err *err);
/* The threads whose calls are recorded now, unless all are; then empty. */
int ty_rec_list_traced(const struct recording *r, ty_tids *tids, struct ty_err *err);
/* -p: their tids, as lines of TY_SEC_MACHINE, because a thread without any event belongs to them,
 * too. */
int ty_rec_put_traced(struct recording *r, const ty_tids *traced, struct ty_err *err);
/* After the threads: the descriptors of the traced processes, with -a of all. before_exec: of the
 * command, only those that it inherits. */
int ty_rec_put_fds(struct recording *r, const ty_tids *traced, bool before_exec,
		   struct ty_err *err);
/* Samples steal time and cgroups with a quota when due; the lines are written by the next put. */
void ty_rec_take_samples(struct recording *r, bool due_only);
uint64_t ty_rec_next_sample_ns(const struct recording *r);
/* Command lines that were read, for the next put; waits wait_ms at most for those to be read. */
void ty_rec_take_commands(struct recording *r, unsigned wait_ms);
int ty_rec_put_samples(struct recording *r, struct ty_err *err);
/* The calls whose strings are recorded, as lines of TY_SEC_MACHINE. */
int ty_rec_put_call_data(struct recording *r, struct ty_err *err);
/* At which rate what is sampled, and what is counted, as lines of TY_SEC_MACHINE. */
int ty_rec_put_sampling(struct recording *r, struct ty_err *err);
int ty_rec_put_end(struct recording *r, uint64_t end_ns, struct ty_err *err);
int ty_rec_put_machine_late(struct recording *r, struct ty_err *err);
/* Counts so far; `self` gets those of the kept part, in total and per CPU. */
void ty_rec_totals(struct recording *r, struct ty_buf *self, struct ty_record_progress *p);

#endif
