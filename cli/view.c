/* SPDX-License-Identifier: MIT */
/* tarry view: the timeline on the terminal, or one frame of it as text. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app.h"
#include "call_objects_load.h"
#include "cli.h"
#include "explain_session.h"
#include "key_value.h"
#include "perf_data.h"
#include "report_log.h"
#include "sample_load.h"
#include "view_export.h"
#include "view_flow.h"
#include "view_state.h"
#include "view_memory.h"
#include "view_indexing.h"
#include "reader_options.h"
#include "wait_samples.h"
#include "count_load.h"
#include "sample_marks_load.h"
#include "window_select.h"

/* Of a recording without an index the first PART_EVENTS events (a tenth of a second's work) are
 * shown while it is indexed, in this part of the memory; smaller files are there at once. */
#define PART_EVENTS 1000000u
#define PART_SHARE  8
/* What memory samples may take while a model is built, too. */
#define SAMPLES_SHARE 4
#define GROWING_MIN   (8 << 20)
#define PRINT_STEPS   1000000 /* spans, for the stalls of a printed frame: some 0.1 s */

static const char head[] =
	"usage: tarry view [FILE] [options]\n"
	"\n"
	"Open the timeline of FILE (default tarry.dat). Press ? for the keys. A perf.data\n"
	"file with memory samples shows latency over time and its tables (y: next table).\n"
	"\n";

struct options {
	struct ty_select sel;
	const char *path, *color; /* color NULL: auto */
	bool print, keys_man;
	int w, h; /* 0: by the environment */
	uint32_t at_finding;
	struct ty_report_logs logs;
	struct ty_flow_source flow; /* where code is */
	uint64_t samples_bytes;	    /* memory samples' part of --memory */
};

/* A number from 1 to max, the whole of s up to one of the characters in end. */
static bool number(const char *s, const char *end, unsigned long max, unsigned long *v,
		   const char **rest)
{
	char *e;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*v = strtoul(s, &e, 10);
	*rest = e;
	return !errno && *v >= 1 && *v <= max && (!*end ? !*e : *e && strchr(end, *e));
}

static bool parse_size(const char *s, struct options *o)
{
	unsigned long w, h;
	const char *rest;

	if (!number(s, "x", TY_GRID_MAX, &w, &rest) ||
	    !number(rest + 1, "", TY_GRID_MAX, &h, &rest))
		return false;
	o->w = (int)w;
	o->h = (int)h;
	return true;
}

static int env_size(const char *name, int otherwise)
{
	const char *v = getenv(name), *rest;
	unsigned long n;

	return v && number(v, "", TY_GRID_MAX, &n, &rest) ? (int)n : otherwise;
}

/* The default size of a frame. */
static void default_size(int *w, int *h)
{
	struct winsize ws;

	*w = 100;
	*h = 30;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_col && ws.ws_row) {
		*w = ws.ws_col < TY_GRID_MAX ? ws.ws_col : TY_GRID_MAX;
		/* The prompt that follows must not push the first line out. */
		*h = ws.ws_row > TY_VIEW_MIN_H ? ws.ws_row - 1 : ws.ws_row;
		*h = *h < TY_GRID_MAX ? *h : TY_GRID_MAX;
	}
	*w = env_size("COLUMNS", *w);
	*h = env_size("LINES", *h);
}

static bool is_color_word(const char *s)
{
	struct ty_palette p = {0};

	return s && (!strcmp(s, "auto") || ty_palette_choose(&p, s));
}

static int write_keys_man(void)
{
	struct ty_buf b;
	int rc;

	ty_buf_init(&b, 1 << 16);
	rc = ty_keys_man(&b) || fwrite(b.p, 1, b.len, stdout) != b.len || fflush(stdout);
	ty_buf_fini(&b);
	return rc ? TY_EXIT_FAILED : TY_EXIT_GOOD;
}

static int take_size(void *to, const char *arg, struct ty_err *err)
{
	if (parse_size(arg, to))
		return 0;
	return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
		       "--size '%s' is not COLUMNSxLINES such as 100x30 (at most %dx%d)", arg,
		       TY_GRID_MAX, TY_GRID_MAX);
}

static int take_color(void *to, const char *arg, struct ty_err *err)
{
	struct options *o = to;

	if (!arg)
		arg = "always";
	if (!is_color_word(arg))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "--color takes auto, always, never, truecolor, 256 or 16, not '%s'",
			       arg);
	o->color = strcmp(arg, "auto") ? arg : NULL;
	return 0;
}

