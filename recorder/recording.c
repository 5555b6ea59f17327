/* SPDX-License-Identifier: MIT */
/*
 * See recording.h. The order matters:
 *   everything that can fail for the user's reasons (command, pids, rights, events) comes before
 * the old output file is replaced, which is when the command's exec has succeeded; the child is
 * forked before any memory is touched; rings are armed and the readers run before tracing is on;
 * the /proc snapshot is taken after that and before the command may exec, so that no thread is
 * missed in between. At the end: tracing off, its last writers waited for, rings drained, sections,
 * instances removed, file finished.
 */
#include "recording_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "keep.h"

#define MARK_NS	    (3 * TY_REC_NS)
#define PROGRESS_NS (TY_REC_NS / 2)
enum { TICK_MS = 100 };

static bool pids_gone(struct recording *r)
{
	size_t alive = 0;

	for (size_t i = 0; i < r->o->pids_n; i++) {
		struct pollfd *p = &r->polls[2 + i];

		if (p->events &&
		    (p->revents || (p->fd < 0 && kill(r->o->pids[i], 0) && errno == ESRCH))) {
			if (p->fd >= 0)
				close(p->fd);
			*p = (struct pollfd){.fd = -1};
		}
		alive += p->events != 0;
	}
	return r->o->pids_n && !alive;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Until something ends the recording: fills res->stop. A failure only when it cannot be watched. */
static int watch(struct recording *r, struct ty_err *err)
{
	uint64_t mark_at = r->start_ns + MARK_NS, now = r->start_ns,
		 show_at = r->o->progress ? r->start_ns + PROGRESS_NS : UINT64_MAX,
		 end_at = r->o->duration_ns ? r->start_ns + r->o->duration_ns : UINT64_MAX;
	bool ask = false; /* pids without pidfd */
	int e;

	for (size_t i = 2; i < r->polls_n; i++)
		ask |= r->polls[i].fd < 0;
	for (;;) {
		uint64_t next =
			min_u64(min_u64(min_u64(mark_at, show_at), end_at),
				min_u64(ty_rec_next_sample_ns(r), ty_keep_next_ns(r->keep)));
		int ms;

		now = ty_rec_clock_ns(CLOCK_MONOTONIC);
		ms = next > now ? (int)min_u64((next - now + 999999) / 1000000, 60000) : 0;
		if (ask && ms > TICK_MS)
			ms = TICK_MS;
		if (poll(r->polls, (nfds_t)r->polls_n, ms) < 0 && errno != EINTR)
			break;
		if (r->polls[1].revents) {
			r->res->stop = "output failed";
			return 0;
		}
		r->res->stop = ty_rec_take_signals(r);
		if (!r->res->stop && pids_gone(r))
			r->res->stop = "processes ended";
		now = ty_rec_clock_ns(CLOCK_MONOTONIC);
		if (!r->res->stop && now >= end_at)
			r->res->stop = "duration";
		if (r->res->stop)
			return 0;
		if (now >= mark_at) {
			ty_rec_mark_clock(r);
			mark_at = now + MARK_NS;
			if (ty_rec_put_samples(r, NULL)) {
				ty_quotas_close(&r->quotas);
				ty_steal_close(&r->steal);
			}
		}
		ty_rec_take_samples(r, true);
		if (now >= ty_keep_next_ns(r->keep) && (e = ty_keep_check(r->keep, err))) {
			r->res->stop = "output failed";
			return e;
		}
		if (now >= show_at) {
			struct ty_record_progress p = {0};

			ty_rec_totals(r, NULL, &p);
			r->o->progress(r->o->ctx, &p);
			show_at = now + PROGRESS_NS;
		}
	}
	r->res->stop = "poll failed";
	return ty_fail_errno(err, "the recording ended early, because poll failed");
}

/* Removing takes the kernel 50 ms and more each: it is done while the file is finished. */
static void *remove_main(void *arg)
{
	struct recording *r = arg;

	for (unsigned i = 0; i < r->insts_n; i++)
		ty_instance_remove(&r->inst[i]);
	ty_user_probes_remove(&r->probes);
	return NULL;
}

/*
 * An event that a CPU was writing when tracing was switched off is still completed. A descheduled
 * virtual CPU may take arbitrarily long for it; completed after the rings are drained, it would be
 * counted by the kernel but be in no file. Tracepoints run without preemption, so an RCU grace
 * period (some 10 ms) waits for them; this system call is one. Machines with nohz_full refuse it.
 */
static void wait_for_writers(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

/* With the names of the kernel's functions that were met, which no file has. */
static void finish_sampler(struct recording *r)
{
	struct ty_sampler_result s;

	ty_sampler_finish(r->sampler, &s);
	r->sampler = NULL;
	r->res->samples = s.samples;
	r->res->samples_lost = s.lost;
	if (s.names.len && !r->o->pt &&
	    ty_meta_section(&r->meta, TY_SEC_KALLSYMS, s.names.p, s.names.len, NULL))
		s.failed = true;
	ty_buf_fini(&s.names);
	if (s.lost)
		ty_rec_note(r, "%" PRIu64 " CPU samples were dropped: the buffer was full%s",
			    s.lost, s.failed ? ", or the file could not be written" : "");
	if (s.throttled)
		ty_rec_note(r,
			    "the kernel paused sampling %" PRIu64
			    " times, because it took too much "
			    "time: busy spans have too few samples (--sample with a lower rate)",
			    s.throttled);
	if (s.shortened)
		ty_rec_note(r,
			    "%" PRIu64 " samples have only a part of their stack: the space for "
			    "stacks was full (--sample with a lower rate keeps more)",
			    s.shortened);
	if (s.maps_full || s.maps_unread || s.failed)
		ty_rec_note(r, "mappings of some processes are missing: their samples may have no "
			       "or wrong names");
}

static void finish_counters(struct recording *r)
{
	struct ty_counters_result c;

	ty_counters_finish(r->counters, &c);
	r->counters = NULL;
	r->res->readings = c.readings;
	r->res->readings_lost = c.lost;
	if (c.lost || c.failed)
		ty_rec_note(r,
			    "%" PRIu64 " readings of counters were dropped%s: counts are too low "
			    "(fewer --counter events, or a shorter recording)",
			    c.lost, c.failed ? ", and the last could not be written" : "");
}

/* Waits of Python programs whose functions are unknown: the stacks have only C functions. */
static void note_python(struct recording *r, const struct ty_python_result *p)
{
	char version[64] = "of an unknown version";

	if (p->version)
		snprintf(version, sizeof(version), "%u.%u", p->version >> 8, p->version & 255);
	if (p->unknown)
		ty_rec_note(r,
			    "the Python functions of %" PRIu64
			    " process%s are unknown: the version is Python %s, and the known "
			    "versions are releases of 3.8 to 3.13 with the GIL",
			    p->unknown, p->unknown == 1 ? "" : "es", version);
	if (p->refused)
		ty_rec_note(r,
			    "the Python functions of %" PRIu64
			    " process%s are unknown: the memory may not be read (sysctl "
			    "kernel.yama.ptrace_scope 3, or no CAP_SYS_PTRACE)",
			    p->refused, p->refused == 1 ? "" : "es");
	if (p->over > p->stacks / 10)
		ty_rec_note(r,
			    "the Python functions of %" PRIu64
			    " wait%s are unknown: the wait ended before they were read",
			    p->over, p->over == 1 ? "" : "s");
	if (p->invalid)
		ty_rec_note(r,
			    "the Python functions of %" PRIu64
			    " wait%s are incomplete: the memory of a frame could not be read, or "
			    "was not that of a frame",
			    p->invalid, p->invalid == 1 ? "" : "s");
}

/* Tracing off and everything into the file. Also after a failed start, to leave nothing behind. */
static int finish(struct recording *r, bool recorded, struct ty_err *err)
{
	struct ty_call_data_result strings = {0};
	struct ty_stacks_result stacks;
	uint64_t end_ns = 0;
	int e = 0, x;

	r->end_notes = r->res->notes_n;
	if (recorded) {
		ty_rec_mark_clock(r);
		end_ns = ty_instance_now_ns(r->insts[0]) + 1000;
	}
	/* System calls first: what explains them is recorded until the end. */
	for (unsigned i = r->insts_n; i-- > 0;)
		if (r->inst[i].on >= 0)
			ty_instance_on(&r->inst[i], false, NULL);
	r->off_ns = ty_rec_clock_ns(CLOCK_MONOTONIC);
	if (recorded)
		wait_for_writers();
	ty_culprits_finish(r->culprits);
	r->culprits = NULL;
	ty_stacks_finish(r->stacks, &stacks);
	r->stacks = NULL;
	r->res->stacks = stacks.stacks;
	r->res->stacks_limited = stacks.limited;
	r->res->stacks_lost = stacks.lost;
	if (stacks.limited)
		ty_rec_note(r, "%" PRIu64 " user stacks are missing: they exceeded the rate limit",
			    stacks.limited);
	if (stacks.lost)
		ty_rec_note(r,
			    "%" PRIu64
			    " user stacks are missing: they did not fit into the buffer%s",
			    stacks.lost, stacks.failed ? " or could not be written" : "");
	if (stacks.late_ns > TY_REC_NS && stacks.late_ns > (r->off_ns - r->start_ns) / 5)
		ty_rec_note(r,
			    "user stacks were not sampled for %" PRIu64
			    " ms in total: short waits in that time may have no stack",
			    stacks.late_ns / 1000000);
	if (stacks.maps_full || stacks.failed)
		ty_rec_note(r, "mappings of some processes are missing: their stacks are cut");
	if (stacks.maps_unread)
		ty_rec_note(r,
			    "the mappings of %" PRIu64
			    " processes could not be read in time (their mmap lock may have been "
			    "held). Their stacks are cut",
			    stacks.maps_unread);
	if (stacks.locks_left)
		ty_rec_note(r,
			    "the holder of a lock was not read %" PRIu64 " times: more than "
			    "1,000 threads waited "
			    "for locks at a time",
			    stacks.locks_left);
	if (stacks.too_many_threads)
		ty_rec_note(r, "some threads have no stacks: the limit of threads was exceeded");
	note_python(r, &stacks.python);
	finish_sampler(r);
	finish_counters(r);
	if (r->call_data)
		r->call_data_hold = ty_call_data_finish(r->call_data, &strings);
	r->call_data = NULL;
	r->res->strings = strings.records;
	r->res->strings_lost = strings.lost;
	if (strings.lost)
		ty_rec_note(r,
			    "%" PRIu64 " paths or other strings of system calls were dropped: the "
			    "buffer was full, or a CPU had just come online%s",
			    strings.lost,
			    strings.failed ? ", or the file could not be written" : "");
	r->res->structures_left_out = strings.left_out;
	if (strings.left_out)
		ty_rec_note(r,
			    "%" PRIu64 " structures of system calls were left out: beyond 10,000 a "
			    "second on a CPU they would slow the program down (--data N records "
			    "all)",
			    strings.left_out);
	ty_step_finish(&r->step);
	r->res->steps = r->step.insns;
	r->res->steps_lost = r->step.lost;
	if (r->step.lost)
		ty_rec_note(r, "the executed instructions are incomplete: tarry-step was "
			       "killed, or its packets could not be written");
	if (r->step.unset)
		ty_rec_note(
			r,
			"calls of the --flow-filter function are missing: %u times no breakpoint "
			"could be set (%s). A debugger may use all hardware breakpoints",
			r->step.unset, strerror(r->step.unset_why));
	if (r->step.refused)
		ty_rec_note(r,
			    "the command could not use ptrace (it failed %u time%s): a process can "
			    "have one tracer only, and that is --flow=step",
			    r->step.refused, r->step.refused > 1 ? "s" : "");
	if (r->step.held)
		ty_rec_note(r,
			    "%u single-stepped thread%s sleeping in the kernel and could not be "
			    "stopped. tarry releases %s",
			    r->step.held, r->step.held > 1 ? "s are" : " is",
			    r->step.held > 1 ? "them when they wake" : "it when it wakes");
	ty_aux_rec_finish(r->aux, &r->res->aux);
	r->aux = NULL;
	if (r->res->aux.failed)
		ty_rec_note(r, "%s is incomplete: its packets could not be written",
			    r->o->pt ? "Intel PT" : "Arm SPE");
	if (recorded && r->o->spe && r->res->aux.no_time)
		ty_rec_note(r,
			    "the kernel provides no conversion from the CPU counter to its clock: "
			    "times of memory samples are unknown");
	if (recorded && r->o->pt && r->res->aux.no_time)
		ty_rec_note(r, "the kernel provides no TSC-to-clock conversion (unstable TSC, or a "
			       "virtual machine): times of instructions are unknown");
	if (r->marker >= 0)
		close(r->marker);
	if (r->readers)
		e = ty_readers_finish(r->readers, err);
	e = e ? e : ty_keep_end(r->keep, err);
	if (recorded) {
		r->res->no_nice = ty_readers_no_nice(r->readers);
		x = ty_rec_put_end(r, end_ns, e ? NULL : err);
		e = e ? e : x;
	}
	ty_rec_self_test_wait(r);
	if (recorded && !e)
		e = ty_rec_put_machine_late(r, err);
	if (!recorded || pthread_create(&r->remover, NULL, remove_main, r))
		remove_main(r);
	else
		r->removing = true;
	return e;
}

static void release(struct recording *r)
{
	if (r->call_data_hold >= 0)
		close(r->call_data_hold);
	ty_keep_free(r->keep);
	ty_meta_fini(&r->meta);
	ty_readers_free(r->readers);
	ty_buf_fini(&r->thread_names);
	vec_fini(&r->tasks);
	vec_fini(&r->family);
	ty_quotas_close(&r->quotas);
	ty_steal_close(&r->steal);
	ty_command_lines_free(r->commands);
	ty_buf_fini(&r->command_text);
	ty_buf_fini(&r->string_events);
	ty_buf_fini(&r->stolen);
	ty_buf_fini(&r->throttled);
	ty_event_set_fini(&r->set);
	if (r->signals >= 0)
		close(r->signals);
	if (r->spool_failed >= 0)
		close(r->spool_failed);
	for (size_t i = 2; i < r->polls_n; i++)
		if (r->polls[i].fd >= 0)
			close(r->polls[i].fd);
	free(r->polls);
	free(r);
}

static void tell_finishing(void *ctx, uint64_t done, uint64_t total)
{
	struct recording *r = ctx;
	uint64_t now = ty_rec_clock_ns(CLOCK_MONOTONIC);

	if (now < r->progress_at_ns)
		return;
	r->o->finishing(r->o->ctx, done, total);
	r->progress_at_ns = now + PROGRESS_NS;
}

int ty_record(const struct ty_record_opts *o, struct ty_record_result *res, struct ty_err *err)
{
	struct recording *r = calloc(1, sizeof(*r));
	struct stat st;
	bool lost;
	int e, watched;

	*res = (struct ty_record_result){.exit_code = 1, .stop = ""};
	if (!r)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	r->o = o;
	r->res = res;
	r->signals = r->spool_failed = r->marker = r->call_data_hold = -1;
	r->command.go = r->command.report = -1;
	r->step.in = r->quotas.root = r->steal.fd = -1;
	for (unsigned i = 0; i < TY_READER_INSTANCES; i++)
		r->inst[i] = (struct ty_instance){.dir = -1, .on = -1};
	ty_buf_init(&r->thread_names, TY_REC_TEXT);
	ty_buf_init(&r->throttled, TY_REC_TEXT);
	ty_buf_init(&r->stolen, TY_REC_TEXT);
	ty_buf_init(&r->command_text, TY_REC_TEXT);
	ty_buf_init(&r->string_events, TY_REC_TEXT);

	e = ty_rec_start(r, err);
	if (e) {
		ty_step_finish(&r->step);
		ty_command_cancel(&r->command);
		finish(r, false, NULL);
		if (r->spool)
			ty_spool_discard(r->spool);
		ty_spool_close(r->spool);
		/* Released, but the file could not be put in its place: the command keeps running.
		 */
		res->still_running = r->command.pid;
		release(r);
		return e;
	}
	watched = watch(r, err);
	e = finish(r, true, watched ? NULL : err);
	ty_rec_reap(r);
	if (o->argv && !r->child_gone)
		res->still_running = r->command.pid;
	if (!e) {
		r->progress_at_ns = r->off_ns + PROGRESS_NS;
		if (o->finishing)
			ty_spool_on_finish(r->spool, tell_finishing, r);
		e = ty_spool_finish(r->spool, err);
		/* Only what cannot be read back is lost; otherwise it is merely no trace.dat. */
		res->kept_whole = e && e != -TY_EFORMAT && e != -TY_EIO;
	}
	res->finished = ty_spool_is_finished(r->spool);
	lost = e && ty_spool_removed(r->spool);
	if (lost) {
		res->kept_whole = false;
		ty_rec_note(r, "the recording is lost: its file was removed during recording");
	}
	if (r->removing)
		pthread_join(r->remover, NULL);
	if (e && !lost)
		res->file_bytes = ty_spool_bytes(r->spool);
	else
		res->file_bytes = stat(o->out, &st) ? 0 : (uint64_t)st.st_size;
	e = watched ? watched : e;
	res->kept_spool = e && !lost;
	ty_spool_close(r->spool);
	release(r);
	return e;
}
