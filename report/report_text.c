/* SPDX-License-Identifier: MIT */
/* The report as text: aligned tables for 80 columns and up. Times are in the clock requested. */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "call_data_source.h"
#include "explain_session.h"
#include "field_text.h"
#include "key_value.h"
#include "plain_text.h"
#include "put_text.h"
#include "shell_word.h"
#include "model_time.h"
#include "units.h"
#include "waits.h"
#include "wakeup.h"
#include "process_titles.h"

#define NAMES_SHOWN 6

static const char *dur(uint64_t ns, char b[TY_DURATION_MAX])
{
	return ty_fmt_duration(ns, b);
}

/* To the microsecond, in the requested clock; without the unit. */
static const char *at(const struct ty_report *r, uint64_t t, char b[TY_TIME_MAX])
{
	return ty_time_digits(r->s->model, r->s->clock, t, 1000, b);
}

/* Text of a file is no terminal control: anything unprintable becomes '?'. */
static const char *plain(char *s)
{
	ty_plain(s, strlen(s));
	for (char *tab = s; (tab = strchr(tab, '\t'));)
		*tab = '?'; /* columns are aligned by blanks */
	return s;
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

/* What the recorder said at the end: what is missing, and why. */
static void put_notes(const char *facts, FILE *f)
{
	const char *note;
	char text[512];
	size_t n;

	while (ty_key_next(&facts, "note", &note, &n)) {
		snprintf(text, sizeof(text), "%.*s", (int)(n < sizeof(text) ? n : sizeof(text)),
			 note);
		ty_plain(text, strlen(text));
		line(f, "note", "%s", text);
	}
}

static void header(const struct ty_report *r, FILE *f)
{
	const struct ty_trace *t = r->s->trace;
	const struct ty_summary *s = ty_model_summary(r->s->model);
	struct ty_text mach = ty_trace_section(t, TY_SEC_MACHINE),
		       self = ty_trace_section(t, TY_SEC_SELF);
	char v[512], w[NAMES_SHOWN * (TY_WHO_MAX + 2) + 32], a[64], b[64], n1[32], n2[32],
		d[TY_DURATION_MAX], d2[TY_DURATION_MAX];
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
			line(f, "traced", "the whole machine");
		else
			line(f, "traced", "%s", process_names(r->s->model, w, sizeof(w)));
	}
	wall(r->s->model, s->start_ns, a, sizeof(a));
	wall(r->s->model, s->end_ns, b, sizeof(b));
	if (*a)
		line(f, "period", "%s .. %s (%s)", a, strncmp(a, b, 11) ? b : b + 11, dur(span, d));
	else
		line(f, "period", "%s (trace clock %" PRIu64 " .. %" PRIu64 " ns)", dur(span, d),
		     s->start_ns, s->end_ns);
	if (!r->whole) {
		char from[TY_TIME_MAX], to[TY_TIME_MAX];

		line(f, "window", "%s .. %s%s of it (%s)", at(r, r->w.from_ns, from),
		     at(r, r->w.to_ns, to), ty_report_in_seconds(r) ? " s" : "",
		     dur(r->w.to_ns - r->w.from_ns, d));
	}
	for (uint32_t i = 0; i < s->threads; i++)
		traced += ty_model_thread(r->s->model, i)->traced;
	line(f, "content", "%s%u CPU%s, %s threads (%s traced), %s events, %s%s lost",
	     r->whole && !r->selected ? "" : "whole recording: ", s->cpus, s->cpus == 1 ? "" : "s",
	     ty_count(s->threads), ty_count(traced), ty_fmt_count(s->events, n1),
	     s->gaps_unknown && s->lost ? "at least " : "",
	     s->gaps_unknown && !s->lost ? "an unknown number" : ty_fmt_count(s->lost, n2));
	if (s->gaps_unknown)
		line(f, "", "events are missing in %u gap%s of unknown size: see loss",
		     s->gaps_unknown, s->gaps_unknown == 1 ? "" : "s");
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
		     "CPU %s: switches from idle to a thread are missing; start times of runs "
		     "there are inferred (~ in the timeline)",
		     w);
	}
	if (ty_session_event_strings(r->s)) {
		n1[0] = 0;
		if (ty_key_u64(mach.s, "strings_bytes"))
			snprintf(n1, sizeof(n1), "%u ",
				 (unsigned)ty_key_u64(mach.s, "strings_bytes"));
		line(f, "strings", "from the kernel's own events: the first %sbytes of each", n1);
	}
	cpu = ty_recorder_cpu_ns(t);
	/* It is of all that was recorded. */
	if (t->kept_from_ns)
		span = ty_session_recorded_ns(r->s);
	else if (ty_key_u64(self.s, "recorded_ns"))
		span = ty_key_u64(self.s, "recorded_ns");
	if (cpu)
		line(f, "recorder",
		     "%s CPU time (%.1f%% of one CPU over that period), %.1f bytes per event",
		     dur(cpu, d2), span ? 100.0 * (double)cpu / (double)span : 0.0,
		     s->events ? (double)bytes / (double)s->events : 0.0);
	put_notes(self.s, f);
}

