/* SPDX-License-Identifier: MIT */
/*
 * tarry dump events: every event once, as trace-cmd report -t prints it, or as NDJSON.
 *
 * With --from the earlier events are read but not printed (no seek): one of them may have set a
 * thread's name. Gaps are shown whatever threads are chosen, because the threads of lost events are
 * unknown; with --to those that began before it, though only the next record of their CPU reports
 * them.
 *
 * --clock shows other times in the same place: from the first event, or the time of day.
 *
 * Budget for the common events, decoding included: 400 ns per line of text, 700 ns per line of
 * JSON.
 */
#include <string.h>

#include "buf.h"
#include "digits.h"
#include "window_filter.h"
#include "thread_names.h"
#include "dump.h"
#include "json_out.h"
#include "plain_text.h"
#include "wall_clock.h"

#define LINE_MAX_BYTES (16u << 20)

struct dump {
	struct ty_session *s;
	const struct ty_window *w;
	struct ty_thread_names *comms;
	struct ty_wall wall; /* the clock shown */
	struct ty_buf line;
	struct ty_json json;
	bool loss_shown;
	int name_width; /* of the longest buffer name; 0: one buffer only */
};

/* text ---------------------------------------------------------------------------------------- */

/* v in decimal, right-aligned in width with the given fill. */
static void add_number(struct ty_buf *b, uint64_t v, unsigned width, char fill)
{
	char t[16 + TY_DIGITS_MAX];

	ty_buf_add(b, t, (size_t)(ty_put_right(t, v, width, fill) - t));
}

static void add_padded(struct ty_buf *b, const char *s, unsigned width)
{
	static const char blanks[] = "                                ";
	size_t n = strlen(s);

	if (n < width)
		ty_buf_add(b, blanks, width - n > 32 ? 32 : width - n);
	ty_buf_add(b, s, n);
}

/* "  3570.727655538" */
static void add_time(struct dump *d, uint64_t ns)
{
	struct ty_buf *b = &d->line;

	if (d->wall.clock == TY_CLOCK_WALL) {
		ty_wall_fmt(&d->wall, ns, b);
		return;
	}
	if (d->wall.clock == TY_CLOCK_START)
		ns = ns > d->wall.start_ns ? ns - d->wall.start_ns : 0;
	add_number(b, ns / 1000000000, 5, ' ');
	ty_buf_addc(b, '.');
	add_number(b, ns % 1000000000, 9, '0');
}

static const char *buffer_name(const struct dump *d, const struct ty_event *ev)
{
	return d->s->trace->buffers.v[ev->buffer].name;
}

static void text_buffer(struct dump *d, const struct ty_event *ev)
{
	const char *name = buffer_name(d, ev);

	if (d->name_width)
		ty_buf_addf(&d->line, "%*s%s", d->name_width, name, *name ? ": " : "  ");
}

static void text_gap(struct dump *d, const struct ty_event *ev)
{
	static const char *const what[] = {[TY_GAP_OVERRUN] = "EVENTS DROPPED",
					   [TY_GAP_DAMAGED] = "EVENTS MISSING: FILE DAMAGED",
					   [TY_GAP_UNFINISHED] =
						   "END OF DATA: RECORDING WAS NOT FINISHED"};
	struct ty_buf *b = &d->line;

	text_buffer(d, ev);
	ty_buf_addf(b, "CPU:%u [", ev->cpu);
	if (ev->u.gap.count != UINT64_MAX)
		ty_buf_addf(b, "%llu ", (unsigned long long)ev->u.gap.count);
	ty_buf_adds(b, what[ev->u.gap.what]);
	ty_buf_adds(b, "] ");
	if (ev->u.gap.to_end) {
		ty_buf_adds(b, "after ");
		add_time(d, ev->u.gap.from_ns ? ev->u.gap.from_ns : ev->ts_ns);
		return;
	}
	if (ev->u.gap.from_ns) {
		ty_buf_adds(b, "between ");
		add_time(d, ev->u.gap.from_ns);
		ty_buf_adds(b, " and ");
	} else {
		ty_buf_adds(b, "before ");
	}
	add_time(d, ev->ts_ns);
}

