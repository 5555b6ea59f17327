/* SPDX-License-Identifier: MIT */
/* tarry record: progress, closing line, exit status. The recording itself is in recorder/. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "first_finding.h"
#include "shell_word.h"
#include "session.h"
#include "index_file.h"
#include "plain_text.h"
#include "record_args.h"
#include "recording.h"
#include "units.h"

#define FINDING_EVENTS 2000000 /* analysed in a third of a second */

static void progress(void *ctx, const struct ty_record_progress *p)
{
	char n[32], lost[32];

	fprintf(stderr, "\rtarry: %.1f s, %s events, %s, lost %s\033[K",
		(double)p->elapsed_ns / 1e9, ty_fmt_count(p->events, n),
		ty_byte_count(p->file_bytes), ty_fmt_count(p->lost, lost));
	*(bool *)ctx = true;
}

static void started(void *ctx, size_t given, size_t found)
{
	(void)ctx;
	if (found)
		ty_say("tarry: recording %zu processes: %zu given, and %zu that descend%s from "
		       "%s\n",
		       given + found, given, found, found > 1 ? "" : "s",
		       given > 1 ? "them" : "it");
}

static void stopped(void *ctx, pid_t tid, int sig)
{
	ty_say("tarry: the command stopped itself (SIG%s) after PTRACE_TRACEME, and no tracer "
	       "resumes it. To continue it: kill -CONT %d\n",
	       sigabbrev_np(sig), (int)tid);
}

static void finishing(void *ctx, uint64_t done, uint64_t total)
{
	fprintf(stderr, "\rtarry: the recording has ended; finishing the file, %.0f%%\033[K",
		total ? 100.0 * (double)done / (double)total : 100.0);
	*(bool *)ctx = true;
}

/* ", exit status 0"; "": unknown, or none. */
static const char *status_text(const struct ty_record_opts *o, const struct ty_record_result *res,
			       char out[48])
{
	int st = res->command_status;

	out[0] = 0;
	if (!o->argv || !res->command_ended)
		return out;
	if (WIFSIGNALED(st))
		snprintf(out, 48, ", killed by signal %d", WTERMSIG(st));
	else
		snprintf(out, 48, ", exit status %d", WEXITSTATUS(st));
	return out;
}

/* What is in it, and what to type next. A long recording is not analysed for it. */
static void next_step(const struct ty_record_opts *o, const struct ty_record_result *res)
{
	char file[400] = "", found[400];
	struct ty_session s = {0};
	struct ty_err err = {0};

	if (res->events <= FINDING_EVENTS &&
	    !ty_session_open(&s, o->out, TY_OPEN_MODEL | TY_OPEN_NO_INDEX, 0, &err) &&
	    ty_first_finding(&s, found, sizeof(found)))
		ty_say("tarry: %s\n", found);
	ty_session_fini(&s);
	if (strcmp(o->out, "tarry.dat"))
		ty_shell_word(o->out, "FILE", file + 1, sizeof(file) - 1);
	file[0] = file[1] ? ' ' : 0;
	ty_say("tarry: next: tarry report%s, or tarry view%s\n", file, file);
}

