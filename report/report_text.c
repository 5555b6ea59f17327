/* SPDX-License-Identifier: MIT */
/* The report as text: aligned tables for 80 columns and up. Times are in the clock requested. */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compare.h"
#include "field_text.h"
#include "key_value.h"
#include "plain_text.h"
#include "put_text.h"
#include "shell_word.h"
#include "text_page.h"
#include "model_time.h"
#include "units.h"
#include "process_titles.h"

#define THREAD_ROWS 40
#define GAP_ROWS    20
#define OTHER_ROWS  8 /* names of threads that were not traced */
#define NAMES_SHOWN 6

static const char *dur(uint64_t ns, char b[TY_DURATION_MAX])
{
	return ty_fmt_duration(ns, b);
}

/* For tables: none is a dash. */
static const char *dur0(uint64_t ns, char b[TY_DURATION_MAX])
{
	return ns ? ty_fmt_duration(ns, b) : "-";
}

/* To the microsecond, in the requested clock; without the unit. */
static const char *at(const struct ty_report *r, uint64_t t, char b[TY_TIME_MAX])
{
	return ty_time_digits(r->s->model, r->s->clock, t, 1000, b);
}

/* " s", after at(); in tables the unit is in the heading. */
static bool in_seconds(const struct ty_report *r)
{
	return r->s->clock != TY_CLOCK_WALL;
}

/* Text of a file is no terminal control: anything unprintable becomes '?'. */
static const char *plain(char *s)
{
	ty_plain(s, strlen(s));
	for (char *tab = s; (tab = strchr(tab, '\t'));)
		*tab = '?'; /* columns are aligned by blanks */
	return s;
}

static const char *clean(char *b, size_t size, const char *s)
{
	snprintf(b, size, "%s", s);
	return plain(b);
}

