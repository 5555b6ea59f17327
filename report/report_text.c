/* SPDX-License-Identifier: MIT */
/* The report as text: aligned tables for 80 columns and up. Times are in the clock asked for. */
#include "report.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "key_value.h"
#include "plain_text.h"
#include "time_text.h"
#include "units.h"

#define THREAD_ROWS 40
#define GAP_ROWS    20

static const char *dur(uint64_t ns, char b[TY_DURATION_MAX])
{
	return ty_fmt_duration(ns, b);
}

/* For tables: none is a dash. */
static const char *dur0(uint64_t ns, char b[TY_DURATION_MAX])
{
	return ns ? ty_fmt_duration(ns, b) : "-";
}

/* To the microsecond, in the clock asked for; without its unit. */
static const char *at(const struct ty_report *r, uint64_t t, char b[TY_TIME_MAX])
{
	return ty_time_digits(r->s->model, r->s->clock, t, 1000, b);
}

/* " s", behind at(); headings of columns say it once. */
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

static void header(const struct ty_report *r, FILE *f)
{
	const struct ty_trace *t = r->s->trace;
	const struct ty_summary *s = ty_model_summary(r->s->model);
	struct ty_text mach = ty_trace_section(t, TY_SEC_MACHINE),
		       self = ty_trace_section(t, TY_SEC_SELF);
	char v[512], w[512], a[64], b[64], n1[32], n2[32], d[TY_DURATION_MAX], d2[TY_DURATION_MAX];
	uint64_t span = s->end_ns - s->start_ns, cpu, bytes = t->file_bytes - t->dropped_bytes;
	uint32_t traced = 0;

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
		line(f, "cut",
		     "part of a longer recording, written by tarry export --to dat or the "
		     "timeline");
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
		line(f, "recorded", "%s",
		     !strcmp(v, "all") ? "the whole machine" : "selected processes");
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
	cpu = ty_key_u64(self.s, "cpu_user_ns") + ty_key_u64(self.s, "cpu_sys_ns");
	/* It is of all that was recorded. */
	if (t->kept_from_ns)
		span = ty_session_recorded_ns(r->s);
	if (cpu)
		line(f, "recorder", "%s CPU time (%.2f%% of %s), %.1f bytes per event",
		     dur(cpu, d2), span ? 100.0 * (double)cpu / (double)span : 0.0,
		     t->kept_from_ns ? "the whole recording time" : "the span",
		     s->events ? (double)bytes / (double)s->events : 0.0);
}

static void syscalls(const struct ty_report *r, FILE *f)
{
	bool notes = false;

	if (!r->calls_n) {
		fputs("\nsystem calls: none recorded here\n", f);
		return;
	}
	fprintf(f, "\n%-20s %9s %7s %9s %9s %9s %9s %9s  %s\n", "system call", "count", "errors",
		"total", "mean", "p50", "p99", "max", in_seconds(r) ? "at (s)" : "at");
	for (uint32_t i = 0; i < r->calls_n; i++) {
		const struct ty_syscall_stats *c = &r->calls[i];
		char n[32], e[32], t[TY_TIME_MAX], d[5][TY_DURATION_MAX];
		bool timed = c->count > c->untimed + c->before;

		fprintf(f, "%-20s %9s %7s", c->name, ty_fmt_count(c->count, n),
			c->errors ? ty_fmt_count(c->errors, e) : "");
		if (timed)
			fprintf(f, " %9s %9s %9s %9s %9s  %s", dur(c->total_ns, d[0]),
				dur(c->mean_ns, d[1]), dur(c->p50_ns, d[2]), dur(c->p99_ns, d[3]),
				dur(c->max_ns, d[4]), at(r, c->max_start_ns, t));
		if (c->unfinished || c->untimed || c->before) {
			fprintf(f, "%s", timed ? " " : "  ");
			if (c->unfinished)
				fprintf(f, " [%s unfinished]", ty_fmt_count(c->unfinished, n));
			if (c->before)
				fprintf(f, " [%s began before]", ty_fmt_count(c->before, n));
			if (c->untimed)
				fprintf(f, " [%s untimed]", ty_fmt_count(c->untimed, n));
			notes = true;
		}
		putc('\n', f);
	}
	if (notes)
		fputs("unfinished: still in the call when the recording ended; its time until "
		      "then counts.\nbegan before (the recording), untimed (start or end not "
		      "recorded): excluded from times.\n",
		      f);
}