static int text_event(struct dump *d, const struct ty_event *ev, const char *comm)
{
	const char *name = ty_formats_name(d->s->formats, ev->id);
	struct ty_buf *b = &d->line;
	char tid[16];
	size_t n;

	text_buffer(d, ev);
	add_padded(b, comm, 16);
	n = (size_t)snprintf(tid, sizeof(tid), "-%-5d [", ev->tid);
	ty_buf_add(b, tid, n);
	add_number(b, ev->cpu, 3, '0');
	ty_buf_add(b, "] ", 2);
	add_time(d, ev->ts_ns);
	ty_buf_add(b, ": ", 2);
	ty_buf_adds(b, name);
	ty_buf_add(b, ": ", 2);
	n = strlen(name);
	if (n < 20)
		add_padded(b, "", (unsigned)(20 - n));
	return ty_formats_print(d->s->formats, ev, b);
}

/* JSON ---------------------------------------------------------------------------------------- */

static void json_field(struct ty_json *j, const struct ty_field_value *v)
{
	switch (v->type) {
	case TY_FIELD_INT: ty_json_i64(j, v->name, v->i); break;
	case TY_FIELD_UINT: ty_json_u64(j, v->name, v->u); break;
	case TY_FIELD_STR: ty_json_strn(j, v->name, v->s, v->n); break;
	case TY_FIELD_ARRAY:
		ty_json_array(j, v->name);
		for (size_t i = 0; i < v->n; i++) {
			int64_t e = ty_formats_element(v, i);

			if (v->elem_signed)
				ty_json_i64(j, NULL, e);
			else
				ty_json_u64(j, NULL, (uint64_t)e);
		}
		ty_json_end_array(j);
		break;
	}
}

static void json_buffer(struct dump *d, const struct ty_event *ev)
{
	const char *name = buffer_name(d, ev);

	if (*name)
		ty_json_str(&d->json, "buffer", name);
}

static void json_gap(struct dump *d, const struct ty_event *ev)
{
	static const char *const what[] = {[TY_GAP_OVERRUN] = "overrun",
					   [TY_GAP_DAMAGED] = "damaged",
					   [TY_GAP_UNFINISHED] = "unfinished"};
	struct ty_json *j = &d->json;

	ty_json_object(j, NULL);
	ty_json_u64(j, "ts_ns", ev->ts_ns);
	ty_json_u64(j, "cpu", ev->cpu);
	json_buffer(d, ev);
	ty_json_str(j, "gap", what[ev->u.gap.what]);
	ty_json_u64(j, "from_ns", ev->u.gap.from_ns);
	ty_json_u64_if(j, "count", ev->u.gap.count != UINT64_MAX, ev->u.gap.count);
	if (ev->u.gap.to_end)
		ty_json_bool(j, "to_end", true);
	ty_json_end_object(j);
	ty_json_line(j);
}

static void json_event(struct dump *d, const struct ty_event *ev, const char *comm)
{
	const struct ty_formats *f = d->s->formats;
	struct ty_json *j = &d->json;
	unsigned n = ty_formats_nfields(f, ev->id);

	ty_json_object(j, NULL);
	ty_json_u64(j, "ts_ns", ev->ts_ns);
	ty_json_u64(j, "cpu", ev->cpu);
	json_buffer(d, ev);
	ty_json_i64(j, "tid", ev->tid);
	ty_json_str(j, "comm", comm);
	ty_json_str(j, "system", ty_formats_system(f, ev->id));
	ty_json_str(j, "event", ty_formats_name(f, ev->id));
	ty_json_object(j, "fields");
	for (unsigned k = 0; k < n; k++) {
		struct ty_field_value v;

		if (ty_formats_field(f, ev, k, &v))
			ty_json_null(j, v.name); /* the record is too short for it */
		else
			json_field(j, &v);
	}
	ty_json_end_object(j);
	ty_json_end_object(j);
	ty_json_line(j);
}

/* Text from the file (names, strings of user programs, formats) can neither break lines nor control
 * the terminal. The text of print events ends in a newline. */