static void line(FILE *f, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void line(FILE *f, const char *key, const char *fmt, ...)
{
	char b[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(b, sizeof(b), fmt, ap);
	va_end(ap);
	fprintf(f, "%-10s", key);
	fputs(plain(b), f);
	putc('\n', f);
}

static void wall(const struct ty_model *m, uint64_t t, char *b, size_t size)
{
	uint64_t real;
	time_t sec;
	struct tm tm;
	size_t n;

	b[0] = 0;
	if (!ty_model_realtime(m, t, &real))
		return;
	sec = (time_t)(real / 1000000000);
	if (!localtime_r(&sec, &tm))
		return;
	n = strftime(b, size, "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(b + n, size - n, ".%06u", (unsigned)(real % 1000000000 / 1000));
}

/* Length of a CPU number; nothing longer is one. */
static int digits(const char *s)
{
	size_t n = strspn(s, "0123456789");

	return n < 10 ? (int)n : 10;
}

/* Of the processes that were attached to: "nginx/812, nginx/813 and 3 more". */
static const char *process_names(const struct ty_model *m, char *b, size_t size)
{
	uint32_t shown = 0, more = 0;
	char who[TY_WHO_MAX];
	size_t n = 0;

	b[0] = 0;
	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);

		if (!t->traced || (t->tgid > 0 && t->tgid != t->tid))
			continue;
		if (shown == NAMES_SHOWN) {
			more++;
			continue;
		}
		n += (size_t)snprintf(b + n, size - n, "%s%s", shown++ ? ", " : "",
				      ty_model_who_last(m, i, who));
	}
	if (more)
		snprintf(b + n, size - n, " and %u more", more);
	return *b ? b : "selected processes";
}

/* Of a file cut out of another one: which part, in times that both have. */
static void put_cut(const struct ty_report *r, const char *facts, FILE *f)
{
	const uint64_t origin_ns = r->s->trace->cut_origin_ns,
		       cut_ns = ty_key_u64(facts, "cut_from_ns"),
		       from_ns = cut_ns > origin_ns ? cut_ns - origin_ns : 0,
		       to_ns = ty_key_u64(facts, "cut_to_ns");
	char name[256], of[256] = "a longer recording", from[TY_TIME_MAX], to[TY_TIME_MAX];

	if (ty_key_value(facts, "cut_of", name, sizeof(name)))
		ty_unescape_field(name, strlen(name), of, sizeof(of));
	if (!origin_ns || to_ns < origin_ns)
		line(f, "cut", "part of %s", of);
	else
		line(f, "cut", "part of %s: %s to %s s of it. Times count from the start of %s", of,
		     ty_fmt_seconds(from_ns, 1000, from),
		     ty_fmt_seconds(to_ns - origin_ns, 1000, to), of);
}

static void header(const struct ty_report *r, FILE *f)
{
	const struct ty_trace *t = r->s->trace;
	const struct ty_summary *s = ty_model_summary(r->s->model);
	struct ty_text mach = ty_trace_section(t, TY_SEC_MACHINE),
		       self = ty_trace_section(t, TY_SEC_SELF);
	char v[512], w[512], a[64], b[64], n1[32], n2[32], d[TY_DURATION_MAX], d2[TY_DURATION_MAX];
	uint64_t span = s->end_ns - s->start_ns, cpu, bytes = t->file_bytes - t->dropped_bytes;
	uint32_t traced = 0;

	ty_put_heading(f, "header", "what was recorded, when and where");
	if (t->version)
		line(f, "file", "%s (trace.dat version %d, %s)", t->path, t->version,
		     ty_fmt_bytes(bytes, d));
	else
		line(f, "file", "%s (%s, %s)", t->path,
		     t->perf ? "perf.data" : "unfinished recording", ty_fmt_bytes(bytes, d));
	if (t->note.s)
		line(f, "", "%.*s", (int)t->note.n, t->note.s);
	if (ty_session_scope(r->s))
		line(f, "", "%s", ty_session_scope(r->s));
	if (ty_session_kept(r->s, v))
		line(f, "kept", "%s", v);
	if (ty_key_value(mach.s, "cut_to_ns", NULL, 0))
		put_cut(r, mach.s, f);
	if (ty_key_value(mach.s, "host", v, sizeof(v))) {
		ty_key_value(mach.s, "cpu_model", w, sizeof(w));
		ty_key_value(mach.s, "arch", a, sizeof(a));
		line(f, "machine", "%s, %s%s%s", v, a, *w ? ", " : "", w);
	}
	if (ty_key_value(mach.s, "kernel", v, sizeof(v)))
		line(f, "kernel", "%s", v);
	else if (t->uname.s)
		line(f, "kernel", "%.*s", (int)strcspn(t->uname.s, "\n"), t->uname.s);
	if (ty_key_value(mach.s, "command", v, sizeof(v))) {
		uint64_t st = ty_key_u64(self.s, "command_status");
		bool has = ty_key_value(self.s, "command_status", w, sizeof(w));

		/* As waitpid gives it: low 7 bits the signal, next byte the status. */
		if (has && st & 0x7f)
			line(f, "command", "%s (killed by signal %u)", v, (unsigned)(st & 0x7f));
		else if (has)
			line(f, "command", "%s (exit status %u)", v, (unsigned)(st >> 8 & 0xff));
		else
			line(f, "command", "%s", v);
	} else if (ty_key_value(mach.s, "mode", v, sizeof(v))) {
		if (!strcmp(v, "all"))
			line(f, "recorded", "the whole machine");
		else
			line(f, "recorded", "%s", process_names(r->s->model, w, sizeof(w)));
	}
	wall(r->s->model, s->start_ns, a, sizeof(a));
	wall(r->s->model, s->end_ns, b, sizeof(b));
	if (*a)
		line(f, "span", "%s .. %s (%s)", a, strncmp(a, b, 11) ? b : b + 11, dur(span, d));
	else
		line(f, "span", "%s (trace clock %" PRIu64 " .. %" PRIu64 " ns)", dur(span, d),
		     s->start_ns, s->end_ns);
	if (!r->whole) {
		char from[TY_TIME_MAX], to[TY_TIME_MAX];

		line(f, "window", "%s .. %s%s of it (%s)", at(r, r->w.from_ns, from),
		     at(r, r->w.to_ns, to), in_seconds(r) ? " s" : "",
		     dur(r->w.to_ns - r->w.from_ns, d));
	}
	for (uint32_t i = 0; i < s->threads; i++)
		traced += ty_model_thread(r->s->model, i)->traced;
	line(f, "content", "%s%u CPUs, %u threads (%u with system calls), %s events, %s%s lost",
	     r->whole && !r->selected ? "" : "whole recording: ", s->cpus, s->threads, traced,
	     ty_fmt_count(s->events, n1), s->gaps_unknown ? "at least " : "",
	     ty_fmt_count(s->lost, n2));
	if (s->gaps_unknown)
		line(f, "", "%u gap%s of unknown size: see loss", s->gaps_unknown,
		     s->gaps_unknown == 1 ? "" : "s");
	if (!s->has_sched)
		line(f, "", "no scheduler events: thread and CPU states are unknown");
	if (!s->has_syscalls)
		line(f, "", "no system call events");
	if (ty_key_value(mach.s, "no_idle_switch", v, sizeof(v))) {
		/* The key repeats, one CPU each. */
		const char *text = mach.s, *cpu_text;
		size_t n, o = 0;

		w[0] = 0;
		while (ty_key_next(&text, "no_idle_switch", &cpu_text, &n))
			if (o < sizeof(w) - 16)
				o += (size_t)snprintf(w + o, sizeof(w) - o, "%s%.*s", o ? ", " : "",
						      digits(cpu_text), cpu_text);
		line(f, "",
		     "CPU %s: switches from idle are not delivered, so starts of runs are inferred",
		     w);
	}
	cpu = ty_recorder_cpu_ns(t);
	/* It is of all that was recorded. */
	if (t->kept_from_ns)
		span = ty_session_recorded_ns(r->s);
	else if (ty_key_u64(self.s, "recorded_ns"))
		span = ty_key_u64(self.s, "recorded_ns");
	if (cpu)
		line(f, "recorder",
		     "%s CPU time (%.1f%% of the recording time), %.1f bytes per event",
		     dur(cpu, d2), span ? 100.0 * (double)cpu / (double)span : 0.0,
		     s->events ? (double)bytes / (double)s->events : 0.0);
}

/* Behind a row where it has some, in a line of their own. */
static bool call_notes(const struct ty_syscall_stats *c, FILE *f)
{
	const struct {
		uint64_t n;
		const char *what;
	} notes[] = {{c->unfinished, "unfinished"},
		     {c->before, "began before"},
		     {c->untimed, "untimed"}};
	bool any = false;
	char n[32];

	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++)
		if (notes[i].n) {
			fprintf(f, "%s%s %s", any ? ", " : "    ", ty_fmt_count(notes[i].n, n),
				notes[i].what);
			any = true;
		}
	if (any)
		putc('\n', f);
	return any;
}