static void closing_line(const struct ty_record_opts *o, const struct ty_record_result *res)
{
	double own = (double)(res->cpu_user_ns + res->cpu_sys_ns) / 1e9,
	       elapsed = (double)res->elapsed_ns / 1e9;
	double all = (double)res->all_ns / 1e9;
	char n[32], lost[32], bytes[TY_DURATION_MAX],
		share[40] = "", status[48], span[TY_DURATION_MAX], all_span[TY_DURATION_MAX];

	if (all >= 1) /* before that it is what starting costs */
		snprintf(share, sizeof(share), " (%.1f%% of one CPU)", 100 * own / all);
	if (res->dropped)
		ty_say("tarry: kept the newest %s of %s (%s)\n", ty_fmt_span(res->elapsed_ns, span),
		       ty_fmt_span(res->all_ns, all_span),
		       o->keep_bytes && (!o->keep_ns || res->elapsed_ns < o->keep_ns)
			       ? "limited by the size of --keep"
			       : "at least the time of --keep");
	ty_say("tarry: %s events in %s, %s lost, recorder CPU time %s%s%s\n",
	       ty_fmt_count(res->events, n), ty_fmt_duration(res->elapsed_ns, span),
	       ty_fmt_count(res->lost, lost),
	       ty_fmt_duration(res->cpu_user_ns + res->cpu_sys_ns, all_span), share,
	       status_text(o, res, status));
	ty_say("tarry: %s (%.1f bytes/event) -> %s\n", ty_fmt_bytes(res->file_bytes, bytes),
	       res->events ? (double)res->file_bytes / (double)res->events : 0.0, o->out);
	if (o->step && !res->steps && !res->steps_lost)
		ty_say("tarry: no instruction was single-stepped: %s\n",
		       o->step->filter ? "the --flow-filter function was not called"
				       : "the command executed none");
	else if (o->step && res->steps)
		ty_say("tarry: %s instructions single-stepped, %.0f us each: times are not "
		       "those of a normal run\n",
		       ty_fmt_count(res->steps, n), elapsed * 1e6 / (double)res->steps);
	if (o->pt) {
		ty_say("tarry: %s of Intel PT, %s gaps (buffer full)",
		       ty_fmt_bytes(res->aux.bytes, bytes), ty_fmt_count(res->aux.truncated, n));
		ty_say(", %s lost sideband records\n", ty_fmt_count(res->aux.lost, lost));
	}
	if (o->spe) {
		ty_say("tarry: %s of Arm SPE, one sample in %" PRIu64
		       " operations, %s gaps (buffer full)",
		       ty_fmt_bytes(res->aux.bytes, bytes), o->spe->period,
		       ty_fmt_count(res->aux.truncated, n));
		ty_say(", %s collisions", ty_fmt_count(res->aux.collided, n));
		ty_say(", %s lost sideband records\n", ty_fmt_count(res->aux.lost, lost));
	}
	if (res->lost)
		ty_say("tarry: lost events are marked in the file. A larger --buffer reduces the "
		       "loss\n");
	if (res->lost && res->no_nice)
		ty_say("tarry: the readers could not raise their priority (CAP_SYS_NICE), so loss "
		       "is more likely\n");
}

static void say_notes(const struct ty_record_result *res)
{
	for (unsigned i = 0; i < res->notes_n; i++)
		ty_say("tarry: note: %s\n", res->notes[i]);
}

static int exit_status(const struct ty_record_opts *o, struct ty_record_result *res, bool quiet)
{
	if (!o->argv)
		return TY_EXIT_GOOD;
	if (res->still_running && res->signal) {
		ty_say("tarry: the command (pid %d) is still running\n", (int)res->still_running);
		return 128 + res->signal;
	}
	if (res->still_running) {
		if (!quiet)
			ty_say("tarry: recording ended; waiting for the command (pid %d)\n",
			       (int)res->still_running);
		ty_record_wait(o, res);
	}
	if (!res->command_ended) {
		ty_say("tarry: the command ended, but its exit status is unknown (another process "
		       "has reaped it)\n");
		return TY_EXIT_FAILED;
	}
	if (WIFSIGNALED(res->command_status))
		return 128 + WTERMSIG(res->command_status);
	return WEXITSTATUS(res->command_status);
}

static int record(struct ty_record_args *a)
{
	struct ty_record_result res;
	struct ty_err err = {0};
	bool shown = false;
	int r;

	if (!a->quiet && isatty(STDERR_FILENO)) {
		/* While a command runs the terminal is its own. */
		a->o.progress = a->o.argv ? NULL : progress;
		a->o.finishing = finishing;
		a->o.ctx = &shown;
	}
	a->o.started = a->quiet ? NULL : started;
	a->o.stopped = stopped;
	r = ty_record(&a->o, &res, &err);
	if (shown)
		fputs("\r\033[K", stderr);
	say_notes(&res);
	/* The index of the replaced recording does not match this one (and is not used). */
	if (!r || res.kept_spool)
		ty_index_remove(a->o.out);
	if (r) {
		r = ty_cli_fail(&err);
		if (res.kept_spool && !res.finished && res.kept_whole)
			ty_say("tarry: %s could not be converted to trace.dat. The recording is "
			       "complete and tarry can read it, but trace-cmd cannot\n",
			       a->o.out);
		if (res.kept_spool && !res.kept_whole)
			ty_say("tarry: the part recorded until then (%.3g s) is in %s and can be "
			       "read\n",
			       (double)res.elapsed_ns / 1e9, a->o.out);
		if (res.kept_whole && a->o.argv)
			return exit_status(&a->o, &res, a->quiet);
		if (res.still_running && !res.signal)
			exit_status(&a->o, &res, a->quiet);
		return r == TY_EXIT_USAGE || res.exit_code == 1 ? r : res.exit_code;
	}
	if (!a->quiet) {
		closing_line(&a->o, &res);
		next_step(&a->o, &res);
	}
	return exit_status(&a->o, &res, a->quiet);
}

int ty_cmd_record(int argc, char **argv)
{
	struct ty_record_args a;
	int status = ty_record_args_parse(&a, argc, argv);

	if (status < 0)
		status = record(&a);
	ty_record_args_fini(&a);
	return status;
}
