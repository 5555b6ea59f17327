/* SPDX-License-Identifier: MIT */
/* The report's section "threads": time in each state, by thread; the text sums untraced threads
 * by name. */
#include <stdlib.h>

#include "compare.h"
#include "fields.h"
#include "process_titles.h"
#include "put_text.h"
#include "report.h"
#include "units.h"

#define THREAD_ROWS 40
#define OTHER_ROWS  8 /* names of threads that were not traced */

#define NAME_COLUMNS 15

/* A thread, or several of one name. */
struct row {
	const char *name, *command_line, *cgroup;
	char cgroup_name[TY_CGROUP_NAME_MAX]; /* "": none */
	uint64_t ns[TY_ST_COUNT], inferred_ns, blocked_ns, start_ns, end_ns;
	uint64_t runs, wakeups, migrations;
	uint32_t n, name_id, thread, gen;
	int32_t tid, pid, ppid;
	bool born, died, kernel, traced, summed;
};

static struct row row_of(const struct ty_report *r, const struct ty_thread_stats *s)
{
	const struct ty_thread *t = ty_model_thread(r->s->model, s->thread);
	struct row row = {.name = ty_model_str(r->s->model, t->name),
			  .command_line = ty_model_command_line(r->s->model, s->thread, t->end_ns),
			  .thread = s->thread,
			  .inferred_ns = s->inferred_ns,
			  .blocked_ns = ty_thread_blocked_ns(s),
			  .start_ns = t->start_ns,
			  .end_ns = t->end_ns,
			  .runs = s->runs,
			  .wakeups = s->wakeups,
			  .migrations = s->migrations,
			  .n = 1,
			  .name_id = t->name,
			  .gen = t->gen,
			  .tid = t->tid,
			  .pid = t->tgid,
			  .ppid = t->ppid,
			  .born = t->born,
			  .died = t->died,
			  .kernel = t->kernel,
			  .traced = t->traced};

	memcpy(row.ns, s->ns, sizeof(row.ns));
	row.cgroup = ty_model_cgroup_path(r->s->model, s->thread);
	ty_model_cgroup(r->s->model, s->thread, row.cgroup_name);
	return row;
}

static const char *who(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_report *r = ctx;
	const struct row *row = record;
	char who[TY_WHO_MAX];

	n = (size_t)snprintf(
		buf, NAME_COLUMNS + 1, "%s",
		row->summed ? row->name
			    : ty_model_who_short(r->s->model, row->thread, NAME_COLUMNS, who));
	if (n > NAME_COLUMNS)
		buf[NAME_COLUMNS - 1] = '~';
	return buf;
}

static const char *id(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct row *row = record;

	snprintf(buf, n, "%d", row->summed ? (int)row->n : row->tid);
	return buf;
}

/* Uninterruptible, or stopped. */
static const char *blocked(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct row *row = record;
	const uint64_t ns = row->ns[TY_ST_BLOCKED] + row->ns[TY_ST_STOPPED];

	return ns ? ty_fmt_duration(ns, buf) : "-";
}

static const char *unknown(const void *ctx, const void *record, char *buf, size_t n)
{
	const uint64_t ns = ((const struct row *)record)->ns[TY_ST_UNKNOWN];

	return ns ? ty_fmt_duration(ns, buf) : "";
}

static const char *cgroup_name(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct row *row = record;

	return row->n > 1 ? "" : *row->cgroup_name ? row->cgroup_name : NULL;
}

#define OF(member) offsetof(struct row, member)
#define UNKNOWN	   (1u << 6) /* its column */
#define IN	   (1u << 9)
static const struct ty_field fields[] = {
	{TY_F_TEXT, NULL, "thread", 7, .text = id},
	{TY_F_I32, "tid", NULL, 0, .at = OF(tid)},
	{TY_F_U32, "generation", NULL, 0, .at = OF(gen)},
	{TY_F_ID, "pid", NULL, 0, .at = OF(pid)},
	{TY_F_ID, "ppid", NULL, 0, .at = OF(ppid)},
	{TY_F_TEXT, NULL, "name", -NAME_COLUMNS, .gap = 1, .text = who},
	{TY_F_STR, "comm", NULL, 0, .at = OF(name)},
	{TY_F_STR, "command_line", NULL, 0, .at = OF(command_line), .optional = true},
	{TY_F_INSTANT, "start_ns", NULL, 0, .at = OF(start_ns)},
	{TY_F_DIGITS, "end_ns", NULL, 0, .at = OF(end_ns)},
	{TY_F_BOOL, "born", NULL, 0, .at = OF(born)},
	{TY_F_BOOL, "died", NULL, 0, .at = OF(died)},
	{TY_F_STR, "cgroup", NULL, 0, .at = OF(cgroup), .optional = true},
	{TY_F_TEXT, "cgroup_name", NULL, 0, .text = cgroup_name, .optional = true},
	{TY_F_BOOL, "kernel", NULL, 0, .at = OF(kernel)},
	{TY_F_BOOL, "traced", NULL, 0, .at = OF(traced)},
	{TY_F_ELAPSED, "running_ns", "on CPU", 7, .at = OF(ns[TY_ST_RUNNING]), .gap = 1},
	{TY_F_ELAPSED, "inferred_ns", NULL, 0, .at = OF(inferred_ns)},
	{TY_F_ELAPSED, "runnable_ns", "runnable", 8, .at = OF(ns[TY_ST_RUNNABLE]), .gap = 1},
	{TY_F_ELAPSED, "blocked_ns", NULL, 0, .at = OF(blocked_ns)},
	{TY_F_ELAPSED, "sleeping_ns", "sleeping", 8, .at = OF(ns[TY_ST_SLEEPING]), .gap = 1},
	{TY_F_TEXT, NULL, "blocked", 7, .gap = 1, .text = blocked},
	{TY_F_ELAPSED, "uninterruptible_ns", NULL, 0, .at = OF(ns[TY_ST_BLOCKED])},
	{TY_F_ELAPSED, "stopped_ns", NULL, 0, .at = OF(ns[TY_ST_STOPPED])},
	{TY_F_ELAPSED, "dead_ns", NULL, 0, .at = OF(ns[TY_ST_DEAD])},
	{TY_F_TEXT, NULL, "unknown", 8, .gap = 1, .text = unknown},
	{TY_F_ELAPSED, "unknown_ns", NULL, 0, .at = OF(ns[TY_ST_UNKNOWN])},
	{TY_F_U64, "runs", NULL, 0, .at = OF(runs)},
	{TY_F_U64, "migrations", "migr", 5, .at = OF(migrations), .gap = 1},
	{TY_F_U64, "wakeups", "woken", 6, .at = OF(wakeups), .gap = 1},
	{TY_F_TEXT, NULL, "in", 0, .text = cgroup_name},
	{.type = TY_F_END}};