/* How to see the longest call of the first row that has one, with its arguments. */
static void how_to_see(const struct ty_report *r, FILE *f)
{
	uint64_t start = ty_model_origin_ns(r->s->model);
	char file[400];

	for (uint32_t i = 0; i < r->calls_n; i++) {
		uint64_t us = (r->calls[i].max_start_ns - start) / 1000;

		if (r->calls[i].count <= r->calls[i].untimed + r->calls[i].before ||
		    r->calls[i].max_start_ns < start)
			continue;
		fprintf(f, "one call: %starry dump ", ty_style(TY_STYLE_NEXT));
		ty_put_plain(f, ty_shell_word(r->s->trace->path, "FILE", file, sizeof(file)));
		fprintf(f, " syscalls --from %.6f --to %.6f%s\n", (double)us / 1e6,
			(double)(us + 1) / 1e6, ty_style(TY_STYLE_END));
		return;
	}
}

static void syscalls(const struct ty_report *r, FILE *f)
{
	bool notes = false;

	putc('\n', f);
	if (!r->calls_n) {
		ty_put_heading(f, "system calls", "none recorded here");
		return;
	}
	ty_put_heading(f, "system calls", "from entry to exit; at: where the longest began%s",
		       in_seconds(r) ? " (s)" : "");
	fprintf(f, "%-16s %9s %6s %8s %7s %7s %7s  %s\n", "system call", "count", "errors", "total",
		"p50", "p99", "max", "at");
	for (uint32_t i = 0; i < r->calls_n; i++) {
		const struct ty_syscall_stats *c = &r->calls[i];
		char n[32], e[32], t[TY_TIME_MAX], d[4][TY_DURATION_MAX];

		fprintf(f, "%-16s %9s %6s", c->name, ty_fmt_count(c->count, n),
			c->errors ? ty_fmt_count(c->errors, e) : "");
		if (c->count > c->untimed + c->before)
			fprintf(f, " %8s %7s %7s %7s  %s", dur(c->total_ns, d[0]),
				dur(c->p50_ns, d[1]), dur(c->p99_ns, d[2]), dur(c->max_ns, d[3]),
				ty_time_digits(r->s->model, r->s->clock, c->max_start_ns, 1000000,
					       t));
		putc('\n', f);
		notes |= call_notes(c, f);
	}
	if (notes)
		ty_put_note(f, "unfinished: in the call when the recording ended, and counted "
			       "until then.\n"
			       "began before (the recording), untimed (start or end not recorded): "
			       "excluded.");
	how_to_see(r, f);
}

#define NAME_COLUMNS 15

