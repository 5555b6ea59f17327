/* SPDX-License-Identifier: MIT */
/* The timeline of a recording: what it reads of the file and the session, and how it grows while
 * the recording is indexed. */
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

#include "call_data_source.h"
#include "call_objects_load.h"
#include "counter_load.h"
#include "explain_session.h"
#include "sample_load.h"
#include "sample_marks_load.h"
#include "view_export.h"
#include "view_flow.h"
#include "view_indexing.h"
#include "view_memory.h"
#include "view_priv.h"
#include "view_state.h"
#include "wait_samples.h"

/* Of a recording without an index the first PART_EVENTS events (a tenth of a second's work) are
 * shown while it is indexed, in this part of the memory; smaller files are there at once. */
#define PART_EVENTS 1000000u
#define PART_SHARE  8
/* What memory samples may take while a model is built, too; and executed instructions, always. */
#define SAMPLES_SHARE 4
#define FLOW_SHARE    4
#define GROWING_MIN   (8 << 20)
/* Strings of calls, some 20 ms of reading: of more of them, processes get their command lines with
 * the stalls, after the first frame. */
#define TITLES_AT_ONCE (8 << 20)
#define PRINT_STEPS    2000000 /* calls and spans, for the stalls of a printed frame: some 0.2 s */

static uint64_t recorder_cpu(const struct ty_trace *t)
{
	uint64_t ns = ty_recorder_cpu_ns(t);

	/* Where the start was dropped it is of more than what is shown. */
	return t->kept_from_ns || !ns ? UINT64_MAX : ns;
}

/* A session as the timeline's input. */
struct shown {
	struct ty_view_options *o;
	struct ty_session *s;
	struct ty_view_export export;
	struct ty_session_locks locks; /* details and analyses read in threads of their own */
	struct ty_explain explain;
	uint64_t steps; /* of explain */
	struct ty_view_memory memory;
	struct ty_view_flow flow;
	struct ty_samples *samples;	   /* once requested */
	struct ty_call_objects *objects;   /* likewise */
	struct ty_sample_marks *marks;	   /* once read */
	struct ty_counts *counts;	   /* the same */
	struct ty_view_indexing *indexing; /* of the rest; NULL: it shows all */
	struct ty_view_input in;
	char kept[TY_KEPT_MAX];
	int lock; /* while marks are being kept */
};

/* What the timeline has done for it (struct ty_view_host). ------------------------------------- */

/* Arguments of a system call: its sys_enter read again from the file, or what /proc had. */
static const char *host_syscall_args(void *ctx, uint32_t syscall, char *buf, size_t n)
{
	struct shown *v = ctx;
	struct ty_syscall c = ty_model_syscall(v->s->model, syscall);
	const char *out = NULL;
	uint64_t args[6];
	struct ty_buf b;

	if (v->explain.args(v->explain.ctx, &c, args))
		return NULL;
	ty_buf_init(&b, 4096);
	if (!ty_syscall_fmt_args(v->s->arch, (enum ty_abi)c.abi, c.nr, args, &b)) {
		snprintf(buf, n, "%s", b.p ? b.p : "");
		out = buf;
	}
	ty_buf_fini(&b);
	return out;
}

static int host_export_start(void *ctx, const char *path, uint64_t from_ns, uint64_t to_ns,
			     struct ty_err *err)
{
	struct shown *v = ctx;

	return ty_view_export_start(&v->export, path, from_ns, to_ns, err);
}

static bool host_export_poll(void *ctx, char *said, size_t n)
{
	struct shown *v = ctx;

	return ty_view_export_poll(&v->export, said, n);
}

static void host_export_stop(void *ctx)
{
	struct shown *v = ctx;

	ty_view_export_stop(&v->export);
}

static bool host_indexing_poll(void *ctx, struct ty_indexing_news *news)
{
	struct shown *v = ctx;

	return ty_view_indexing_poll(v->indexing, news);
}

static void host_keep_load(void *ctx, struct ty_buf *out)
{
	const struct shown *v = ctx;

	ty_view_state_load(v->s->trace, v->s->model, out);
}

static void host_keep_lock(void *ctx, bool on)
{
	struct shown *v = ctx;

	if (on)
		v->lock = ty_view_state_lock();
	else
		ty_view_state_unlock(v->lock);
}