ORDER(by_name, struct row, compare(a->name_id, b->name_id))

ORDER(by_running, struct row,
      compare(b->ns[TY_ST_RUNNING], a->ns[TY_ST_RUNNING]) ?: compare(a->name_id, b->name_id))

/* Those of one name become one. */
static uint32_t fold(struct row *v, uint32_t n)
{
	uint32_t rows = 0;

	qsort(v, n, sizeof(*v), by_name);
	for (uint32_t i = 0; i < n; i++) {
		if (!rows || v[rows - 1].name_id != v[i].name_id) {
			v[rows] = v[i];
			v[rows++].summed = true;
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

/* Does a traced or selected thread run in a container, or do they run in several units? */
static bool tells_apart(const struct ty_report *r)
{
	char name[TY_CGROUP_NAME_MAX], first[TY_CGROUP_NAME_MAX] = "";

	for (uint32_t i = 0; i < r->threads_n; i++) {
		const uint32_t thread = r->threads[i].thread;

		if (!ty_model_thread(r->s->model, thread)->traced && !r->selected)
			continue;
		if (ty_model_cgroup(r->s->model, thread, name) == TY_CGROUP_CONTAINER ||
		    (*first && *name && strcmp(first, name)))
			return true;
		if (*name)
			strcpy(first, name);
	}
	return false;
}

void ty_threads_text(const struct ty_report *r, FILE *f)
{
	struct row *others = calloc((size_t)r->threads_n + 1, sizeof(*others));
	struct ty_field_ctx c = {.ctx = r, .hide = UNKNOWN | (tells_apart(r) ? 0 : IN)};
	uint32_t rows = 0, more = 0, idle = 0, others_n = 0;
	bool traced = false;
	char n[32];

	for (uint32_t i = 0; i < r->threads_n; i++) {
		if (r->threads[i].ns[TY_ST_UNKNOWN])
			c.hide &= ~UNKNOWN;
		traced |= ty_model_thread(r->s->model, r->threads[i].thread)->traced;
	}
	putc('\n', f);
	ty_put_heading(f, "threads", "time in each state%s",
		       traced && !r->selected ? "; traced threads first, others summed by name"
					      : "");
	ty_fields_head(fields, &c, f);
	for (uint32_t i = 0; i < r->threads_n; i++) {
		const struct row row = row_of(r, &r->threads[i]);

		if (!row.ns[TY_ST_RUNNING] && !row.ns[TY_ST_RUNNABLE] && !row.wakeups &&
		    !row.traced && !r->selected)
			idle++;
		else if (traced && !r->selected && !row.traced && others)
			others[others_n++] = row;
		else if (rows++ < THREAD_ROWS)
			ty_fields_text(fields, &c, &row, f);
		else
			more++;
	}
	if (more)
		fprintf(f, "%7s more with less CPU time (--json has all)\n", ty_fmt_count(more, n));
	others_n = others ? fold(others, others_n) : 0;
	if (others_n)
		fputs("threads name (other threads, summed by name)\n", f);
	for (uint32_t i = 0; i < others_n && i < OTHER_ROWS; i++)
		ty_fields_text(fields, &c, &others[i], f);
	if (others_n > OTHER_ROWS)
		fprintf(f, "%7s more names with less CPU time (--json has all)\n",
			ty_fmt_count(others_n - OTHER_ROWS, n));
	if (idle)
		fprintf(f, "%7s more neither ran nor woke (--json has all)\n",
			ty_fmt_count(idle, n));
	ty_put_note(f,
		    "runnable: waiting for a CPU, or throttled by CPU quota.\n"
		    "blocked: uninterruptible (D) or stopped.\n"
		    "unknown: not recorded (before a thread's first event, or events were lost).\n"
		    "migr: CPU migrations. woken: wakeups, by threads, timers and devices.");
	free(others);
}

void ty_threads_json(const struct ty_report *r, struct ty_json *j)
{
	const struct ty_field_ctx c = {.ctx = r};

	ty_json_array(j, "threads");
	for (uint32_t i = 0; i < r->threads_n; i++) {
		const struct row row = row_of(r, &r->threads[i]);

		ty_fields_object(fields, &c, &row, j);
	}
	ty_json_end_array(j);
}