static int take_finding(void *to, const char *arg, struct ty_err *err)
{
	const char *rest;
	unsigned long n;

	if (!number(arg, "", UINT32_MAX, &n, &rest))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "--at-wait '%s' is not a number from 1", arg);
	*(uint32_t *)to = (uint32_t)n;
	return 0;
}

static int take_json(void *to, const char *arg, struct ty_err *err)
{
	return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
		       "view has no --json. Use tarry report --json or tarry dump --json");
}

static const struct ty_option options[] = {
	{0, "at-wait", "N", "start at entry N of the list of stalls and longest waits",
	 .take = take_finding, .at = offsetof(struct options, at_finding)},
	{0, "at-finding", "N", NULL, .take = take_finding,
	 .at = offsetof(struct options, at_finding)},
	{0, "log", "FILE", "show the lines of a log file on the axis (by timestamp, repeatable)",
	 .take = ty_take_texts, .at = offsetof(struct options, logs.path)},
	{0, "print", NULL, "print one frame as text instead of opening the timeline",
	 .take = ty_take_flag, .at = offsetof(struct options, print)},
	{0, "size", "WxH",
	 "set the size of that frame (default: COLUMNS x LINES, the terminal, or 100x30)",
	 .take = take_size},
	{0, "color", "[=WHEN]", "color auto, always (default WHEN), never, truecolor, 256 or 16",
	 .take = take_color, .is_value = is_color_word},
	{0, "keys-man", NULL, "print the table of keys as man(7) text", .take = ty_take_flag,
	 .at = offsetof(struct options, keys_man)},
	{0, "json", NULL, NULL, .take = take_json},
	{0}};

static uint64_t recorder_cpu(const struct ty_trace *t)
{
	uint64_t ns = ty_recorder_cpu_ns(t);

	/* Where the begin was dropped it is of more than what is shown. */
	return t->kept_from_ns || !ns ? UINT64_MAX : ns;
}

static int print_frame(const struct options *o, const struct ty_view_input *in,
		       const struct ty_memory_input *memory, const struct ty_flame_input *flame,
		       struct ty_err *err)
{
	struct ty_palette p = ty_palette_detect(-1);
	struct ty_buf b;
	int rc, w = o->w, h = o->h;

	if (!w)
		default_size(&w, &h);
	if (o->color)
		ty_palette_choose(&p, o->color);
	else if (!isatty(STDOUT_FILENO) || p.mode == TY_COLOR_MONO)
		p.mode = TY_COLOR_NONE;
	ty_buf_init(&b, 256u << 20);
	rc = memory  ? ty_app_print_memory(memory, &p, w, h, &b, err)
	     : flame ? ty_app_print_flame(flame, &p, w, h, &b, err)
		     : ty_app_print(in, &p, w, h, &b, err);
	if (!rc && (fwrite(b.p, 1, b.len, stdout) != b.len || fflush(stdout)))
		rc = ty_fail_errno(err, "standard output: write failed");
	ty_buf_fini(&b);
	return rc;
}

/* The source of the names of memory samples' addresses. */
static struct ty_mem_options name_files(const struct options *o)
{
	return (struct ty_mem_options){.roots = o->flow.roots, .kallsyms = o->flow.kallsyms};
}

/* A perf.data file: its memory samples. */
static int show_memory(const struct options *o, struct ty_err *err)
{
	struct ty_view_memory v = {.files = name_files(o), .aside = !o->print};
	int rc;

	if (o->sel.clock_chosen || o->logs.path.n)
		return ty_fail(
			err, TY_EUSAGE, TY_NO_OFFSET,
			"%s: --clock and --log need a recording of events, not memory samples",
			o->path ? o->path : "tarry.dat");
	rc = ty_view_memory_open(&v, o->path, &o->sel, err);
	if (!rc)
		rc = o->print ? print_frame(o, NULL, &v.in, NULL, err)
			      : ty_app_run_memory(&v.in, o->color, err);
	rc = rc ? rc : ty_view_memory_check(&v, err);
	ty_view_memory_fini(&v);
	return rc;
}

