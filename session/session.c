/* SPDX-License-Identifier: MIT */
/* Opens a file for reading: trace, formats, events, and the model built from them. */
#include "session.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "build.h"
#include "sigbus.h"
#include "call_data_index.h"
#include "counter_load.h"
#include "sample_load.h"
#include "wait_stacks.h"
#include "fd_kind.h"
#include "fd_snapshot.h"
#include "fd_others.h"
#include "cfs_throttle.h"
#include "steal.h"
#include "steal_recorded.h"
#include "index_file.h"
#include "key_value.h"
#include "plain_text.h"
#include "strtab.h"
#include "units.h"

#define TAKE_EVENTS 65536    /* events between two checks of the clock and for Ctrl-C */
#ifndef INDEX_MIN	     /* make fuzz: 0 */
#define INDEX_MIN (1u << 20) /* smaller models are built in a blink */
#endif
#define RETURNED_AT  (128 << 10)
#define THREAD_BYTES 1024 /* of a thread while the index is made; measured */
#define AHEAD_PART   8	  /* share of the memory for data decoded ahead, later for look-ups */

/* Ctrl-C while a file is opened ends with a sentence; a second one at once. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	interrupted = 1;
}

static void catch_interrupt(struct sigaction *was)
{
	struct sigaction sa = {.sa_handler = on_interrupt, .sa_flags = SA_RESETHAND | SA_RESTART};

	interrupted = 0;
	sigaction(SIGINT, NULL, was);
	if (was->sa_handler != SIG_IGN)
		sigaction(SIGINT, &sa, NULL);
}

/* On stderr, when that is a terminal. */
struct progress {
	bool on;
	struct timespec begin;
	double last; /* seconds since begin */
};

static double since(const struct timespec *t)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - t->tv_sec) + (double)(now.tv_nsec - t->tv_nsec) / 1e9;
}

/* At most five lines a second. */
static bool progress_show(void *ctx, const struct ty_progress *how_far)
{
	struct progress *p = ctx;
	double t = since(&p->begin);

	if (!p->on || t - p->last < 0.2)
		return !interrupted;
	p->last = t;
	if (how_far->finishing) {
		fprintf(stderr, "\rbuilding: %3.0f%%", 100 * how_far->part);
	} else {
		fprintf(stderr, "\rreading: %3.0f%%, %" PRIu64 " events, %.1f M/s",
			100 * how_far->part, how_far->events, (double)how_far->events / t / 1e6);
		if (how_far->part > 0.01)
			fprintf(stderr, ", %.0f s left", t / how_far->part - t);
	}
	fputs("\033[K", stderr);
	return !interrupted;
}

static void progress_end(const struct progress *p)
{
	if (p->on && p->last > 0)
		fputs("\r\033[K", stderr);
}

/* A ty_trace_progress: what opening a perf.data file is at. */
static void open_show(void *ctx, double part)
{
	struct progress *p = ctx;
	double t = since(&p->begin);

	if (!p->on || t - p->last < 0.2)
		return;
	p->last = t;
	fprintf(stderr, "\runpacking: %3.0f%%", 100 * part);
	if (part > 0.01)
		fprintf(stderr, ", %.0f s left", t / part - t);
	fputs("\033[K", stderr);
}

static const char *event_name(void *ctx, uint16_t id)
{
	return ty_formats_name(ctx, id);
}

struct building {
	const struct ty_build_how *how;
	struct ty_progress progress;
};

static bool go_on(const struct building *b)
{
	return !b->how->on_progress || b->how->on_progress(b->how->ctx, &b->progress);
}

static bool finishing(void *ctx, double part)
{
	struct building *b = ctx;

	b->progress.finishing = true;
	b->progress.part = part;
	return go_on(b);
}

static void set_part(struct ty_session *s)
{
	const struct ty_trace *t = s->trace;

	if (s->model && t->cut_origin_ns)
		ty_model_set_origin(s->model, t->cut_origin_ns + (uint64_t)t->ts_offset_ns);
	if (s->model && t->is_part)
		ty_model_set_part(s->model);
}