static int host_keep_save(void *ctx, const char *text, size_t n, struct ty_err *err)
{
	const struct shown *v = ctx;

	return ty_view_state_save(v->s->trace, v->s->model, text, n, err);
}

static void host_titles_load(void *ctx)
{
	const struct shown *v = ctx;

	ty_session_titles(v->s);
}

static int host_memory_load(void *ctx, const atomic_bool *stop, const struct ty_memory_input **out,
			    struct ty_err *err)
{
	struct shown *v = ctx;

	return ty_view_memory_load(&v->memory, stop, out, err);
}

static int functions_load(struct shown *v, const atomic_bool *stop, const struct ty_samples **out,
			  struct ty_err *err)
{
	const int rc = ty_session_functions(v->s, stop);

	if (rc)
		ty_fail(err, -rc, TY_NO_OFFSET, "%s: cannot read the functions of samples: %s",
			v->s->trace->path, ty_strerror(rc));
	*out = v->s->functions;
	return rc;
}

static int samples_load(struct shown *v, const atomic_bool *stop, const struct ty_samples **out,
			struct ty_err *err)
{
	const struct ty_sample_load_opts o = {
		.roots = &v->o->flow.roots, .stop = stop, .quiet = true};
	struct ty_samples *s = NULL;
	int rc = 0;

	if (!v->samples && ty_samples_recorded(v->s->trace))
		rc = ty_samples_of_trace(v->s->trace, &o, &s, err);
	else if (!v->samples && !(s = ty_samples_new()))
		rc = -TY_ENOMEM;
	if (s && !rc && ty_trace_section_bytes(v->s->trace, TY_SEC_STACKS))
		rc = ty_wait_samples_add(v->s, &v->o->flow.roots, stop, s);
	if (rc && !err->code)
		ty_fail(err, -rc, TY_NO_OFFSET, "%s: cannot read stacks: %s", v->s->trace->path,
			ty_strerror(rc));
	if (rc)
		ty_samples_free(s);
	else if (s)
		v->samples = s;
	*out = v->samples;
	return rc;
}

/* Read once. A flame graph, a lane and a ledger may request them at the same time. */
static int read_alone(struct shown *v, const atomic_bool *stop, const struct ty_samples **out,
		      struct ty_err *err,
		      int (*load)(struct shown *v, const atomic_bool *stop,
				  const struct ty_samples **out, struct ty_err *err))
{
	int rc;

	pthread_mutex_lock(&v->locks.samples);
	rc = load(v, stop, out, err);
	pthread_mutex_unlock(&v->locks.samples);
	return rc;
}

static int host_samples_load(void *ctx, const atomic_bool *stop, const struct ty_samples **out,
			     struct ty_err *err)
{
	return read_alone(ctx, stop, out, err, samples_load);
}

static int host_functions_load(void *ctx, const atomic_bool *stop, const struct ty_samples **out,
			       struct ty_err *err)
{
	return read_alone(ctx, stop, out, err, functions_load);
}

/* Read once; by a session of its own, so that it shares nothing but the model with the others. */
static int host_objects_load(void *ctx, const atomic_bool *stop, atomic_uint *permille,
			     const struct ty_call_objects **out, struct ty_err *err)
{
	struct shown *v = ctx;
	struct ty_session s;
	int rc = 0;

	if (!v->objects) {
		rc = ty_session_open(&s, v->s->trace->path, TY_OPEN_EVENTS | TY_OPEN_QUIET, 0, err);
		if (!rc)
			rc = ty_call_objects_load(&s, v->s->model, stop, permille, &v->objects,
						  err);
		ty_session_fini(&s);
	}
	*out = v->objects;
	return rc;
}

static int host_lanes_load(void *ctx, const atomic_bool *stop, const struct ty_sample_marks **marks,
			   const struct ty_counts **counts, struct ty_err *err)
{
	struct shown *v = ctx;
	const struct ty_trace *t = v->s->trace;
	int rc = 0;

	if (!v->marks && ty_samples_recorded(t)) {
		rc = ty_sample_marks_of_trace(t, stop, &v->marks);
		if (rc && rc != -TY_EINTR)
			ty_fail(err, -rc, TY_NO_OFFSET, "%s: cannot read the CPU samples: %s",
				t->path, ty_strerror(rc));
	}
	if (!rc && !v->counts && ty_counts_recorded(t))
		rc = ty_counts_of_trace(t, &v->counts, err);
	*marks = v->marks;
	*counts = v->counts;
	return rc;
}