/* Has the perf.data file samples of what ran, and neither memory samples nor instructions? */
static bool only_samples(const char *path)
{
	struct ty_perf *f;
	struct ty_perf_rec r = {0};
	struct ty_err err;
	bool only = true;

	if (ty_perf_open(path, &f, &err))
		return false;
	/* The pipe form says so in records before the first sample. */
	while (f->pipe && r.type != TY_PERF_SAMPLE && ty_perf_next(f, &r, &err) > 0)
		;
	for (size_t i = 0; i < f->events.n; i++) {
		const char *pmu = ty_perf_pmu(f, f->events.v[i].attr.type);
		const uint64_t type = f->events.v[i].attr.sample_type;

		/* Of the data source alone: call graphs by DWARF have it, too. */
		only &= !(type & TY_PERF_S_DATA_SRC &&
			  type & (TY_PERF_S_WEIGHT | TY_PERF_S_WEIGHT_STRUCT)) &&
			!(pmu && (!strncmp(pmu, "intel_pt", 8) || !strncmp(pmu, "arm_spe", 7)));
	}
	only &= f->events.n != 0;
	ty_perf_close(f);
	return only;
}

/* A perf.data file with nothing but samples: their flame graph. */
static int show_flame(const struct options *o, struct ty_err *err)
{
	const struct ty_sample_load_opts how = {.roots = &o->flow.roots};
	const char *path = o->path ? o->path : "tarry.dat";
	struct ty_samples *s = NULL;
	struct ty_flame_input in = {0};
	struct ty_window w;
	int rc;

	if (o->sel.clock_chosen || o->logs.path.n)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "%s: --clock and --log need a recording of events, not samples",
			       path);
	rc = ty_samples_of_perf(path, &how, &s, err);
	if (!rc && !s->v.n)
		rc = ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			     "%s: it has no samples with a time and a thread (tarry report %s "
			     "lists what "
			     "it has)",
			     path, path);
	rc = rc ? rc : ty_select_range(&o->sel, path, s->v.v[0].ns, s->v.v[s->v.n - 1].ns, &w, err);
	if (!rc) {
		in.samples = s;
		in.from_ns = w.from_ns;
		in.to_ns = w.to_ns;
		snprintf(in.when, sizeof(in.when), "%s", s->event);
		rc = o->print ? print_frame(o, NULL, NULL, &in, err)
			      : ty_app_run_flame(&in, o->color, err);
	}
	ty_samples_free(s);
	return rc;
}