/* *refuted: as ty_builder_refuted, nothing is built. */
static int build_once(struct ty_session *s, const struct ty_build_how *how, bool gaps_known,
		      bool *refuted, struct ty_err *err)
{
	struct building now = {.how = how};
	struct ty_build_facts facts = {
		.machine = ty_trace_section(s->trace, TY_SEC_MACHINE).s,
		.threads = ty_trace_section(s->trace, TY_SEC_THREADS).s,
		/* Covers the whole recording. */
		.self = how->most ? NULL : ty_trace_section(s->trace, TY_SEC_SELF).s,
		.cmdlines = s->trace->cmdlines.s,
		.cpus = s->trace->cpu_count,
		.long_size = s->trace->long_size,
		.arch = s->arch_name,
		.gaps_known = gaps_known,
		.own_only = s->trace->own_only,
		.begins_later = s->trace->begins_later,
		.memory_bytes = how->memory_bytes,
		.index_of = s->write_index && !how->most ? s->trace->path : NULL,
		.index_fd = ty_trace_fd(s->trace),
		.index_min = INDEX_MIN,
		.event_name = event_name,
		.ctx = s->formats,
		.finishing = finishing,
		.finishing_ctx = &now,
	};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct ty_builder *b;
	uint64_t done, all;
	bool going = true;
	int r;

	facts.aside = cpus > 1;
	b = ty_builder_new(&facts);
	if (!b)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", s->trace->path);
	/* This thread builds, and helps when it would wait. */
	ty_events_workers(s->events, cpus > 1 ? (unsigned)cpus - 1 : 0,
			  how->memory_bytes / AHEAD_PART);
	while ((r = ty_builder_take(b, s->events, TAKE_EVENTS, &now.progress.events, err)) > 0 &&
	       going && !ty_builder_refuted(b) && (!how->most || now.progress.events < how->most)) {
		ty_events_progress(s->events, &done, &all);
		now.progress.part = all ? (double)done / (double)all : 0;
		going = go_on(&now);
	}
	if (r > 0 && going && !ty_builder_refuted(b))
		r = ty_builder_even(b, s->events, &now.progress.events, err);
	ty_events_rest(s->events);
	*refuted = r >= 0 && going && ty_builder_refuted(b);
	if (r >= 0 && going && !*refuted && (!r || how->most))
		r = ty_builder_finish(b, &s->model, err);
	set_part(s);
	ty_builder_free(b);
	if (s->has_limit)
		malloc_trim(0); /* the analyses allocate other sizes */
	if (!going || r == -TY_EINTR)
		return ty_fail(err, TY_EINTR, TY_NO_OFFSET,
			       "%s: interrupted while its events were read", s->trace->path);
	if (r < 0)
		return ty_fail(err, -r, TY_NO_OFFSET, "%s: %s while reading its events",
			       s->trace->path, ty_strerror(r));
	return 0;
}

static int build(struct ty_session *s, const struct ty_build_how *how, struct ty_err *err)
{
	bool refuted = false;
	int r = build_once(s, how, s->trace->truncated, &refuted, err);

	return refuted ? build_once(s, how, true, &refuted, err) : r;
}

/* The state of threads has no limit: with so many, it alone exceeds that of all. */
static void say_beyond_limit(const struct ty_session *s)
{
	const uint32_t threads = ty_model_summary(s->model)->threads;
	const uint64_t bytes = (uint64_t)threads * THREAD_BYTES;
	char n[TY_COUNT_MAX], size[TY_DURATION_MAX];

	if (bytes > s->memory_bytes)
		ty_say("tarry: %s: its %s threads took about %s while the index was made, more "
		       "than "
		       "--memory\n",
		       s->trace->path, ty_fmt_count(threads, n), ty_fmt_bytes(bytes, size));
}

/* In this thread, with progress and Ctrl-C. */
static int build_here(struct ty_session *s, struct ty_err *err)
{
	struct progress p = {.on = isatty(STDERR_FILENO)};
	const struct ty_build_how how = {
		.memory_bytes = s->memory_bytes, .on_progress = progress_show, .ctx = &p};
	struct sigaction was;
	int r;

	clock_gettime(CLOCK_MONOTONIC, &p.begin);
	catch_interrupt(&was);
	r = build(s, &how, err);
	progress_end(&p);
	sigaction(SIGINT, &was, NULL);
	if (!r)
		say_beyond_limit(s);
	return r;
}