static void finish_line(struct ty_buf *b)
{
	while (b->len && b->p[b->len - 1] == '\n')
		b->len--;
	ty_plain(b->p, b->len);
	ty_buf_addc(b, '\n');
}

/* the loop ------------------------------------------------------------------------------------ */

static int one(struct dump *d, const struct ty_event *ev, bool json, FILE *out)
{
	const char *comm = NULL;
	int r = 0;

	if (ev->kind == TY_EV_GAP) {
		d->loss_shown = true;
	} else {
		comm = ty_thread_names_get(d->comms, ev->tid);
		if (!ty_window_has_tid(d->w, ev->tid) || !ty_window_has_comm(d->w, comm))
			return 0;
	}
	if (json) {
		if (ev->kind == TY_EV_GAP)
			json_gap(d, ev);
		else
			json_event(d, ev, comm);
		return 0;
	}
	ty_buf_reset(&d->line);
	if (ev->kind == TY_EV_GAP)
		text_gap(d, ev);
	else
		r = text_event(d, ev, comm);
	finish_line(&d->line);
	if (!r)
		r = d->line.failed;
	if (!r)
		fwrite_unlocked(d->line.p, 1, d->line.len, out);
	return r;
}

static bool in_window(const struct ty_window *w, const struct ty_event *ev)
{
	if (ev->kind == TY_EV_GAP)
		return ty_window_has_gap(w, ev);
	return ev->ts_ns >= w->from_ns && ev->ts_ns < w->to_ns;
}

static int run(struct dump *d, const struct ty_select *sel, FILE *out, struct ty_err *err)
{
	struct ty_event ev;
	uint64_t last = 0;
	int r;

	while ((r = ty_events_next(d->s->events, &ev, err)) > 0) {
		if (ev.ts_ns >= d->w->to_ns && ty_events_past(d->s->events, d->w->to_ns))
			return 0;
		last = ev.ts_ns;
		r = ty_thread_names_feed(d->comms, &ev);
		if (!r)
			r = ty_wall_feed(&d->wall, &ev);
		if (!r && in_window(d->w, &ev) && ty_window_has_cpu(d->w, ev.cpu))
			r = one(d, &ev, sel->json, out);
		if (r)
			return ty_fail(
				err, -r, TY_NO_OFFSET, "%s: cannot print the event at %llu ns: %s",
				d->s->trace->path, (unsigned long long)ev.ts_ns, ty_strerror(r));
		if (ferror_unlocked(out))
			return 0; /* the caller reports it: errno is its matter */
	}
	/* "Nothing is known there" is a valid result. */
	return r < 0 || d->loss_shown ? r : ty_select_inside(sel, d->w, last, err);
}

int ty_dump_events(struct ty_session *s, const struct ty_select *sel, const struct ty_window *w,
		   FILE *out, struct ty_err *err)
{
	struct dump d = {.s = s, .w = w};
	int r;

	d.comms = ty_thread_names_new(s->trace->cmdlines.s,
				      ty_trace_section(s->trace, TY_SEC_THREADS).s);
	if (!d.comms)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory for thread names",
			       s->trace->path);
	if (s->trace->buffers.n > 1)
		for (size_t i = 0; i < s->trace->buffers.n; i++) {
			size_t n = strlen(s->trace->buffers.v[i].name);

			if (n > (size_t)d.name_width)
				d.name_width = n > 64 ? 64 : (int)n;
		}
	ty_buf_init(&d.line, LINE_MAX_BYTES);
	ty_json_init(&d.json, out);
	ty_wall_init(&d.wall);
	d.wall.clock = sel->clock_chosen && !sel->json ? sel->clock : TY_CLOCK_TRACE;
	d.wall.decimals = 9;
	r = ty_wall_find(&d.wall, s->trace, s->events, err);
	if (!r && d.wall.clock == TY_CLOCK_WALL && !d.wall.points.n)
		r = ty_select_no_wall(s->trace->path, err);
	if (!r)
		r = run(&d, sel, out, err);
	ty_json_fini(&d.json);
	ty_wall_fini(&d.wall);
	ty_buf_fini(&d.line);
	ty_thread_names_free(d.comms);
	return r;
}