/* A row of threads: one, or several of one name. */
struct threads_row {
	uint64_t ns[TY_ST_COUNT], wakeups, migrations;
	uint32_t n, name, thread;
	int32_t tid;
};

static void add_to_row(struct threads_row *row, const struct ty_thread_stats *s)
{
	for (unsigned k = 0; k < TY_ST_COUNT; k++)
		row->ns[k] += s->ns[k];
	row->wakeups += s->wakeups;
	row->migrations += s->migrations;
	row->n++;
}

static int by_name(const void *pa, const void *pb)
{
	const struct threads_row *a = pa, *b = pb;

	return compare(a->name, b->name);
}

static int by_running(const void *pa, const void *pb)
{
	const struct threads_row *a = pa, *b = pb;

	return compare(b->ns[TY_ST_RUNNING], a->ns[TY_ST_RUNNING]) ?: compare(a->name, b->name);
}

/* Those of one name become one. */
static uint32_t fold(struct threads_row *v, uint32_t n)
{
	uint32_t rows = 0;

	qsort(v, n, sizeof(*v), by_name);
	for (uint32_t i = 0; i < n; i++) {
		if (!rows || v[rows - 1].name != v[i].name) {
			v[rows++] = v[i];
			continue;
		}
		for (unsigned k = 0; k < TY_ST_COUNT; k++)
			v[rows - 1].ns[k] += v[i].ns[k];
		v[rows - 1].wakeups += v[i].wakeups;
		v[rows - 1].migrations += v[i].migrations;
		v[rows - 1].n++;
	}
	qsort(v, rows, sizeof(*v), by_running);
	return rows;
}

static void put_row(const struct ty_report *r, const struct threads_row *row, bool unknown, FILE *f)
{
	char d[5][TY_DURATION_MAX], who[TY_WHO_MAX], name[NAME_COLUMNS + 1], n[2][32], id[32];
	const char *shown = ty_model_str(r->s->model, row->name);

	if (row->n > 1)
		snprintf(id, sizeof(id), "%u of", row->n);
	else
		snprintf(id, sizeof(id), "%d", row->tid);
	if (row->n == 1)
		shown = ty_model_who_short(r->s->model, row->thread, NAME_COLUMNS, who);
	fprintf(f, "%7s %-15s %7s %8s %8s %7s", id, clean(name, sizeof(name), shown),
		dur0(row->ns[TY_ST_RUNNING], d[0]), dur0(row->ns[TY_ST_RUNNABLE], d[1]),
		dur0(row->ns[TY_ST_SLEEPING], d[2]),
		dur0(row->ns[TY_ST_BLOCKED] + row->ns[TY_ST_STOPPED], d[3]));
	if (unknown)
		fprintf(f, " %8s",
			row->ns[TY_ST_UNKNOWN] ? dur0(row->ns[TY_ST_UNKNOWN], d[4]) : "");
	fprintf(f, " %5s %6s\n", ty_fmt_count(row->migrations, n[0]),
		ty_fmt_count(row->wakeups, n[1]));
}

static void threads(const struct ty_report *r, FILE *f)
{
	const struct ty_model *m = r->s->model;
	struct threads_row *others = calloc((size_t)r->threads_n + 1, sizeof(*others));
	uint32_t rows = 0, more = 0, idle = 0, others_n = 0;
	bool unknown = false, traced = false;
	char n[32];

	for (uint32_t i = 0; i < r->threads_n; i++) {
		unknown |= r->threads[i].ns[TY_ST_UNKNOWN] > 0;
		traced |= ty_model_thread(m, r->threads[i].thread)->traced;
	}
	putc('\n', f);
	ty_put_heading(f, "threads", "time in each state%s",
		       traced && !r->selected ? "; traced ones first, others added up by name"
					      : "");
	fprintf(f, "%7s %-15s %7s %8s %8s %7s%s %5s %6s\n", "thread", "name", "on CPU", "runnable",
		"sleeping", "blocked", unknown ? " unknown" : "", "migr", "woken");
	for (uint32_t i = 0; i < r->threads_n; i++) {
		const struct ty_thread_stats *s = &r->threads[i];
		const struct ty_thread *t = ty_model_thread(m, s->thread);
		struct threads_row row = {.name = t->name, .thread = s->thread, .tid = t->tid};

		if (!s->ns[TY_ST_RUNNING] && !s->ns[TY_ST_RUNNABLE] && !s->wakeups && !t->traced &&
		    !r->selected) {
			idle++;
			continue;
		}
		add_to_row(&row, s);
		if (traced && !r->selected && !t->traced && others)
			others[others_n++] = row;
		else if (rows++ < THREAD_ROWS)
			put_row(r, &row, unknown, f);
		else
			more++;
	}
	if (more)
		fprintf(f, "%7s more ran less (--json has all)\n", ty_fmt_count(more, n));
	others_n = others ? fold(others, others_n) : 0;
	if (others_n)
		fputs("others\n", f);
	for (uint32_t i = 0; i < others_n && i < OTHER_ROWS; i++)
		put_row(r, &others[i], unknown, f);
	if (others_n > OTHER_ROWS)
		fprintf(f, "%7s more names ran less (--json has all)\n",
			ty_fmt_count(others_n - OTHER_ROWS, n));
	if (idle)
		fprintf(f, "%7s more neither ran nor woke (--json has all)\n",
			ty_fmt_count(idle, n));
	ty_put_note(f, "runnable: waiting for a CPU. blocked: uninterruptible (D) or stopped.\n"
		       "migr: CPU migrations. woken: wakeups by other threads.");
	free(others);
}