int ty_session_build(struct ty_session *s, const struct ty_build_how *how, struct ty_err *err)
{
	return how ? build(s, how, err) : build_here(s, err);
}

/* A quarter of the machine's memory. */
uint64_t ty_memory_default(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 4 : 256u << 20;
}

#define OWN_ONLY                                                                                   \
	"only events of selected threads. What other threads did, and when CPUs were idle, is "    \
	"unknown"
#define SWITCHES_ONLY                                                                              \
	"scheduling has only switches. When a thread ran is known, not why it left the CPU or "    \
	"when it was woken"

#define COUNTS_ONLY "only counters, read by perf stat. What the threads and CPUs did is unknown"

const char *ty_session_scope(const struct ty_session *s)
{
	if (s->trace->counts_only)
		return COUNTS_ONLY;
	if (s->trace->own_only && s->trace->switches_only)
		return OWN_ONLY "; " SWITCHES_ONLY;
	return s->trace->own_only ? OWN_ONLY : s->trace->switches_only ? SWITCHES_ONLY : NULL;
}

int ty_session_open(struct ty_session *s, const char *path, unsigned flags, uint64_t memory_bytes,
		    struct ty_err *err)
{
	struct progress p = {.on = !(flags & TY_OPEN_QUIET) && isatty(STDERR_FILENO)};
	int r;

	*s = (struct ty_session){.event_strings_lock = PTHREAD_MUTEX_INITIALIZER};
	if (!path)
		path = "tarry.dat";
	clock_gettime(CLOCK_MONOTONIC, &p.begin);
	r = ty_trace_open_progress(path, open_show, &p, &s->trace, err);
	progress_end(&p);
	if (r)
		return r;
	/* Under a limit, what is freed goes back at once, whatever lies behind it. */
	s->has_limit = memory_bytes;
	if (s->has_limit)
		mallopt(M_MMAP_THRESHOLD, RETURNED_AT);
	s->memory_bytes = memory_bytes ? memory_bytes : ty_memory_default();
	ty_trace_memory(s->trace, s->memory_bytes);
	if (s->trace->note.s && !(flags & TY_OPEN_QUIET))
		ty_say("tarry: %s: %s\n", path, s->trace->note.s);
	r = ty_formats_new(s->trace, &s->formats, err);
	if (r)
		return r;
	if (!ty_key_value(ty_trace_section(s->trace, TY_SEC_MACHINE).s, "arch", s->arch_name,
			  sizeof(s->arch_name))) {
		/* trace-cmd's UNAME option is "Linux host release version machine". */
		const char *u = s->trace->uname.s, *last = u ? strrchr(u, ' ') : NULL;

		snprintf(s->arch_name, sizeof(s->arch_name), "%s", last ? last + 1 : "");
		s->arch_name[strcspn(s->arch_name, "\n")] = 0;
	}
	s->arch = ty_sysarch_find(s->arch_name);
	if (flags & (TY_OPEN_EVENTS | TY_OPEN_MODEL)) {
		r = ty_events_open(s->trace, s->formats, &s->events, err);
		if (r)
			return r;
	}
	if (flags & TY_OPEN_MODEL) {
		/* A recording that may still grow has no index. */
		s->write_index = !(flags & TY_OPEN_NO_INDEX) && !s->trace->unfinished;
		ty_events_lookup_memory(s->events, s->memory_bytes / AHEAD_PART);
		ty_sigbus_catch(path);
		if (s->write_index && ty_index_open(path, ty_trace_fd(s->trace), &s->model)) {
			set_part(s);
			return 0;
		}
		if (!(flags & TY_OPEN_LATER))
			return build_here(s, err);
	}
	return 0;
}

int ty_index_damaged(const char *path, struct ty_err *err)
{
	ty_index_remove(path);
	return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET,
		       "%s: its index file was damaged, so output may be wrong. It is "
		       "removed: run the command again",
		       path);
}