static bool has_lanes(const struct ty_trace *t)
{
	return ty_samples_recorded(t) || ty_counts_recorded(t);
}

/* Of what ran, or of what waited. */
static bool has_functions(const struct ty_trace *t)
{
	return ty_samples_recorded(t) || ty_trace_section_bytes(t, TY_SEC_STACKS);
}

static bool has_samples(const struct ty_trace *t)
{
	return ty_trace_section_bytes(t, TY_SEC_PERF) || t->perf_memory;
}

/* s has its model. 0 or -TY_E... */
static int shown_init(struct shown *v, struct ty_view_options *o, struct ty_session *s,
		      struct ty_err *err)
{
	int rc = ty_select_clock(&o->sel, s, err);

	*v = (struct shown){.o = o, .s = s};
	v->export.s = s;
	v->locks = (struct ty_session_locks){PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
					     PTHREAD_MUTEX_INITIALIZER};
	s->locks = &v->locks;
	ty_session_symfs(s, &o->flow.roots);
	s->titles_later = !o->print && !o->at_finding &&
			  (ty_trace_section_bytes(s->trace, TY_SEC_CALL_DATA) > TITLES_AT_ONCE ||
			   ty_session_event_strings(s));
	v->explain = ty_explain_session(s);
	v->explain.where =
		NULL; /* stacks are read from the file; no text of the timeline has one */
	/* A printed frame has the stalls unless the search takes longer than the rest of it; on a
	 * terminal the search continues beside the timeline. */
	v->steps = PRINT_STEPS;
	v->explain.steps = o->print && !o->at_finding ? &v->steps : NULL;
	v->memory = (struct ty_view_memory){
		.trace = s->trace,
		.start_ns = ty_model_summary(s->model)->start_ns,
		.end_ns = ty_model_summary(s->model)->end_ns,
		.files = ty_view_name_files(o),
		.memory_bytes = o->samples_bytes,
		.no_index = o->sel.no_index,
		.aside = !o->print,
	};
	v->in = (struct ty_view_input){
		.explain = &v->explain,
		.host = {.ctx = v,
			 .syscall_args = host_syscall_args,
			 .export_start = host_export_start,
			 .export_poll = host_export_poll,
			 .export_stop = host_export_stop,
			 .keep_load = o->print ? NULL : host_keep_load,
			 .keep_lock = o->print ? NULL : host_keep_lock,
			 .keep_save = o->print ? NULL : host_keep_save,
			 .first_keys_shown = ty_view_state_not_first,
			 .titles_load = s->titles_later ? host_titles_load : NULL,
			 .memory_load = has_samples(s->trace) ? host_memory_load : NULL,
			 .samples_load = has_functions(s->trace) ? host_samples_load : NULL,
			 .functions_load =
				 ty_samples_recorded(s->trace) ? host_functions_load : NULL,
			 .objects_load = host_objects_load,
			 .lanes_load = has_lanes(s->trace) ? host_lanes_load : NULL},
		.model = s->model,
		.path = s->trace->path,
		.note = s->trace->note.s,
		.scope = ty_session_scope(s),
		.kept = ty_session_kept(s, v->kept),
		.arch = s->arch,
		.aside = !o->print,
		.clock = s->clock,
		.flow = ty_view_flow_init(&v->flow, s->trace, &o->flow),
		.recorder_cpu_ns = recorder_cpu(s->trace),
		.at_finding = o->at_finding,
		.log = o->logs.path.n ? &o->logs.log : NULL,
		.log_names = o->logs.path.v,
	};
	if (!rc)
		rc = ty_select_window(&o->sel, s, &v->in.window, err);
	return rc ? rc : ty_report_logs_read(&o->logs, s->model, err);
}

/* Of a zeroed one, too. */
static void shown_fini(struct shown *v)
{
	ty_view_export_stop(&v->export);
	ty_view_memory_fini(&v->memory);
	ty_view_flow_fini(&v->flow);
	ty_samples_free(v->samples);
	ty_call_objects_free(v->objects);
	ty_sample_marks_free(v->marks);
	ty_counts_free(v->counts);
}