static void put_thread(const struct ty_report *r, uint32_t thread, uint64_t t, FILE *f)
{
	char who[TY_WHO_MAX];

	ty_put_plain(f, ty_model_who(r->s->model, thread, t, who));
}

static void wait_line(const struct ty_report *r, const struct ty_wait *w, FILE *f)
{
	char d[TY_DURATION_MAX], a[TY_TIME_MAX];
	const char *ctx = ty_report_context(w->waker_context);
	struct ty_buf b;

	fprintf(f, "%9s at %s  ", dur(w->duration_ns, d), at(r, w->start_ns, a));
	put_thread(r, w->thread, w->start_ns, f);
	if (w->state != TY_ST_RUNNABLE)
		fprintf(f, " %s", w->state == TY_ST_BLOCKED ? "blocked" : ty_state_name(w->state));
	ty_buf_init(&b, 4096);
	if (w->syscall >= 0) {
		ty_buf_adds(&b, " in ");
		ty_report_call(r, (uint32_t)w->syscall, &b);
	}
	if (b.p)
		fputs(plain(b.p), f);
	ty_buf_fini(&b);
	fputs(", ", f);
	if (w->flags & TY_SF_PREEMPT)
		fputs("preempted", f);
	else if (w->flags & TY_SF_YIELD)
		fputs("yielded the CPU (sched_yield)", f);
	else if (w->woken && w->waker >= 0) {
		fprintf(f, "woken by %s%s", ctx ? ctx : "", ctx ? " interrupting " : "");
		put_thread(r, (uint32_t)w->waker, w->start_ns + w->duration_ns, f);
	} else if (w->woken)
		fprintf(f, "woken by %s%s", ctx ? ctx : "an unknown waker",
			ctx ? " on an idle CPU" : "");
	else if (w->end_lost)
		fputs("its end is unknown because of lost events", f);
	else if (w->flags & TY_SF_OPEN)
		fputs("still waiting when the recording ended", f);
	else
		fputs("waker not recorded", f);
	if (w->ran >= 0) {
		fputs("; meanwhile ", f);
		put_thread(r, (uint32_t)w->ran, w->start_ns, f);
		fputs(" ran on its CPU", f);
	}
	if (w->flags & TY_SF_BEFORE)
		fputs("; began before the recording", f);
	if (w->flags & TY_SF_OPEN && (w->woken || w->flags & (TY_SF_PREEMPT | TY_SF_YIELD)))
		fputs("; still waiting when the recording ended", f);
	if (w->flags & TY_SF_LOST)
		fputs("; events were lost during it", f);
	if (w->end_lost && (w->woken || w->flags & (TY_SF_PREEMPT | TY_SF_YIELD)))
		fputs("; its end is unknown because of lost events", f);
	putc('\n', f);
}

static void longest(const struct ty_report *r, FILE *f)
{
	putc('\n', f);
	ty_put_heading(f, "longest sleeping or blocked", "%s",
		       r->blocked_ours ? "threads without recorded system calls: uninterruptible "
					 "waits only; --comm '*' shows all waits"
				       : "and what woke the thread");
	for (uint32_t i = 0; i < r->blocked_n; i++)
		wait_line(r, &r->blocked[i], f);
	if (!r->blocked_n)
		fputs("     none\n", f);
	putc('\n', f);
	ty_put_heading(f, "longest runnable", "waiting for a CPU, and who ran there");
	for (uint32_t i = 0; i < r->runnable_n; i++)
		wait_line(r, &r->runnable[i], f);
	if (!r->runnable_n)
		fputs("     none\n", f);
}