/* The end of the recording; of one that was never finished, of its events. */
static uint64_t end_of(const struct ty_session *s)
{
	uint64_t end = ty_key_u64(ty_trace_section(s->trace, TY_SEC_SELF).s, "end_ns");

	return end ? end : ty_model_summary(s->model)->end_ns;
}

uint64_t ty_session_recorded_ns(const struct ty_session *s)
{
	uint64_t end = end_of(s), from = s->trace->kept_began_ns;

	return end > from ? end - from : 0;
}

uint64_t ty_recorder_cpu_ns(const struct ty_trace *t)
{
	const char *self = ty_trace_section(t, TY_SEC_SELF).s;

	return ty_key_u64(self, "cpu_user_ns") + ty_key_u64(self, "cpu_sys_ns");
}

const char *ty_session_kept(const struct ty_session *s, char out[TY_KEPT_MAX])
{
	uint64_t end = end_of(s), from = s->trace->kept_from_ns;

	if (!from)
		return NULL;
	snprintf(out, TY_KEPT_MAX,
		 "the newest %s of %s. Older data was dropped (record --keep) and "
		 "does not count as lost",
		 ty_elapsed(end > from ? end - from : 0), ty_elapsed(ty_session_recorded_ns(s)));
	return out;
}

int ty_session_check(const struct ty_session *s, struct ty_err *err)
{
	const struct ty_err *e = &s->call_data_err;
	int r = 0;

	if (s->model && ty_model_damaged(s->model))
		return ty_index_damaged(s->trace->path, err);
	if (s->trace)
		r = ty_trace_section_check(s->trace, err);
	if (!r && e->code)
		r = ty_fail(err, e->code, e->off,
			    "%s. Strings of system calls are missing from the output", e->msg);
	return r;
}

int ty_session_symfs(struct ty_session *s, const struct ty_texts *roots)
{
	s->roots = roots;
	return 0;
}

struct ty_wait_stacks *ty_session_stacks(struct ty_session *s)
{
	if (!s->stacks && ty_trace_section_bytes(s->trace, TY_SEC_STACKS))
		s->stacks = ty_wait_stacks_new(s->trace,
					       s->roots ? (const char *const *)s->roots->v : NULL,
					       s->roots ? s->roots->n : 0);
	return s->stacks;
}

int ty_session_samples(struct ty_session *s, struct ty_err *err)
{
	const struct ty_sample_load_opts o = {.roots = s->roots};

	return s->samples ? 0 : ty_samples_of_trace(s->trace, &o, &s->samples, err);
}

int ty_session_functions(struct ty_session *s, const atomic_bool *stop)
{
	const struct ty_sample_load_opts o = {
		.roots = s->roots, .innermost = true, .quiet = true, .stop = stop};
	int e;

	if (s->functions || !ty_samples_recorded(s->trace))
		return 0;
	e = ty_samples_of_trace(s->trace, &o, &s->functions, NULL);
	if (!e)
		e = ty_samples_by_thread(s->functions);
	return e == -TY_ENOMEM || e == -TY_EINTR ? e : 0;
}

int ty_session_counts(struct ty_session *s, struct ty_err *err)
{
	return s->counts ? 0 : ty_counts_of_trace(s->trace, &s->counts, err);
}

void ty_session_fini(struct ty_session *s)
{
	ty_call_data_index_free(s->call_data);
	ty_paged_fini(&s->event_strings);
	ty_wait_stacks_free(s->stacks);
	ty_samples_free(s->samples);
	ty_samples_free(s->functions);
	ty_counts_free(s->counts);
	ty_strtab_free(s->addresses);
	vec_each (text, &s->address)
		free(*text);
	vec_fini(&s->address);
	ty_fd_snapshot_free(s->fds);
	ty_fd_histories_free(s->fd_histories);
	ty_fd_others_free(s->others);
	ty_throttle_lines_free(s->held);
	ty_steal_lines_free(s->steal);
	if (s->ticks)
		ty_ticks_fini(s->ticks);
	free(s->ticks);
	vec_fini(&s->snapshot);
	ty_model_free(s->model);
	ty_events_close(s->events);
	ty_formats_free(s->formats);
	ty_trace_close(s->trace);
	*s = (struct ty_session){0};
}