static int show(struct ty_view_options *o, struct ty_session *s, struct ty_err *err)
{
	struct shown v;
	int rc = shown_init(&v, o, s, err);

	if (rc)
		return rc;
	v.in.first = !o->print && ty_view_state_first();
	rc = ty_view_show(o, &(struct ty_app_input){.timeline = &v.in}, err);
	rc = rc ? rc : ty_view_memory_check(&v.memory, err);
	shown_fini(&v);
	return rc;
}

static const struct ty_view_input *whole_shown(void *ctx, struct ty_err *err)
{
	struct shown *v = ctx;

	return shown_init(v, v->o, v->s, err) ? NULL : &v->in;
}

/* The recording has no index yet: its first part is shown while all of it is being indexed. The
 * part is a session of its own, so that the two share nothing but the file. */
static int show_growing(struct ty_view_options *o, struct ty_session *s, struct ty_err *err)
{
	struct shown part = {0}, whole = {.o = o, .s = s};
	struct ty_view_indexing rest = {.s = s,
					.memory_bytes =
						s->memory_bytes / PART_SHARE * (PART_SHARE - 1),
					.shown = whole_shown,
					.ctx = &whole};
	const struct ty_build_how how = {.memory_bytes = s->memory_bytes / PART_SHARE,
					 .most = PART_EVENTS};
	struct ty_session first;
	int rc;

	rc = ty_session_open(&first, s->trace->path, TY_OPEN_EVENTS, 0, err);
	if (!rc)
		rc = ty_session_build(&first, &how, err);
	if (!rc)
		rc = shown_init(&part, o, &first, err);
	part.indexing = &rest;
	part.in.host.indexing_poll = host_indexing_poll;
	part.in.first = !rc && ty_view_state_first();
	if (!rc) {
		ty_view_indexing_start(&rest);
		rc = ty_view_show(o, &(struct ty_app_input){.timeline = &part.in}, err);
	}
	ty_view_indexing_stop(&rest);
	if (!rc && rest.rc && rest.rc != -TY_EINTR) {
		*err = rest.err;
		rc = rest.rc;
	}
	rc = rc ? rc : ty_view_memory_check(&part.memory, err);
	rc = rc ? rc : ty_session_check(&first, err);
	rc = rc ? rc : ty_session_check(s, err);
	shown_fini(&part);
	shown_fini(&whole);
	ty_session_fini(&first);
	return rc;
}

/* The timeline may open on the start of a recording: nothing was requested that needs the whole,
 * and the model takes a while. */
static bool may_grow(const struct ty_view_options *o, const struct ty_session *s)
{
	struct stat st;

	return !o->print && !o->at_finding && !o->logs.path.n && !o->sel.from && !o->sel.to &&
	       !o->sel.tids.n && !o->sel.comms.n && !o->sel.cpus.n && !o->sel.clock_chosen &&
	       !s->trace->note.s && !fstat(ty_trace_fd(s->trace), &st) && st.st_size >= GROWING_MIN;
}

int ty_view_timeline(struct ty_view_options *o, struct ty_session *s, struct ty_err *err)
{
	int rc = ty_session_open(s, o->path,
				 TY_OPEN_MODEL | TY_OPEN_LATER |
					 (o->sel.no_index ? TY_OPEN_NO_INDEX : 0),
				 o->sel.memory_bytes, err);

	if (rc)
		return rc;
	if (ty_view_has_flow(s->trace)) {
		o->flow.memory_bytes = s->memory_bytes / FLOW_SHARE;
		s->memory_bytes -= o->flow.memory_bytes;
	}
	/* A model out of its index takes none of --memory. */
	o->samples_bytes = s->model ? s->memory_bytes : s->memory_bytes / SAMPLES_SHARE;
	if (!s->model && has_samples(s->trace))
		s->memory_bytes -= o->samples_bytes;
	if (!s->model && may_grow(o, s))
		return show_growing(o, s, err);
	rc = s->model ? 0 : ty_session_build(s, NULL, err);
	if (!rc)
		rc = show(o, s, err);
	return rc ? rc : ty_session_check(s, err);
}