static void put_thread(const struct ty_report *r, uint32_t thread, uint64_t t, FILE *f)
{
	ty_put_plain(f, ty_who(r->s->model, thread, t));
}

static void wait_line(const struct ty_report *r, const struct ty_wait *w, FILE *f)
{
	const char *noun = ty_model_noun(r->s->model);
	char d[TY_DURATION_MAX], a[TY_TIME_MAX], by[TY_WAKER_TEXT];
	const struct ty_explain x = ty_explain_session(r->s);
	struct ty_waker waker;
	struct ty_span whole;
	struct ty_buf b;

	whole = ty_model_span(r->s->model, w->span);
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
	else if (w->woken) {
		waker = ty_waker_find(r->s->model, ty_model_span(r->s->model, w->span).edge);
		if (waker.kind == TY_WAKER_TIMER && w->syscall >= 0 &&
		    ty_wait_timed_out(&x, (uint32_t)w->syscall))
			fputs("timed out", f);
		else {
			fputs("woken by ", f);
			ty_put_plain(f, ty_waker_text(r->s->model, &waker, by));
		}
	} else if (w->end_lost)
		fputs("its end is unknown because of lost events", f);
	else if (w->flags & TY_SF_OPEN)
		fprintf(f, "still waiting when the %s ended", noun);
	else
		fputs("waker not recorded", f);
	if (w->ran >= 0) {
		fprintf(f, "; CPU %u was used most by ", whole.cpu);
		put_thread(r, (uint32_t)w->ran, w->start_ns, f);
	}
	if (whole.start_ns < w->start_ns || whole.end_ns > w->start_ns + w->duration_ns) {
		fprintf(f, "; clipped to the selection: the wait took %s, from ",
			ty_fmt_duration(whole.end_ns - whole.start_ns, d));
		fputs(ty_time(r->s->model, x.clock, whole.start_ns, 1000), f);
	}
	if (w->flags & TY_SF_BEFORE)
		fprintf(f, "; began before the %s", noun);
	if (w->flags & TY_SF_OPEN && (w->woken || w->flags & (TY_SF_PREEMPT | TY_SF_YIELD)))
		fprintf(f, "; still waiting when the %s ended", noun);
	if (w->flags & TY_SF_LOST)
		fputs("; events were lost during it", f);
	if (w->end_lost && (w->woken || w->flags & (TY_SF_PREEMPT | TY_SF_YIELD)))
		fputs("; its end is unknown because of lost events", f);
	putc('\n', f);
}

static void longest(const struct ty_report *r, FILE *f)
{
	putc('\n', f);
	ty_put_heading(f, "longest waits", "%s",
		       r->blocked_ours
			       ? "all waits of traced threads, and uninterruptible waits of other "
				 "threads (--comm '*' shows their sleeps, too)"
			       : "sleeping or blocked, with what woke the thread (idle "
				 "kernel threads are left out)");
	for (uint32_t i = 0; i < r->blocked_n; i++)
		wait_line(r, &r->blocked[i], f);
	if (!r->blocked_n)
		fputs("     none\n", f);
	putc('\n', f);
	ty_put_heading(f, "longest waits for a CPU",
		       "with the thread that used that CPU most meanwhile");
	for (uint32_t i = 0; i < r->runnable_n; i++)
		wait_line(r, &r->runnable[i], f);
	if (!r->runnable_n)
		fputs("     none\n", f);
}

/* They come first, and begin without an empty line. */
#define FIRST_SECTIONS                                                                             \
	(TY_REP_ANSWER | TY_REP_FINDINGS | TY_REP_STALLS | TY_REP_REQUESTS | TY_REP_REGIONS |      \
	 TY_REP_COUNTERS | TY_REP_HEADER)

/* Of what part of the recording all of it is. */
static void window(const struct ty_report *r, unsigned sections, FILE *f)
{
	char from[TY_TIME_MAX], to[TY_TIME_MAX], file[400], name[400];

	snprintf(name, sizeof(name), "%s",
		 ty_shell_word(r->s->trace->path, "FILE", file, sizeof(file)));
	ty_put_heading(f, "window", "%s .. %s%s of %s", at(r, r->w.from_ns, from),
		       at(r, r->w.to_ns, to), ty_report_in_seconds(r) ? " s" : "", plain(name));
	if (sections & FIRST_SECTIONS)
		putc('\n', f);
}

void ty_report_text(const struct ty_report *r, unsigned sections, FILE *f)
{
	if (!r->whole)
		window(r, sections, f);
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
	if (sections & TY_REP_COUNTERS)
		ty_counters_text(r, f);
	if (sections & TY_REP_HEADER)
		header(r, f);
	if (sections & TY_REP_SYSCALLS)
		ty_syscalls_text(r, f);
	if (sections & TY_REP_THREADS)
		ty_threads_text(r, f);
	if (sections & TY_REP_LONGEST)
		longest(r, f);
	if (sections & TY_REP_LOSS)
		ty_loss_text(r, f);
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