static void threads(const struct ty_report *r, FILE *f)
{
	const struct ty_model *m = r->s->model;
	uint32_t rows = 0, more = 0, idle = 0;
	bool unknown = false;

	for (uint32_t i = 0; i < r->threads_n; i++)
		unknown |= r->threads[i].ns[TY_ST_UNKNOWN] > 0;
	fprintf(f, "\n%8s %-16s %9s %9s %9s %9s%s %6s %7s\n", "thread", "name", "on CPU",
		"runnable", "sleeping", "uninterr.", unknown ? "   unknown" : "", "moved", "woken");
	for (uint32_t i = 0; i < r->threads_n; i++) {
		const struct ty_thread_stats *s = &r->threads[i];
		const struct ty_thread *t = ty_model_thread(m, s->thread);
		char d[5][TY_DURATION_MAX], name[64], n[32];

		if (!s->ns[TY_ST_RUNNING] && !s->ns[TY_ST_RUNNABLE] && !s->wakeups && !t->traced &&
		    !r->selected) {
			idle++;
			continue;
		}
		if (rows == THREAD_ROWS) {
			more++;
			continue;
		}
		rows++;
		fprintf(f, "%8d %-16s %9s %9s %9s %9s", t->tid,
			clean(name, sizeof(name), ty_model_str(m, t->name)),
			dur0(s->ns[TY_ST_RUNNING], d[0]), dur0(s->ns[TY_ST_RUNNABLE], d[1]),
			dur0(s->ns[TY_ST_SLEEPING], d[2]),
			dur0(s->ns[TY_ST_BLOCKED] + s->ns[TY_ST_STOPPED], d[3]));
		if (unknown)
			fprintf(f, " %9s",
				s->ns[TY_ST_UNKNOWN] ? dur0(s->ns[TY_ST_UNKNOWN], d[4]) : "");
		fprintf(f, " %6u %7s\n", s->migrations, ty_fmt_count(s->wakeups, n));
	}
	if (more || idle) {
		char n[32], n2[32];

		fprintf(f, "%s more threads ran less, %s neither ran nor woke (--json has all)\n",
			ty_fmt_count(more, n), ty_fmt_count(idle, n2));
	}
}

static void wait_line(const struct ty_report *r, const struct ty_wait *w, FILE *f)
{
	const struct ty_model *m = r->s->model;
	const struct ty_thread *t = ty_model_thread(m, w->thread);
	char d[TY_DURATION_MAX], a[TY_TIME_MAX], name[64], who[64];
	const char *ctx = ty_report_context(w->waker_context);
	struct ty_buf b;

	fprintf(f, "%9s at %-12s %c %s-%d", dur(w->duration_ns, d), at(r, w->start_ns, a),
		ty_state_letter(w->state),
		clean(name, sizeof(name), ty_model_comm(m, w->thread, w->start_ns)), t->tid);
	ty_buf_init(&b, 4096);
	if (w->syscall >= 0) {
		ty_buf_adds(&b, " in ");
		ty_report_call(r, (uint32_t)w->syscall, &b);
	}
	if (b.p)
		fputs(plain(b.p), f);
	ty_buf_fini(&b);
	fprintf(f, "\n%27s", "");
	if (w->flags & TY_SF_PREEMPT)
		fputs("preempted", f);
	else if (w->flags & TY_SF_YIELD)
		fputs("yielded the CPU (sched_yield)", f);
	else if (w->woken && w->waker >= 0)
		fprintf(f, "woken by %s%s%s-%d", ctx ? ctx : "", ctx ? " interrupting " : "",
			clean(who, sizeof(who),
			      ty_model_comm(m, (uint32_t)w->waker, w->start_ns + w->duration_ns)),
			ty_model_thread(m, (uint32_t)w->waker)->tid);
	else if (w->woken)
		fprintf(f, "woken by %s%s", ctx ? ctx : "an unknown waker",
			ctx ? " on an idle CPU" : "");
	else if (w->end_lost)
		fputs("its end is unknown because of lost events", f);
	else if (w->flags & TY_SF_OPEN)
		fputs("still waiting when the recording ended", f);
	else
		fputs("waker not recorded", f);
	if (w->ran >= 0)
		fprintf(f, "; meanwhile %s-%d ran on its CPU",
			clean(who, sizeof(who), ty_model_comm(m, (uint32_t)w->ran, w->start_ns)),
			ty_model_thread(m, (uint32_t)w->ran)->tid);
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
	fprintf(f, "\nlongest sleeping or blocked%s\n",
		r->blocked_ours
			? " (threads without system calls: uninterruptible only; --comm '*': all)"
			: "");
	for (uint32_t i = 0; i < r->blocked_n; i++)
		wait_line(r, &r->blocked[i], f);
	if (!r->blocked_n)
		fputs("     none\n", f);
	fputs("\nlongest runnable (waiting for a CPU)\n", f);
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
	if (!n) {
		fputs("\nlost events: none\n", f);
		return;
	}
	fprintf(f, "\n%4s %-10s %*s %*s %12s  %s\n", "CPU", "lost in", w,
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
	if (sections & TY_REP_REQUESTS)
		ty_requests_text(r, f);
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
}