/* A session as the timeline's input. */
struct shown {
	struct options *o;
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

static int host_keep_save(void *ctx, const char *text, size_t n, struct ty_err *err)
{
	const struct shown *v = ctx;

	return ty_view_state_save(v->s->trace, v->s->model, text, n, err);
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
	if (s && !rc && ty_trace_section(v->s->trace, TY_SEC_STACKS).n)
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

	if (!v->marks && ty_sample_marks_recorded(t)) {
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
	return ty_sample_marks_recorded(t) || ty_counts_recorded(t);
}

/* Of what ran, or of what waited. */
static bool has_functions(const struct ty_trace *t)
{
	return ty_samples_recorded(t) || ty_trace_section(t, TY_SEC_STACKS).n;
}

static bool has_samples(const struct ty_trace *t)
{
	return ty_trace_section(t, TY_SEC_PERF).n || t->perf_memory;
}

/* s has its model. 0 or -TY_E... */
static int shown_init(struct shown *v, struct options *o, struct ty_session *s, struct ty_err *err)
{
	int rc = ty_select_clock(&o->sel, s, err);

	*v = (struct shown){.o = o, .s = s};
	v->export.s = s;
	v->locks = (struct ty_session_locks){PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
					     PTHREAD_MUTEX_INITIALIZER};
	s->locks = &v->locks;
	ty_session_symfs(s, &o->flow.roots);
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
		.files = name_files(o),
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
			 .keep_save = o->print ? NULL : host_keep_save,
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

static int show(struct options *o, struct ty_session *s, struct ty_err *err)
{
	struct shown v;
	int rc = shown_init(&v, o, s, err);

	if (rc)
		return rc;
	v.in.first = !o->print && ty_view_state_first();
	rc = o->print ? print_frame(o, &v.in, NULL, NULL, err) : ty_app_run(&v.in, o->color, err);
	rc = rc ? rc : ty_view_memory_check(&v.memory, err);
	ty_view_export_stop(&v.export);
	ty_view_memory_fini(&v.memory);
	ty_view_flow_fini(&v.flow);
	ty_samples_free(v.samples);
	ty_call_objects_free(v.objects);
	ty_sample_marks_free(v.marks);
	ty_counts_free(v.counts);
	return rc;
}

static const struct ty_view_input *whole_shown(void *ctx, struct ty_err *err)
{
	struct shown *v = ctx;

	return shown_init(v, v->o, v->s, err) ? NULL : &v->in;
}

/* The recording has no index yet: its first part is shown while all of it is being indexed. The
 * part is a session of its own, so that the two share nothing but the file. */
static int show_growing(struct options *o, struct ty_session *s, struct ty_err *err)
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
		rc = ty_app_run(&part.in, o->color, err);
	}
	ty_view_indexing_stop(&rest);
	if (!rc && rest.rc && rest.rc != -TY_EINTR) {
		*err = rest.err;
		rc = rest.rc;
	}
	rc = rc ? rc : ty_view_memory_check(&part.memory, err);
	ty_view_export_stop(&whole.export);
	ty_view_memory_fini(&part.memory);
	ty_view_flow_fini(&part.flow);
	ty_view_flow_fini(&whole.flow);
	ty_samples_free(part.samples);
	ty_sample_marks_free(part.marks);
	ty_counts_free(part.counts);
	ty_samples_free(whole.samples);
	ty_call_objects_free(part.objects);
	ty_call_objects_free(whole.objects);
	ty_sample_marks_free(whole.marks);
	ty_counts_free(whole.counts);
	ty_session_fini(&first);
	return rc;
}

/* The timeline may open on the begin of a recording: nothing was requested that needs the whole,
 * and the model takes a while. */
static bool may_grow(const struct options *o, const struct ty_session *s)
{
	struct stat st;

	return !o->print && !o->at_finding && !o->logs.path.n && !o->sel.from && !o->sel.to &&
	       !o->sel.tids.n && !o->sel.comms.n && !o->sel.cpus.n && !o->sel.clock_chosen &&
	       !s->trace->note.s && !fstat(ty_trace_fd(s->trace), &st) && st.st_size >= GROWING_MIN;
}

static int show_file(struct options *o, struct ty_session *s, struct ty_err *err)
{
	int rc = ty_session_open(s, o->path,
				 TY_OPEN_MODEL | TY_OPEN_LATER |
					 (o->sel.no_index ? TY_OPEN_NO_INDEX : 0),
				 o->sel.memory_bytes, err);

	if (rc)
		return rc;
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

int ty_cmd_view(int argc, char **argv)
{
	struct options o = {0};
	struct ty_session s = {0};
	struct ty_err err = {0};
	const struct ty_command_line line = {
		"view", head,
		.groups = {{options, .to = &o},
			   {ty_select_options, .to = &o.sel},
			   {ty_clock_option, .to = &o.sel},
			   {ty_memory_option, .to = &o.sel},
			   {ty_index_option, .to = &o.sel},
			   {ty_code_options, .to = &o.flow,
			    .title = "Locate code of executed instructions and memory samples:"}}};
	int rc, status = ty_options_parse(&line, argc, argv);

	if (status < 0 && o.keys_man)
		status = write_keys_man();
	if (status < 0 && optind < argc)
		o.path = argv[optind++];
	if (status < 0 && optind < argc)
		status = ty_cli_usage("view", "unexpected argument %s: only one FILE can be given",
				      argv[optind]);
	if (status < 0 && !o.print && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))) {
		ty_fail(&err, TY_EUSAGE, TY_NO_OFFSET,
			"view: standard %s is not a terminal: add --print to print one frame as "
			"text, or use tarry report",
			isatty(STDOUT_FILENO) ? "input" : "output");
		ty_cli_fail(&err);
		status = TY_EXIT_USAGE;
	}
	if (status < 0) {
		const char *path = o.path ? o.path : "tarry.dat";
		bool memory = ty_mem_session_is_perf(path) && !ty_trace_in_perf(path);

		rc = !memory		  ? show_file(&o, &s, &err)
		     : only_samples(path) ? show_flame(&o, &err)
					  : show_memory(&o, &err);
		status = rc < 0 ? ty_cli_fail(&err) : TY_EXIT_GOOD;
		if (!o.print)
			ty_model_leave(s.model);
		ty_session_fini(&s);
		if (rc > 0) { /* end by the signal, so that callers see it */
			signal(rc, SIG_DFL);
			raise(rc);
		}
	}
	ty_report_logs_fini(&o.logs);
	ty_flow_source_fini(&o.flow);
	ty_select_fini(&o.sel);
	return status;
}