static void loss(const struct ty_report *r, FILE *f)
{
	static const char *const what[] = {[TY_GAP_OVERRUN] = "overwritten before they were read",
					   [TY_GAP_DAMAGED] = "damaged in the file",
					   [TY_GAP_UNFINISHED] = "never written"};
	const struct ty_trace *t = r->s->trace;
	uint32_t n, shown = 0, rest = 0;
	int w = in_seconds(r) ? 14 : 15;
	const struct ty_gap_span *g = ty_model_gaps(r->s->model, &n);
	uint64_t unplaced = ty_model_summary(r->s->model)->lost_unplaced;
	char c[32];

	if (unplaced)
		fprintf(f, "\n%s events were lost at unknown times (from the kernel's counters)\n",
			ty_fmt_count(unplaced, c));
	if (!n && unplaced)
		return;
	putc('\n', f);
	if (!n) {
		ty_put_heading(f, "lost events", "none");
		return;
	}
	ty_put_heading(f, "lost events", "%sunknown between these times%s", ty_style(TY_STYLE_LOSS),
		       ty_style(TY_STYLE_END));
	fprintf(f, "%4s %-10s %*s %*s %12s  %s\n", "CPU", "lost in", w,
		in_seconds(r) ? "from (s)" : "from", w, in_seconds(r) ? "to (s)" : "to", "events",
		"why");
	for (uint32_t i = 0; i < n; i++) {
		char a[TY_TIME_MAX], b[TY_TIME_MAX], name[64];

		if (g[i].to_ns < r->w.from_ns || g[i].from_ns > r->w.to_ns ||
		    !ty_window_cpu(&r->w, g[i].cpu))
			continue;
		if (shown++ >= GAP_ROWS) {
			rest++;
			continue;
		}
		clean(name, sizeof(name),
		      g[i].buffer < t->buffers.n ? t->buffers.v[g[i].buffer].name : "");
		fprintf(f, "%4u %-10s %*s %*s %12s  %s\n", g[i].cpu, *name ? name : "top", w,
			at(r, g[i].from_ns, a), w, at(r, g[i].to_ns, b),
			g[i].count == UINT64_MAX ? "unknown" : ty_fmt_count(g[i].count, c),
			g[i].what <= TY_GAP_UNFINISHED ? what[g[i].what] : "");
	}
	if (!shown)
		fputs("none in this window\n", f);
	if (rest)
		fprintf(f, "and %u more gaps (--json has all)\n", rest);
	if (t->unfinished || t->truncated)
		fputs("the file is incomplete: see header\n", f);
}

void ty_report_text(const struct ty_report *r, unsigned sections, FILE *f)
{
	if (sections & TY_REP_ANSWER)
		ty_answer_text(r, f);
	if (sections & TY_REP_FINDINGS)
		ty_findings_text(r, f);
	if (sections & TY_REP_STALLS) {
		if (r->why)
			ty_why_text(&r->explained, r->why, f);
		else if (r->rejected)
			ty_rejected_text(&r->explained, f);
		else
			ty_stalls_text(&r->explained, f);
		putc('\n', f);
		ty_report_logs_text(&r->logs, f);
	}
	if (!r->requested)
		ty_answer_ledger_text(r, f);
	if (sections & TY_REP_REQUESTS)
		ty_requests_text(r, f);
	if (sections & TY_REP_REGIONS)
		ty_regions_text(r, f);
	if (sections & TY_REP_HEADER)
		header(r, f);
	if (sections & TY_REP_SYSCALLS)
		syscalls(r, f);
	if (sections & TY_REP_THREADS)
		threads(r, f);
	if (sections & TY_REP_LONGEST)
		longest(r, f);
	if (sections & TY_REP_LOSS)
		loss(r, f);
	if (sections & TY_REP_LEDGER)
		ty_ledgers_text(&r->explained, f);
	if (sections & TY_REP_CHAIN)
		ty_chain_text(&r->explained, f);
	if (sections & TY_REP_OUTLIERS)
		ty_outliers_text(r, f);
	if (sections & TY_REP_DIFF)
		ty_diff_text(r, f);
	if (sections & TY_REP_STACKS)
		ty_stacks_text(r, f);
	if (sections & TY_REP_OBJECTS)
		ty_objects_text(r, f);
	if (sections & TY_REP_HOT)
		ty_hot_text(r, f);
}
